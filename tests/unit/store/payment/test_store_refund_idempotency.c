/* SPDX-License-Identifier: Apache-2.0 */

/* Refunds requested with an Idempotency-Key: at most one for each key. */

#include "till.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define RACERS 8
#define RACES 20
#define WINDOW apr_time_from_sec(600)

typedef struct opened_t {
    pay_refund_t *refund;
    pay_charge_t *charge;
    pay_refund_verdict_t verdict;
    pay_idempotency_record_t *record;
} opened_t;

static const pay_idempotency_t *use_of(const char *key, const char *request)
{
    return till_use(PAY_OPERATION_PARTIAL_REFUND, key, request);
}

static apr_status_t try_open(opened_t *opened, pay_refund_t *proposal, const pay_idempotency_t *use)
{
    return pay_store_refund_open(&opened->refund, &opened->charge, &opened->verdict,
                                 &opened->record, till->store, proposal, use, WINDOW, unit_pool);
}

static opened_t open_as(int i, const char *reference, apr_int64_t amount_minor,
                        const pay_idempotency_t *use)
{
    opened_t opened;

    ck_assert_int_eq(try_open(&opened, till_refund_proposal(i, reference, amount_minor), use),
                     APR_SUCCESS);
    if (opened.record) {
        ck_assert_ptr_null(opened.refund);
        ck_assert_ptr_null(opened.charge);
    }
    return opened;
}

static void settle(int i, const pay_refund_t *refund, pay_outcome_kind_t kind)
{
    pay_refund_t *out;

    ck_assert_int_eq(till_refund_resolve(&out, i, refund->refund_reference, kind), 1);
}

START_TEST(test_key_leads_to_the_refund)
{
    const pay_idempotency_t *use = use_of("key-1", "order-1 400");
    opened_t first[TILL_SCOPES], again;
    const char *before;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        first[i] = open_as(i, "order-1", 400, use);
        ck_assert_ptr_null(first[i].record);
        ck_assert_int_eq(first[i].verdict, PAY_REFUND_OPENED);
    }
    settle(1, first[1].refund, PAY_OUTCOME_APPROVED);
    settle(2, first[2].refund, PAY_OUTCOME_DECLINED);
    before = till_snapshot();
    till_clock += 100 * PAY_IDEMPOTENCY_KEEP; /* it lives as long as the refund */
    for (i = 0; i < TILL_SCOPES; i++) {
        again = open_as(i, "order-1", 400, use);
        ck_assert_ptr_nonnull(again.record);
        ck_assert_int_eq(again.record->same_request, 1);
        ck_assert_ptr_null(again.record->text);
        ck_assert_ptr_null(again.record->charge);
        ck_assert_int_eq(again.record->refusal, PAY_REFUND_OPENED);
        ck_assert_str_eq(again.record->refund->refund_reference, first[i].refund->refund_reference);
        ck_assert_int_eq(again.record->refund->state, i == 0   ? PAY_REFUND_PENDING
                                                      : i == 1 ? PAY_REFUND_PROCESSED
                                                               : PAY_REFUND_FAILED);
        ck_assert_ptr_nonnull(till_idempotency(i, use)->refund);
        /* Another request, even one about a charge that does not exist. */
        again = open_as(i, "order-9", 500, use_of("key-1", "order-9 500"));
        ck_assert_ptr_nonnull(again.record);
        ck_assert_int_eq(again.record->same_request, 0);
        ck_assert_ptr_null(again.record->refund);
    }
    ck_assert_str_eq(till_snapshot(), before);
    till_check_clean();
}
END_TEST

