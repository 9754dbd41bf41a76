/* SPDX-License-Identifier: Apache-2.0 */
#include "outlet.h"

static apr_status_t put(pay_endpoint_t **out, const pay_endpoint_t *endpoint)
{
    return pay_store_endpoint_put(out, till->store, endpoint, NULL, unit_pool);
}

/* Each scope and kind has its own. */
START_TEST(test_put_and_get)
{
    pay_endpoint_t *made, *got;
    int i, kind;

    for (kind = PAY_ENDPOINT_KIND_LAST; kind >= PAY_ENDPOINT_WEBHOOK; kind--) {
        for (i = 0; i < TILL_SCOPES; i++) {
            const pay_endpoint_t wanted = {.scope = till->scopes[i],
                                           .kind = (pay_endpoint_kind_t)kind,
                                           .enabled = kind != PAY_ENDPOINT_NOTICE,
                                           .address = apr_psprintf(unit_pool, "to %d %d", i, kind),
                                           .secret = "s",
                                           .old_secret = "o",
                                           .old_secret_until = TILL_NOW + 1};

            ck_assert_int_eq(pay_store_endpoint_get(&got, till->store, &till->scopes[i],
                                                    (pay_endpoint_kind_t)kind, unit_pool),
                             APR_NOTFOUND);
            ck_assert_ptr_null(got);
            ck_assert_int_eq(put(&made, &wanted), APR_SUCCESS);
            ck_assert_str_eq(made->address, wanted.address);
        }
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        for (kind = PAY_ENDPOINT_WEBHOOK; kind <= PAY_ENDPOINT_KIND_LAST; kind++) {
            got = outlet_get(i, (pay_endpoint_kind_t)kind);
            ck_assert_str_eq(got->address, apr_psprintf(unit_pool, "to %d %d", i, kind));
            ck_assert_int_eq(got->enabled, kind != PAY_ENDPOINT_NOTICE);
            ck_assert_str_eq(got->secret, "s");
            ck_assert_str_eq(got->old_secret, "o");
            ck_assert_int_eq(got->old_secret_until, TILL_NOW + 1);
            ck_assert_int_eq(got->created_at, TILL_NOW);
            ck_assert_int_eq(got->updated_at, TILL_NOW);
            ck_assert_int_eq(got->kind, kind);
            ck_assert_uint_eq(got->scope.account, till->scopes[i].account);
            ck_assert_int_eq(got->scope.mode, till->scopes[i].mode);
        }
    }
    till_check_clean();
}
END_TEST

START_TEST(test_address_at_its_longest)
{
    pay_endpoint_t wanted = {.scope = till->scopes[0], .kind = PAY_ENDPOINT_WEBHOOK}, *out;
    char text[PAY_ENDPOINT_ADDRESS_MAX + 2];

    memset(text, 'a', sizeof(text));
    text[PAY_ENDPOINT_ADDRESS_MAX + 1] = '\0';
    wanted.address = text;
    ck_assert_int_eq(put(&out, &wanted), APR_EINVAL);
    ck_assert_ptr_null(out);
    text[PAY_ENDPOINT_ADDRESS_MAX] = '\0';
    ck_assert_int_eq(put(&out, &wanted), APR_SUCCESS);
    ck_assert_str_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->address, text);
    ck_assert_str_eq(out->secret, "");
    ck_assert_str_eq(out->old_secret, "");
    ck_assert_str_eq(out->error, "");
}
END_TEST

/* A later change: its own times and counts go on, its back-off does not. */
START_TEST(test_put_again)
{
    pay_endpoint_t wanted, *got;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    (void)outlet_finish(outlet_event(outlet_take(1, 1), 0), PAY_EVENT_FAILED);
    wanted = *outlet_get(0, PAY_ENDPOINT_WEBHOOK);
    ck_assert_uint_eq(wanted.failures, 1);
    till_clock += apr_time_from_sec(2);
    wanted.address = "elsewhere";
    wanted.created_at = 1;
    wanted.tests = 9;
    wanted.status = 9;
    wanted.answered_at = 9;
    wanted.error = "another";
    ck_assert_int_eq(put(&got, &wanted), APR_SUCCESS);
    ck_assert_str_eq(got->address, "elsewhere");
    ck_assert_int_eq(got->created_at, TILL_NOW);
    ck_assert_int_eq(got->updated_at, till_clock);
    ck_assert_int_eq(got->answered_at, TILL_NOW);
    ck_assert_int_eq(got->status, 500);
    ck_assert_str_eq(got->error, "The answer was 500");
    ck_assert_uint_eq(got->tests, 0);
    ck_assert_uint_eq(got->failures, 0);
    ck_assert_int_eq(got->due_at, till_clock);
    till_check_clean();
}
END_TEST

