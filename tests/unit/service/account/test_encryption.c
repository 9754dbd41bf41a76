/* SPDX-License-Identifier: Apache-2.0 */
#include "service/account/encryption.h"

#include "base/crypto/keyring.h"
#include "base/log.h"
#include "rsa_fixture.h"
#include "shop.h"

#include <unistd.h>

#define ORDER "{\"order\":{\"amount\":10.50,\"reference\":\"order-1\"}}"

static pay_keyring_t *ring;
static shop_t *shop;
static pay_scope_t scopes[3]; /* of "demo" in both modes, of "other" */
static char line[512];
static int line_count;

static void hear(void *baton, pay_log_level_t level, apr_status_t status, const char *text)
{
    (void)baton, (void)status;
    if (level != PAY_LOG_NOTICE) {
        line_count++;
        apr_cpystrn(line, text, sizeof(line));
    }
}

static pay_keyring_t *ring_make(const char *name)
{
    pay_keyring_t *made;
    const char *reason;
    int fresh;

    ck_assert_int_eq(pay_keyring_load(&made, &fresh, &reason,
                                      apr_pstrcat(unit_pool, unit_dir(), name, NULL), 1, getuid(),
                                      unit_pool),
                     APR_SUCCESS);
    return made;
}

static void set_up(void)
{
    pay_account_t *other;

    shop = shop_open(unit_dir());
    ck_assert_int_eq(pay_store_account_create(&other, shop->store, "other",
                                              &pay_account_settings_builtin, unit_pool),
                     APR_SUCCESS);
    scopes[0] = (pay_scope_t){shop->account->number, PAY_TEST};
    scopes[1] = (pay_scope_t){shop->account->number, PAY_LIVE};
    scopes[2] = (pay_scope_t){other->number, PAY_TEST};
    ring = ring_make("/ring");
    shop->service.keyring = ring;
    line_count = 0;
    line[0] = '\0';
    pay_log_set_sink(hear, NULL);
}

