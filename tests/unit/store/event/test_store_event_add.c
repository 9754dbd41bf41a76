/* SPDX-License-Identifier: Apache-2.0 */
#include "outlet.h"

#include "store/payment/charge.h"

/* Which changes of charges and refunds write which events. */

#define ALL 'a'
#define WEBHOOK 'w'
#define RECEIPT 'r'
#define NOTICE 'n'

static apr_uint64_t seq_of(int i)
{
    return till_find(i, "order-1")->seq;
}

static void resolve(int i, pay_outcome_kind_t kind)
{
    pay_charge_t *charge;

    (void)till_resolve(&charge, i, seq_of(i), kind);
}

static void refund(int i, apr_int64_t amount_minor, pay_outcome_kind_t kind)
{
    pay_refund_t *out = till_refund(i, "order-1", amount_minor, PAY_REFUND_OPENED);

    (void)till_refund_resolve(&out, i, out->refund_reference, kind);
}

/* The acquirer reverses the last refund that scope `i` made. */
static void take_back(int i)
{
    apr_array_header_t *list;
    pay_transaction_t found;
    pay_refund_t *out;
    int changed;

    ck_assert_int_eq(
        pay_store_transaction_find(&found, till->store, &till->scopes[i], "order-1", unit_pool),
        APR_SUCCESS);
    list = found.refunds;
    ck_assert_int_eq(pay_store_refund_fail(&out, &changed, till->store, &till->scopes[i],
                                           APR_ARRAY_IDX(list, list->nelts - 1, const char *),
                                           unit_pool),
                     APR_SUCCESS);
}

/* The effect of a letter: each in every scope before the next. */
static void act(char letter, int i)
{
    const apr_int64_t rest = letter == 'R' ? 1000 : 400;

    switch (letter) {
    case 'o':
        (void)till_open(i, "order-1", 1000);
        break;
    case 'c':
        (void)till_checkout(i, "order-1", 1000);
        break;
    case 'a':
        resolve(i, PAY_OUTCOME_APPROVED);
        break;
    case 'd':
        resolve(i, PAY_OUTCOME_DECLINED);
        break;
    case 'u':
        resolve(i, PAY_OUTCOME_UNKNOWN);
        break;
    case 'R':
    case 'r':
        refund(i, rest, PAY_OUTCOME_APPROVED);
        break;
    case 's':
        refund(i, 600, PAY_OUTCOME_APPROVED);
        break;
    case 'f':
        refund(i, 300, PAY_OUTCOME_DECLINED);
        break;
    case 'p':
        refund(i, 300, PAY_OUTCOME_UNKNOWN);
        break;
    default:
        ck_assert_int_eq(letter, 'b');
        take_back(i);
    }
}

static void open_endpoints(char letter, int i)
{
    if (letter == ALL) {
        outlet_open_all(i);
    } else if (letter != ' ') {
        (void)outlet_open(i, letter == WEBHOOK   ? PAY_ENDPOINT_WEBHOOK
                             : letter == RECEIPT ? PAY_ENDPOINT_RECEIPT
                                                 : PAY_ENDPOINT_NOTICE);
    }
}