static const struct {
    const char *name, *secret, *old_secret; /* that it was read with */
    int is_written;
} was_cases[] = {
    {"both as they are", "s", "o", 1},
    {"another secret", "t", "o", 0},
    {"another old secret", "s", "p", 0},
    {"none, as before it was made", "", "", 0},
};

/* A caller that read it before another changed its secrets does not restore the old ones. */
START_TEST(test_put_over_other_secrets)
{
    const pay_endpoint_t is = {.scope = till->scopes[0],
                               .kind = PAY_ENDPOINT_WEBHOOK,
                               .address = "there",
                               .secret = "s",
                               .old_secret = "o"};
    pay_endpoint_t was = is, wanted = is, *out;
    const int good = was_cases[_i].is_written;

    ck_assert_int_eq(pay_store_endpoint_put(&out, till->store, &is, &was, unit_pool), APR_EEXIST);
    ck_assert_ptr_null(out); /* none exists, and so no secret */
    ck_assert_int_eq(put(&out, &is), APR_SUCCESS);
    was.secret = was_cases[_i].secret;
    was.old_secret = was_cases[_i].old_secret;
    wanted.address = "elsewhere";
    wanted.secret = "new";
    ck_assert_int_eq(pay_store_endpoint_put(&out, till->store, &wanted, &was, unit_pool),
                     good ? APR_SUCCESS : APR_EEXIST);
    ck_assert_int_eq(out != NULL, good);
    out = outlet_get(0, PAY_ENDPOINT_WEBHOOK);
    ck_assert_str_eq(out->secret, good ? "new" : "s");
    ck_assert_str_eq(out->address, good ? "elsewhere" : "there");
    till_check_clean();
}
END_TEST

/* A clock that was set back neither moves times backward nor keeps an endpoint from its turn. */
START_TEST(test_put_after_the_clock_went_back)
{
    pay_endpoint_t *got = outlet_open(0, PAY_ENDPOINT_WEBHOOK);

    ck_assert_int_eq(got->due_at, 0); /* nothing waits */
    (void)till_charge(0, "order-1", 1000);
    till_clock -= OUTLET_DAY;
    got = outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    ck_assert_int_eq(got->updated_at, TILL_NOW);
    ck_assert_int_eq(got->due_at, till_clock);
}
END_TEST

START_TEST(test_disabled_is_not_looked_at)
{
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    outlet_shut(0, PAY_ENDPOINT_WEBHOOK);
    ck_assert_int_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->due_at, 0);
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    ck_assert_str_eq(outlet_waiting(0), "webhook 1.1 transaction successful");
    till_check_clean();
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 1);
    till_check_clean();
}
END_TEST

static const char *listed(const pay_endpoint_t *after, int limit)
{
    apr_array_header_t *list;
    const char *text = "";
    int k;

    ck_assert_int_eq(pay_store_endpoint_list(&list, till->store, after, limit, unit_pool),
                     APR_SUCCESS);
    for (k = 0; k < list->nelts; k++) {
        const pay_endpoint_t *one = APR_ARRAY_IDX(list, k, const pay_endpoint_t *);

        text = apr_psprintf(unit_pool, "%s%u%c%d ", text, one->scope.account,
                            *pay_mode_name(one->scope.mode), one->kind);
    }
    return text;
}

START_TEST(test_list)
{
    pay_endpoint_t after = {.scope = {1, PAY_LIVE}, .kind = PAY_ENDPOINT_WEBHOOK};
    int i;

    ck_assert_str_eq(listed(NULL, 10), "");
    for (i = 0; i < TILL_SCOPES; i++) {
        outlet_open(i, PAY_ENDPOINT_NOTICE);
        outlet_open(i, PAY_ENDPOINT_WEBHOOK);
    }
    ck_assert_str_eq(listed(NULL, 10), "1t1 1t3 1l1 1l3 2t1 2t3 ");
    ck_assert_str_eq(listed(NULL, 2), "1t1 1t3 ");
    ck_assert_str_eq(listed(&after, 2), "1l3 2t1 ");
    after.kind = PAY_ENDPOINT_RECEIPT; /* is not there itself */
    ck_assert_str_eq(listed(&after, 10), "1l3 2t1 2t3 ");
    after.scope.account = 2;
    after.scope.mode = PAY_TEST;
    after.kind = PAY_ENDPOINT_NOTICE;
    ck_assert_str_eq(listed(&after, 10), "");
}
END_TEST