/* A key of one scope, kind and operation means nothing in another. */
START_TEST(test_keys_apart)
{
    pay_idempotency_t *use = till_use(PAY_OPERATION_PARTIAL_REFUND, "key-1", "a");
    opened_t opened;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        use->operation = PAY_OPERATION_PARTIAL_REFUND;
        use->key_kind = PAY_KEY_SECRET;
        opened = open_as(i, "order-1", 100, use);
        ck_assert_ptr_null(opened.record);
        settle(i, opened.refund, PAY_OUTCOME_APPROVED);
        use->key_kind = PAY_KEY_PUBLIC;
        opened = open_as(i, "order-1", 100, use);
        ck_assert_ptr_null(opened.record);
        settle(i, opened.refund, PAY_OUTCOME_APPROVED);
        use->key_kind = PAY_KEY_SECRET;
        use->operation = PAY_OPERATION_REFUND;
        opened = open_as(i, "order-1", 0, use);
        ck_assert_ptr_null(opened.record);
        ck_assert(opened.refund->money.amount_minor == 800);
    }
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    pay_outcome_kind_t charged;
    apr_int64_t processed, pending; /* refunds before */
    apr_int64_t amount_minor;
    pay_refund_verdict_t want;
    int record;
} refusal_cases[] = {
    {"R1: a pending charge", PAY_OUTCOME_UNKNOWN, 0, 0, 100, PAY_REFUND_REFUSED_STATE, 0},
    {"R1: a failed charge", PAY_OUTCOME_DECLINED, 0, 0, 100, PAY_REFUND_REFUSED_STATE, 1},
    {"R2: above the charge", PAY_OUTCOME_APPROVED, 0, 0, 1001, PAY_REFUND_REFUSED_ABOVE, 1},
    {"R2: above what is left", PAY_OUTCOME_APPROVED, 600, 0, 401, PAY_REFUND_REFUSED_ABOVE, 1},
    {"R3: nothing is left", PAY_OUTCOME_APPROVED, 1000, 0, 0, PAY_REFUND_REFUSED_FULL, 1},
    {"R2: above, another is pending", PAY_OUTCOME_APPROVED, 600, 100, 401, PAY_REFUND_REFUSED_ABOVE,
     1},
    {"R4: another is pending", PAY_OUTCOME_APPROVED, 0, 100, 200, PAY_REFUND_REFUSED_BUSY, 0},
    {"R4: its like is pending", PAY_OUTCOME_APPROVED, 0, 100, 100, PAY_REFUND_REFUSED_BUSY, 0},
};

START_TEST(test_refusals)
{
    const char *name = refusal_cases[_i].name, *before;
    apr_int64_t amount_minor = refusal_cases[_i].amount_minor;
    const pay_idempotency_t *use = use_of("key-1", "a");
    pay_refund_t *refunds[TILL_SCOPES] = {NULL};
    pay_charge_t *charge;
    opened_t opened;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_open(i, "order-1", 1000);
        (void)till_resolve(&charge, i, 1, refusal_cases[_i].charged);
        if (refusal_cases[_i].processed) {
            refunds[i] = till_refund(i, "order-1", refusal_cases[_i].processed, PAY_REFUND_OPENED);
            settle(i, refunds[i], PAY_OUTCOME_APPROVED);
        }
        if (refusal_cases[_i].pending) {
            refunds[i] = till_refund(i, "order-1", refusal_cases[_i].pending, PAY_REFUND_OPENED);
        }
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        before = till_snapshot();
        /* Without a key nothing is written, whatever the verdict. */
        (void)till_refund(i, "order-1", amount_minor, refusal_cases[_i].want);
        ck_assert_str_eq(till_snapshot(), before);
        opened = open_as(i, "order-1", amount_minor, use);
        ck_assert_msg(!opened.record && !opened.refund && opened.verdict == refusal_cases[_i].want,
                      "%s: %d", name, (int)opened.verdict);
        ck_assert(opened.charge->seq == 1);
        ck_assert_msg((strcmp(till_snapshot(), before) != 0) == refusal_cases[_i].record, "%s",
                      name);
        ck_assert_msg((till_idempotency(i, use) != NULL) == refusal_cases[_i].record, "%s", name);
        if (!refusal_cases[_i].record) { /* a later attempt may succeed */
            if (refunds[i]) {
                settle(i, refunds[i], PAY_OUTCOME_DECLINED);
            } else {
                (void)till_resolve(&charge, i, 1, PAY_OUTCOME_APPROVED);
            }
            opened = open_as(i, "order-1", amount_minor, use);
            ck_assert_msg(!opened.record && opened.refund, "%s", name);
            continue;
        }
        before = till_snapshot();
        opened = open_as(i, "order-1", amount_minor, use);
        ck_assert_msg(opened.record && opened.record->same_request
                          && opened.record->refusal == refusal_cases[_i].want,
                      "%s", name);
        ck_assert(!opened.record->refund && !opened.record->text && !opened.record->charge);
        opened = open_as(i, "order-1", 1, use_of("key-1", "b"));
        ck_assert(opened.record && !opened.record->same_request);
        ck_assert_int_eq(opened.record->refusal, PAY_REFUND_OPENED);
        ck_assert_str_eq(till_snapshot(), before);
    }
    till_check_clean();
}
END_TEST

