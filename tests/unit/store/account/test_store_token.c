/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

static pay_token_t proposal(int scope, const char *text)
{
    pay_token_t token = {.token = text, .email = "payer@example.com"};

    token.scope = fixture_scopes[scope];
    token.card = (pay_card_t){"555555", "4444", "Mastercard", "NG", "credit"};
    return token;
}

static apr_status_t create(pay_token_t **out, pay_store_t *store, int scope, const char *text)
{
    const pay_token_t token = proposal(scope, text);

    return pay_store_token_create(out, store, &token, unit_pool);
}

START_TEST(test_scopes_stay_apart)
{
    pay_store_t *store = fixture_shop(unit_dir());
    apr_array_header_t *tokens;
    pay_token_t *token;
    int i, scope;

    /* The same text may be issued in each scope; text 9 exists in the first only. */
    for (i = 0; i < 9; i++) {
        ck_assert_int_eq(create(&token, store, i % FIXTURE_SCOPES,
                                apr_psprintf(unit_pool, "tok_%d", i / FIXTURE_SCOPES)),
                         APR_SUCCESS);
    }
    ck_assert_int_eq(create(&token, store, 0, "tok_9"), APR_SUCCESS);
    for (scope = 0; scope < FIXTURE_SCOPES; scope++) {
        ck_assert_int_eq(
            pay_store_token_get(&token, store, &fixture_scopes[scope], "tok_9", unit_pool),
            scope == 0 ? APR_SUCCESS : APR_NOTFOUND);
        ck_assert_int_eq(pay_store_token_list(&tokens, store, &fixture_scopes[scope], unit_pool),
                         APR_SUCCESS);
        ck_assert_int_eq(tokens->nelts, scope == 0 ? 4 : 3);
        for (i = 0; i < tokens->nelts; i++) {
            token = APR_ARRAY_IDX(tokens, i, pay_token_t *);
            ck_assert_uint_eq(token->scope.account, fixture_scopes[scope].account);
            ck_assert_int_eq(token->scope.mode, fixture_scopes[scope].mode);
        }
    }
}
END_TEST