/* The fixture's pair as the scope's, sealed for `sealed_for`. */
static void key_put(const pay_scope_t *scope, const pay_scope_t *sealed_for)
{
    pay_encryption_key_t key = {.scope = *scope, .public_pem = fixture_public}, *out;

    ck_assert_int_eq(pay_keyring_seal(&key.sealed, ring,
                                      pay_encryption_key_context(sealed_for, unit_pool),
                                      fixture_private, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_encryption_key_put(&out, shop->store, &key, 1, unit_pool),
                     APR_SUCCESS);
}

static const char *data_of(const char *text, size_t len)
{
    unsigned char block[PAY_RSA_LEN];

    fixture_encrypt(block, fixture_public, RSA_PKCS1_PADDING, text, len);
    return pay_base64(block, sizeof(block), unit_pool);
}

/* ---- opening */

static const struct {
    const char *name;
    const char *text;
    apr_size_t len; /* 0: the text's */
    int good;
} text_rows[] = {
    {"an order", ORDER, 0, 1},
    {"an object of nothing", "{}", 0, 1},
    {"blanks around", " {\"a\":1}\n", 0, 1},
    {"nothing", "", 0, 0},
    {"an array", "[]", 0, 0},
    {"no JSON", "amount=10", 0, 0},
    {"cut", "{\"a\":", 0, 0},
    {"a NUL behind", "{}\0", 3, 0},
    {"a NUL before", "\0{}", 3, 0},
    {"no UTF-8", "{\"a\":\"\xff\"}", 0, 0},
    {"twice", "{\"a\":1,\"a\":1}", 0, 0},
};

/* Everything that is refused is refused in the same words. */
static void check_refused(const char *name, const pay_scope_t *scope, const char *data)
{
    const char *out = "x";
    const pay_problem_t *problem =
        pay_encryption_open(&out, &shop->service, scope, data, unit_pool);
    const pay_field_error_t *fault;

    shop_check_problem(name, problem, 400, "T1");
    ck_assert_str_eq(problem->message, "Invalid request parameter.");
    ck_assert_ptr_null(out);
    ck_assert_ptr_nonnull(problem->fields);
    ck_assert_int_eq(problem->fields->nelts, 1);
    fault = &APR_ARRAY_IDX(problem->fields, 0, pay_field_error_t);
    ck_assert_str_eq(fault->field, "/data");
    ck_assert_str_eq(fault->reason,
                     "must be the base64 of one block of 512 bytes (RSAES-PKCS1-v1_5) under the "
                     "account's encryption key of this mode, with the JSON object of the plain "
                     "request in it");
    ck_assert_int_eq(problem->cause, APR_SUCCESS);
    ck_assert_int_eq(problem->retry_after, 0);
}

START_TEST(test_texts)
{
    const char *text = text_rows[_i].text, *out;
    const apr_size_t len = text_rows[_i].len ? text_rows[_i].len : strlen(text);
    const char *data = data_of(text, len);

    key_put(&scopes[0], &scopes[0]);
    if (text_rows[_i].good) {
        ck_assert_ptr_null(pay_encryption_open(&out, &shop->service, &scopes[0], data, unit_pool));
        ck_assert_str_eq(out, text);
    } else {
        check_refused(text_rows[_i].name, &scopes[0], data);
    }
    ck_assert_int_eq(line_count, 0);
}
END_TEST

START_TEST(test_longest)
{
    char text[PAY_RSA_TEXT_MAX + 1];
    const char *out;

    key_put(&scopes[0], &scopes[0]);
    memset(text, ' ', sizeof(text));
    memcpy(text, "{\"a\":1", 6);
    text[PAY_RSA_TEXT_MAX - 1] = '}';
    text[PAY_RSA_TEXT_MAX] = '\0';
    ck_assert_ptr_null(pay_encryption_open(&out, &shop->service, &scopes[0],
                                           data_of(text, PAY_RSA_TEXT_MAX), unit_pool));
    ck_assert_str_eq(out, text);
}
END_TEST

typedef enum broken_t {
    EMPTY,
    ONE_LESS,
    ONE_MORE,
    BLANK,
    LINE_BREAK,
    URL_ALPHABET,
    NO_PADDING,
    BLOCK_LESS,
    BLOCK_MORE,
    TWO_BLOCKS,
    MUCH,
    FLIPPED,
    ABOVE,
    ZEROS,
    TYPE_1,
    SHORT_PADDING,
    NO_END
} broken_t;

static const struct {
    const char *name;
    broken_t how;
} broken_rows[] = {
    {"empty", EMPTY},
    {"a digit less", ONE_LESS},
    {"a digit more", ONE_MORE},
    {"a blank in it", BLANK},
    {"a line's end in it", LINE_BREAK},
    {"the alphabet of URLs", URL_ALPHABET},
    {"without its padding", NO_PADDING},
    {"511 bytes", BLOCK_LESS},
    {"513 bytes", BLOCK_MORE},
    {"two blocks", TWO_BLOCKS},
    {"60,000 digits", MUCH},
    {"a bit was changed", FLIPPED},
    {"not below the modulus", ABOVE},
    {"zeros", ZEROS},
    {"type 1", TYPE_1},
    {"short padding", SHORT_PADDING},
    {"no end of the padding", NO_END},
};

/* A block made by the test. */
static const char *crafted(int type, int zero)
{
    unsigned char encoded[PAY_RSA_LEN], block[PAY_RSA_LEN];

    memset(encoded, 0x2b, sizeof(encoded));
    encoded[0] = 0;
    encoded[1] = (unsigned char)type;
    memcpy(encoded + PAY_RSA_LEN - 2, "{}", 2);
    if (zero) {
        encoded[zero] = 0;
    }
    fixture_encrypt(block, fixture_public, RSA_NO_PADDING, encoded, sizeof(encoded));
    return pay_base64(block, sizeof(block), unit_pool);
}

static const char *broken(broken_t how)
{
    const char *good = data_of(ORDER, strlen(ORDER));
    unsigned char bytes[2 * PAY_RSA_LEN] = {0};
    char *copy = apr_pstrdup(unit_pool, good);
    unsigned char *block;
    apr_size_t len;

    ck_assert_int_eq(pay_base64_decode(&block, &len, good, unit_pool), APR_SUCCESS);
    memcpy(bytes, block, PAY_RSA_LEN);
    memcpy(bytes + PAY_RSA_LEN, block, PAY_RSA_LEN);
    switch (how) {
    case EMPTY:
        return "";
    case ONE_LESS:
        return good + 1;
    case ONE_MORE:
        return apr_pstrcat(unit_pool, "A", good, NULL);
    case BLANK:
    case LINE_BREAK:
        copy[76] = how == BLANK ? ' ' : '\n';
        return copy;
    case URL_ALPHABET:
        copy[10] = '-';
        return copy;
    case NO_PADDING:
        return apr_pstrmemdup(unit_pool, good, strlen(good) - 1);
    case BLOCK_LESS:
        return pay_base64(bytes, PAY_RSA_LEN - 1, unit_pool);
    case BLOCK_MORE:
        return pay_base64(bytes, PAY_RSA_LEN + 1, unit_pool);
    case TWO_BLOCKS:
        return pay_base64(bytes, sizeof(bytes), unit_pool);
    case MUCH:
        copy = apr_pcalloc(unit_pool, 60001);
        memset(copy, 'A', 60000);
        return copy;
    case FLIPPED:
        bytes[PAY_RSA_LEN - 1] ^= 1;
        break;
    case ABOVE:
        memset(bytes, 0xff, sizeof(bytes));
        break;
    case ZEROS:
        memset(bytes, 0, sizeof(bytes));
        break;
    case TYPE_1:
        return crafted(1, PAY_RSA_LEN - 3);
    case SHORT_PADDING:
        return crafted(2, 9);
    case NO_END:
        return crafted(2, 0);
    }
    return pay_base64(bytes, PAY_RSA_LEN, unit_pool);
}

START_TEST(test_broken)
{
    const char *out;

    key_put(&scopes[0], &scopes[0]);
    check_refused(broken_rows[_i].name, &scopes[0], broken(broken_rows[_i].how));
    ck_assert_int_eq(line_count, 0);
    /* The same block without the fault, which shows that only the fault was refused. */
    ck_assert_ptr_null(
        pay_encryption_open(&out, &shop->service, &scopes[0], crafted(2, 509), unit_pool));
    ck_assert_str_eq(out, "{}");
}
END_TEST

/* Of another scope; of none. */
START_TEST(test_other_scopes)
{
    const char *data = data_of(ORDER, strlen(ORDER)), *out;
    pay_encryption_key_t *made;
    int i;

    for (i = 0; i < 3; i++) {
        check_refused("no key yet", &scopes[i], data);
        ck_assert_int_eq(line_count, i + 1);
        ck_assert_ptr_nonnull(strstr(line, "paymentsctl encryption-key show"));
    }
    key_put(&scopes[1], &scopes[1]);
    check_refused("no key in this mode", &scopes[0], data);
    check_refused("no key of this account", &scopes[2], data);
    ck_assert_ptr_null(pay_encryption_open(&out, &shop->service, &scopes[1], data, unit_pool));
    ck_assert_str_eq(out, ORDER);
    ck_assert_ptr_null(pay_encryption_find(&made, &shop->service, &scopes[0], unit_pool));
    ck_assert_ptr_null(made);
    ck_assert_ptr_null(pay_encryption_find(&made, &shop->service, &scopes[1], unit_pool));
    ck_assert_str_eq(made->public_pem, fixture_public);
}
END_TEST

/* ---- when it cannot be opened at all */

typedef enum unusable_t {
    NO_RING,
    OTHER_RING,
    OTHER_SCOPE,
    CHANGED,
    NO_KEY,
    STORE_DOWN
} unusable_t;

static const struct {
    const char *name;
    unusable_t how;
    const char *code;
    int status;
    const char *told; /* NULL: the store decides */
} unusable_rows[] = {
    {"no master key", NO_RING, "E2", 503, "put back the file"},
    {"another master key", OTHER_RING, "E2", 503, "put back the file"},
    {"another scope's", OTHER_SCOPE, "E2", 503, "is damaged"},
    {"changed", CHANGED, "E2", 503, "is damaged"},
    {"no private key", NO_KEY, "E2", 503, "cannot be used"},
    {"the store is down", STORE_DOWN, "E2", 503, NULL},
};

static apr_status_t get_down(pay_encryption_key_t **out, pay_store_t *store,
                             const pay_scope_t *scope, apr_pool_t *p)
{
    (void)store, (void)scope, (void)p;
    *out = NULL;
    return PAY_STORE_EDOWN;
}

static void spoil(unusable_t how)
{
    pay_encryption_key_t key = {.scope = scopes[0], .public_pem = "x", .sealed = "x"}, *out;

    key_put(&scopes[0], how == OTHER_SCOPE ? &scopes[1] : &scopes[0]);
    switch (how) {
    case NO_RING:
        shop->service.keyring = NULL;
        break;
    case OTHER_RING:
        shop->service.keyring = ring_make("/other");
        break;
    case NO_KEY:
        ck_assert_int_eq(pay_keyring_seal(&key.sealed, ring,
                                          pay_encryption_key_context(&scopes[0], unit_pool),
                                          fixture_public, unit_pool),
                         APR_SUCCESS); /* falls through */
    case CHANGED:
        ck_assert_int_eq(pay_store_encryption_key_put(&out, shop->store, &key, 1, unit_pool),
                         APR_SUCCESS);
        break;
    case STORE_DOWN:
        store_script.encryption_key_get = get_down;
        break;
    case OTHER_SCOPE:
        break;
    }
}

START_TEST(test_unusable)
{
    const char *const name = unusable_rows[_i].name;
    const char *data[] = {data_of(ORDER, strlen(ORDER)), "", broken(FLIPPED)};
    const char *out;
    int k;

    spoil(unusable_rows[_i].how);
    for (k = 0; k < UNIT_ROWS(data); k++) { /* whatever is sent */
        const pay_problem_t *problem;

        out = "x";
        problem = pay_encryption_open(&out, &shop->service, &scopes[0], data[k], unit_pool);
        shop_check_problem(name, problem, unusable_rows[_i].status, unusable_rows[_i].code);
        ck_assert_ptr_null(out);
        if (unusable_rows[_i].told) {
            ck_assert_int_eq(line_count, k + 1);
            ck_assert_msg(strstr(line, unusable_rows[_i].told) != NULL, "%s: %s", name, line);
            ck_assert_msg(
                strstr(line, unusable_rows[_i].how == NO_KEY ? "PAY00501: " : "PAY00500: ") == line,
                "%s: %s", name, line);
        }
    }
}
END_TEST

/* ---- making */

static int makes;

/* Another process is faster. */
static apr_status_t put_late(pay_encryption_key_t **out, pay_store_t *store,
                             const pay_encryption_key_t *key, int replace, apr_pool_t *p)
{
    if (makes++ == 0) {
        key_put(&key->scope, &key->scope);
    }
    return STORE_REAL(encryption_key_put)(out, store, key, replace, p);
}

START_TEST(test_need)
{
    pay_encryption_key_t *first, *second, *third;
    unsigned char block[PAY_RSA_LEN];
    const char *out, *data;

    ck_assert_ptr_null(pay_encryption_need(&first, &shop->service, &scopes[0], 0, unit_pool));
    ck_assert_ptr_nonnull(first);
    ck_assert_uint_eq(first->scope.account, scopes[0].account);
    ck_assert_int_eq(pay_keyring_is_current(ring, first->sealed), 1);
    ck_assert_ptr_null(strstr(first->sealed, "PRIVATE"));
    ck_assert_ptr_null(pay_encryption_need(&second, &shop->service, &scopes[0], 0, unit_pool));
    ck_assert_str_eq(second->public_pem, first->public_pem);
    fixture_encrypt(block, first->public_pem, RSA_PKCS1_PADDING, ORDER, strlen(ORDER));
    data = pay_base64(block, sizeof(block), unit_pool);
    ck_assert_ptr_null(pay_encryption_open(&out, &shop->service, &scopes[0], data, unit_pool));
    ck_assert_str_eq(out, ORDER);
    ck_assert_ptr_null(pay_encryption_need(&third, &shop->service, &scopes[0], 1, unit_pool));
    ck_assert_str_ne(third->public_pem, first->public_pem);
    check_refused("under the one before", &scopes[0], data);
    ck_assert_int_eq(line_count, 0);
}
END_TEST

START_TEST(test_need_at_once)
{
    pay_encryption_key_t *key;

    makes = 0;
    store_script.encryption_key_put = put_late;
    ck_assert_ptr_null(pay_encryption_need(&key, &shop->service, &scopes[0], 0, unit_pool));
    ck_assert_str_eq(key->public_pem, fixture_public);
}
END_TEST

START_TEST(test_need_without_master_key)
{
    pay_encryption_key_t *key = NULL;

    shop->service.keyring = NULL;
    shop_check_problem("none", pay_encryption_need(&key, &shop->service, &scopes[0], 0, unit_pool),
                       503, "E2");
    ck_assert_ptr_null(key);
    ck_assert_ptr_eq(strstr(line, "PAY00503: "), line);
    ck_assert_ptr_nonnull(strstr(line, "there is no master key"));
    key_put(&scopes[0], &scopes[0]);
    ck_assert_ptr_null(pay_encryption_need(&key, &shop->service, &scopes[0], 0, unit_pool));
    ck_assert_str_eq(key->public_pem, fixture_public); /* showing it needs none */
    shop_check_problem("a new one",
                       pay_encryption_need(&key, &shop->service, &scopes[0], 1, unit_pool), 503,
                       "E2");
    ck_assert_ptr_null(key);
    store_script.encryption_key_get = get_down;
    shop_check_problem("down", pay_encryption_need(&key, &shop->service, &scopes[0], 0, unit_pool),
                       503, "E2");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, test_texts, 0, UNIT_ROWS(text_rows));
    tcase_add_test(tcase, test_longest);
    tcase_add_loop_test(tcase, test_broken, 0, UNIT_ROWS(broken_rows));
    tcase_add_test(tcase, test_other_scopes);
    tcase_add_loop_test(tcase, test_unusable, 0, UNIT_ROWS(unusable_rows));
    tcase_add_test(tcase, test_need);
    tcase_add_test(tcase, test_need_at_once);
    tcase_add_test(tcase, test_need_without_master_key);
}

UNIT_PROGRAM(add)
