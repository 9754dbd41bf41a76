/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/idempotency.h"
#include "store/payment/refund.h"
#include "store_options.h"

#include <pthread.h>

#define RACERS 8
#define RACES 20

static pay_idempotency_record_t *put(int i, const pay_idempotency_t *use, const char *text)
{
    pay_idempotency_record_t *record;

    ck_assert_int_eq(
        pay_store_idempotency_put(&record, till->store, &till->scopes[i], use, text, unit_pool),
        APR_SUCCESS);
    ck_assert_ptr_nonnull(record);
    return record;
}

static void check_text(const pay_idempotency_record_t *record, const char *text)
{
    ck_assert_ptr_nonnull(record);
    ck_assert_int_eq(record->same_request, 1);
    ck_assert_ptr_null(record->charge);
    ck_assert_ptr_null(record->refund);
    ck_assert_int_eq(record->refusal, PAY_REFUND_OPENED);
    ck_assert_str_eq(record->text, text);
}

static void check_other(const pay_idempotency_record_t *record)
{
    ck_assert_ptr_nonnull(record);
    ck_assert_int_eq(record->same_request, 0);
    ck_assert_ptr_null(record->charge);
    ck_assert_ptr_null(record->refund);
    ck_assert_int_eq(record->refusal, PAY_REFUND_OPENED);
    ck_assert_ptr_null(record->text);
}

static const struct {
    const char *name;
    int scope; /* moved by */
    pay_operation_t operation;
    pay_key_kind_t kind;
    const char *key;
    const char *request;
    int known;
    int same;
} find_cases[] = {
    {"the same", 0, PAY_OPERATION_VERIFY, PAY_KEY_SECRET, "key-1", "a", 1, 1},
    {"another request", 0, PAY_OPERATION_VERIFY, PAY_KEY_SECRET, "key-1", "b", 1, 0},
    {"another key", 0, PAY_OPERATION_VERIFY, PAY_KEY_SECRET, "key-2", "a", 0, 0},
    {"a longer key", 0, PAY_OPERATION_VERIFY, PAY_KEY_SECRET, "key-11", "a", 0, 0},
    {"a key in capitals", 0, PAY_OPERATION_VERIFY, PAY_KEY_SECRET, "KEY-1", "a", 0, 0},
    {"of a public key", 0, PAY_OPERATION_VERIFY, PAY_KEY_PUBLIC, "key-1", "a", 0, 0},
    {"of a charge", 0, PAY_OPERATION_CHARGE, PAY_KEY_SECRET, "key-1", "a", 0, 0},
    {"of a refund", 0, PAY_OPERATION_REFUND, PAY_KEY_SECRET, "key-1", "a", 0, 0},
    {"of a partial refund", 0, PAY_OPERATION_PARTIAL_REFUND, PAY_KEY_SECRET, "key-1", "a", 0, 0},
    {"of a void", 0, PAY_OPERATION_VOID, PAY_KEY_SECRET, "key-1", "a", 0, 0},
    {"of the next scope", 1, PAY_OPERATION_VERIFY, PAY_KEY_SECRET, "key-1", "a", 0, 0},
    {"of the scope after", 2, PAY_OPERATION_VERIFY, PAY_KEY_SECRET, "key-1", "a", 0, 0},
};

START_TEST(test_find)
{
    const char *name = find_cases[_i].name;
    pay_idempotency_t *use =
        till_use(find_cases[_i].operation, find_cases[_i].key, find_cases[_i].request);
    pay_idempotency_record_t *record;
    int i, at;

    use->key_kind = find_cases[_i].kind;
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_msg(till_idempotency(i, use) == NULL, "%s", name);
    }
    for (i = 0; i < TILL_SCOPES; i++) { /* each scope in turn is the only one that has it */
        (void)put(i, till_use(PAY_OPERATION_VERIFY, apr_psprintf(unit_pool, "own-%d", i), "a"),
                  "{\"own\":1}");
        at = (i + find_cases[_i].scope) % TILL_SCOPES;
        if (find_cases[_i].scope) {
            use->key = apr_psprintf(unit_pool, "own-%d", i);
            ck_assert_msg(till_idempotency(at, use) == NULL, "%s", name);
            continue;
        }
        (void)put(i, till_use(PAY_OPERATION_VERIFY, "key-1", "a"), "{\"key\":1}");
        record = till_idempotency(i, use);
        ck_assert_msg((record != NULL) == find_cases[_i].known, "%s", name);
        if (record && find_cases[_i].same) {
            check_text(record, "{\"key\":1}");
        } else if (record) {
            check_other(record);
        }
    }
    till_check_clean();
}
END_TEST

