/* SPDX-License-Identifier: Apache-2.0 */
#include "outlet.h"

#include "store/payment/charge.h"

static void refund(int i, const char *reference, apr_int64_t amount_minor)
{
    pay_refund_t *out = till_refund(i, reference, amount_minor, PAY_REFUND_OPENED);

    (void)till_refund_resolve(&out, i, out->refund_reference, PAY_OUTCOME_APPROVED);
}

/* Three transactions in each scope, the webhook's first event of the second parked. */
static void fill(void)
{
    apr_array_header_t *taken;
    int i, k;

    for (i = 0; i < TILL_SCOPES; i++) {
        outlet_open_all(i);
        for (k = 1; k <= 3; k++) {
            const char *reference = apr_psprintf(unit_pool, "order-%d", k);

            (void)till_charge(i, reference, 1000);
            refund(i, reference, 1000);
        }
    }
    taken = outlet_take(100, 100);
    for (k = 0; k < taken->nelts; k++) {
        const pay_event_t *event = outlet_event(taken, k);

        (void)outlet_finish(event, event->charge_seq == 2 && event->endpoint == PAY_ENDPOINT_WEBHOOK
                                       ? PAY_EVENT_REFUSED
                                       : PAY_EVENT_RELEASED);
    }
}

#define REFUNDED(to, n)                                                                            \
    to " " #n ".1 transaction successful; " to " " #n ".2 refund processed behind; "
#define REVERSED(n) "webhook " #n ".3 transaction reversed behind; "
static const char all[] = REFUNDED("webhook", 1)
    REVERSED(1) "webhook 2.1 transaction successful parked; "
                "webhook 2.2 refund processed behind; " REVERSED(2) REFUNDED("webhook", 3)
                    REVERSED(3) REFUNDED("receipt", 1) REFUNDED("receipt", 2) REFUNDED("receipt", 3)
                        REFUNDED("notice", 1) REFUNDED("notice", 2)
                            REFUNDED("notice", 3) "notice 2.1 event parked; ";

/* Part by part, each from after the last event of the previous one, by its id. */
static const char *paged(int i, int parked, int limit)
{
    const pay_event_t *after = NULL;
    apr_array_header_t *list;
    const char *text = "";
    pay_event_t place;
    int k;

    do {
        ck_assert_int_eq(pay_store_event_list(&list, till->store, &till->scopes[i], parked, after,
                                              limit, unit_pool),
                         APR_SUCCESS);
        ck_assert_int_le(list->nelts, limit);
        for (k = 0; k < list->nelts; k++) {
            const pay_event_t *event = APR_ARRAY_IDX(list, k, const pay_event_t *);

            text = apr_pstrcat(unit_pool, text, outlet_name(event), "; ", NULL);
            ck_assert_int_eq(pay_event_id_parse(&place, pay_event_id(event, unit_pool)),
                             APR_SUCCESS);
            after = &place;
        }
    } while (list->nelts > 0 && strlen(text) < 10000);
    return text;
}

START_TEST(test_list)
{
    int i, limit;

    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_str_eq(paged(i, 0, 10), "");
        ck_assert_str_eq(paged(i, 1, 10), "");
    }
    fill();
    for (i = 0; i < TILL_SCOPES; i++) {
        for (limit = 1; limit < 30; limit += 7) {
            ck_assert_str_eq(paged(i, 0, limit), all);
            ck_assert_str_eq(paged(i, 1, limit), "webhook 2.1 transaction successful parked; ");
        }
        ck_assert_str_eq(paged(i, 0, PAY_STORE_ROWS_MAX), all);
    }
    till_check_clean();
}
END_TEST

/* An entry that leads nowhere hides none behind it. */
START_TEST(test_parked_with_leftovers)
{
    pay_event_t place = {.scope = till->scopes[0], .endpoint = PAY_ENDPOINT_WEBHOOK};
    pay_store_key_t key;

    fill();
    place.charge_seq = 1; /* is not parked; of a transaction that has events */
    place.charge_seq = 77;
    pay_store_event_parked_key(&key, &place);
    till_plant(PAY_TABLE_EVENT_PARKED, &key, "", 0);
    place.charge_seq = 0;
    pay_store_event_parked_key(&key, &place);
    till_plant(PAY_TABLE_EVENT_PARKED, &key, "", 0);
    ck_assert_str_eq(paged(0, 1, 1), "webhook 2.1 transaction successful parked; ");
    ck_assert_int_eq(till_faults("leads to no event"), 2);
}
END_TEST

START_TEST(test_damaged_rows_end_a_list)
{
    pay_event_t place = {
        .scope = till->scopes[0], .endpoint = PAY_ENDPOINT_WEBHOOK, .charge_seq = 2, .sequence = 1};
    apr_array_header_t *list;
    pay_store_key_t key;

    fill();
    pay_store_event_key(&key, &place);
    till_plant(PAY_TABLE_EVENT, &key, "x", 1);
    ck_assert_int_eq(pay_store_event_list(&list, till->store, &till->scopes[0], 0, NULL,
                                          PAY_STORE_ROWS_MAX, unit_pool),
                     PAY_STORE_ECORRUPT);
    ck_assert_int_eq(list->nelts, 3);
    ck_assert_str_eq(paged(1, 0, 100), all);
}
END_TEST

