/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

typedef enum spoil_t {
    SPOIL_ACCOUNT_ROW,
    SPOIL_ACCOUNT_NAME,
    SPOIL_ACCOUNT_NAME_OTHER,
    SPOIL_ACCOUNT_NAME_GONE,
    SPOIL_KEY_ROW,
    SPOIL_KEY_ID,
    SPOIL_KEY_ID_OTHER,
    SPOIL_KEY_ID_EMPTY,
    SPOIL_KEY_ID_LONG,
    SPOIL_KEY_ID_GONE,
    SPOIL_TOKEN_ROW,
    SPOIL_TOKEN_ACCOUNT,
    SPOIL_TOKEN_NUL,
    SPOIL_TOKEN_LONG,
    SPOIL_ENCRYPTION_ROW,
    SPOIL_ENCRYPTION_KEY,
    SPOIL_ENCRYPTION_ACCOUNT
} spoil_t;

static const struct {
    const char *name;
    spoil_t how;
    int want;         /* faults */
    const char *told; /* in one's text */
} spoil_cases[] = {
    {"an account row does not decode", SPOIL_ACCOUNT_ROW, 1, "account 0000270f: the row"},
    {"a name of no account", SPOIL_ACCOUNT_NAME, 1, "leads to no account"},
    {"a second name of an account", SPOIL_ACCOUNT_NAME_OTHER, 1, "leads to no account"},
    {"an account without its name", SPOIL_ACCOUNT_NAME_GONE, 1, "not found by its name"},
    {"a key row does not decode", SPOIL_KEY_ROW, 1, "api_key 0202"},
    {"an id of no key", SPOIL_KEY_ID, 1, "leads to no key"},
    {"a second id of a key", SPOIL_KEY_ID_OTHER, 1, "leads to no key"},
    {"an id of nothing", SPOIL_KEY_ID_EMPTY, 1, "leads to no key"},
    {"an id of more than any key", SPOIL_KEY_ID_LONG, 1, "leads to no key"},
    {"a key without its id", SPOIL_KEY_ID_GONE, 1, "key_1"},
    {"a token row does not decode", SPOIL_TOKEN_ROW, 1, "token: a row of account 1, live"},
    {"a token of no account", SPOIL_TOKEN_ACCOUNT, 2, "token: a token belongs to no account"},
    {"a token with a NUL", SPOIL_TOKEN_NUL, 1, "token: a key of account 1, live is no token's"},
    {"a token of 256 bytes", SPOIL_TOKEN_LONG, 1, "token: a key of account 1, live is no token's"},
    {"an encryption key does not decode", SPOIL_ENCRYPTION_ROW, 1, "the row does not decode"},
    {"an encryption key of a key too long", SPOIL_ENCRYPTION_KEY, 1, "encryption_key 00"},
    {"an encryption key of no account", SPOIL_ENCRYPTION_ACCOUNT, 1,
     "encryption_key 0000270f01: there is no such account"},
};

static const pay_scope_t nobody = {9999, PAY_LIVE};

static void name_key(pay_store_key_t *key, const char *name)
{
    pay_store_key_start(key);
    (void)pay_store_key_bytes(key, name, strlen(name));
}

static void spoil_encryption(spoil_t how)
{
    pay_store_key_t key;

    pay_store_key_of_scope(&key, how == SPOIL_ENCRYPTION_ACCOUNT ? &nobody : &till->scopes[1]);
    if (how == SPOIL_ENCRYPTION_KEY) {
        (void)pay_store_key_bytes(&key, "", 1);
    }
    /* "\1" and no fields: a row of strings that are empty. */
    till_plant(PAY_TABLE_ENCRYPTION_KEY, &key, how == SPOIL_ENCRYPTION_ROW ? "\xff" : "\1",
               how == SPOIL_ENCRYPTION_ROW ? 1 : 2);
}

static void plant_name(const char *name, apr_uint32_t account)
{
    pay_store_key_t key, number;

    name_key(&key, name);
    pay_store_key_start(&number);
    pay_store_key_u32(&number, account);
    till_plant(PAY_TABLE_ACCOUNT_NAME, &key, number.bytes, number.len);
}

