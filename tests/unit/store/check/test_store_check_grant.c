/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/account/grant.h"

#include <string.h>

typedef enum spoil_t {
    SPOIL_ROW,
    SPOIL_KEY,
    SPOIL_KEY_OF_ANOTHER,
    SPOIL_ROLE,
    SPOIL_HOST,
    SPOIL_ACCOUNT,
    SPOIL_ENTRY_GONE,
    SPOIL_ENTRY_SHORT,
    SPOIL_ENTRY_FULL,
    SPOIL_ENTRY_NOWHERE
} spoil_t;

static const struct {
    const char *name;
    spoil_t how;
    int want;         /* faults */
    const char *told; /* in one's text */
} spoil_cases[] = {
    {"a row does not decode", SPOIL_ROW, 1, "grant 00000002"},
    {"a short key", SPOIL_KEY, 1, "the row does not decode"},
    {"a row under another's key", SPOIL_KEY_OF_ANOTHER, 1, "the row does not decode"},
    {"no such role", SPOIL_ROLE, 1, "the row does not decode"},
    {"a host in another form", SPOIL_HOST, 1, "the row does not decode"},
    {"a grant of no account", SPOIL_ACCOUNT, 2, "there is no such account"},
    {"an entry is gone", SPOIL_ENTRY_GONE, 1, "it is not found by its user"},
    {"a short entry", SPOIL_ENTRY_SHORT, 1, "grant_user 01: leads to no grant"},
    {"an entry with a value", SPOIL_ENTRY_FULL, 1, "leads to no grant"},
    {"an entry of no grant", SPOIL_ENTRY_NOWHERE, 1, "leads to no grant"},
};

static const unsigned char *digest(const char *host, const char *user)
{
    unsigned char *out = apr_palloc(unit_pool, PAY_SHA256_LEN);

    ck_assert_int_eq(pay_store_grant_digest(out, host, user, unit_pool), APR_SUCCESS);
    return out;
}

/* A row as it would be written, under the key that the arguments make. */
static void plant(apr_uint32_t account, const char *key_user, const char *host, pay_role_t role)
{
    const pay_grant_t grant = {.host = host, .user = "ada", .role = role};
    pay_store_key_t key;
    pay_bytes_t row;

    ck_assert_int_eq(pay_store_grant_encode(&row, &grant, unit_pool), 0);
    pay_store_grant_key(&key, account, digest(host, key_user));
    till_plant(PAY_TABLE_GRANT, &key, row.data, row.len);
}

static void spoil(spoil_t how)
{
    const apr_uint32_t account = till->scopes[0].account;
    const unsigned char *ada = digest("a.example", "ada");
    pay_store_key_t key;

    pay_store_grant_key(&key, account, ada);
    switch (how) {
    case SPOIL_ROW:
        till_plant(PAY_TABLE_GRANT, &key, "\xff", 1);
        return;
    case SPOIL_KEY:
        pay_store_key_start(&key);
        pay_store_key_u32(&key, account);
        till_plant(PAY_TABLE_GRANT, &key, "\xff", 1);
        return;
    case SPOIL_KEY_OF_ANOTHER:
        plant(account, "bob", "a.example", PAY_ROLE_OWNER);
        return;
    case SPOIL_ROLE:
        plant(account, "ada", "a.example", (pay_role_t)(PAY_ROLE_LAST + 1));
        return;
    case SPOIL_HOST:
        plant(account, "ada", "A.example", PAY_ROLE_OWNER);
        return;
    case SPOIL_ACCOUNT:
        plant(9999, "ada", "a.example", PAY_ROLE_OWNER);
        return;
    case SPOIL_ENTRY_GONE:
        pay_store_grant_user_key(&key, ada, account);
        till_plant(PAY_TABLE_GRANT_USER, &key, NULL, 0);
        return;
    case SPOIL_ENTRY_SHORT:
        pay_store_key_start(&key);
        (void)pay_store_key_bytes(&key, "\x01", 1);
        till_plant(PAY_TABLE_GRANT_USER, &key, "", 0);
        return;
    case SPOIL_ENTRY_FULL:
        pay_store_grant_user_key(&key, ada, account);
        till_plant(PAY_TABLE_GRANT_USER, &key, "x", 1);
        return;
    case SPOIL_ENTRY_NOWHERE:
        pay_store_grant_user_key(&key, digest("a.example", "bob"), account);
        till_plant(PAY_TABLE_GRANT_USER, &key, "", 0);
        return;
    }
}

START_TEST(test_spoiled)
{
    const char *name = spoil_cases[_i].name;
    pay_grant_verdict_t verdict;
    pay_grant_t *grant;
    int faults;

    ck_assert_int_eq(pay_store_grant_put(&grant, &verdict, till->store, "late", "a.example", "ada",
                                         PAY_ROLE_OWNER, 0, unit_pool),
                     APR_SUCCESS);
    till_check_clean();
    spoil(spoil_cases[_i].how);
    faults = till_faults(spoil_cases[_i].told);
    ck_assert_msg(faults == spoil_cases[_i].want, "%s: %d faults", name, faults);
    ck_assert_msg(strstr(till_fault, spoil_cases[_i].told) != NULL, "%s: %s", name, till_fault);
}
END_TEST

/* A row that does not decode grants nothing, to nobody. */
START_TEST(test_damage_grants_nothing)
{
    apr_array_header_t *grants;
    pay_grant_t *grant;

    plant(till->scopes[0].account, "ada", "a.example", (pay_role_t)(PAY_ROLE_LAST + 1));
    ck_assert_int_eq(
        pay_store_grant_get(&grant, till->store, "late", "a.example", "ada", unit_pool),
        PAY_STORE_ECORRUPT);
    ck_assert_ptr_null(grant);
    spoil(SPOIL_ENTRY_NOWHERE);
    ck_assert_int_eq(pay_store_grant_list_user(&grants, till->store, "a.example", "bob", unit_pool),
                     PAY_STORE_ECORRUPT);
    ck_assert_ptr_null(grants);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_spoiled, 0, UNIT_ROWS(spoil_cases));
    tcase_add_test(tcase, test_damage_grants_nothing);
}

UNIT_PROGRAM(add)