static apr_status_t get(pay_event_t **out, int i, const pay_event_t *place)
{
    return pay_store_event_get(out, till->store, &till->scopes[i], place, unit_pool);
}

START_TEST(test_get)
{
    pay_event_t place = {
        .endpoint = PAY_ENDPOINT_WEBHOOK, .charge_seq = 2, .sequence = 2, .scope = {9, PAY_LIVE}};
    pay_store_key_t key;
    pay_event_t *got;

    fill();
    ck_assert_int_eq(get(&got, 0, &place), APR_SUCCESS);
    ck_assert_str_eq(outlet_name(got), "webhook 2.2 refund processed behind");
    ck_assert_str_eq(got->charge->reference, "order-2");
    ck_assert_str_eq(got->refund->transaction_reference, "order-2");
    ck_assert_ptr_null(got->parked);
    place.sequence = 1;
    place.endpoint = PAY_ENDPOINT_NOTICE;
    place.charge_seq |= PAY_EVENT_PARKED_BIT;
    ck_assert_int_eq(get(&got, 0, &place), APR_SUCCESS);
    ck_assert_str_eq(outlet_name(got->parked), "webhook 2.1 transaction successful parked");
    ck_assert_str_eq(got->charge->reference, "order-2");
    place.endpoint = PAY_ENDPOINT_RECEIPT;
    ck_assert_int_eq(get(&got, 0, &place), APR_NOTFOUND);
    ck_assert_ptr_null(got);
    place.charge_seq = 1;
    pay_store_charge_key(&key, &till->scopes[1], 1);
    till_plant(PAY_TABLE_CHARGE, &key, NULL, 0);
    ck_assert_int_eq(get(&got, 1, &place), PAY_STORE_ECORRUPT);
    ck_assert_ptr_null(got);
}
END_TEST

/* The subject of the notice may be gone by the time it is sent. */
START_TEST(test_notice_outlives_what_it_is_about)
{
    pay_event_t place = {.endpoint = PAY_ENDPOINT_WEBHOOK, .charge_seq = 2, .sequence = 1};
    pay_event_t *got;

    fill();
    ck_assert_int_eq(pay_store_event_drop(&got, till->store, &till->scopes[0], &place, unit_pool),
                     APR_SUCCESS);
    place.endpoint = PAY_ENDPOINT_NOTICE;
    place.charge_seq |= PAY_EVENT_PARKED_BIT;
    ck_assert_int_eq(get(&got, 0, &place), APR_SUCCESS);
    ck_assert_ptr_null(got->parked);
    till_check_clean();
}
END_TEST

static pay_event_stat_t stat_of(void)
{
    pay_event_stat_t stat;

    ck_assert_int_eq(pay_store_event_stat(&stat, till->store, unit_pool), APR_SUCCESS);
    return stat;
}

START_TEST(test_stat)
{
    pay_event_stat_t stat = stat_of();

    ck_assert(stat.events == 0 && stat.parked == 0 && stat.overdue == 0);
    fill();
    stat = stat_of();
    ck_assert_uint_eq(stat.events, TILL_SCOPES * 22);
    ck_assert_uint_eq(stat.parked, TILL_SCOPES);
    ck_assert_int_eq(stat.overdue, 0);
    till_clock += 12345;
    ck_assert_int_eq(stat_of().overdue, 12345);
    (void)outlet_take(1, 1);
    ck_assert_int_eq(stat_of().overdue, 12345); /* others wait */
    till_clock -= OUTLET_DAY / 2;
    ck_assert_int_eq(stat_of().overdue, 0);
    till_clock -= OUTLET_DAY / 2; /* they were postponed while the clock was ahead */
    ck_assert_int_eq(stat_of().overdue, PAY_STORE_EVENT_LONGEST);
    till_clock += OUTLET_DAY;
    (void)outlet_run(PAY_EVENT_DELIVERED);
    stat = stat_of();
    ck_assert_int_eq(stat.overdue, 0);
    ck_assert_uint_eq(stat.parked, TILL_SCOPES);
    /* And the leased one with those behind, and receipts of Live Mode that wait for room. */
    ck_assert_uint_eq(stat.events, TILL_SCOPES * 3 + 3 + 4);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_list);
    tcase_add_test(tcase, test_parked_with_leftovers);
    tcase_add_test(tcase, test_damaged_rows_end_a_list);
    tcase_add_test(tcase, test_get);
    tcase_add_test(tcase, test_notice_outlives_what_it_is_about);
    tcase_add_test(tcase, test_stat);
}

UNIT_PROGRAM(add)
