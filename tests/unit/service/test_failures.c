/* SPDX-License-Identifier: Apache-2.0 */
#include "service/failures.h"

#include "service/change.h"
#include "shop.h"
#include "watched.h"

#include <openssl/evp.h>
#include <stdio.h>

#define MINUTES(n) apr_time_from_sec(60 * (n))

static shop_t *shop;
static pay_scope_t scope;

static int notices(void)
{
    return said(PAY_LOG_NOTICE, "PAY00750: ");
}

static void set_limit(pay_failure_kind_t kind, int count)
{
    shop->service.policy.failure_limit[PAY_TEST][kind] =
        (pay_failure_limit_t){count, count ? MINUTES(10) : 0};
}

static void set_up(void)
{
    static const unsigned char secret[PAY_FAILURE_SECRET_LEN] = "a secret";
    void *memory = apr_pcalloc(unit_pool, pay_failure_table_size());

    shop = shop_open(unit_dir());
    scope = (pay_scope_t){shop->account->number, PAY_TEST};
    ck_assert_int_eq(pay_failure_table_init(&shop->service.failures, memory, secret), APR_SUCCESS);
    shop->service.failures_store = 5;
    watch();
}

static int refused(const pay_attempt_t *attempt)
{
    const pay_problem_t *problem = pay_failures_judge(&shop->service, attempt, unit_pool);

    if (problem) {
        shop_check_problem("refused", problem, 429, "L2");
        ck_assert_int_ge(problem->retry_after, 1);
        ck_assert_int_le(problem->retry_after, 600);
    }
    return problem != NULL;
}

static apr_array_header_t *entries(void)
{
    apr_array_header_t *list;

    ck_assert_int_eq(
        STORE_REAL(audit_list)(&list, shop->store, shop->account->number, 0, 200, unit_pool),
        APR_SUCCESS);
    return list;
}

/* Values that fail twice, under a limit of two by one kind, and the refusals afterwards. */
static const struct {
    const char *name;
    pay_failure_kind_t kind;
    pay_attempt_t failed, then;
    int refused;
    const char *hint;
} rows[] = {
    {"a token",
     PAY_FAILURE_CARD,
     {.token = "tok_abcdefgh"},
     {.token = "tok_abcdefgh"},
     1,
     "token *efgh"},
    {"another token",
     PAY_FAILURE_CARD,
     {.token = "tok_abcdefgh"},
     {.token = "tok_x"},
     0,
     "token *efgh"},
    {"a short token is not shown",
     PAY_FAILURE_CARD,
     {.token = "tok_x"},
     {.token = "tok_x"},
     1,
     "token *"},
    {"an e-mail address in any case",
     PAY_FAILURE_CARD,
     {.email = "Ada@B.Co"},
     {.email = "ada@b.co"},
     1,
     "e-mail a*"},
    {"a token that is an e-mail address",
     PAY_FAILURE_CARD,
     {.email = "a@b.co"},
     {.token = "a@b.co"},
     0,
     "e-mail a*"},
    {"a link", PAY_FAILURE_LINK, {.link = "shoes"}, {.link = "shoes"}, 1, "shoes"},
    {"an address",
     PAY_FAILURE_ADDRESS,
     {.address = "203.0.113.9"},
     {.address = "203.0.113.9"},
     1,
     "203.0.113.*"},
    {"its neighbour",
     PAY_FAILURE_ADDRESS,
     {.address = "203.0.113.9"},
     {.address = "203.0.113.8"},
     0,
     "203.0.113.*"},
    {"the same subscriber",
     PAY_FAILURE_ADDRESS,
     {.address = "2001:db8:1:2::1"},
     {.address = "2001:db8:1:2:ffff::9"},
     1,
     "2001:db8:1:*"},
    {"another subscriber",
     PAY_FAILURE_ADDRESS,
     {.address = "2001:db8:1:2::1"},
     {.address = "2001:db8:1:3::1"},
     0,
     "2001:db8:1:*"},
    {"an account, visitors", PAY_FAILURE_ACCOUNT, {.email = "a@b.co"}, {.is_visitor = 1}, 1, ""},
    {"an account, its own server",
     PAY_FAILURE_ACCOUNT,
     {.email = "a@b.co"},
     {.email = "c@d.co"},
     0,
     ""},
};