static void spoil_key_id(spoil_t how)
{
    unsigned char digest[PAY_SHA256_LEN];
    unsigned char long_value[PAY_STORE_KEY_MAX + 1];
    pay_store_key_t key;

    memset(digest, 2, sizeof(digest)); /* of key_1 */
    switch (how) {
    case SPOIL_KEY_ID:
        name_key(&key, "key_9");
        digest[0] = 9;
        till_plant(PAY_TABLE_API_KEY_ID, &key, digest, sizeof(digest));
        return;
    case SPOIL_KEY_ID_OTHER:
        name_key(&key, "key_9");
        till_plant(PAY_TABLE_API_KEY_ID, &key, digest, sizeof(digest));
        return;
    case SPOIL_KEY_ID_EMPTY:
        name_key(&key, "key_9");
        till_plant(PAY_TABLE_API_KEY_ID, &key, "", 0);
        return;
    case SPOIL_KEY_ID_LONG:
        name_key(&key, "key_9");
        memset(long_value, 'k', sizeof(long_value));
        till_plant(PAY_TABLE_API_KEY_ID, &key, long_value, sizeof(long_value));
        return;
    default:
        name_key(&key, "key_1");
        till_plant(PAY_TABLE_API_KEY_ID, &key, NULL, 0);
        return;
    }
}

static void spoil(spoil_t how)
{
    unsigned char digest[PAY_SHA256_LEN];
    unsigned char long_value[PAY_STORE_KEY_MAX + 1];
    pay_store_key_t key;

    memset(digest, 2, sizeof(digest)); /* of key_1 */
    pay_store_key_start(&key);
    switch (how) {
    case SPOIL_ACCOUNT_ROW:
        pay_store_key_u32(&key, 9999);
        till_plant(PAY_TABLE_ACCOUNT, &key, "\xff", 1);
        return;
    case SPOIL_ACCOUNT_NAME:
        plant_name("nobody", 9999);
        return;
    case SPOIL_ACCOUNT_NAME_OTHER:
        plant_name("nobody", till->scopes[1].account);
        return;
    case SPOIL_ACCOUNT_NAME_GONE:
        name_key(&key, "late");
        till_plant(PAY_TABLE_ACCOUNT_NAME, &key, NULL, 0);
        return;
    case SPOIL_KEY_ROW:
        (void)pay_store_key_bytes(&key, digest, sizeof(digest));
        till_plant(PAY_TABLE_API_KEY, &key, "\xff", 1);
        return;
    case SPOIL_TOKEN_ROW:
        pay_store_key_scope(&key, &till->scopes[1]);
        (void)pay_store_key_bytes(&key, "secret", 6);
        till_plant(PAY_TABLE_TOKEN, &key, "\xff", 1);
        return;
    case SPOIL_TOKEN_NUL:
        pay_store_key_scope(&key, &till->scopes[1]);
        (void)pay_store_key_bytes(&key, "secret", 7);
        till_plant(PAY_TABLE_TOKEN, &key, "\xff", 1);
        return;
    case SPOIL_TOKEN_LONG:
        pay_store_key_scope(&key, &till->scopes[1]);
        memset(long_value, 's', sizeof(long_value));
        (void)pay_store_key_bytes(&key, long_value, PAY_TOKEN_TEXT_MAX + 1);
        till_plant(PAY_TABLE_TOKEN, &key, "\xff", 1);
        return;
    case SPOIL_TOKEN_ACCOUNT:
        pay_store_key_scope(&key, &nobody);
        (void)pay_store_key_bytes(&key, "secret", 6);
        till_plant(PAY_TABLE_TOKEN, &key, "\xff", 1);
        return;
    case SPOIL_ENCRYPTION_ROW:
    case SPOIL_ENCRYPTION_KEY:
    case SPOIL_ENCRYPTION_ACCOUNT:
        spoil_encryption(how);
        return;
    default:
        spoil_key_id(how);
        return;
    }
}

START_TEST(test_spoiled)
{
    const char *name = spoil_cases[_i].name;
    int faults;

    spoil(spoil_cases[_i].how);
    faults = till_faults(spoil_cases[_i].told);
    ck_assert_msg(faults == spoil_cases[_i].want, "%s: %d faults, among them: %s", name, faults,
                  till_fault);
    ck_assert_msg(strstr(till_fault, spoil_cases[_i].told) != NULL, "%s: told '%s'", name,
                  till_fault);
    ck_assert_msg(strstr(till_fault, "secret") == NULL, "%s: a token is told", name);
    ck_assert_msg(strstr(till_fault, "736563726574") == NULL, "%s: a token is told in hex", name);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_spoiled, 0, UNIT_ROWS(spoil_cases));
}

UNIT_PROGRAM(add)