/* The refusal is the key's answer, even if it would not be made any more. */
START_TEST(test_refusal_outlives_its_cause)
{
    const pay_idempotency_t *use = use_of("key-1", "a");
    pay_refund_t *all, *refund;
    opened_t opened;
    int i, changed;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        all = till_refund(i, "order-1", 0, PAY_REFUND_OPENED);
        settle(i, all, PAY_OUTCOME_APPROVED);
        opened = open_as(i, "order-1", 100, use);
        ck_assert_int_eq(opened.verdict, PAY_REFUND_REFUSED_FULL);
        ck_assert_int_eq(pay_store_refund_fail(&refund, &changed, till->store, &till->scopes[i],
                                               all->refund_reference, unit_pool),
                         APR_SUCCESS);
        opened = open_as(i, "order-1", 100, use);
        ck_assert(opened.record && opened.record->refusal == PAY_REFUND_REFUSED_FULL);
        opened = open_as(i, "order-1", 100, use_of("key-2", "a"));
        ck_assert(!opened.record && opened.refund);
    }
}
END_TEST

/* Keys define repetitions: two of them are two refunds (no R5). */
START_TEST(test_equal_refunds_under_two_keys)
{
    opened_t opened;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        opened = open_as(i, "order-1", 100, use_of("key-1", "a"));
        settle(i, opened.refund, PAY_OUTCOME_APPROVED);
        opened = open_as(i, "order-1", 100, use_of("key-2", "a"));
        ck_assert_int_eq(opened.verdict, PAY_REFUND_OPENED);
        settle(i, opened.refund, PAY_OUTCOME_APPROVED);
        opened = open_as(i, "order-1", 100, NULL); /* without one the rule applies */
        ck_assert_int_eq(opened.verdict, PAY_REFUND_REFUSED_REPEATED);
        ck_assert(till_find(i, "order-1")->refunded_minor == 200);
    }
}
END_TEST

static const struct {
    const char *name;
    const char *reference;
    const char *currency;
    const char *refund_reference; /* NULL: a new one */
    apr_status_t want;
} unrecorded_cases[] = {
    {"no such charge", "order-9", "NGN", NULL, APR_NOTFOUND},
    {"another currency", "order-1", "EUR", NULL, APR_EINVAL},
    {"a reference in use", "order-1", "NGN", "rfd_taken", APR_EEXIST},
};

START_TEST(test_what_was_not_judged_is_not_kept)
{
    const pay_idempotency_t *use = use_of("key-1", "a");
    pay_refund_t *taken, *proposal;
    const char *before;
    opened_t opened;
    apr_status_t rv;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        taken = till_refund_proposal(i, "order-1", 1);
        taken->refund_reference = "rfd_taken";
        ck_assert_int_eq(try_open(&opened, taken, NULL), APR_SUCCESS);
        settle(i, opened.refund, PAY_OUTCOME_DECLINED);
        before = till_snapshot();
        proposal = till_refund_proposal(i, unrecorded_cases[_i].reference, 100);
        apr_cpystrn(proposal->money.currency, unrecorded_cases[_i].currency,
                    sizeof(proposal->money.currency));
        if (unrecorded_cases[_i].refund_reference) {
            proposal->refund_reference = unrecorded_cases[_i].refund_reference;
        }
        rv = try_open(&opened, proposal, use);
        ck_assert_msg(rv == unrecorded_cases[_i].want, "%s: %d", unrecorded_cases[_i].name, rv);
        ck_assert(!opened.record && !opened.refund);
        ck_assert_str_eq(till_snapshot(), before);
    }
}
END_TEST