START_TEST(test_kinds)
{
    pay_attempt_t failed = rows[_i].failed, then = rows[_i].then;
    const pay_failure_item_t *item;
    apr_array_header_t *items;
    int count;

    failed.scope = then.scope = scope;
    set_limit(rows[_i].kind, 2);
    pay_failures_note(&shop->service, &failed, unit_pool);
    ck_assert_msg(!refused(&then), "%s: too early", rows[_i].name);
    pay_failures_note(&shop->service, &failed, unit_pool);
    ck_assert_msg(refused(&then) == rows[_i].refused, "%s", rows[_i].name);
    then.scope.mode = PAY_LIVE;
    ck_assert_msg(!refused(&then), "%s: the other mode", rows[_i].name);
    then.scope = (pay_scope_t){scope.account + 1, PAY_TEST};
    ck_assert_msg(!refused(&then), "%s: another account", rows[_i].name);
    items = pay_failures_list(&count, &shop->service, &scope, unit_pool);
    ck_assert_msg(count == 1 && items->nelts == 1, "%s: %d blocks", rows[_i].name, count);
    item = &APR_ARRAY_IDX(items, 0, pay_failure_item_t);
    ck_assert_str_eq(item->kind, pay_failure_kind_name(rows[_i].kind));
    ck_assert_str_eq(item->hint, rows[_i].hint);
    ck_assert_int_eq(notices(), 1);
    ck_assert_int_eq(entries()->nelts, 1);
}
END_TEST

/*
 * The shop's own server gets refusals for values that failed, once its account is above the limit.
 */
START_TEST(test_account)
{
    const pay_attempt_t failed = {.scope = scope, .email = "a@b.co", .token = "tok_a"};
    const pay_attempt_t same = {.scope = scope, .email = "x@y.co", .token = "tok_a"};
    const pay_attempt_t good = {.scope = scope, .email = "x@y.co", .token = "tok_b"};

    set_limit(PAY_FAILURE_CARD, 100);
    set_limit(PAY_FAILURE_ACCOUNT, 1);
    ck_assert(!refused(&failed));
    pay_failures_note(&shop->service, &failed, unit_pool);
    ck_assert(refused(&failed) && refused(&same) && !refused(&good));
}
END_TEST

/* A good payer elsewhere is served while an account is above its limit; if visitors go on to fail
 * from ever new networks, that ends too. */
START_TEST(test_visitors_above_the_limit)
{
    const pay_attempt_t good = {
        .scope = scope, .is_visitor = 1, .email = "good@b.co", .address = "198.51.100.7"};
    pay_attempt_t thief = {.scope = scope, .is_visitor = 1};
    int count, n;

    set_limit(PAY_FAILURE_ACCOUNT, 4);
    for (n = 0; n < 4; n++) {
        thief.email = apr_psprintf(unit_pool, "thief%d@b.co", n);
        thief.address = apr_psprintf(unit_pool, "203.0.113.%d", n);
        ck_assert(!refused(&thief));
        pay_failures_note(&shop->service, &thief, unit_pool);
    }
    thief.email = "another@b.co";
    thief.address = "203.0.113.200"; /* a network that failed */
    ck_assert(refused(&thief) && !refused(&good));
    for (n = 0; n < 2; n++) {
        thief.address = apr_psprintf(unit_pool, "2001:db8:%d::1", n);
        ck_assert(!refused(&thief) && !refused(&good));
        pay_failures_note(&shop->service, &thief, unit_pool);
        thief.address = apr_psprintf(unit_pool, "2001:db8:%d:9::2", n);
        ck_assert(refused(&thief));
    }
    ck_assert(refused(&good));
    (void)pay_failures_list(&count, &shop->service, &scope, unit_pool);
    ck_assert_int_eq(count, 2);
    ck_assert_int_eq(notices(), 2);
}
END_TEST

static const struct {
    const char *name;
    pay_outcome_t outcome;
    int counts;
} outcomes[] = {
    {"declined", {.kind = PAY_OUTCOME_DECLINED, .code = "05"}, 1},
    {"declined without a code", {.kind = PAY_OUTCOME_DECLINED}, 1},
    {"approved", {.kind = PAY_OUTCOME_APPROVED, .code = "00"}, 0},
    {"unknown", {.kind = PAY_OUTCOME_UNKNOWN}, 0},
    {"issuer out of service", {.kind = PAY_OUTCOME_DECLINED, .code = "91"}, 0},
    {"malfunction", {.kind = PAY_OUTCOME_DECLINED, .code = "96"}, 0},
    {"absent at the acquirer", {.kind = PAY_OUTCOME_DECLINED, .late_check_at = 1}, 0},
};

START_TEST(test_outcomes)
{
    const pay_attempt_t attempt = {.scope = scope, .token = "tok_a"};
    const pay_charge_t charge = {
        .scope = scope, .token = "tok_a", .email = "a@b.co", .request_ip = "", .key_id = ""};

    set_limit(PAY_FAILURE_CARD, 1);
    pay_failures_note_charge(&shop->service, &charge, &outcomes[_i].outcome, NULL, unit_pool);
    ck_assert_msg(refused(&attempt) == outcomes[_i].counts, "%s", outcomes[_i].name);
    pay_failures_note_charge(NULL, &charge, &outcomes[_i].outcome, NULL, unit_pool);
}
END_TEST

