/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/record/audit.h"

#include <apr_strings.h>
#include <pthread.h>
#include <string.h>

#define THREADS 8
#define CHANGES 20

static pay_audit_t entry;

static void set_up(void)
{
    till_set_up();
    entry = (pay_audit_t){.who = "ada", .from = "dashboard a.example ::1", .what = "test"};
}

static pay_store_t *audited(void)
{
    pay_store_t *store;

    ck_assert_int_eq(pay_store_audited(&store, till->store, &entry, unit_pool), APR_SUCCESS);
    return store;
}

static apr_array_header_t *list(apr_uint32_t account, apr_uint64_t before, int limit)
{
    apr_array_header_t *entries;

    ck_assert_int_eq(pay_store_audit_list(&entries, till->store, account, before, limit, unit_pool),
                     APR_SUCCESS);
    return entries;
}

static const pay_audit_t *only(apr_uint32_t account)
{
    apr_array_header_t *entries = list(account, 0, 10);

    ck_assert_int_eq(entries->nelts, 1);
    return APR_ARRAY_IDX(entries, 0, const pay_audit_t *);
}

static int count_all(void)
{
    return list(0, 0, 1000)->nelts + list(1, 0, 1000)->nelts + list(2, 0, 1000)->nelts;
}

/* ---- what leaves an entry, and which */

static apr_status_t account_mode(pay_store_t *store)
{
    const pay_account_settings_t settings = {.currency = "EUR"};
    const pay_mode_t live = PAY_LIVE;
    pay_account_t *account;

    return pay_store_account_set(&account, store, "late", &settings, &live, unit_pool);
}

static apr_status_t account_create(pay_store_t *store)
{
    pay_account_t *account;

    return pay_store_account_create(&account, store, "third", &pay_account_settings_builtin,
                                    unit_pool);
}

static apr_status_t key_create(pay_store_t *store)
{
    const pay_api_key_t key = {
        .digest = {9}, .id = "key_new", .scope = till->scopes[0], .kind = PAY_KEY_PUBLIC};
    pay_api_key_t *made;

    return pay_store_key_create(&made, store, &key, unit_pool);
}

static apr_status_t key_revoke(pay_store_t *store)
{
    pay_api_key_t *key;

    return pay_store_key_revoke(&key, store, till->key_ids[0], 0, unit_pool);
}

static apr_status_t key_rotate(pay_store_t *store)
{
    const pay_api_key_t next = {.digest = {8}, .id = "key_next", .kind = PAY_KEY_PUBLIC};
    pay_api_key_t *key, *old;

    return pay_store_key_rotate(&key, &old, store, till->key_ids[0], 0, &next, unit_pool);
}

static apr_status_t token_create(pay_store_t *store)
{
    const pay_token_t token = {.scope = till->scopes[0],
                               .token = "tok_secret",
                               .email = "payer@example.com",
                               .card = {"555555", "4444", "Mastercard", "NG", "credit"}};
    pay_token_t *made;

    return pay_store_token_create(&made, store, &token, unit_pool);
}

static apr_status_t token_revoke(pay_store_t *store)
{
    pay_token_t *token;

    ck_assert_int_eq(token_create(till->store), APR_SUCCESS);
    return pay_store_token_revoke(&token, store, &till->scopes[0], "tok_secret", unit_pool);
}

static apr_status_t grant(pay_store_t *store, pay_role_t role)
{
    pay_grant_verdict_t verdict;
    pay_grant_t *made;

    return pay_store_grant_put(&made, &verdict, store, "late", "A.example", "bob", role, 1,
                               unit_pool);
}

static apr_status_t grant_new(pay_store_t *store)
{
    return grant(store, PAY_ROLE_OWNER);
}

static apr_status_t grant_change(pay_store_t *store)
{
    ck_assert_int_eq(grant(till->store, PAY_ROLE_VIEWER), APR_SUCCESS);
    return grant(store, PAY_ROLE_OPERATOR);
}