START_TEST(test_bad_row_opens_nothing)
{
    const pay_idempotency_t *use = use_of("key-1", "a");
    pay_store_key_t key;
    const char *before;
    opened_t opened;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        till_idempotency_key(&key, i, use);
        till_plant(PAY_TABLE_IDEMPOTENCY, &key, "\1\1", 2);
        before = till_snapshot();
        ck_assert_int_eq(try_open(&opened, till_refund_proposal(i, "order-1", 100), use),
                         PAY_STORE_ECORRUPT);
        ck_assert(!opened.record && !opened.refund);
        ck_assert_str_eq(till_snapshot(), before);
    }
}
END_TEST

/* ---- races: whoever comes, one key makes one refund; each key has a charge of its own */

typedef struct racer_t {
    apr_pool_t *pool;
    pay_refund_t *proposals[RACES];
    const pay_idempotency_t *uses[RACES];
    int opened[RACES];
    int failed;
} racer_t;

static void racer_make(racer_t *racer)
{
    int n;

    memset(racer, 0, sizeof(*racer));
    ck_assert_int_eq(apr_pool_create(&racer->pool, unit_pool), APR_SUCCESS);
    for (n = 0; n < RACES; n++) {
        racer->proposals[n] =
            till_refund_proposal(n % TILL_SCOPES, apr_psprintf(unit_pool, "order-%d", n), 10);
        racer->uses[n] = use_of(apr_psprintf(unit_pool, "key-%d", n), "a");
    }
}

/* What is opened is resolved at once, so that no other rule than the key's refuses the rest. */
static void *race(void *data)
{
    racer_t *racer = data;
    opened_t opened;
    int n, changed;

    for (n = 0; n < RACES; n++) {
        racer->failed |=
            pay_store_refund_open(&opened.refund, &opened.charge, &opened.verdict, &opened.record,
                                  till->store, racer->proposals[n], racer->uses[n], 0, racer->pool)
            != APR_SUCCESS;
        racer->opened[n] = !racer->failed && opened.refund;
        racer->failed |= !racer->opened[n] && (!opened.record || !opened.record->refund);
        if (racer->opened[n]) {
            racer->failed |=
                pay_store_refund_resolve(&opened.refund, &changed, till->store,
                                         &opened.refund->scope, opened.refund->refund_reference,
                                         till_outcome(PAY_OUTCOME_APPROVED), 0, racer->pool)
                    != APR_SUCCESS
                || !changed;
        }
    }
    return NULL;
}

static void check_race(const racer_t racers[RACERS])
{
    int n, r, count;

    for (n = 0; n < RACES; n++) {
        for (r = 0, count = 0; r < RACERS; r++) {
            count += racers[r].opened[n];
        }
        ck_assert_msg(count == 1, "key %d opened %d refunds", n, count);
        ck_assert(till_find(n % TILL_SCOPES, apr_psprintf(unit_pool, "order-%d", n))->refunded_minor
                  == 10);
    }
    till_check_clean();
}

static void charge_all(void)
{
    int n;

    for (n = 0; n < RACES; n++) {
        (void)till_charge(n % TILL_SCOPES, apr_psprintf(unit_pool, "order-%d", n), 1000);
    }
}

START_TEST(test_threads_race)
{
    pthread_t threads[RACERS];
    racer_t racers[RACERS];
    int r;

    charge_all();
    for (r = 0; r < RACERS; r++) {
        racer_make(&racers[r]);
    }
    for (r = 0; r < RACERS; r++) {
        ck_assert_int_eq(pthread_create(&threads[r], NULL, race, &racers[r]), 0);
    }
    for (r = 0; r < RACERS; r++) {
        pthread_join(threads[r], NULL);
        ck_assert(!racers[r].failed);
    }
    check_race(racers);
}
END_TEST