START_TEST(test_what_is_known_stays)
{
    const pay_idempotency_t *use = till_use(PAY_OPERATION_VERIFY, "key-1", "a");
    const char *before;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        check_text(put(i, use, apr_psprintf(unit_pool, "{\"first\":%d}", i)),
                   apr_psprintf(unit_pool, "{\"first\":%d}", i));
    }
    before = till_snapshot();
    for (i = 0; i < TILL_SCOPES; i++) {
        check_text(put(i, use, "{\"second\":0}"), apr_psprintf(unit_pool, "{\"first\":%d}", i));
        check_other(put(i, till_use(PAY_OPERATION_VERIFY, "key-1", "b"), "{\"second\":0}"));
    }
    ck_assert_str_eq(till_snapshot(), before);
    till_clock += 10 * PAY_IDEMPOTENCY_KEEP; /* it stays until it is removed */
    for (i = 0; i < TILL_SCOPES; i++) {
        check_text(till_idempotency(i, use), apr_psprintf(unit_pool, "{\"first\":%d}", i));
    }
    till_check_clean();
}
END_TEST

START_TEST(test_longest_text)
{
    const pay_idempotency_t *use = till_use(PAY_OPERATION_VERIFY, "key-1", "a");
    char *text = apr_palloc(unit_pool, PAY_STORE_IDEMPOTENCY_TEXT_MAX + 2);
    const char *before = till_snapshot();
    pay_idempotency_record_t *record;

    memset(text, 'x', PAY_STORE_IDEMPOTENCY_TEXT_MAX + 1);
    text[PAY_STORE_IDEMPOTENCY_TEXT_MAX + 1] = '\0';
    ck_assert_int_eq(
        pay_store_idempotency_put(&record, till->store, &till->scopes[_i], use, text, unit_pool),
        APR_EINVAL);
    ck_assert_ptr_null(record);
    ck_assert_str_eq(till_snapshot(), before);
    text[PAY_STORE_IDEMPOTENCY_TEXT_MAX] = '\0';
    (void)put(_i, use, text);
    check_text(till_idempotency(_i, use), text);
    till_check_clean();
}
END_TEST

START_TEST(test_longest_key)
{
    char *key = apr_palloc(unit_pool, PAY_IDEMPOTENCY_KEY_MAX + 1);

    memset(key, '~', PAY_IDEMPOTENCY_KEY_MAX);
    key[PAY_IDEMPOTENCY_KEY_MAX] = '\0';
    (void)put(_i, till_use(PAY_OPERATION_VOID, key, "a"), "{}");
    check_text(till_idempotency(_i, till_use(PAY_OPERATION_VOID, key, "a")), "{}");
    key[PAY_IDEMPOTENCY_KEY_MAX - 1] = '\0';
    ck_assert_ptr_null(till_idempotency(_i, till_use(PAY_OPERATION_VOID, key, "a")));
}
END_TEST

/* Without the reserve's room nothing new is stored; stored records are still found. */
START_TEST(test_reserve)
{
    pay_store_options_t options = unit_store_options();
    const pay_idempotency_t *use = till_use(PAY_OPERATION_VERIFY, "key-1", "a");
    pay_idempotency_record_t *record;

    (void)put(_i, use, "{}");
    till_close();
    ck_assert_int_eq(apr_pool_create(&till->pool, unit_pool), APR_SUCCESS);
    options.reserve_bytes = options.map_bytes;
    ck_assert_int_eq(pay_store_open(&till->store, till->url, &options, till->pool), APR_SUCCESS);
    check_text(till_idempotency(_i, use), "{}");
    ck_assert_int_eq(pay_store_idempotency_put(&record, till->store, &till->scopes[_i],
                                               till_use(PAY_OPERATION_VERIFY, "key-2", "a"), "{}",
                                               unit_pool),
                     PAY_STORE_EFULL);
    ck_assert_ptr_null(record);
    ck_assert_ptr_null(till_idempotency(_i, till_use(PAY_OPERATION_VERIFY, "key-2", "a")));
}
END_TEST

/* ---- rows that do not decode, or lead nowhere */

static void check_corrupt(int i, const pay_idempotency_t *use, const char *name)
{
    pay_idempotency_record_t *record;
    apr_status_t rv;

    rv = pay_store_idempotency_find(&record, till->store, &till->scopes[i], use, unit_pool);
    ck_assert_msg(rv == PAY_STORE_ECORRUPT, "%s: %d", name, rv);
    ck_assert_ptr_null(record);
    ck_assert_msg(strstr(till_line, "kept") != NULL, "%s: '%s'", name, till_line);
}