/* Notices of scope 0, then of scope 1. */
static apr_status_t switch_both(int enabled, const char *first, const char *second)
{
    apr_array_header_t *switches = apr_array_make(unit_pool, 2, sizeof(pay_endpoint_switch_t));
    const char *address[] = {first, second};
    int i;

    for (i = 0; i < 2; i++) {
        APR_ARRAY_PUSH(switches, pay_endpoint_switch_t) =
            (pay_endpoint_switch_t){.scope = till->scopes[i],
                                    .kind = PAY_ENDPOINT_NOTICE,
                                    .enabled = enabled,
                                    .address = address[i]};
    }
    return pay_store_endpoint_switch(till->store, switches, unit_pool);
}

/* One of them exists, and keeps everything that is not changed. */
START_TEST(test_switch)
{
    pay_endpoint_t wanted = {.scope = till->scopes[0],
                             .kind = PAY_ENDPOINT_NOTICE,
                             .address = "there",
                             .secret = "s",
                             .old_secret = "o"};
    pay_endpoint_t *got;

    ck_assert_int_eq(switch_both(0, NULL, "x"), APR_SUCCESS);
    ck_assert_str_eq(listed(NULL, 10), ""); /* never on, so not switched off */
    ck_assert_int_eq(put(&got, &wanted), APR_SUCCESS);
    ck_assert_int_eq(switch_both(1, NULL, "new"), APR_SUCCESS);
    got = outlet_get(0, PAY_ENDPOINT_NOTICE);
    ck_assert(got->enabled && !strcmp(got->address, "there"));
    ck_assert(!strcmp(got->secret, "s") && !strcmp(got->old_secret, "o"));
    got = outlet_get(1, PAY_ENDPOINT_NOTICE);
    ck_assert(got->enabled && !strcmp(got->address, "new") && !*got->secret);
    till_clock += OUTLET_DAY;
    ck_assert_int_eq(switch_both(1, "there", NULL), APR_SUCCESS); /* as they are */
    ck_assert_int_eq(outlet_get(0, PAY_ENDPOINT_NOTICE)->updated_at, TILL_NOW);
    ck_assert_int_eq(switch_both(0, NULL, NULL), APR_SUCCESS);
    ck_assert_int_eq(outlet_get(0, PAY_ENDPOINT_NOTICE)->enabled, 0);
    ck_assert_int_eq(outlet_get(1, PAY_ENDPOINT_NOTICE)->enabled, 0);
    ck_assert_str_eq(outlet_get(1, PAY_ENDPOINT_NOTICE)->address, "new");
    till_check_clean();
}
END_TEST

/*
 * The first can be written and the second cannot: neither is, whether it is damaged or its address
 * too long.
 */
START_TEST(test_switch_is_all_or_nothing)
{
    const pay_endpoint_t before = *outlet_open(0, PAY_ENDPOINT_NOTICE);
    const pay_endpoint_t *after;
    char text[PAY_ENDPOINT_ADDRESS_MAX + 2];
    pay_store_key_t key;

    memset(text, 'a', sizeof(text));
    text[PAY_ENDPOINT_ADDRESS_MAX + 1] = '\0';
    if (_i) {
        pay_store_endpoint_key(&key, &till->scopes[1], PAY_ENDPOINT_NOTICE);
        till_plant(PAY_TABLE_ENDPOINT, &key, "x", 1);
    }
    till_clock += OUTLET_DAY;
    ck_assert_int_eq(switch_both(1, "new", _i ? "new" : text),
                     _i ? PAY_STORE_ECORRUPT : APR_EINVAL);
    after = outlet_get(0, PAY_ENDPOINT_NOTICE);
    ck_assert_str_eq(after->address, before.address);
    ck_assert_int_eq(after->updated_at, before.updated_at);
}
END_TEST

static int reseal(int i, const char *was, const char *secret)
{
    const pay_endpoint_t place = {.scope = till->scopes[i], .kind = PAY_ENDPOINT_WEBHOOK};
    int changed;

    ck_assert_int_eq(
        pay_store_endpoint_reseal(&changed, till->store, &place, was, secret, unit_pool),
        APR_SUCCESS);
    return changed;
}

START_TEST(test_reseal)
{
    pay_endpoint_t wanted = *outlet_open(0, PAY_ENDPOINT_WEBHOOK), *out;

    wanted.old_secret = "older";
    ck_assert_int_eq(put(&out, &wanted), APR_SUCCESS);
    ck_assert_int_eq(reseal(1, "sealed", "new"), 0); /* none exists */
    ck_assert_int_eq(reseal(0, "other", "new"), 0);
    ck_assert_str_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->secret, "sealed");
    ck_assert_int_eq(reseal(0, "sealed", "new"), 1);
    ck_assert_int_eq(reseal(0, "sealed", "newer"), 0);
    ck_assert_int_eq(reseal(0, "older", "new older"), 1);
    ck_assert_str_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->secret, "new");
    ck_assert_str_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->old_secret, "new older");
    ck_assert_int_eq(outlet_get(0, PAY_ENDPOINT_WEBHOOK)->enabled, 1);
}
END_TEST

