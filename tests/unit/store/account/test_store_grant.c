/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

#include "store/account/grant.h"

static pay_store_t *store;

static void set_up(void)
{
    store = fixture_shop(unit_dir());
}

static apr_status_t put(pay_grant_t **out, pay_grant_verdict_t *verdict, const char *account,
                        const char *host, const char *user, pay_role_t role, int keep_owner)
{
    return pay_store_grant_put(out, verdict, store, account, host, user, role, keep_owner,
                               unit_pool);
}

static pay_grant_t *grant(const char *account, const char *host, const char *user, pay_role_t role)
{
    pay_grant_verdict_t verdict;
    pay_grant_t *out;

    ck_assert_int_eq(put(&out, &verdict, account, host, user, role, 0), APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_GRANT_DONE);
    ck_assert_str_eq(out->account->name, account);
    ck_assert_int_eq(out->role, role);
    return out;
}

static apr_status_t take(pay_grant_verdict_t *verdict, const char *account, const char *host,
                         const char *user, int keep_owner)
{
    return pay_store_grant_delete(verdict, store, account, host, user, keep_owner, unit_pool);
}

static pay_role_t role_of(const char *account, const char *host, const char *user)
{
    pay_grant_t *out;
    apr_status_t rv;

    rv = pay_store_grant_get(&out, store, account, host, user, unit_pool);
    ck_assert_int_eq(rv, out ? APR_SUCCESS : APR_NOTFOUND);
    return out ? out->role : 0;
}

/* "account/host/user/role" of each, followed by a blank. */
static const char *told(const apr_array_header_t *grants)
{
    const char *text = "";
    int i;

    for (i = 0; i < grants->nelts; i++) {
        const pay_grant_t *one = APR_ARRAY_IDX(grants, i, const pay_grant_t *);

        text = apr_pstrcat(unit_pool, text, one->account->name, "/", one->host, "/", one->user, "/",
                           pay_role_name(one->role), " ", NULL);
    }
    return text;
}

static const char *of_account(const char *account)
{
    apr_array_header_t *grants;

    ck_assert_int_eq(pay_store_grant_list(&grants, store, account, unit_pool), APR_SUCCESS);
    return told(grants);
}

static const char *of_user(const char *host, const char *user)
{
    apr_array_header_t *grants;

    ck_assert_int_eq(pay_store_grant_list_user(&grants, store, host, user, unit_pool), APR_SUCCESS);
    return told(grants);
}

static void fault(void *baton, const char *text)
{
    fixture_sink(NULL, PAY_LOG_ERR, APR_SUCCESS, text);
    (void)baton;
}

static int faults(void)
{
    apr_size_t count;

    ck_assert_int_eq(pay_store_check(&count, store, fault, NULL, unit_pool), APR_SUCCESS);
    return (int)count;
}

/* Other persons: the same name on another host, the same host's other user, account two. */
START_TEST(test_apart)
{
    grant("two", "b.example", "ada", PAY_ROLE_VIEWER);
    grant("one", "B.example.:443", "ada", PAY_ROLE_OWNER);
    grant("one", "a.example", "ada", PAY_ROLE_OPERATOR);
    grant("one", "a.example", "Ada", PAY_ROLE_VIEWER);
    grant("two", "a.example", "bob", PAY_ROLE_OWNER);
    ck_assert_str_eq(of_account("one"), "one/a.example/Ada/viewer one/a.example/ada/operator "
                                        "one/b.example/ada/owner ");
    ck_assert_str_eq(of_account("two"), "two/a.example/bob/owner two/b.example/ada/viewer ");
    ck_assert_str_eq(of_user("b.EXAMPLE", "ada"),
                     "one/b.example/ada/owner two/b.example/ada/viewer ");
    ck_assert_str_eq(of_user("a.example", "ada"), "one/a.example/ada/operator ");
    ck_assert_str_eq(of_user("a.example", "bob"), "two/a.example/bob/owner ");
    ck_assert_str_eq(of_user("c.example", "ada"), "");
    ck_assert_str_eq(of_user("not a host", "ada"), "");
    ck_assert_str_eq(of_user("a.example", ""), "");
    ck_assert_int_eq(role_of("one", "a.example:80", "ada"), PAY_ROLE_OPERATOR);
    ck_assert_int_eq(role_of("two", "a.example", "ada"), 0);
    ck_assert_int_eq(role_of("none", "a.example", "ada"), 0);
    ck_assert_int_eq(role_of("one", "", "ada"), 0);
    ck_assert_int_eq(faults(), 0);
}
END_TEST