/* A flood of cards fills neither log nor audit; still all of them are refused. */
START_TEST(test_notices_are_bounded)
{
    char token[32];
    int i;

    set_limit(PAY_FAILURE_CARD, 1);
    for (i = 0; i < 150; i++) {
        const pay_attempt_t attempt = {.scope = scope, .token = token};

        (void)snprintf(token, sizeof(token), "tok_%d", i);
        pay_failures_note(&shop->service, &attempt, unit_pool);
        ck_assert_msg(refused(&attempt), "%s", token);
    }
    ck_assert_int_eq(notices(), 100);
    ck_assert_int_eq(entries()->nelts, 100);
}
END_TEST

static apr_status_t note_status;

static apr_status_t note_fails(pay_store_t *store)
{
    (void)store;
    return note_status;
}

/* A block without an entry in the audit is still in force. */
static const struct {
    const char *name;
    apr_status_t status;
    int told;
} not_entered[] = {
    {"busy", PAY_STORE_EBUSY, 1},
    {"down", PAY_STORE_EDOWN, 1},
    {"full, as the store has said", PAY_STORE_EFULL, 0},
};

START_TEST(test_not_entered)
{
    const pay_attempt_t attempt = {.scope = scope, .token = "tok_a"};

    set_limit(PAY_FAILURE_CARD, 1);
    note_status = not_entered[_i].status;
    store_script.audit_note = note_fails;
    pay_failures_note(&shop->service, &attempt, unit_pool);
    ck_assert_msg(logged("PAY00753: ") == not_entered[_i].told, "%s", not_entered[_i].name);
    ck_assert_msg(refused(&attempt), "%s", not_entered[_i].name);
    ck_assert_int_eq(notices(), 1);
    ck_assert_int_eq(entries()->nelts, 0);
}
END_TEST

/* Without digests a payer is not counted, and not refused for it. */
START_TEST(test_no_digests)
{
    const pay_attempt_t attempt = {.scope = scope, .token = "tok_a"};

    set_limit(PAY_FAILURE_CARD, 1);
    ck_assert_int_eq(EVP_set_default_properties(NULL, "provider=none"), 1);
    pay_failures_note(&shop->service, &attempt, unit_pool);
    ck_assert_int_eq(said(PAY_LOG_ERR, "PAY00752: a payment could not be counted by its card"), 1);
    ck_assert(!refused(&attempt));
    ck_assert_int_eq(EVP_set_default_properties(NULL, ""), 1);
    ck_assert(!refused(&attempt));
    ck_assert_int_eq(notices(), 0);
}
END_TEST

/* No entry in the audit, no change. */
START_TEST(test_lift)
{
    const pay_attempt_t attempt = {.scope = scope, .token = "tok_a"};
    const pay_actor_t actor = {.who = "ada", .from = "here"};
    pay_service_t service = shop->service;
    pay_failure_item_t item;
    const char *id;
    int count;

    set_limit(PAY_FAILURE_CARD, 1);
    pay_failures_note(&shop->service, &attempt, unit_pool);
    id = APR_ARRAY_IDX(pay_failures_list(&count, &shop->service, &scope, unit_pool), 0,
                       pay_failure_item_t)
             .id;
    ck_assert_ptr_nonnull(pay_failures_lift(&shop->service, &scope, id, unit_pool));
    ck_assert(refused(&attempt));
    service.actor = &actor;
    shop_check_problem("no such id", pay_failures_lift(&service, &scope, "card-1", unit_pool), 404,
                       "N1");
    ck_assert_int_eq(entries()->nelts, 1);
    ck_assert_ptr_null(pay_failures_lift(&service, &scope, id, unit_pool));
    ck_assert(!refused(&attempt));
    ck_assert_int_eq(entries()->nelts, 2);
    shop_check_problem("lifted before", pay_failures_find(&item, &service, &scope, id, unit_pool),
                       404, "N1");
}
END_TEST

/* Without memory or limits nothing is counted, and nobody is refused. */
START_TEST(test_off)
{
    const pay_attempt_t attempt = {
        .scope = scope, .is_visitor = 1, .token = "tok_a", .address = "192.0.2.1"};
    int count;

    pay_failures_note(&shop->service, &attempt, unit_pool);
    ck_assert(!refused(&attempt));
    set_limit(PAY_FAILURE_CARD, 1);
    shop->service.failures = NULL;
    pay_failures_note(&shop->service, &attempt, unit_pool);
    ck_assert(!refused(&attempt));
    ck_assert_int_eq(pay_failures_list(&count, &shop->service, &scope, unit_pool)->nelts, 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, test_kinds, 0, UNIT_ROWS(rows));
    tcase_add_test(tcase, test_account);
    tcase_add_test(tcase, test_visitors_above_the_limit);
    tcase_add_loop_test(tcase, test_outcomes, 0, UNIT_ROWS(outcomes));
    tcase_add_test(tcase, test_notices_are_bounded);
    tcase_add_loop_test(tcase, test_not_entered, 0, UNIT_ROWS(not_entered));
    tcase_add_test(tcase, test_no_digests);
    tcase_add_test(tcase, test_lift);
    tcase_add_test(tcase, test_off);
}

UNIT_PROGRAM(add)
