/* SPDX-License-Identifier: Apache-2.0 */
#include "service/webhook.h"

#include "base/crypto/crypto.h"
#include "unit.h"

#include <string.h>

/* The example of the Standard Webhooks specification. */
#define SPEC_SECRET "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
#define SPEC_ID "msg_p5jXN8AQM9LWM0D4loKWxJek"
#define SPEC_TIME 1614265330
#define SPEC_BODY "{\"test\": 2432232314}"
#define SPEC_SIGNATURE "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

#define OTHER_SECRET "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
#define A15 "QUFBQUFBQUFBQUFBQUFB" /* base64 of 15 bytes */

static const struct {
    const char *name;
    const char *secret;
    apr_status_t want;
} secrets[] = {
    {"24 bytes", SPEC_SECRET, APR_SUCCESS},
    {"32 bytes", OTHER_SECRET, APR_SUCCESS},
    {"23 bytes", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRY=", APR_EINVAL},
    {"64 bytes", "whsec_" A15 A15 A15 A15 "QUFBQQ==", APR_SUCCESS},
    {"65 bytes", "whsec_" A15 A15 A15 A15 "QUFBQUE=", APR_EINVAL},
    {"no prefix", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", APR_EINVAL},
    {"another prefix", "whpk_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", APR_EINVAL},
    {"prefix in capitals", "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", APR_EINVAL},
    {"no base64", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa!w", APR_EINVAL},
    {"padding missing", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8", APR_EINVAL},
    {"prefix alone", "whsec_", APR_EINVAL},
    {"nothing", "", APR_EINVAL},
};

START_TEST(test_secrets)
{
    const char *out;
    apr_status_t rv = pay_webhook_sign(&out, secrets[_i].secret, SPEC_ID,
                                       apr_time_from_sec(SPEC_TIME), "{}", 2, unit_pool);

    ck_assert_msg(rv == secrets[_i].want, "%s: %d", secrets[_i].name, rv);
    ck_assert_msg((out != NULL) == (rv == APR_SUCCESS), "%s: the signature", secrets[_i].name);
}
END_TEST

START_TEST(test_specification)
{
    const char *out;

    ck_assert_int_eq(pay_webhook_sign(&out, SPEC_SECRET, SPEC_ID,
                                      apr_time_from_sec(SPEC_TIME) + 999999, SPEC_BODY,
                                      strlen(SPEC_BODY), unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(out, SPEC_SIGNATURE);
}
END_TEST

/* Each part counts. */
START_TEST(test_another_signature)
{
    static const struct {
        const char *name, *secret, *id;
        int time;
        const char *body;
    } rows[] = {
        {"secret", OTHER_SECRET, SPEC_ID, SPEC_TIME, SPEC_BODY},
        {"id", SPEC_SECRET, "msg_p5jXN8AQM9LWM0D4loKWxJel", SPEC_TIME, SPEC_BODY},
        {"time", SPEC_SECRET, SPEC_ID, SPEC_TIME + 1, SPEC_BODY},
        {"body", SPEC_SECRET, SPEC_ID, SPEC_TIME, "{\"test\": 2432232315}"},
        {"length", SPEC_SECRET, SPEC_ID, SPEC_TIME, SPEC_BODY " "},
    };
    const char *out;
    int i;

    for (i = 0; i < UNIT_ROWS(rows); i++) {
        ck_assert_int_eq(pay_webhook_sign(&out, rows[i].secret, rows[i].id,
                                          apr_time_from_sec(rows[i].time), rows[i].body,
                                          strlen(rows[i].body), unit_pool),
                         APR_SUCCESS);
        ck_assert_msg(strcmp(out, SPEC_SIGNATURE) != 0, "%s", rows[i].name);
    }
}
END_TEST

START_TEST(test_secret_make)
{
    const char *first, *second, *out;

    ck_assert_int_eq(pay_webhook_secret_make(&first, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_webhook_secret_make(&second, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(strncmp(first, "whsec_", 6), 0);
    ck_assert_uint_eq(strlen(first), 6 + 44);
    ck_assert_str_ne(first, second);
    ck_assert_int_eq(pay_webhook_sign(&out, first, SPEC_ID, 0, "", 0, unit_pool), APR_SUCCESS);
}
END_TEST

/* ---- the request */

static const pay_event_t event = {
    .scope = {7, PAY_TEST},
    .endpoint = PAY_ENDPOINT_WEBHOOK,
    .sequence = 3,
    .kind = PAY_EVENT_TEST,
    .created_at = APR_INT64_C(1800000000000000),
    .error = "",
    .answer = "",
};
static const pay_endpoint_t endpoint = {
    .scope = {7, PAY_TEST},
    .kind = PAY_ENDPOINT_WEBHOOK,
    .enabled = 1,
    .address = "https://shop.example/hook?key=1",
};

/* The value of a header that must be there once. */
static const char *header(const pay_transfer_t *transfer, const char *name)
{
    const size_t len = strlen(name);
    const char *value = NULL, *line;
    int i;

    for (i = 0; i < transfer->headers->nelts; i++) {
        line = APR_ARRAY_IDX(transfer->headers, i, const char *);
        if (strncmp(line, name, len) == 0 && strncmp(line + len, ": ", 2) == 0) {
            ck_assert_msg(!value, "%s is there twice", name);
            value = line + len + 2;
        }
    }
    ck_assert_msg(value != NULL, "%s is missing", name);
    return value;
}

static pay_transfer_t make(const char *secret, const char *old_secret, apr_time_t now)
{
    pay_transfer_t transfer;

    memset(&transfer, 0, sizeof(transfer));
    ck_assert_int_eq(
        pay_webhook_make(&transfer, &event, &endpoint, secret, old_secret, now, unit_pool),
        APR_SUCCESS);
    return transfer;
}

static const char *sign(const pay_transfer_t *transfer, const char *secret, apr_time_t now)
{
    const char *out;

    ck_assert_int_eq(pay_webhook_sign(&out, secret, pay_event_id(&event, unit_pool), now,
                                      transfer->body, transfer->body_len, unit_pool),
                     APR_SUCCESS);
    return out;
}

/* As a client checks it: the hex HMAC of the raw body under the secret's text. */
static const char *plain(const pay_transfer_t *transfer, const char *secret)
{
    unsigned char digest[PAY_SHA256_LEN];

    ck_assert_int_eq(
        pay_hmac_sha256(digest, secret, strlen(secret), transfer->body, transfer->body_len),
        APR_SUCCESS);
    return pay_hex(digest, sizeof(digest), unit_pool);
}

START_TEST(test_request)
{
    const apr_time_t now = apr_time_from_sec(SPEC_TIME) + 500;
    const pay_transfer_t transfer = make(SPEC_SECRET, NULL, now);

    ck_assert_str_eq(transfer.url, endpoint.address);
    ck_assert_ptr_null(transfer.mail_from);
    ck_assert_uint_eq(transfer.body_len, strlen(transfer.body));
    ck_assert_ptr_nonnull(strstr(transfer.body, "\"notify\":\"test_assess\""));
    ck_assert_ptr_nonnull(strstr(transfer.body, "\"sequence\":3"));
    ck_assert_str_eq(header(&transfer, "Content-Type"), "application/json");
    ck_assert_str_eq(header(&transfer, "webhook-id"), pay_event_id(&event, unit_pool));
    ck_assert_str_eq(header(&transfer, "webhook-timestamp"), "1614265330");
    ck_assert_str_eq(header(&transfer, "webhook-signature"), sign(&transfer, SPEC_SECRET, now));
    ck_assert_str_eq(header(&transfer, "x-novac-signature"), plain(&transfer, SPEC_SECRET));
}
END_TEST

/* Both sign, the new one first; the header with room for one signature keeps the old one's. */
START_TEST(test_overlap)
{
    const apr_time_t now = apr_time_from_sec(SPEC_TIME);
    const pay_transfer_t transfer = make(SPEC_SECRET, OTHER_SECRET, now);

    ck_assert_str_eq(header(&transfer, "webhook-signature"),
                     apr_pstrcat(unit_pool, sign(&transfer, SPEC_SECRET, now), " ",
                                 sign(&transfer, OTHER_SECRET, now), NULL));
    ck_assert_str_eq(header(&transfer, "x-novac-signature"), plain(&transfer, OTHER_SECRET));
}
END_TEST

/* Id and body are the same at every attempt, time and signature are not. */
START_TEST(test_again)
{
    const pay_transfer_t first = make(SPEC_SECRET, NULL, apr_time_from_sec(SPEC_TIME));
    const pay_transfer_t second = make(SPEC_SECRET, NULL, apr_time_from_sec(SPEC_TIME + 5));

    ck_assert_str_eq(first.body, second.body);
    ck_assert_str_eq(header(&first, "webhook-id"), header(&second, "webhook-id"));
    ck_assert_str_eq(header(&first, "x-novac-signature"), header(&second, "x-novac-signature"));
    ck_assert_str_eq(header(&second, "webhook-timestamp"), "1614265335");
    ck_assert_str_ne(header(&first, "webhook-signature"), header(&second, "webhook-signature"));
}
END_TEST

START_TEST(test_no_secret)
{
    static const struct {
        const char *name, *secret, *old_secret;
    } rows[] = {
        {"new", "whsec_", NULL},
        {"old", SPEC_SECRET, "whsec_"},
    };
    pay_transfer_t transfer;
    int i;

    for (i = 0; i < UNIT_ROWS(rows); i++) {
        memset(&transfer, 0, sizeof(transfer));
        ck_assert_msg(pay_webhook_make(&transfer, &event, &endpoint, rows[i].secret,
                                       rows[i].old_secret, 0, unit_pool)
                          == APR_EINVAL,
                      "%s", rows[i].name);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_secrets, 0, UNIT_ROWS(secrets));
    tcase_add_test(tcase, test_specification);
    tcase_add_test(tcase, test_another_signature);
    tcase_add_test(tcase, test_secret_make);
    tcase_add_test(tcase, test_request);
    tcase_add_test(tcase, test_overlap);
    tcase_add_test(tcase, test_again);
    tcase_add_test(tcase, test_no_secret);
}

UNIT_PROGRAM(add)
