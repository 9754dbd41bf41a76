/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/account/encryption_key.h"

#include <apr_thread_proc.h>

#define MAKERS 4

static pay_encryption_key_t proposal(int i, const char *name)
{
    return (pay_encryption_key_t){.scope = till->scopes[i],
                                  .public_pem = apr_psprintf(unit_pool, "public %d %s", i, name),
                                  .sealed = apr_psprintf(unit_pool, "sealed %d %s", i, name),
                                  .created_at = 1};
}

static pay_encryption_key_t *put(int i, const char *name, int replace)
{
    const pay_encryption_key_t wanted = proposal(i, name);
    pay_encryption_key_t *out;

    ck_assert_int_eq(pay_store_encryption_key_put(&out, till->store, &wanted, replace, unit_pool),
                     APR_SUCCESS);
    ck_assert_ptr_nonnull(out);
    return out;
}

static pay_encryption_key_t *get(int i)
{
    pay_encryption_key_t *out;

    ck_assert_int_eq(pay_store_encryption_key_get(&out, till->store, &till->scopes[i], unit_pool),
                     APR_SUCCESS);
    return out;
}

static void check_key(const pay_encryption_key_t *key, int i, const char *name, apr_time_t when)
{
    const pay_encryption_key_t want = proposal(i, name);

    ck_assert_str_eq(key->public_pem, want.public_pem);
    ck_assert_str_eq(key->sealed, want.sealed);
    ck_assert_int_eq(key->created_at, when);
    ck_assert_uint_eq(key->scope.account, till->scopes[i].account);
    ck_assert_int_eq(key->scope.mode, till->scopes[i].mode);
}

START_TEST(test_put_and_get)
{
    pay_encryption_key_t *out;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        out = (pay_encryption_key_t *)till;
        ck_assert_int_eq(
            pay_store_encryption_key_get(&out, till->store, &till->scopes[i], unit_pool),
            APR_NOTFOUND);
        ck_assert_ptr_null(out);
        check_key(put(i, "one", 0), i, "one", TILL_NOW);
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        check_key(get(i), i, "one", TILL_NOW);
    }
    till_check_clean();
}
END_TEST

/* The first stays; its time too. */
START_TEST(test_put_again)
{
    put(1, "one", 0);
    till_clock += apr_time_from_sec(5);
    check_key(put(1, "two", 0), 1, "one", TILL_NOW);
    check_key(get(1), 1, "one", TILL_NOW);
    check_key(put(1, "two", 1), 1, "two", till_clock);
    check_key(get(1), 1, "two", till_clock);
    check_key(put(0, "three", 1), 0, "three", till_clock); /* in place of none */
    check_key(get(1), 1, "two", till_clock);
}
END_TEST

START_TEST(test_no_account)
{
    pay_encryption_key_t wanted = proposal(0, "one");
    const char *before = till_snapshot();
    pay_encryption_key_t *out = &wanted;

    wanted.scope.account = 9999;
    ck_assert_int_eq(pay_store_encryption_key_put(&out, till->store, &wanted, 0, unit_pool),
                     APR_NOTFOUND);
    ck_assert_ptr_null(out);
    ck_assert_str_eq(till_snapshot(), before);
}
END_TEST

static void *APR_THREAD_FUNC make(apr_thread_t *thread, void *baton)
{
    const pay_encryption_key_t *wanted = baton;
    pay_encryption_key_t *out = NULL;
    apr_pool_t *pool;

    (void)thread;
    apr_pool_create_unmanaged(&pool);
    (void)pay_store_encryption_key_put(&out, till->store, wanted, 0, pool);
    ((pay_encryption_key_t *)baton)->public_pem = out ? strdup(out->public_pem) : NULL;
    apr_pool_destroy(pool);
    return NULL;
}

START_TEST(test_made_at_once)
{
    pay_encryption_key_t wanted[MAKERS];
    apr_thread_t *threads[MAKERS];
    apr_status_t rv;
    int i;

    for (i = 0; i < MAKERS; i++) {
        wanted[i] = proposal(0, apr_itoa(unit_pool, i));
    }
    for (i = 0; i < MAKERS; i++) {
        ck_assert_int_eq(apr_thread_create(&threads[i], NULL, make, &wanted[i], unit_pool),
                         APR_SUCCESS);
    }
    for (i = 0; i < MAKERS; i++) {
        ck_assert_int_eq(apr_thread_join(&rv, threads[i]), APR_SUCCESS);
        ck_assert_ptr_nonnull(wanted[i].public_pem);
        ck_assert_str_eq(wanted[i].public_pem, get(0)->public_pem);
        free((char *)wanted[i].public_pem);
    }
}
END_TEST