typedef struct row_t {
    const pay_endpoint_t *endpoint;
    pay_endpoint_t *out;
} row_t;

static int row_work(pay_rows_txn_t *txn, void *baton)
{
    row_t *row = baton;
    int rc;

    rc = pay_store_endpoint_store(txn, row->endpoint, unit_pool);
    return rc ? rc
              : pay_store_endpoint_load(&row->out, txn, &row->endpoint->scope, row->endpoint->kind,
                                        unit_pool);
}

/* At the ends of its numbers. */
START_TEST(test_row)
{
    const pay_endpoint_t most = {.scope = {APR_UINT32_MAX, PAY_LIVE},
                                 .kind = PAY_ENDPOINT_NOTICE,
                                 .enabled = 1,
                                 .address = "a",
                                 .secret = "b",
                                 .old_secret = "c",
                                 .old_secret_until = APR_INT64_MAX,
                                 .created_at = APR_INT64_MAX,
                                 .updated_at = APR_INT64_MAX,
                                 .failures = APR_UINT32_MAX,
                                 .probes = APR_UINT32_MAX,
                                 .probing = 1,
                                 .failing_since = APR_INT64_MAX,
                                 .due_at = APR_INT64_MAX,
                                 .tests = APR_UINT32_MAX,
                                 .answered_at = APR_INT64_MAX,
                                 .status = 599,
                                 .error = "e",
                                 .parked_told_at = APR_INT64_MAX,
                                 .recipients = "r"};
    row_t row = {.endpoint = &most};
    const pay_endpoint_t *got;

    till_raw(row_work, &row);
    got = row.out;
    ck_assert(got->old_secret_until == APR_INT64_MAX && got->due_at == APR_INT64_MAX);
    ck_assert(got->failures == APR_UINT32_MAX && got->probes == APR_UINT32_MAX);
    ck_assert(got->tests == APR_UINT32_MAX && got->probing == 1 && got->enabled == 1);
    ck_assert(got->failing_since == APR_INT64_MAX && got->parked_told_at == APR_INT64_MAX);
    ck_assert(got->answered_at == APR_INT64_MAX && got->status == 599);
    ck_assert(got->created_at == APR_INT64_MAX && got->updated_at == APR_INT64_MAX);
    ck_assert(!strcmp(got->address, "a") && !strcmp(got->secret, "b"));
    ck_assert(!strcmp(got->old_secret, "c") && !strcmp(got->error, "e"));
    ck_assert_str_eq(got->recipients, "r");
    ck_assert(got->scope.account == APR_UINT32_MAX && got->scope.mode == PAY_LIVE);
}
END_TEST

/* A damaged row does not hinder a charge, or the events of another endpoint. */
START_TEST(test_damaged_row)
{
    pay_store_key_t key;
    pay_endpoint_t *got;

    outlet_open_all(0);
    pay_store_endpoint_key(&key, &till->scopes[0], PAY_ENDPOINT_WEBHOOK);
    till_plant(PAY_TABLE_ENDPOINT, &key, "x", 1);
    ck_assert_int_eq(pay_store_endpoint_get(&got, till->store, &till->scopes[0],
                                            PAY_ENDPOINT_WEBHOOK, unit_pool),
                     PAY_STORE_ECORRUPT);
    ck_assert_ptr_null(got);
    (void)till_charge(0, "order-1", 1000);
    ck_assert_str_eq(outlet_waiting(0), "receipt 1.1 transaction successful; "
                                        "notice 1.1 transaction successful");
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 2);
    ck_assert_int_eq(till_find(0, "order-1")->state, PAY_CHARGE_SUCCESSFUL);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_put_and_get);
    tcase_add_test(tcase, test_address_at_its_longest);
    tcase_add_test(tcase, test_put_again);
    tcase_add_loop_test(tcase, test_put_over_other_secrets, 0, UNIT_ROWS(was_cases));
    tcase_add_test(tcase, test_put_after_the_clock_went_back);
    tcase_add_test(tcase, test_disabled_is_not_looked_at);
    tcase_add_test(tcase, test_list);
    tcase_add_test(tcase, test_switch);
    tcase_add_loop_test(tcase, test_switch_is_all_or_nothing, 0, 2);
    tcase_add_test(tcase, test_reseal);
    tcase_add_test(tcase, test_row);
    tcase_add_test(tcase, test_damaged_row);
}

UNIT_PROGRAM(add)