static apr_status_t grant_delete(pay_store_t *store)
{
    pay_grant_verdict_t verdict;

    ck_assert_int_eq(grant(till->store, PAY_ROLE_VIEWER), APR_SUCCESS);
    return pay_store_grant_delete(&verdict, store, "late", "a.example", "bob", 1, unit_pool);
}

static apr_status_t charge_resolve(pay_store_t *store)
{
    pay_charge_t *charge = till_open(0, "order-1", 1000), *out;
    int changed;

    return pay_store_charge_resolve(&out, &changed, store, &till->scopes[0], charge->seq,
                                    till_outcome(PAY_OUTCOME_APPROVED), TILL_NOW, unit_pool);
}

static apr_status_t refund(pay_store_t *store, apr_int64_t amount_minor)
{
    pay_refund_t *out, *proposal = till_refund_proposal(0, "order-1", amount_minor);
    pay_refund_verdict_t verdict;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;

    proposal->refund_reference = "ref-1";
    return pay_store_refund_open(&out, &charge, &verdict, &record, store, proposal, NULL, 0,
                                 unit_pool);
}

static apr_status_t refund_open(pay_store_t *store)
{
    (void)till_charge(0, "order-1", 1000);
    return refund(store, 400);
}

static apr_status_t import(pay_store_t *store)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    apr_status_t rv;
    pay_import_t run;
    int at;

    APR_ARRAY_PUSH(rows, pay_refund_t *) =
        till_history(0, 1, TILL_NOW - 5000, PAY_REFUND_PROCESSED, "elsewhere", 100);
    rv = pay_store_import_begin(&run, store, &till->scopes[0], unit_pool);
    ck_assert_int_eq(rv, APR_SUCCESS);
    rv = pay_store_import_rows(&run, &at, store, rows, unit_pool);
    ck_assert_int_eq(rv, APR_SUCCESS);
    ck_assert_int_eq(count_all(), 0); /* nothing can be seen yet */
    return pay_store_import_finish(&run, store, unit_pool);
}

static apr_status_t note(pay_store_t *store)
{
    return pay_store_audit_note(store);
}

static const struct {
    const char *name;
    apr_status_t (*change)(pay_store_t *store);
    apr_uint32_t account;
    const char *subject, *detail; /* NULL: the caller's text */
} change_cases[] = {
    {"settings", account_mode, 2, "late", "currency NGN -> EUR, test -> live"},
    {"an account", account_create, 3, "third", NULL},
    {"a key", key_create, 2, "key_new", "test public"},
    {"a key's end", key_revoke, 2, "key_0", "test secret"},
    {"a key's successor", key_rotate, 2, "key_0", "test secret, now key_next"},
    {"a token", token_create, 2, "card ...4444", "test"},
    {"a token's end", token_revoke, 2, "card ...4444", "test"},
    {"a grant", grant_new, 2, "bob", "a.example: none -> owner"},
    {"another role", grant_change, 2, "bob", "a.example: viewer -> operator"},
    {"a grant's end", grant_delete, 2, "bob", "a.example: viewer -> none"},
    {"a decision", charge_resolve, 2, NULL, NULL},
    {"a refund", refund_open, 2, "ref-1", "test: 4.00 NGN of order-1"},
    {"an import", import, 2, NULL, "test: 1 records"},
    {"a note", note, 2, NULL, NULL},
};