/* The scopes in their order, `limit` a call, after `after`. */
static const char *listed(const pay_scope_t *after, int limit)
{
    apr_array_header_t *list;
    const char *text = "";
    int k;

    ck_assert_int_eq(pay_store_encryption_key_list(&list, till->store, after, limit, unit_pool),
                     APR_SUCCESS);
    for (k = 0; k < list->nelts; k++) {
        const pay_encryption_key_t *key = APR_ARRAY_IDX(list, k, const pay_encryption_key_t *);

        text = apr_psprintf(unit_pool, "%s%u%s ", text, key->scope.account,
                            pay_mode_name(key->scope.mode));
    }
    return text;
}

START_TEST(test_list)
{
    static const pay_scope_t one_test = {1, PAY_TEST}, one_live = {1, PAY_LIVE};
    static const pay_scope_t two_test = {2, PAY_TEST}, two_live = {2, PAY_LIVE};
    int i;

    ck_assert_str_eq(listed(NULL, PAY_STORE_ROWS_MAX), "");
    for (i = 0; i < TILL_SCOPES; i++) {
        put(i, "one", 0);
    }
    ck_assert_str_eq(listed(NULL, PAY_STORE_ROWS_MAX), "1test 1live 2test ");
    ck_assert_str_eq(listed(NULL, 2), "1test 1live ");
    ck_assert_str_eq(listed(&one_test, 1), "1live ");
    ck_assert_str_eq(listed(&one_live, 9), "2test ");
    ck_assert_str_eq(listed(&two_test, 9), "");
    ck_assert_str_eq(listed(&two_live, 9), ""); /* one that is not there */
    ck_assert_str_eq(listed(&(pay_scope_t){0, PAY_LIVE}, 9), "1test 1live 2test ");
}
END_TEST

START_TEST(test_reseal)
{
    pay_store_t *store = till->store;
    int changed = 9;

    ck_assert_int_eq(
        pay_store_encryption_key_reseal(&changed, store, &till->scopes[0], "s", "n", unit_pool),
        APR_SUCCESS); /* it was removed meanwhile */
    ck_assert_int_eq(changed, 0);
    put(0, "one", 0);
    put(1, "one", 0);
    ck_assert_int_eq(pay_store_encryption_key_reseal(&changed, store, &till->scopes[0],
                                                     "sealed 1 one", "fresh", unit_pool),
                     APR_SUCCESS); /* another one is there */
    ck_assert_int_eq(changed, 0);
    check_key(get(0), 0, "one", TILL_NOW);
    till_clock += 1000000;
    ck_assert_int_eq(pay_store_encryption_key_reseal(&changed, store, &till->scopes[0],
                                                     "sealed 0 one", "fresh", unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    ck_assert_str_eq(get(0)->sealed, "fresh");
    ck_assert_str_eq(get(0)->public_pem, "public 0 one");
    ck_assert_int_eq(get(0)->created_at, TILL_NOW);
    check_key(get(1), 1, "one", TILL_NOW);
}
END_TEST

/* A row that does not decode is logged and fails the work that needs it. */
START_TEST(test_damaged)
{
    const pay_encryption_key_t wanted = proposal(0, "two");
    apr_array_header_t *list;
    pay_encryption_key_t *out;
    pay_store_key_t key;
    int changed;

    put(0, "one", 0);
    put(1, "one", 0);
    pay_store_key_of_scope(&key, &till->scopes[0]);
    till_plant(PAY_TABLE_ENCRYPTION_KEY, &key, "\x01\x01", 2);
    ck_assert_int_eq(pay_store_encryption_key_get(&out, till->store, &till->scopes[0], unit_pool),
                     PAY_STORE_ECORRUPT);
    ck_assert_ptr_null(out);
    ck_assert_ptr_nonnull(strstr(till_line, "encryption_key"));
    ck_assert_int_eq(pay_store_encryption_key_put(&out, till->store, &wanted, 0, unit_pool),
                     PAY_STORE_ECORRUPT);
    ck_assert_int_eq(pay_store_encryption_key_list(&list, till->store, NULL, 9, unit_pool),
                     PAY_STORE_ECORRUPT);
    ck_assert_int_eq(pay_store_encryption_key_reseal(&changed, till->store, &till->scopes[0], "a",
                                                     "b", unit_pool),
                     PAY_STORE_ECORRUPT);
    check_key(get(1), 1, "one", TILL_NOW);
    check_key(put(0, "two", 1), 0, "two", TILL_NOW); /* a new one repairs it */
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_put_and_get);
    tcase_add_test(tcase, test_put_again);
    tcase_add_test(tcase, test_no_account);
    tcase_add_test(tcase, test_made_at_once);
    tcase_add_test(tcase, test_list);
    tcase_add_test(tcase, test_reseal);
    tcase_add_test(tcase, test_damaged);
}

UNIT_PROGRAM(add)