/* The digest keeps host and user apart. */
START_TEST(test_digest)
{
    unsigned char one[PAY_SHA256_LEN], other[PAY_SHA256_LEN];

    ck_assert_int_eq(pay_store_grant_digest(one, "ab", "c", unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_grant_digest(other, "a", "bc", unit_pool), APR_SUCCESS);
    ck_assert_int_ne(memcmp(one, other, sizeof(one)), 0);
}
END_TEST

START_TEST(test_another_role)
{
    pay_grant_verdict_t verdict;
    pay_grant_t *first = grant("one", "a.example", "ada", PAY_ROLE_VIEWER), *out;

    ck_assert_int_gt(first->created_at, 0);
    ck_assert_int_eq(first->created_at, first->updated_at);
    ck_assert_int_eq(put(&out, &verdict, "one", "a.example", "ada", PAY_ROLE_VIEWER, 0),
                     APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_GRANT_UNCHANGED);
    ck_assert_int_eq(out->updated_at, first->updated_at);
    out = grant("one", "a.example", "ada", PAY_ROLE_OWNER);
    ck_assert_int_eq(out->created_at, first->created_at);
    ck_assert_int_ge(out->updated_at, first->updated_at);
    ck_assert_str_eq(of_account("one"), "one/a.example/ada/owner ");
    ck_assert_str_eq(of_user("a.example", "ada"), "one/a.example/ada/owner ");
    ck_assert_int_eq(faults(), 0);
}
END_TEST

START_TEST(test_taken_away)
{
    pay_grant_verdict_t verdict;

    grant("one", "a.example", "ada", PAY_ROLE_OWNER);
    grant("two", "a.example", "ada", PAY_ROLE_OWNER);
    grant("one", "b.example", "ada", PAY_ROLE_OWNER);
    ck_assert_int_eq(take(&verdict, "one", "A.example", "ada", 0), APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_GRANT_DONE);
    ck_assert_str_eq(of_account("one"), "one/b.example/ada/owner ");
    ck_assert_str_eq(of_user("a.example", "ada"), "two/a.example/ada/owner ");
    ck_assert_int_eq(take(&verdict, "one", "a.example", "ada", 0), APR_NOTFOUND);
    ck_assert_int_eq(take(&verdict, "none", "a.example", "ada", 0), APR_NOTFOUND);
    ck_assert_int_eq(take(&verdict, "one", "a/b", "ada", 0), APR_NOTFOUND);
    ck_assert_int_eq(faults(), 0);
}
END_TEST

/* Neither removed nor reduced; another account's owner, or a viewer, is not a second one. */
START_TEST(test_last_owner)
{
    pay_grant_verdict_t verdict;
    pay_grant_t *out;

    grant("one", "a.example", "ada", PAY_ROLE_OWNER);
    grant("one", "a.example", "bob", PAY_ROLE_OPERATOR);
    grant("two", "a.example", "bob", PAY_ROLE_OWNER);
    ck_assert_int_eq(take(&verdict, "one", "a.example", "ada", 1), APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_GRANT_REFUSED_OWNER);
    ck_assert_int_eq(put(&out, &verdict, "one", "a.example", "ada", PAY_ROLE_VIEWER, 1),
                     APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_GRANT_REFUSED_OWNER);
    ck_assert_int_eq(out->role, PAY_ROLE_OWNER);
    ck_assert_int_eq(role_of("one", "a.example", "ada"), PAY_ROLE_OWNER);
    ck_assert_int_eq(take(&verdict, "one", "a.example", "bob", 1), APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_GRANT_DONE);
    grant("one", "b.example", "cleo", PAY_ROLE_OWNER);
    ck_assert_int_eq(take(&verdict, "one", "a.example", "ada", 1), APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_GRANT_DONE);
    ck_assert_str_eq(of_account("one"), "one/b.example/cleo/owner ");
    ck_assert_int_eq(take(&verdict, "one", "b.example", "cleo", 0), APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_GRANT_DONE);
}
END_TEST

static const struct {
    const char *name;
    const char *account, *host, *user;
    int role;
    apr_status_t want;
} wrong_cases[] = {
    {"no account", "none", "a.example", "ada", PAY_ROLE_VIEWER, APR_NOTFOUND},
    {"no host", "one", "", "ada", PAY_ROLE_VIEWER, APR_EINVAL},
    {"no user", "one", "a.example", "", PAY_ROLE_VIEWER, APR_EINVAL},
    {"a user of two lines", "one", "a.example", "a\nb", PAY_ROLE_VIEWER, APR_EINVAL},
    {"less than a viewer", "one", "a.example", "ada", 0, APR_EINVAL},
    {"more than an owner", "one", "a.example", "ada", PAY_ROLE_LAST + 1, APR_EINVAL},
};

START_TEST(test_wrong)
{
    pay_grant_verdict_t verdict;
    pay_grant_t *out;

    ck_assert_msg(put(&out, &verdict, wrong_cases[_i].account, wrong_cases[_i].host,
                      wrong_cases[_i].user, (pay_role_t)wrong_cases[_i].role, 0)
                      == wrong_cases[_i].want,
                  "%s", wrong_cases[_i].name);
    ck_assert_ptr_null(out);
    ck_assert_str_eq(of_account("one"), "");
}
END_TEST

START_TEST(test_lists_of_no_account)
{
    apr_array_header_t *grants;

    ck_assert_int_eq(pay_store_grant_list(&grants, store, "none", unit_pool), APR_NOTFOUND);
    ck_assert_ptr_null(grants);
}
END_TEST

/* The greatest number; one more is refused, another role for one of them is not. */
START_TEST(test_most)
{
    pay_grant_verdict_t verdict;
    apr_array_header_t *grants;
    pay_account_t *account;
    pay_grant_t *out;
    const char *name;
    int i;

    for (i = 0; i < PAY_GRANTS_MAX; i++) {
        if (_i) { /* of one user */
            name = apr_psprintf(unit_pool, "shop-%d", i);
            ck_assert_int_eq(pay_store_account_create(&account, store, name,
                                                      &pay_account_settings_builtin, unit_pool),
                             APR_SUCCESS);
            grant(name, "a.example", "ada", PAY_ROLE_VIEWER);
        } else { /* of one account */
            grant("one", "a.example", apr_psprintf(unit_pool, "user-%d", i), PAY_ROLE_VIEWER);
        }
    }
    ck_assert_int_eq(put(&out, &verdict, "one", "a.example", "ada", PAY_ROLE_VIEWER, 0),
                     APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_GRANT_REFUSED_FULL);
    ck_assert_ptr_null(out);
    ck_assert_int_eq(role_of("one", "a.example", "ada"), 0);
    if (_i) {
        grant("shop-5", "a.example", "ada", PAY_ROLE_OWNER);
        ck_assert_int_eq(pay_store_grant_list_user(&grants, store, "a.example", "ada", unit_pool),
                         APR_SUCCESS);
    } else {
        grant("one", "a.example", "user-5", PAY_ROLE_OWNER);
        ck_assert_int_eq(pay_store_grant_list(&grants, store, "one", unit_pool), APR_SUCCESS);
    }
    ck_assert_int_eq(grants->nelts, PAY_GRANTS_MAX);
    grant(_i ? "one" : "two", "a.example", "bob", PAY_ROLE_VIEWER);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, test_apart);
    tcase_add_test(tcase, test_digest);
    tcase_add_test(tcase, test_another_role);
    tcase_add_test(tcase, test_taken_away);
    tcase_add_test(tcase, test_last_owner);
    tcase_add_loop_test(tcase, test_wrong, 0, UNIT_ROWS(wrong_cases));
    tcase_add_test(tcase, test_lists_of_no_account);
    tcase_add_loop_test(tcase, test_most, 0, 2);
}

UNIT_PROGRAM(add)