static const struct {
    const char *name;
    char endpoints;
    const char *acts;
    const char *want;
} cases[] = {
    {"opened only", ALL, "o", ""},
    {"nobody knows", ALL, "ou", ""},
    {"approved", ALL, "oa",
     "webhook 1.1 transaction successful; receipt 1.1 transaction successful; "
     "notice 1.1 transaction successful"},
    {"approved, for the webhook alone", WEBHOOK, "oa", "webhook 1.1 transaction successful"},
    {"approved, for the payer alone", RECEIPT, "oa", "receipt 1.1 transaction successful"},
    {"approved, nobody wants to know", ' ', "oaRb", ""},
    {"approved once nobody knew", WEBHOOK, "ouua", "webhook 1.1 transaction successful"},
    {"declined", ALL, "od", "webhook 1.1 transaction failed; notice 1.1 transaction failed"},
    {"declined, for the payer alone", RECEIPT, "od", ""},
    {"told again", WEBHOOK, "oaaa", "webhook 1.1 transaction successful"},
    {"contradicted", ALL, "odaa", "webhook 1.1 transaction failed; notice 1.1 transaction failed"},
    {"a checkout that is paid", WEBHOOK, "ca", "webhook 1.1 transaction successful"},
    {"refunded in part", ALL, "oar",
     "webhook 1.1 transaction successful; webhook 1.2 refund processed behind; "
     "receipt 1.1 transaction successful; receipt 1.2 refund processed behind; "
     "notice 1.1 transaction successful; notice 1.2 refund processed behind"},
    {"a refund that is pending", WEBHOOK, "oap", "webhook 1.1 transaction successful"},
    {"a refund that fails", ALL, "oaf",
     "webhook 1.1 transaction successful; webhook 1.2 refund failed behind; "
     "receipt 1.1 transaction successful; notice 1.1 transaction successful"},
    {"refunded in full", ALL, "oaR",
     "webhook 1.1 transaction successful; webhook 1.2 refund processed behind; "
     "webhook 1.3 transaction reversed behind; "
     "receipt 1.1 transaction successful; receipt 1.2 refund processed behind; "
     "notice 1.1 transaction successful; notice 1.2 refund processed behind"},
    {"refunded in two parts", WEBHOOK, "oars",
     "webhook 1.1 transaction successful; webhook 1.2 refund processed behind; "
     "webhook 1.3 refund processed behind; webhook 1.4 transaction reversed behind"},
    {"a part that fails later", WEBHOOK, "oarb",
     "webhook 1.1 transaction successful; webhook 1.2 refund processed behind; "
     "webhook 1.3 refund failed behind"},
    {"reversed and back: no second receipt", ALL, "oaRb",
     "webhook 1.1 transaction successful; webhook 1.2 refund processed behind; "
     "webhook 1.3 transaction reversed behind; webhook 1.4 refund failed behind; "
     "webhook 1.5 transaction successful behind; "
     "receipt 1.1 transaction successful; receipt 1.2 refund processed behind; "
     "notice 1.1 transaction successful; notice 1.2 refund processed behind"},
    {"taken back twice is once", WEBHOOK, "oarbb",
     "webhook 1.1 transaction successful; webhook 1.2 refund processed behind; "
     "webhook 1.3 refund failed behind"},
    {"reversed by two, the last of them taken back", RECEIPT, "oarsb",
     "receipt 1.1 transaction successful; receipt 1.2 refund processed behind; "
     "receipt 1.3 refund processed behind"},
};

START_TEST(test_told)
{
    const char *letter;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        open_endpoints(cases[_i].endpoints, i);
    }
    for (letter = cases[_i].acts; *letter; letter++) {
        till_clock += apr_time_from_sec(1);
        for (i = 0; i < TILL_SCOPES; i++) {
            act(*letter, i);
        }
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_msg(!strcmp(outlet_waiting(i), cases[_i].want), "%s, scope %d: %s",
                      cases[_i].name, i, outlet_waiting(i));
    }
    till_check_clean();
}
END_TEST

/* An endpoint of one scope receives nothing of another's. */
START_TEST(test_of_its_own_scope_only)
{
    int i, k;

    for (k = 0; k < TILL_SCOPES; k++) {
        outlet_open(k, PAY_ENDPOINT_WEBHOOK);
        for (i = 0; i < TILL_SCOPES; i++) {
            (void)till_charge(i, apr_psprintf(unit_pool, "order-%d", k), 1000);
        }
    }
    ck_assert_str_eq(outlet_waiting(0), "webhook 1.1 transaction successful; "
                                        "webhook 2.1 transaction successful; "
                                        "webhook 3.1 transaction successful");
    ck_assert_str_eq(outlet_waiting(1), "webhook 2.1 transaction successful; "
                                        "webhook 3.1 transaction successful");
    ck_assert_str_eq(outlet_waiting(2), "webhook 3.1 transaction successful");
    till_check_clean();
}
END_TEST

/* The acquirer that answers at once: the charge is opened with its outcome. */
START_TEST(test_opened_with_its_outcome)
{
    pay_charge_t *charge;
    pay_claim_t claim;
    int i, again;

    for (again = 0; again < 2; again++) {
        for (i = 0; i < TILL_SCOPES; i++) {
            outlet_open(i, PAY_ENDPOINT_WEBHOOK);
            ck_assert_int_eq(pay_store_charge_open(
                                 &charge, &claim, till->store, till_proposal(i, "order-1", 1000),
                                 till_outcome(i ? PAY_OUTCOME_APPROVED : PAY_OUTCOME_DECLINED),
                                 NULL, unit_pool),
                             APR_SUCCESS);
            ck_assert_int_eq(claim, again ? PAY_CLAIM_KNOWN : PAY_CLAIM_NEW);
            ck_assert_uint_eq(till_find(i, "order-1")->events, 1);
        }
    }
    ck_assert_str_eq(outlet_waiting(0), "webhook 1.1 transaction failed");
    ck_assert_str_eq(outlet_waiting(1), "webhook 1.1 transaction successful");
    till_check_clean();
}
END_TEST

