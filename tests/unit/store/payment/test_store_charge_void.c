/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "checkout_goods.h"

#include "base/text/writer.h"
#include "store/payment/charge.h"

#include <pthread.h>

#define RACERS 8

/* Returns the status; the result of void is in the arguments. */
static apr_status_t close_checkout(pay_charge_t **charge, int *voided,
                                   pay_idempotency_record_t **record, int i, const char *reference,
                                   const pay_idempotency_t *use)
{
    return pay_store_charge_void(charge, voided, record, till->store, &till->scopes[i], reference,
                                 use, unit_pool);
}

/*
 * A checkout with work in flight of a process of this boot, `alive` or dead, until `wait_until_ms`.
 */
static void open_worked_on(int i, int alive, apr_int64_t wait_until_ms)
{
    pay_charge_t *proposal = till_proposal(i, "order-1", 100), *charge;
    pay_claim_t claim;

    proposal->kind = PAY_CHARGE_CHECKOUT;
    proposal->checkout = checkout_make(till_clock + apr_time_from_sec(60), unit_pool);
    proposal->worker = pay_worker_self();
    proposal->worker.start_ticks += alive ? 0 : 1; /* else another process had our pid */
    proposal->send_before_ms = wait_until_ms;
    proposal->wait_until_ms = wait_until_ms;
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
}

/*
 * In Live Mode its acquirer may still report that it was paid, and is queried when it was due
 * anyway.
 */
static void check_void(const pay_charge_t *charge)
{
    const apr_time_t asked_at =
        charge->scope.mode == PAY_LIVE ? TILL_NOW + apr_time_from_sec(60) : 0;

    ck_assert_int_eq(charge->state, PAY_CHARGE_VOID);
    ck_assert_int_eq(charge->kind, PAY_CHARGE_CHECKOUT);
    ck_assert_int_eq(charge->decided_state, PAY_CHARGE_PENDING);
    ck_assert(charge->decided_at == 0 && charge->due_at == asked_at);
    ck_assert(charge->created_at == TILL_NOW && charge->updated_at == till_clock);
    ck_assert(charge->worker.pid == 0 && charge->send_before_ms == 0);
    ck_assert(charge->wait_until_ms == 0 && charge->wait_until_at == 0);
}