START_TEST(test_changes)
{
    const char *name = change_cases[_i].name;
    pay_store_t *store = audited();
    const pay_audit_t *told;

    entry.account = 2;
    entry.subject = "what";
    entry.detail = "how";
    ck_assert_msg(change_cases[_i].change(store) == APR_SUCCESS, "%s", name);
    told = only(change_cases[_i].account);
    ck_assert_int_eq(count_all(), change_cases[_i].account > 2 ? 0 : 1);
    ck_assert_uint_eq(told->account, change_cases[_i].account);
    ck_assert_uint_eq(told->seq, 1);
    ck_assert_int_eq(told->at, TILL_NOW - TILL_NOW % 1000);
    ck_assert_str_eq(told->who, "ada");
    ck_assert_str_eq(told->from, "dashboard a.example ::1");
    ck_assert_str_eq(told->what, "test");
    ck_assert_str_eq(told->subject, change_cases[_i].subject ? change_cases[_i].subject : "what");
    ck_assert_str_eq(told->detail, change_cases[_i].detail ? change_cases[_i].detail : "how");
    till_check_clean();
}
END_TEST

/* ---- what leaves none */

static void refuse_grant(pay_store_t *store)
{
    ck_assert_int_eq(grant(till->store, PAY_ROLE_OWNER), APR_SUCCESS);
    ck_assert_int_eq(grant(store, PAY_ROLE_VIEWER), APR_SUCCESS); /* the last owner */
    ck_assert_int_eq(grant(store, PAY_ROLE_OWNER), APR_SUCCESS);  /* as it is */
}