START_TEST(test_bad_row)
{
    const pay_idempotency_t *use = till_use(PAY_OPERATION_VERIFY, "key-1", "a");
    pay_store_key_t key;
    pay_idempotency_record_t *record;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)put(i, use, "{}");
    }
    till_idempotency_key(&key, _i, use);
    till_plant(PAY_TABLE_IDEMPOTENCY, &key, "\1\1", 2);
    check_corrupt(_i, use, "two bytes");
    ck_assert_int_eq(
        pay_store_idempotency_put(&record, till->store, &till->scopes[_i], use, "{}", unit_pool),
        PAY_STORE_ECORRUPT);
    for (i = 0; i < TILL_SCOPES; i++) {
        if (i != _i) {
            check_text(till_idempotency(i, use), "{}");
        }
    }
}
END_TEST

static pay_charge_t *open_recorded(int i, const char *reference, const pay_idempotency_t *use)
{
    pay_charge_t *charge;
    pay_claim_t claim;

    ck_assert_int_eq(pay_store_charge_open(&charge, &claim, till->store,
                                           till_proposal(i, reference, 1000), NULL, use, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(claim, PAY_CLAIM_NEW);
    return charge;
}

START_TEST(test_dangling)
{
    const pay_idempotency_t *charged = till_use(PAY_OPERATION_CHARGE, "key-1", "a");
    const pay_idempotency_t *refunded = till_use(PAY_OPERATION_REFUND, "key-1", "a");
    pay_refund_verdict_t verdict;
    pay_charge_t *charge;
    pay_refund_t *refund;
    pay_store_key_t key;
    pay_idempotency_record_t *record;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        (void)open_recorded(i, "order-2", charged);
        ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                               till_refund_proposal(i, "order-1", 100), refunded, 0,
                                               unit_pool),
                         APR_SUCCESS);
    }
    pay_store_key_of_scope(&key, &till->scopes[_i]);
    pay_store_key_u64(&key, 2);
    till_plant(PAY_TABLE_CHARGE, &key, NULL, 0);
    check_corrupt(_i, charged, "a charge that is gone");
    pay_store_refund_key(&key, &till->scopes[_i], TILL_NOW, 1);
    till_plant(PAY_TABLE_REFUND, &key, NULL, 0);
    check_corrupt(_i, refunded, "a refund that is gone");
    for (i = 0; i < TILL_SCOPES; i++) {
        if (i != _i) {
            ck_assert_str_eq(till_idempotency(i, charged)->charge->reference, "order-2");
            ck_assert(till_idempotency(i, refunded)->refund->money.amount_minor == 100);
        }
    }
}
END_TEST

/* ---- races: everybody is given the answer that was kept first */

typedef struct racer_t {
    pay_store_t *store;
    apr_pool_t *pool;
    const char *name;
    const char *texts[RACES];
    int failed;
} racer_t;

static void *race(void *data)
{
    racer_t *racer = data;
    pay_idempotency_t use = {.operation = PAY_OPERATION_VERIFY};
    pay_idempotency_record_t *record;
    int n;

    for (n = 0; n < RACES; n++) {
        use.key = apr_psprintf(racer->pool, "key-%d", n);
        racer->failed |=
            pay_store_idempotency_put(&record, racer->store, &till->scopes[n % TILL_SCOPES], &use,
                                      racer->name, racer->pool)
                != APR_SUCCESS
            || !record->same_request;
        racer->texts[n] = racer->failed ? "" : record->text;
    }
    return NULL;
}

START_TEST(test_threads_race)
{
    pthread_t threads[RACERS];
    racer_t racers[RACERS];
    int r, n;

    for (r = 0; r < RACERS; r++) {
        racers[r] = (racer_t){.store = till->store};
        racers[r].name = apr_psprintf(unit_pool, "{\"racer\":%d}", r);
        ck_assert_int_eq(apr_pool_create(&racers[r].pool, unit_pool), APR_SUCCESS);
    }
    for (r = 0; r < RACERS; r++) {
        ck_assert_int_eq(pthread_create(&threads[r], NULL, race, &racers[r]), 0);
    }
    for (r = 0; r < RACERS; r++) {
        pthread_join(threads[r], NULL);
        ck_assert(!racers[r].failed);
    }
    for (n = 0; n < RACES; n++) {
        for (r = 1; r < RACERS; r++) {
            ck_assert_str_eq(racers[r].texts[n], racers[0].texts[n]);
        }
    }
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_find, 0, UNIT_ROWS(find_cases));
    tcase_add_test(tcase, test_what_is_known_stays);
    tcase_add_loop_test(tcase, test_longest_text, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_longest_key, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_reserve, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_bad_row, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_dangling, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_threads_race);
}

UNIT_PROGRAM(add)