START_TEST(test_what_goes_in_comes_out)
{
    pay_store_t *store = fixture_shop(unit_dir());
    pay_token_t *token;

    ck_assert_int_eq(create(&token, store, 1, "tok_a"), APR_SUCCESS);
    ck_assert_int_eq(pay_store_token_get(&token, store, &fixture_scopes[1], "tok_a", unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(token->token, "tok_a");
    ck_assert_str_eq(token->email, "payer@example.com");
    ck_assert_str_eq(token->card.first6, "555555");
    ck_assert_str_eq(token->card.last4, "4444");
    ck_assert_str_eq(token->card.issuer, "Mastercard");
    ck_assert_str_eq(token->card.country, "NG");
    ck_assert_str_eq(token->card.type, "credit");
    ck_assert_int_gt(token->created_at, 0);
    ck_assert_int_eq(token->created_at % 1000, 0);
    ck_assert_int_eq(token->revoked_at, 0);
}
END_TEST

START_TEST(test_revoke_keeps_the_first_time)
{
    pay_store_t *store = fixture_shop(unit_dir());
    pay_token_t *token;
    apr_time_t first;
    int scope;

    for (scope = 0; scope < FIXTURE_SCOPES; scope++) {
        ck_assert_int_eq(create(&token, store, scope, "tok_a"), APR_SUCCESS);
    }
    ck_assert_int_eq(pay_store_token_revoke(&token, store, &fixture_scopes[1], "tok_a", unit_pool),
                     APR_SUCCESS);
    first = token->revoked_at;
    ck_assert_int_gt(first, 0);
    ck_assert_int_eq(pay_store_token_revoke(&token, store, &fixture_scopes[1], "tok_a", unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(token->revoked_at, first);
    for (scope = 0; scope < FIXTURE_SCOPES; scope++) {
        ck_assert_int_eq(
            pay_store_token_get(&token, store, &fixture_scopes[scope], "tok_a", unit_pool),
            APR_SUCCESS);
        ck_assert_int_eq(token->revoked_at, scope == 1 ? first : 0);
    }
    ck_assert_int_eq(pay_store_token_revoke(&token, store, &fixture_scopes[1], "tok_b", unit_pool),
                     APR_NOTFOUND);
    ck_assert_ptr_null(token);
}
END_TEST

START_TEST(test_refusals)
{
    pay_store_t *store = fixture_shop(unit_dir());
    pay_token_t nobody = proposal(0, "tok_a");
    pay_token_t no_email = proposal(0, "tok_a");
    pay_token_t *token;

    nobody.scope.account = 99;
    no_email.email = NULL;
    ck_assert_int_eq(pay_store_token_create(&token, store, &nobody, unit_pool), APR_NOTFOUND);
    ck_assert_int_eq(pay_store_token_create(&token, store, &no_email, unit_pool), APR_EINVAL);
    ck_assert_int_eq(create(&token, store, 0, "tok_a"), APR_SUCCESS);
    ck_assert_int_eq(create(&token, store, 0, "tok_a"), APR_EEXIST);
    ck_assert_ptr_null(token);
    ck_assert_int_eq(create(&token, store, 0, ""), APR_EINVAL);
    ck_assert_int_eq(pay_store_token_get(&token, store, &fixture_scopes[0], "", unit_pool),
                     APR_NOTFOUND);
}
END_TEST

static const struct {
    const char *name;
    size_t len;
    apr_status_t want;
} length_rows[] = {
    {"the longest", PAY_TOKEN_TEXT_MAX, APR_SUCCESS},
    {"one past the longest", PAY_TOKEN_TEXT_MAX + 1, APR_EINVAL},
    {"longer than a key of LMDB", 600, APR_EINVAL},
};

START_TEST(test_length)
{
    pay_store_t *store = fixture_shop(unit_dir());
    char *text = apr_pcalloc(unit_pool, length_rows[_i].len + 1);
    pay_token_t *token;

    memset(text, 'x', length_rows[_i].len);
    ck_assert_msg(create(&token, store, 0, text) == length_rows[_i].want, "%s",
                  length_rows[_i].name);
    ck_assert_msg(pay_store_token_get(&token, store, &fixture_scopes[0], text, unit_pool)
                      == (length_rows[_i].want == APR_SUCCESS ? APR_SUCCESS : APR_NOTFOUND),
                  "%s", length_rows[_i].name);
}
END_TEST

/* The key of this table contains the token: it must not be logged. */
START_TEST(test_damage_is_logged_without_the_token)
{
    static const char key[] = "\0\0\0\1\0tok_secret";
    pay_store_t *store = fixture_shop(unit_dir());
    apr_array_header_t *tokens;
    pay_token_t *token;

    ck_assert_int_eq(create(&token, store, 1, "tok_fine"), APR_SUCCESS);
    ck_assert_int_eq(
        fixture_put(store, (fixture_row_t){PAY_TABLE_TOKEN, key, sizeof(key) - 1, "junk", 4}),
        APR_SUCCESS);
    fixture_listen();
    ck_assert_int_eq(
        pay_store_token_get(&token, store, &fixture_scopes[0], "tok_secret", unit_pool),
        PAY_STORE_ECORRUPT);
    ck_assert_int_eq(fixture_lines, 1);
    ck_assert(fixture_logged("table token"));
    ck_assert(fixture_logged("0x0000000100..."));
    ck_assert(!fixture_logged("secret"));
    ck_assert(!fixture_logged("746f6b")); /* "tok" */
    ck_assert_int_eq(pay_store_token_list(&tokens, store, &fixture_scopes[0], unit_pool),
                     PAY_STORE_ECORRUPT);
    ck_assert_int_eq(pay_store_token_list(&tokens, store, &fixture_scopes[1], unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(tokens->nelts, 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_scopes_stay_apart);
    tcase_add_test(tcase, test_what_goes_in_comes_out);
    tcase_add_test(tcase, test_revoke_keeps_the_first_time);
    tcase_add_test(tcase, test_refusals);
    tcase_add_loop_test(tcase, test_length, 0, UNIT_ROWS(length_rows));
    tcase_add_test(tcase, test_damage_is_logged_without_the_token);
}

UNIT_PROGRAM(add)
