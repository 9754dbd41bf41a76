/* SPDX-License-Identifier: Apache-2.0 */

/* Charges that are opened with an Idempotency-Key, and withdrawn. */

#include "till.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define RACERS 8
#define RACES 20

/* The claim of a charge of 1000 under the key; `out` NULL: not needed. */
static pay_claim_t open_as(pay_charge_t **out, int i, const char *reference,
                           const pay_idempotency_t *use)
{
    pay_charge_t *charge;
    pay_claim_t claim;

    ck_assert_int_eq(pay_store_charge_open(&charge, &claim, till->store,
                                           till_proposal(i, reference, 1000), NULL, use, unit_pool),
                     APR_SUCCESS);
    ck_assert((charge == NULL) == (claim == PAY_CLAIM_KEY_USED));
    if (out) {
        *out = charge;
    }
    return claim;
}

static const pay_idempotency_t *use_of(const char *key, const char *reference)
{
    return till_use(PAY_OPERATION_CHARGE, key, reference);
}

/* The charge in the idempotency record of the key; NULL: none. */
static const pay_charge_t *recorded_charge(int i, const pay_idempotency_t *use)
{
    const pay_idempotency_record_t *record = till_idempotency(i, use);

    if (!record) {
        return NULL;
    }
    ck_assert_int_eq(record->same_request, 1);
    ck_assert_ptr_null(record->refund);
    ck_assert_ptr_null(record->text);
    ck_assert_int_eq(record->refusal, PAY_REFUND_OPENED);
    ck_assert_ptr_nonnull(record->charge);
    return record->charge;
}

START_TEST(test_key_leads_to_the_charge)
{
    const pay_idempotency_t *use = use_of("key-1", "order-1");
    pay_charge_t *charge;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_ptr_null(till_idempotency(i, use));
        ck_assert_int_eq(open_as(&charge, i, "order-1", use), PAY_CLAIM_NEW);
        ck_assert(charge->seq == 1);
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_uint_eq(recorded_charge(i, use)->scope.account, till->scopes[i].account);
        ck_assert_int_eq(recorded_charge(i, use)->state, PAY_CHARGE_PENDING);
    }
    (void)till_resolve(&charge, 1, 1, PAY_OUTCOME_APPROVED);
    for (i = 0; i < TILL_SCOPES; i++) { /* it is the row itself that is seen */
        ck_assert_int_eq(recorded_charge(i, use)->state,
                         i == 1 ? PAY_CHARGE_SUCCESSFUL : PAY_CHARGE_PENDING);
        ck_assert_int_eq(till_idempotency(i, use_of("key-1", "order-2"))->same_request, 0);
    }
    till_check_clean();
}
END_TEST

/* In a scope with order-1 under key-1 and order-2 without a key. */
static const struct {
    const char *name;
    const char *reference;
    apr_int64_t amount_minor;
    const char *key; /* NULL: none */
    pay_key_kind_t kind;
    pay_claim_t want;
    int writes;
} claim_cases[] = {
    {"the same again", "order-1", 1000, "key-1", PAY_KEY_SECRET, PAY_CLAIM_KNOWN, 0},
    {"the same without a key", "order-1", 1000, NULL, PAY_KEY_SECRET, PAY_CLAIM_KNOWN, 0},
    {"the same under another key", "order-1", 1000, "key-2", PAY_KEY_SECRET, PAY_CLAIM_KNOWN, 0},
    {"another amount", "order-1", 1001, "key-1", PAY_KEY_SECRET, PAY_CLAIM_CONFLICT, 0},
    {"another amount and key", "order-1", 1001, "key-2", PAY_KEY_SECRET, PAY_CLAIM_CONFLICT, 0},
    {"a known reference, another's key", "order-2", 1000, "key-1", PAY_KEY_SECRET, PAY_CLAIM_KNOWN,
     0},
    {"a new reference, another's key", "order-3", 1000, "key-1", PAY_KEY_SECRET, PAY_CLAIM_KEY_USED,
     0},
    {"a new reference, a public key's", "order-3", 1000, "key-1", PAY_KEY_PUBLIC, PAY_CLAIM_NEW, 1},
    {"a new reference and key", "order-3", 1000, "key-2", PAY_KEY_SECRET, PAY_CLAIM_NEW, 1},
    {"a new reference without a key", "order-3", 1000, NULL, PAY_KEY_SECRET, PAY_CLAIM_NEW, 1},
};