START_TEST(test_processes_race)
{
    racer_t racers[RACERS];
    int r;

    charge_all();
    for (r = 0; r < RACERS; r++) {
        racer_make(&racers[r]);
    }
    till_race(racers, sizeof(racers[0]), RACERS, race);
    for (r = 0; r < RACERS; r++) {
        ck_assert(!racers[r].failed);
    }
    check_race(racers);
}
END_TEST

/* ---- a process that is killed leaves a refund with its key, or neither */

#define KILL_OPENS 300
#define KILLS 4

/* In the child: refunds one unit after the other, each under its own key, and writes a byte for
 * each that is opened. */
static void refund_until_killed(int done)
{
    pay_refund_t *refund;
    opened_t opened;
    int n, changed, i;

    till->store = till_store(till->url, unit_pool);
    for (n = 0; till->store && n < KILL_OPENS; n++) {
        i = n % TILL_SCOPES;
        if (try_open(&opened, till_refund_proposal(i, "order-1", 1),
                     use_of(apr_psprintf(unit_pool, "key-%d", n), "a"))
                != APR_SUCCESS
            || !opened.refund || write(done, "x", 1) != 1
            || pay_store_refund_resolve(&refund, &changed, till->store, &till->scopes[i],
                                        opened.refund->refund_reference,
                                        till_outcome(PAY_OUTCOME_APPROVED), 0, unit_pool)
                   != APR_SUCCESS) {
            _exit(1);
        }
    }
    (void)pause();
    _exit(1);
}

START_TEST(test_killed)
{
    int acknowledged = 0, wanted = 1 + 7 * _i, found[TILL_SCOPES] = {0}, pipes[2], status, n, i;
    const pay_charge_t *charge;
    const pay_idempotency_record_t *record;
    char byte;
    pid_t child;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
    }
    till_close();
    ck_assert_int_eq(pipe(pipes), 0);
    child = fork();
    if (child == 0) {
        close(pipes[0]);
        refund_until_killed(pipes[1]);
    }
    ck_assert_int_gt(child, 0);
    close(pipes[1]);
    while (acknowledged < wanted && read(pipes[0], &byte, 1) == 1) {
        acknowledged++;
    }
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    while (read(pipes[0], &byte, 1) == 1) {
        acknowledged++;
    }
    close(pipes[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && acknowledged >= wanted);
    till_reopen();
    for (n = 0; n < KILL_OPENS; n++) {
        record =
            till_idempotency(n % TILL_SCOPES, use_of(apr_psprintf(unit_pool, "key-%d", n), "a"));
        ck_assert_msg(record || n >= acknowledged, "key %d was lost", n);
        ck_assert_msg(!record || n <= acknowledged, "key %d of %d", n, acknowledged);
        ck_assert(!record || (record->refund && record->refund->money.amount_minor == 1));
        found[n % TILL_SCOPES] += record != NULL;
    }
    for (i = 0; i < TILL_SCOPES; i++) { /* a refund for each key, and none without */
        charge = till_find(i, "order-1");
        ck_assert(charge->refunded_minor + charge->refunds_pending_minor == found[i]);
    }
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_key_leads_to_the_refund);
    tcase_add_test(tcase, test_keys_apart);
    tcase_add_loop_test(tcase, test_refusals, 0, UNIT_ROWS(refusal_cases));
    tcase_add_test(tcase, test_refusal_outlives_its_cause);
    tcase_add_test(tcase, test_equal_refunds_under_two_keys);
    tcase_add_loop_test(tcase, test_what_was_not_judged_is_not_kept, 0,
                        UNIT_ROWS(unrecorded_cases));
    tcase_add_test(tcase, test_bad_row_opens_nothing);
    tcase_add_test(tcase, test_threads_race);
    tcase_add_test(tcase, test_processes_race);
    tcase_add_loop_test(tcase, test_killed, 0, KILLS);
}

UNIT_PROGRAM(add)
