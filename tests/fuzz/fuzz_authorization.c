/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "model/api_key.h"
#include "model/idempotency.h"

/* The header Authorization; the same text is tried as an Idempotency-Key. */

static void check_key(const char *key)
{
    pay_mode_t mode;
    pay_key_kind_t kind;
    const char *underscore = strchr(key, '_');
    size_t len = strlen(key);

    CHECK(pay_api_key_parse(&mode, &kind, key) == APR_SUCCESS);
    CHECK(len >= PAY_KEY_TEXT_MIN && len <= PAY_KEY_TEXT_MAX);
    CHECK(underscore && underscore - key <= PAY_KEY_PREFIX_MAX);
    CHECK(!strncmp(underscore + 1, mode == PAY_LIVE ? "live" : "test", 4));
    CHECK(!strncmp(underscore + 5, kind == PAY_KEY_SECRET ? "sk_" : "pk_", 3));
    CHECK(strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_") == len);
}

static void check_header(const char *value, apr_pool_t *p)
{
    static const char *const forms[] = {"", " ", "Bearer ", "bEARER: \t", "BEARER\t"};
    const char *key = pay_api_key_from_header(value, p), *again;
    size_t i;

    if (!key) {
        return;
    }
    CHECK(strstr(value, key));
    check_key(key);
    for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        again = pay_api_key_from_header(apr_pstrcat(p, forms[i], key, " ", NULL), p);
        CHECK(again && !strcmp(again, key));
    }
    /* Two keys count as none. */
    CHECK(!pay_api_key_from_header(apr_pstrcat(p, key, " ", key, NULL), p));
    CHECK(!pay_api_key_from_header(apr_pstrcat(p, key, ",", key, NULL), p));
}

static void check_text(const char *text, apr_pool_t *p)
{
    pay_mode_t mode;
    pay_key_kind_t kind;
    const char *found;
    apr_status_t rv;

    rv = pay_api_key_parse(&mode, &kind, text);
    CHECK(rv == APR_SUCCESS || rv == APR_EINVAL);
    if (rv == APR_SUCCESS) {
        check_key(text);
        found = pay_api_key_from_header(text, p);
        CHECK(found && !strcmp(found, text));
    }
}

/* The quoted form of a key (RFC 8941 section 3.3.3). */
static const char *quoted(const char *key, apr_pool_t *p)
{
    char *out = apr_palloc(p, 2 * strlen(key) + 3), *at = out;

    *at++ = '"';
    for (; *key; key++) {
        if (*key == '"' || *key == '\\') {
            *at++ = '\\';
        }
        *at++ = *key;
    }
    *at++ = '"';
    *at = '\0';
    return out;
}

static void check_idempotency(const char *value, apr_pool_t *p)
{
    const char *key, *again;
    apr_status_t rv;

    rv = pay_idempotency_key_parse(&key, value, p);
    CHECK(rv == APR_SUCCESS || rv == APR_EINVAL);
    CHECK((rv == APR_SUCCESS) == (key != NULL));
    if (!key) {
        return;
    }
    CHECK(strlen(key) >= 1 && strlen(key) <= PAY_IDEMPOTENCY_KEY_MAX);
    for (again = key; *again; again++) {
        CHECK(*again >= ' ' && *again <= '~');
    }
    CHECK(pay_idempotency_key_parse(&again, quoted(key, p), p) == APR_SUCCESS);
    CHECK(!strcmp(again, key));
}

static void run(const uint8_t *data, size_t size, apr_pool_t *p)
{
    char *text = fuzz_text(data, size);

    check_header(text, p);
    check_text(text, p);
    check_idempotency(text, p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_run(run, data, size);
}