START_TEST(test_claims)
{
    const char *name = claim_cases[_i].name, *reference = claim_cases[_i].reference, *before;
    pay_idempotency_t *use = NULL;
    pay_charge_t *charge, *proposal;
    pay_claim_t claim;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(open_as(NULL, i, "order-1", use_of("key-1", "order-1")), PAY_CLAIM_NEW);
        ck_assert_int_eq(open_as(NULL, i, "order-2", NULL), PAY_CLAIM_NEW);
    }
    if (claim_cases[_i].key) {
        use = till_use(PAY_OPERATION_CHARGE, claim_cases[_i].key, reference);
        use->key_kind = claim_cases[_i].kind;
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        before = till_snapshot();
        proposal = till_proposal(i, reference, claim_cases[_i].amount_minor);
        ck_assert_int_eq(
            pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, use, unit_pool),
            APR_SUCCESS);
        ck_assert_msg(claim == claim_cases[_i].want, "%s: %d", name, (int)claim);
        ck_assert_msg((charge == NULL) == (claim == PAY_CLAIM_KEY_USED), "%s", name);
        ck_assert_msg((strcmp(till_snapshot(), before) != 0) == claim_cases[_i].writes, "%s", name);
        if (claim == PAY_CLAIM_NEW && use) {
            ck_assert_str_eq(recorded_charge(i, use)->reference, reference);
        }
    }
    till_check_clean();
}
END_TEST

/* Both the reference and the key are free again, for this request or another. */
START_TEST(test_withdraw)
{
    const pay_idempotency_t *use = use_of("key-1", "order-1");
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(open_as(NULL, i, "order-1", use), PAY_CLAIM_NEW);
        ck_assert_int_eq(open_as(NULL, i, "order-2", use_of("key-2", "order-2")), PAY_CLAIM_NEW);
    }
    ck_assert_int_eq(pay_store_charge_withdraw(till->store, &till->scopes[_i], 1, unit_pool),
                     APR_SUCCESS);
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert((till_idempotency(i, use) == NULL) == (i == _i));
        ck_assert_str_eq(recorded_charge(i, use_of("key-2", "order-2"))->reference, "order-2");
    }
    till_check_clean();
    ck_assert_int_eq(open_as(NULL, _i, "order-3", use_of("key-1", "order-3")), PAY_CLAIM_NEW);
    ck_assert_int_eq(open_as(NULL, _i, "order-1", use), PAY_CLAIM_KEY_USED);
    ck_assert_int_eq(open_as(NULL, _i, "order-1", use_of("key-4", "order-1")), PAY_CLAIM_NEW);
    till_check_clean();
}
END_TEST

/* The key went to another charge meanwhile, so the withdrawn one must not remove it. */
START_TEST(test_withdraw_leaves_anothers_key)
{
    const pay_idempotency_t *use = use_of("key-1", "order-2");
    pay_store_key_t key, due;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(open_as(NULL, i, "order-1", use_of("key-1", "order-1")), PAY_CLAIM_NEW);
        till_idempotency_key(&key, i, use);
        till_plant(PAY_TABLE_IDEMPOTENCY, &key, NULL, 0);
        pay_store_key_start(&due);
        pay_store_key_time(&due, TILL_NOW + PAY_IDEMPOTENCY_KEEP);
        (void)pay_store_key_bytes(&due, key.bytes, key.len);
        till_plant(PAY_TABLE_IDEMPOTENCY_DUE, &due, NULL, 0);
        ck_assert_int_eq(open_as(NULL, i, "order-2", use), PAY_CLAIM_NEW);
    }
    ck_assert_int_eq(pay_store_charge_withdraw(till->store, &till->scopes[_i], 1, unit_pool),
                     APR_SUCCESS);
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_str_eq(recorded_charge(i, use)->reference, "order-2");
    }
    till_check_clean();
}
END_TEST