START_TEST(test_void)
{
    pay_charge_t *charge;
    apr_array_header_t *due;
    pay_idempotency_record_t *record;
    int i, voided;

    for (i = 0; i < TILL_SCOPES; i++) {
        open_worked_on(i, 0, APR_INT64_MAX / 2);
    }
    till_clock = TILL_NOW + apr_time_from_sec(1);
    ck_assert_int_eq(close_checkout(&charge, &voided, &record, _i, "order-1", NULL), APR_SUCCESS);
    ck_assert_int_eq(voided, 1);
    ck_assert_ptr_null(record);
    check_void(charge);
    check_void(till_find(_i, "order-1"));
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(till_find(i, "order-1")->state,
                         i == _i ? PAY_CHARGE_VOID : PAY_CHARGE_PENDING);
    }
    till_check_clean();
    for (i = 0; i < TILL_SCOPES; i++) { /* no work in flight any more */
        (void)till_resolve(&charge, i, 1, PAY_OUTCOME_UNKNOWN);
    }
    ck_assert_int_eq(pay_store_due_take(&due, till->store, till_clock + apr_time_from_sec(3600),
                                        apr_time_from_sec(1), 10, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(due->nelts, TILL_SCOPES - (till->scopes[_i].mode == PAY_TEST));
    for (i = 0; i < due->nelts; i++) {
        charge = (pay_charge_t *)APR_ARRAY_IDX(due, i, pay_due_t).charge;
        ck_assert_int_eq(charge->state,
                         memcmp(&charge->scope, &till->scopes[_i], sizeof(charge->scope)) == 0
                             ? PAY_CHARGE_VOID
                             : PAY_CHARGE_PENDING);
    }
}
END_TEST

static const struct {
    const char *name;
    const char *reference;
    apr_status_t want;
} unknown_cases[] = {
    {"no such reference", "order-2", APR_NOTFOUND},
    {"another scope's", "theirs", APR_NOTFOUND},
    {"longer than any key", NULL, APR_NOTFOUND},
    {"empty", "", APR_NOTFOUND},
};

START_TEST(test_unknown)
{
    const char *reference = unknown_cases[_i].reference, *before;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;
    apr_status_t rv;
    int voided;

    if (!reference) {
        reference = apr_psprintf(unit_pool, "%0600d", 1);
    }
    (void)till_checkout(0, "order-1", 100);
    (void)till_checkout(1, "theirs", 100);
    before = till_snapshot();
    rv = close_checkout(&charge, &voided, &record, 0, reference,
                        till_use(PAY_OPERATION_VOID, "key", "request 1"));
    ck_assert_msg(rv == unknown_cases[_i].want, "%s: %d", unknown_cases[_i].name, rv);
    ck_assert(!charge && !voided && !record);
    ck_assert_str_eq(till_snapshot(), before);
}
END_TEST

static const struct {
    const char *name;
    int alive;
    apr_int64_t wait_until_ms;
    int want;
} busy_cases[] = {
    {"at work", 1, APR_INT64_MAX / 2, 0},
    {"its time is over", 1, 1, 1},
    {"dead", 0, APR_INT64_MAX / 2, 1},
};

/* A checkout that a process may be paying at this moment is not voided. */
START_TEST(test_busy)
{
    const pay_idempotency_t *use = till_use(PAY_OPERATION_VOID, "key", "request 1");
    const char *before, *name = busy_cases[_i].name;
    int voided, want = busy_cases[_i].want;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;

    open_worked_on(0, busy_cases[_i].alive, busy_cases[_i].wait_until_ms);
    before = till_snapshot();
    ck_assert_int_eq(close_checkout(&charge, &voided, &record, 0, "order-1", use), APR_SUCCESS);
    ck_assert_msg(voided == want, "%s: %d", name, voided);
    ck_assert_msg(strcmp(till_snapshot(), before) == 0 || want, "%s: something was written", name);
    ck_assert_int_eq(charge->state, want ? PAY_CHARGE_VOID : PAY_CHARGE_PENDING);
    (void)till_resolve(&charge, 0, 1, PAY_OUTCOME_UNKNOWN); /* no work in flight any more */
    ck_assert_int_eq(close_checkout(&charge, &voided, &record, 0, "order-1", use), APR_SUCCESS);
    ck_assert_msg(voided == !want && !record == !want, "%s: not the next time", name);
    till_check_clean();
}
END_TEST

/* The answer is stored with the change, and repeated whatever happened since. */
START_TEST(test_recorded)
{
    pay_writer_t *w = pay_writer_make(64, unit_pool);
    const char *before;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;
    int voided;

    (void)till_checkout(_i, "order-1", 100);
    (void)till_checkout(_i, "order-2", 100);
    ck_assert_int_eq(close_checkout(&charge, &voided, &record, _i, "order-1",
                                    till_use(PAY_OPERATION_VOID, "key", "request 1")),
                     APR_SUCCESS);
    ck_assert(voided == 1 && !record);
    pay_void_answer_to_json(w, charge);
    (void)till_resolve(&charge, _i, charge->seq, PAY_OUTCOME_APPROVED);

    before = till_snapshot();
    ck_assert_int_eq(close_checkout(&charge, &voided, &record, _i, "order-1",
                                    till_use(PAY_OPERATION_VOID, "key", "request 1")),
                     APR_SUCCESS);
    ck_assert(!charge && !voided);
    ck_assert_ptr_nonnull(record);
    ck_assert_int_eq(record->same_request, 1);
    ck_assert_str_eq(record->text, w->text);
    ck_assert_int_eq(close_checkout(&charge, &voided, &record, _i, "order-2",
                                    till_use(PAY_OPERATION_VOID, "key", "request 2")),
                     APR_SUCCESS);
    ck_assert(!charge && !voided);
    ck_assert_ptr_nonnull(record);
    ck_assert_int_eq(record->same_request, 0);
    ck_assert_str_eq(till_snapshot(), before);
    ck_assert_int_eq(close_checkout(&charge, &voided, &record, _i, "order-2",
                                    till_use(PAY_OPERATION_VOID, "key2", "request 2")),
                     APR_SUCCESS);
    ck_assert(voided == 1 && !record);
    till_check_clean();
}
END_TEST

/* 409 is not stored: the same key may void it later. */
START_TEST(test_refusal_is_not_kept)
{
    const pay_idempotency_t *use = till_use(PAY_OPERATION_VOID, "key", "request 1");
    pay_charge_t *charge;
    pay_idempotency_record_t *record;
    const char *before;
    int voided;

    (void)till_open(0, "order-1", 100);
    before = till_snapshot();
    ck_assert_int_eq(close_checkout(&charge, &voided, &record, 0, "order-1", use), APR_SUCCESS);
    ck_assert(!voided && !record);
    ck_assert_int_eq(charge->state, PAY_CHARGE_PENDING); /* as it is, for the answer's sentence */
    ck_assert_str_eq(till_snapshot(), before);
    ck_assert_int_eq(
        pay_store_idempotency_find(&record, till->store, &till->scopes[0], use, unit_pool),
        APR_NOTFOUND);
}
END_TEST

START_TEST(test_bad_row)
{
    pay_charge_t *charge;
    pay_idempotency_record_t *record;
    pay_store_key_t key;
    const char *before;
    int voided;

    (void)till_checkout(0, "order-1", 100);
    pay_store_charge_key(&key, &till->scopes[0], 1);
    till_plant(PAY_TABLE_CHARGE, &key, "\x01\x01", 2);
    before = till_snapshot();
    ck_assert_int_eq(close_checkout(&charge, &voided, &record, 0, "order-1",
                                    till_use(PAY_OPERATION_VOID, "key", "request 1")),
                     PAY_STORE_ECORRUPT);
    ck_assert(!charge && !voided && !record);
    ck_assert_str_eq(till_snapshot(), before);
}
END_TEST

/* The payer pays at the same time: the acquirer's report counts, whoever comes first. */
typedef struct racer_t {
    int approves;
    apr_pool_t *pool;
    int done;
    apr_status_t rv;
} racer_t;

static void *race(void *data)
{
    racer_t *racer = data;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;

    if (racer->approves) {
        racer->rv = pay_store_charge_resolve(&charge, &racer->done, till->store, &till->scopes[0],
                                             1, till_outcome(PAY_OUTCOME_APPROVED), 0, racer->pool);
    } else {
        racer->rv = pay_store_charge_void(&charge, &racer->done, &record, till->store,
                                          &till->scopes[0], "order-1", NULL, racer->pool);
    }
    return NULL;
}

START_TEST(test_race)
{
    pthread_t threads[RACERS];
    racer_t racers[RACERS];
    int r, done[2] = {0, 0};

    (void)till_checkout(0, "order-1", 100);
    for (r = 0; r < RACERS; r++) {
        racers[r].approves = r % 2;
        ck_assert_int_eq(apr_pool_create(&racers[r].pool, unit_pool), APR_SUCCESS);
    }
    for (r = 0; r < RACERS; r++) {
        ck_assert_int_eq(pthread_create(&threads[r], NULL, race, &racers[r]), 0);
    }
    for (r = 0; r < RACERS; r++) {
        pthread_join(threads[r], NULL);
    }
    for (r = 0; r < RACERS; r++) {
        ck_assert_int_eq(racers[r].rv, APR_SUCCESS);
        done[racers[r].approves] += racers[r].done;
    }
    ck_assert_int_le(done[0], 1);
    ck_assert_int_eq(done[1], 1);
    ck_assert_int_eq(till_find(0, "order-1")->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_int_eq(till_lines[PAY_LOG_ALERT], 0);
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_void, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_busy, 0, UNIT_ROWS(busy_cases));
    tcase_add_loop_test(tcase, test_unknown, 0, UNIT_ROWS(unknown_cases));
    tcase_add_loop_test(tcase, test_recorded, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_refusal_is_not_kept);
    tcase_add_test(tcase, test_bad_row);
    tcase_add_test(tcase, test_race);
}

UNIT_PROGRAM(add)