START_TEST(test_voids_are_not_told)
{
    pay_charge_t *charge;
    pay_idempotency_record_t *record;
    int changed;

    outlet_open_all(0);
    (void)till_checkout(0, "order-1", 1000);
    ck_assert_int_eq(pay_store_charge_void(&charge, &changed, &record, till->store,
                                           &till->scopes[0], "order-1", NULL, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    ck_assert_str_eq(outlet_waiting(0), "");
    resolve(0, PAY_OUTCOME_APPROVED); /* had been paid just before */
    ck_assert_str_eq(outlet_waiting(0),
                     "webhook 1.1 transaction successful; receipt 1.1 transaction successful; "
                     "notice 1.1 transaction successful");
    till_check_clean();
}
END_TEST

/* History makes no events, even if it reverses a charge of today. */
START_TEST(test_imports_are_not_told)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    pay_import_t import;
    int at;

    outlet_open_all(0);
    (void)till_charge(0, "order-1", 1000);
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 3);
    ck_assert_int_eq(pay_store_import_begin(&import, till->store, &till->scopes[0], unit_pool),
                     APR_SUCCESS);
    APR_ARRAY_PUSH(rows, pay_refund_t *) =
        till_history(0, 1, TILL_NOW - OUTLET_DAY, PAY_REFUND_PROCESSED, "order-1", 1000);
    ck_assert_int_eq(pay_store_import_rows(&import, &at, till->store, rows, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_finish(&import, till->store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(till_find(0, "order-1")->state, PAY_CHARGE_REVERSED);
    ck_assert_str_eq(outlet_waiting(0), "");
    ck_assert_uint_eq(till_find(0, "order-1")->events, 1);
    till_check_clean();
}
END_TEST

/* Disabled: waiting events go on waiting, nothing is added, and later events go behind them. */
START_TEST(test_disabled)
{
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    outlet_shut(0, PAY_ENDPOINT_WEBHOOK);
    refund(0, 300, PAY_OUTCOME_APPROVED);
    ck_assert_str_eq(outlet_waiting(0), "webhook 1.1 transaction successful");
    ck_assert_uint_eq(till_find(0, "order-1")->events, 1);
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    refund(0, 700, PAY_OUTCOME_APPROVED);
    ck_assert_str_eq(outlet_waiting(0),
                     "webhook 1.1 transaction successful; webhook 1.2 refund processed behind; "
                     "webhook 1.3 transaction reversed behind");
    till_check_clean();
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 3);
    till_check_clean();
}
END_TEST

/* An endpoint that comes later begins in the middle; the sequence goes on. */
START_TEST(test_endpoint_made_later)
{
    outlet_open(0, PAY_ENDPOINT_NOTICE);
    (void)till_charge(0, "order-1", 1000);
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    refund(0, 1000, PAY_OUTCOME_APPROVED);
    ck_assert_str_eq(outlet_waiting(0),
                     "webhook 1.2 refund processed; webhook 1.3 transaction reversed behind; "
                     "notice 1.1 transaction successful; notice 1.2 refund processed behind");
    till_check_clean();
}
END_TEST

START_TEST(test_charge_row_stays_below_its_limit)
{
    pay_charge_t *charge;
    char email[255], name[101];

    memset(email, 'e', sizeof(email));
    email[254] = '\0';
    memset(name, 'n', sizeof(name));
    name[100] = '\0';
    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charge = till_open(0, "order-1", 1000);
    charge->email = email;
    charge->first_name = name;
    charge->last_name = name;
    charge->events = APR_UINT32_MAX - 1;
    {
        pay_store_key_t key;
        pay_bytes_t row;

        ck_assert_int_eq(pay_store_charge_encode(&row, charge, unit_pool), 0);
        pay_store_charge_key(&key, &charge->scope, charge->seq);
        till_plant(PAY_TABLE_CHARGE, &key, row.data, row.len);
    }
    resolve(0, PAY_OUTCOME_APPROVED);
    ck_assert_uint_eq(till_find(0, "order-1")->events, APR_UINT32_MAX);
    ck_assert_str_eq(outlet_waiting(0), "webhook 1.4294967295 transaction successful");
}
END_TEST

/* An event that does not decode hinders those behind it, and no charge. */
START_TEST(test_damaged_event_stops_no_refund)
{
    pay_event_t place = {.endpoint = PAY_ENDPOINT_WEBHOOK, .charge_seq = 1, .sequence = 1};
    pay_store_key_t key;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    (void)till_charge(0, "order-1", 1000);
    place.scope = till->scopes[0];
    pay_store_event_key(&key, &place);
    till_plant(PAY_TABLE_EVENT, &key, "x", 1);
    refund(0, 300, PAY_OUTCOME_APPROVED);
    ck_assert_int_eq(till_find(0, "order-1")->refunded_minor, 300);
    ck_assert_int_eq(outlet_take(10, 10)->nelts, 0);
    ck_assert_int_ge(till_faults("the row does not decode"), 1);
}
END_TEST

/* The charge counts fewer events than there are, and the next one's place is taken by an unreadable
 * row: by the first one, or by one behind it. */
START_TEST(test_damaged_event_in_its_place)
{
    pay_event_t place = {
        .endpoint = PAY_ENDPOINT_WEBHOOK, .charge_seq = 1, .sequence = (apr_uint32_t)_i + 1};
    pay_charge_t *charge;
    pay_store_key_t key;
    pay_bytes_t row;

    outlet_open(0, PAY_ENDPOINT_WEBHOOK);
    charge = till_charge(0, "order-1", 1000);
    place.scope = till->scopes[0];
    pay_store_event_key(&key, &place);
    till_plant(PAY_TABLE_EVENT, &key, "x", 1);
    charge->events = place.sequence - 1;
    ck_assert_int_eq(pay_store_charge_encode(&row, charge, unit_pool), 0);
    pay_store_charge_key(&key, &charge->scope, charge->seq);
    till_plant(PAY_TABLE_CHARGE, &key, row.data, row.len);
    refund(0, 300, PAY_OUTCOME_APPROVED);
    ck_assert_int_eq(till_find(0, "order-1")->refunded_minor, 300);
    ck_assert_int_ge(till_faults("the row does not decode"), 1);
}
END_TEST

static pay_event_t *test_event(int i, pay_endpoint_kind_t kind, apr_status_t want)
{
    pay_event_t *event;

    ck_assert_int_eq(pay_store_event_test(&event, till->store, &till->scopes[i], kind, unit_pool),
                     want);
    ck_assert_int_eq(event != NULL, want == APR_SUCCESS);
    return event;
}

START_TEST(test_tests)
{
    const char *first;

    (void)test_event(0, PAY_ENDPOINT_WEBHOOK, APR_NOTFOUND);
    outlet_open_all(0);
    first = pay_event_id(test_event(0, PAY_ENDPOINT_WEBHOOK, APR_SUCCESS), unit_pool);
    ck_assert_str_eq(outlet_waiting(0), "webhook 0.1 test_assess test");
    ck_assert_str_ne(pay_event_id(test_event(0, PAY_ENDPOINT_WEBHOOK, APR_SUCCESS), unit_pool),
                     first);
    (void)test_event(0, PAY_ENDPOINT_NOTICE, APR_SUCCESS);
    (void)test_event(0, PAY_ENDPOINT_RECEIPT, APR_EINVAL);
    ck_assert_str_eq(outlet_waiting(0),
                     "webhook 0.2 test_assess test; notice 0.1 test_assess test");
    till_check_clean();
    (void)outlet_finish_all(outlet_take(10, 10), PAY_EVENT_FAILED);
    ck_assert_str_eq(outlet_waiting(0), "webhook 0.2 test_assess test parked; "
                                        "notice 0.1 test_assess test parked");
    till_check_clean();
    (void)test_event(0, PAY_ENDPOINT_WEBHOOK, APR_SUCCESS); /* the parked one is removed */
    (void)test_event(0, PAY_ENDPOINT_NOTICE, APR_SUCCESS);
    ck_assert_int_eq(outlet_run(PAY_EVENT_DELIVERED), 2);
    ck_assert_str_eq(outlet_waiting(0), "");
    outlet_shut(0, PAY_ENDPOINT_WEBHOOK);
    (void)test_event(0, PAY_ENDPOINT_WEBHOOK, APR_NOTFOUND);
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_told, 0, UNIT_ROWS(cases));
    tcase_add_test(tcase, test_of_its_own_scope_only);
    tcase_add_test(tcase, test_opened_with_its_outcome);
    tcase_add_test(tcase, test_voids_are_not_told);
    tcase_add_test(tcase, test_imports_are_not_told);
    tcase_add_test(tcase, test_disabled);
    tcase_add_test(tcase, test_endpoint_made_later);
    tcase_add_test(tcase, test_charge_row_stays_below_its_limit);
    tcase_add_test(tcase, test_damaged_event_stops_no_refund);
    tcase_add_loop_test(tcase, test_damaged_event_in_its_place, 0, 2);
    tcase_add_test(tcase, test_tests);
}

UNIT_PROGRAM(add)