static void refuse_delete(pay_store_t *store)
{
    pay_grant_verdict_t verdict;

    ck_assert_int_eq(grant(till->store, PAY_ROLE_OWNER), APR_SUCCESS);
    ck_assert_int_eq(
        pay_store_grant_delete(&verdict, store, "late", "a.example", "bob", 1, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(
        pay_store_grant_delete(&verdict, store, "late", "a.example", "eve", 1, unit_pool),
        APR_NOTFOUND);
}

static void refuse_key(pay_store_t *store)
{
    ck_assert_int_eq(key_revoke(till->store), APR_SUCCESS);
    ck_assert_int_eq(key_revoke(store), APR_SUCCESS);
    ck_assert_int_eq(key_rotate(store), APR_EINVAL);
}

static void refuse_token(pay_store_t *store)
{
    pay_token_t *token;

    ck_assert_int_eq(token_revoke(till->store), APR_SUCCESS);
    ck_assert_int_eq(
        pay_store_token_revoke(&token, store, &till->scopes[0], "tok_secret", unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(token_create(store), APR_EEXIST);
}

static void refuse_refund(pay_store_t *store)
{
    ck_assert_int_eq(refund(store, 100), APR_NOTFOUND);
    (void)till_charge(0, "order-1", 1000);
    ck_assert_int_eq(refund(store, 1001), APR_SUCCESS); /* above the remainder */
}

static void refuse_decision(pay_store_t *store)
{
    pay_outcome_t outcome = *till_outcome(PAY_OUTCOME_DECLINED);
    pay_charge_t *charge = till_charge(0, "order-1", 1000), *out;
    int changed;

    outcome.resolution = "a person";
    ck_assert_int_eq(pay_store_charge_resolve(&out, &changed, store, &till->scopes[0], charge->seq,
                                              &outcome, TILL_NOW, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 0);
    outcome.kind = PAY_OUTCOME_UNKNOWN; /* that a closed one stays so */
    ck_assert_int_eq(pay_store_charge_resolve(&out, &changed, store, &till->scopes[0], charge->seq,
                                              &outcome, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 0);
    ck_assert_int_eq(pay_store_charge_resolve(&out, &changed, store, &till->scopes[0], 99, &outcome,
                                              TILL_NOW, unit_pool),
                     APR_NOTFOUND);
}

static void refuse_event(pay_store_t *store)
{
    const pay_event_t place = {.endpoint = PAY_ENDPOINT_WEBHOOK, .charge_seq = 1, .sequence = 1};
    pay_event_t *event;

    ck_assert_int_eq(pay_store_event_retry(&event, store, &till->scopes[0], &place, unit_pool),
                     APR_NOTFOUND);
    ck_assert_int_eq(pay_store_event_drop(&event, store, &till->scopes[0], &place, unit_pool),
                     APR_NOTFOUND);
    ck_assert_int_eq(
        pay_store_event_test(&event, store, &till->scopes[0], PAY_ENDPOINT_WEBHOOK, unit_pool),
        APR_NOTFOUND);
}

static void read_only(pay_store_t *store)
{
    apr_array_header_t *rows;

    ck_assert_int_eq(pay_store_account_list(&rows, store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(rows->nelts, 2);
    ck_assert_int_eq(pay_store_ready(NULL, store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_probe(store), APR_SUCCESS);
}

/* A plain handle, beside one that is audited. */
static void unaudited(pay_store_t *store)
{
    (void)store;
    ck_assert_int_eq(key_create(till->store), APR_SUCCESS);
    ck_assert_int_eq(pay_store_audit_note(till->store), APR_EINVAL);
}

static const struct {
    const char *name;
    void (*run)(pay_store_t *store);
} silent_cases[] = {
    {"a grant that is refused", refuse_grant},
    {"an owner that stays", refuse_delete},
    {"a key that has ended", refuse_key},
    {"a token that has ended", refuse_token},
    {"a refund that is refused", refuse_refund},
    {"a decision that comes late", refuse_decision},
    {"an event that is not there", refuse_event},
    {"reading", read_only},
    {"a plain handle", unaudited},
};

START_TEST(test_silent)
{
    entry.account = 2;
    silent_cases[_i].run(audited());
    ck_assert_msg(count_all() == 0, "%s", silent_cases[_i].name);
    till_check_clean();
}
END_TEST

/* ---- one entry a handle, and together with the change */

START_TEST(test_further_changes)
{
    pay_store_t *store = audited();

    ck_assert_int_eq(key_create(store), APR_SUCCESS);
    ck_assert_int_eq(key_revoke(store), APR_SUCCESS);
    ck_assert_int_eq(note(store), APR_SUCCESS);
    ck_assert_str_eq(only(2)->subject, "key_new");
    ck_assert_int_eq(key_rotate(audited()), APR_EINVAL);
    ck_assert_int_eq(grant_new(audited()), APR_SUCCESS);
    ck_assert_int_eq(list(2, 0, 10)->nelts, 2);
    till_check_clean();
}
END_TEST

/* A handle made of such a handle has its own entry. */
START_TEST(test_handle_of_a_handle)
{
    const pay_audit_t other = {.who = "bob", .from = "", .what = "other"};
    pay_store_t *store;

    ck_assert_int_eq(pay_store_audited(&store, audited(), &other, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(key_create(store), APR_SUCCESS);
    ck_assert_str_eq(only(2)->who, "bob");
}
END_TEST

/* If no entry can be appended nothing is changed, and the reverse. */
START_TEST(test_together)
{
    pay_store_t *store = audited();
    const char *before;
    pay_store_key_t key;

    pay_store_audit_key(&key, 2, 7);
    (void)pay_store_key_bytes(&key, "x", 1);
    till_plant(PAY_TABLE_AUDIT, &key, "", 0);
    before = till_snapshot();
    ck_assert_int_eq(key_create(store), PAY_STORE_ECORRUPT);
    ck_assert_str_eq(before, till_snapshot());
    till_plant(PAY_TABLE_AUDIT, &key, NULL, 0);
    before = till_snapshot();
    entry.account = 2;
    ck_assert_int_eq(key_rotate(store), APR_SUCCESS);
    ck_assert_int_eq(key_rotate(store), APR_EINVAL);
    ck_assert_str_ne(before, till_snapshot());
    ck_assert_str_eq(only(2)->detail, "test secret, now key_next");
}
END_TEST

static void *change_many(void *baton)
{
    apr_pool_t *pool;
    int i;

    apr_pool_create(&pool, NULL);
    for (i = 0; i < CHANGES; i++) {
        const pay_audit_t mine = {
            .account = 1 + i % 2, .who = apr_psprintf(pool, "%d", *(int *)baton), .what = "thread"};
        pay_store_t *store;

        if (pay_store_audited(&store, till->store, &mine, pool) != APR_SUCCESS
            || pay_store_audit_note(store) != APR_SUCCESS) {
            break;
        }
    }
    apr_pool_destroy(pool);
    return i == CHANGES ? baton : NULL;
}

/* The leader of a commit writes the entries of the others as well, each once and in order. */
START_TEST(test_threads)
{
    pthread_t threads[THREADS];
    int numbers[THREADS], i;
    void *done;

    for (i = 0; i < THREADS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&threads[i], NULL, change_many, &numbers[i]), 0);
    }
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &done), 0);
        ck_assert_ptr_nonnull(done);
    }
    for (i = 1; i <= 2; i++) {
        ck_assert_int_eq(list((apr_uint32_t)i, 0, 1000)->nelts, THREADS * CHANGES / 2);
        ck_assert_uint_eq(APR_ARRAY_IDX(list((apr_uint32_t)i, 0, 1), 0, const pay_audit_t *)->seq,
                          THREADS * CHANGES / 2);
    }
    till_check_clean();
}
END_TEST

/* ---- the list */

START_TEST(test_list)
{
    apr_array_header_t *entries;
    apr_uint64_t before = 0;
    int i, seen = 0;

    for (i = 0; i < 30; i++) { /* in turn: no account's list may contain another's */
        entry.account = (apr_uint32_t)(i % 3);
        till_clock = TILL_NOW - i * apr_time_from_sec(60); /* a clock that runs back */
        ck_assert_int_eq(note(audited()), APR_SUCCESS);
    }
    for (;;) {
        entries = list(1, before, 3);
        for (i = 0; i < entries->nelts; i++) {
            const pay_audit_t *one = APR_ARRAY_IDX(entries, i, const pay_audit_t *);

            ck_assert_uint_eq(one->account, 1);
            ck_assert_uint_eq(one->seq, 10 - (unsigned int)seen);
            before = one->seq;
            seen++;
        }
        if (entries->nelts == 0) {
            break;
        }
    }
    ck_assert_int_eq(seen, 10);
    ck_assert_int_eq(list(0, 0, 1000)->nelts, 10);
    ck_assert_int_eq(list(9, 0, 1000)->nelts, 0);
    ck_assert_int_eq(pay_store_audit_list(&entries, till->store, 1, 0, 0, unit_pool), APR_EINVAL);
    ck_assert_int_eq(
        pay_store_audit_list(&entries, till->store, 1, 0, PAY_STORE_ROWS_MAX + 1, unit_pool),
        APR_EINVAL);
    till_check_clean();
}
END_TEST

/* A text of the greatest length, a longer one, and one with characters that must not be shown. */
START_TEST(test_texts)
{
    char *text = apr_pcalloc(unit_pool, PAY_AUDIT_TEXT_MAX + 2);

    memset(text, 'x', PAY_AUDIT_TEXT_MAX + 1);
    entry.who = text;
    entry.from = NULL;
    entry.subject = "a\nb";
    ck_assert_int_eq(note(audited()), APR_SUCCESS);
    ck_assert_uint_eq(strlen(only(0)->who), PAY_AUDIT_TEXT_MAX);
    ck_assert_str_eq(only(0)->from, "");
    ck_assert_str_eq(only(0)->subject, "a b");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_changes, 0, UNIT_ROWS(change_cases));
    tcase_add_loop_test(tcase, test_silent, 0, UNIT_ROWS(silent_cases));
    tcase_add_test(tcase, test_further_changes);
    tcase_add_test(tcase, test_handle_of_a_handle);
    tcase_add_test(tcase, test_together);
    tcase_add_test(tcase, test_threads);
    tcase_add_test(tcase, test_list);
    tcase_add_test(tcase, test_texts);
}

UNIT_PROGRAM(add)