START_TEST(test_bad_row_stops_no_known_reference)
{
    const pay_idempotency_t *use = use_of("key-1", "order-1");
    pay_store_key_t key;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(open_as(NULL, i, "order-1", use), PAY_CLAIM_NEW);
        till_idempotency_key(&key, i, use);
        till_plant(PAY_TABLE_IDEMPOTENCY, &key, "\1\1", 2);
        ck_assert_int_eq(open_as(NULL, i, "order-1", use), PAY_CLAIM_KNOWN);
        ck_assert_int_eq(open_as(NULL, i, "order-2", use), PAY_CLAIM_KEY_USED);
        ck_assert_int_eq(pay_store_charge_withdraw(till->store, &till->scopes[i], 1, unit_pool),
                         PAY_STORE_ECORRUPT);
    }
}
END_TEST

static void resolve_at_length(int i, pay_outcome_kind_t kind)
{
    char text[PAY_OUTCOME_MESSAGE_MAX + 1];
    pay_outcome_t outcome = {
        .kind = kind, .code = text, .message = text, .authorization_code = text};
    pay_charge_t *charge;
    int changed;

    memset(text, '0', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &till->scopes[i], 1,
                                              &outcome, 0, unit_pool),
                     APR_SUCCESS);
}

START_TEST(test_row_too_long_with_its_key)
{
    pay_charge_t *proposal = till_proposal(_i, "order-1", 100), *charge;
    const char *before = till_snapshot();
    pay_claim_t claim;
    int len;

    /* The longest valid token. */
    for (len = 2000; len > 0; len--) {
        char *token = apr_palloc(unit_pool, (apr_size_t)len + 1);
        apr_status_t rv;

        memset(token, 't', (apr_size_t)len);
        token[len] = '\0';
        proposal->token = token;
        rv = pay_store_charge_open(&charge, &claim, till->store, proposal, NULL,
                                   use_of("key-1", "order-1"), unit_pool);
        if (rv == APR_SUCCESS) {
            break;
        }
        ck_assert_int_eq(rv, APR_EINVAL);
        ck_assert_ptr_null(charge);
    }
    ck_assert_int_gt(len, 255);
    ck_assert_int_lt(len, 2000);
    ck_assert_str_ne(till_snapshot(), before);
    /* Its outcome and a contradiction, however long, find room beside the key. */
    resolve_at_length(_i, PAY_OUTCOME_APPROVED);
    resolve_at_length(_i, PAY_OUTCOME_DECLINED);
    ck_assert_str_eq(recorded_charge(_i, use_of("key-1", "order-1"))->reference, "order-1");
    till_check_clean();
}
END_TEST

/* ---- races: one key, as many references as racers */

typedef struct racer_t {
    pay_store_t *store;
    apr_pool_t *pool;
    pay_charge_t *proposals[RACES];
    const pay_idempotency_t *uses[RACES];
    int claims[RACES];
    int failed;
} racer_t;

static void racer_make(racer_t *racer, int number)
{
    const char *reference;
    int n;

    memset(racer, 0, sizeof(*racer));
    racer->store = till->store;
    ck_assert_int_eq(apr_pool_create(&racer->pool, unit_pool), APR_SUCCESS);
    for (n = 0; n < RACES; n++) {
        reference = apr_psprintf(unit_pool, "order-%d-%d", n, number);
        racer->proposals[n] = till_proposal(n % TILL_SCOPES, reference, 1000);
        racer->uses[n] = use_of(apr_psprintf(unit_pool, "key-%d", n), reference);
    }
}

static void *race(void *data)
{
    racer_t *racer = data;
    pay_charge_t *charge;
    pay_claim_t claim;
    int n;

    for (n = 0; n < RACES; n++) {
        racer->failed |= pay_store_charge_open(&charge, &claim, racer->store, racer->proposals[n],
                                               NULL, racer->uses[n], racer->pool)
                         != APR_SUCCESS;
        racer->claims[n] = (int)claim;
    }
    return NULL;
}

START_TEST(test_threads_race)
{
    pthread_t threads[RACERS];
    racer_t racers[RACERS];
    int r, n, count;

    for (r = 0; r < RACERS; r++) {
        racer_make(&racers[r], r);
    }
    for (r = 0; r < RACERS; r++) {
        ck_assert_int_eq(pthread_create(&threads[r], NULL, race, &racers[r]), 0);
    }
    for (r = 0; r < RACERS; r++) {
        pthread_join(threads[r], NULL);
        ck_assert(!racers[r].failed);
    }
    for (n = 0; n < RACES; n++) {
        for (r = 0, count = 0; r < RACERS; r++) {
            if (racers[r].claims[n] == PAY_CLAIM_NEW) {
                count++;
                ck_assert_str_eq(recorded_charge(n % TILL_SCOPES, racers[r].uses[n])->reference,
                                 racers[r].proposals[n]->reference);
                continue;
            }
            ck_assert_int_eq(racers[r].claims[n], PAY_CLAIM_KEY_USED);
        }
        ck_assert_msg(count == 1, "key %d opened %d charges", n, count);
    }
    till_check_clean();
}
END_TEST

/* ---- a process that is killed leaves a charge with its key, or neither */

#define KILL_OPENS 400
#define KILLS 4

static const char *kill_reference(int n)
{
    return apr_psprintf(unit_pool, "order-%d", n);
}

static const pay_idempotency_t *kill_use(int n)
{
    return use_of(apr_psprintf(unit_pool, "key-%d", n), kill_reference(n));
}

/* In the child: opens charges, and writes a byte for each that is done. */
static void open_until_killed(int done)
{
    pay_charge_t *charge;
    pay_claim_t claim;
    int n;

    till->store = till_store(till->url, unit_pool);
    for (n = 0; till->store && n < KILL_OPENS; n++) {
        if (pay_store_charge_open(&charge, &claim, till->store,
                                  till_proposal(n % TILL_SCOPES, kill_reference(n), 1000), NULL,
                                  kill_use(n), unit_pool)
                != APR_SUCCESS
            || claim != PAY_CLAIM_NEW || write(done, "x", 1) != 1) {
            _exit(1);
        }
    }
    (void)pause();
    _exit(1);
}

START_TEST(test_killed)
{
    int acknowledged = 0, wanted = 1 + 7 * _i, pipes[2], status, n, found, record;
    pay_charge_t *charge;
    char byte;
    pid_t child;

    till_close();
    ck_assert_int_eq(pipe(pipes), 0);
    child = fork();
    if (child == 0) {
        close(pipes[0]);
        open_until_killed(pipes[1]);
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
        found = pay_store_charge_find(&charge, till->store, &till->scopes[n % TILL_SCOPES],
                                      kill_reference(n), unit_pool)
                == APR_SUCCESS;
        record = recorded_charge(n % TILL_SCOPES, kill_use(n)) != NULL;
        ck_assert_msg(found == record, "charge %d: %d, its key: %d", n, found, record);
        ck_assert_msg(found || n >= acknowledged, "charge %d was lost", n);
        ck_assert_msg(!found || n <= acknowledged, "charge %d of %d", n, acknowledged);
    }
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_key_leads_to_the_charge);
    tcase_add_loop_test(tcase, test_claims, 0, UNIT_ROWS(claim_cases));
    tcase_add_loop_test(tcase, test_withdraw, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_withdraw_leaves_anothers_key, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_bad_row_stops_no_known_reference);
    tcase_add_loop_test(tcase, test_row_too_long_with_its_key, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_threads_race);
    tcase_add_loop_test(tcase, test_killed, 0, KILLS);
}

UNIT_PROGRAM(add)
