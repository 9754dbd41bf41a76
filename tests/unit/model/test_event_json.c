/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/text/writer.h"
#include "model/event.h"

#include <string.h>

#define CREATED APR_INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */
#define DECIDED APR_INT64_C(1767225600250000)
#define LATER APR_INT64_C(1767225690000000)

#define STATE(status, state) "\"status\":\"" status "\",\"paymentStatus\":\"" state "\","
#define SAME(state) STATE(state, state)
#define AMOUNTS(charged, requested, refunded, refunding)                                           \
    "\"amount\":10.50,\"chargedAmount\":" charged ",\"transactionFee\":0.00,"                      \
    "\"requested_amount\":" requested ",\"refundedAmount\":" refunded                              \
    ",\"refundsPendingAmount\":" refunding ",\"currency\":\"NGN\","
#define GATEWAY(code, message, auth)                                                               \
    "\"gatewayResponseCode\":\"" code "\",\"gatewayResponseMessage\":\"" message                   \
    "\",\"authorizationCode\":\"" auth "\",\"authCode\":\"" auth "\","
#define TRANSACTION(head, state, amounts, gateway, updated)                                        \
    "{\"notify\":\"transaction\"," head ",\"data\":{\"id\":42,"                                    \
    "\"transactionReference\":\"order-1\",\"reference\":\"order-1\"," state amounts                \
    "\"domain\":\"test\",\"channel\":\"card\"," gateway "\"requestIp\":\"192.0.2.1\","             \
    "\"paymentDescriptor\":\"\",\"transactionType\":\"\",\"redirectUrl\":\"\","                    \
    "\"checkoutMetadata\":\"\","                                                                   \
    "\"card\":{\"first6Digits\":\"555555\",\"last4Digits\":\"4444\",\"issuer\":"                   \
    "\"Mastercard\","                                                                              \
    "\"country\":\"NG\",\"type\":\"debit\",\"token\":\"tok_1\"},"                                  \
    "\"customer\":{\"id\":725075357,\"customerCode\":\"CUS_910dd3b09e8bd261\","                    \
    "\"email\":\"ada@example.com\",\"name\":\"Ada Obi\"},"                                         \
    "\"transferDetail\":{\"bankCode\":\"\",\"bankName\":\"\",\"accountNumber\":\"\","              \
    "\"sessionId\":\"\",\"creditAccountName\":\"\",\"originatorName\":\"\","                       \
    "\"originatorAccountNumber\":\"\"},"                                                           \
    "\"createdAt\":\"2026-01-01T00:00:00.000Z\",\"updatedAt\":\"2026-01-01T00:" updated "Z\"}}"
#define REFUND(head, state, updated)                                                               \
    "{\"notify\":\"refund\"," head ",\"data\":{\"id\":\"ref_1\",\"refundReference\":\"rfd_1\","    \
    "\"amount\":\"3.00\",\"currency\":\"NGN\",\"domain\":\"test\",\"channel\":\"API\","            \
    "\"merchantNote\":null,\"customerNote\":\"sorry\",\"status\":\"" state "\","                   \
    "\"transactionReference\":\"order-1\",\"createdAt\":\"2026-01-01T00:00:00.000Z\","             \
    "\"updatedAt\":\"2026-01-01T00:" updated "Z\"}}"
#define APPROVED GATEWAY("00", "Approved", "L5K7O4")

static const struct {
    const char *name;
    pay_event_t event;
    const char *want;
} bodies[] = {
    {"successful",
     {.sequence = 1,
      .kind = PAY_EVENT_TRANSACTION,
      .state = PAY_CHARGE_SUCCESSFUL,
      .created_at = DECIDED,
      .decided = 1},
     TRANSACTION("\"notifyType\":\"successful\",\"sequence\":1", SAME("successful"),
                 AMOUNTS("10.50", "10.50", "0.00", "0.00"), APPROVED, "00:00.250")},
    {"failed",
     {.sequence = 1,
      .kind = PAY_EVENT_TRANSACTION,
      .state = PAY_CHARGE_FAILED,
      .created_at = DECIDED,
      .decided = 1},
     TRANSACTION("\"notifyType\":\"failed\",\"sequence\":1", SAME("failed"),
                 AMOUNTS("0.00", "0.00", "0.00", "0.00"), APPROVED, "00:00.250")},
    {"abandoned, and paid later",
     {.sequence = 1,
      .kind = PAY_EVENT_TRANSACTION,
      .state = PAY_CHARGE_ABANDONED,
      .created_at = DECIDED},
     TRANSACTION("\"notifyType\":\"abandoned\",\"sequence\":1", STATE("failed", "abandoned"),
                 AMOUNTS("0.00", "0.00", "0.00", "0.00"), GATEWAY("", "", ""), "00:00.250")},
    {"reversed",
     {.sequence = 3,
      .kind = PAY_EVENT_TRANSACTION,
      .state = PAY_CHARGE_REVERSED,
      .created_at = LATER,
      .decided = 1,
      .refunded_minor = 1050},
     TRANSACTION("\"notifyType\":\"reversed\",\"sequence\":3", SAME("reversed"),
                 AMOUNTS("10.50", "0.00", "10.50", "0.00"), APPROVED, "01:30.000")},
    {"successful again, another refund pending",
     {.sequence = 4294967295U,
      .kind = PAY_EVENT_TRANSACTION,
      .state = PAY_CHARGE_SUCCESSFUL,
      .created_at = LATER,
      .decided = 1,
      .refunded_minor = 300,
      .refunds_pending_minor = 1},
     TRANSACTION("\"notifyType\":\"successful\",\"sequence\":4294967295", SAME("successful"),
                 AMOUNTS("10.50", "10.50", "3.00", "0.01"), APPROVED, "01:30.000")},
    {"refund processed",
     {.sequence = 2,
      .kind = PAY_EVENT_REFUND,
      .state = PAY_REFUND_PROCESSED,
      .created_at = DECIDED},
     REFUND("\"notifyType\":\"processed\",\"sequence\":2", "processed", "00:00.250")},
    {"refund failed later",
     {.sequence = 3, .kind = PAY_EVENT_REFUND, .state = PAY_REFUND_FAILED, .created_at = LATER},
     REFUND("\"notifyType\":\"failed\",\"sequence\":3", "failed", "01:30.000")},
    {"test",
     {.sequence = 5, .kind = PAY_EVENT_TEST, .created_at = DECIDED},
     "{\"notify\":\"test_assess\",\"notifyType\":\"test\",\"sequence\":5,\"data\":{\"domain\":"
     "\"test\",\"createdAt\":\"2026-01-01T00:00:00.250Z\"}}"},
    {"test in Live Mode",
     {.scope = {7, PAY_LIVE}, .sequence = 5, .kind = PAY_EVENT_TEST, .created_at = DECIDED},
     "{\"notify\":\"test_assess\",\"notifyType\":\"test\",\"sequence\":5,\"data\":{\"domain\":"
     "\"live\",\"createdAt\":\"2026-01-01T00:00:00.250Z\"}}"},
};

/* Later changes to each record, which the event must not show. */
static const struct {
    pay_charge_state_t charge;
    apr_int64_t refunded_minor, refunds_pending_minor;
    pay_refund_state_t refund;
    apr_time_t updated_at;
} since[] = {
    {PAY_CHARGE_SUCCESSFUL, 0, 0, PAY_REFUND_PENDING, DECIDED},
    {PAY_CHARGE_REVERSED, 1050, 0, PAY_REFUND_PROCESSED, LATER},
    {PAY_CHARGE_SUCCESSFUL, 7, 500, PAY_REFUND_FAILED, LATER + apr_time_from_sec(1)},
};

static const pay_charge_t charge_then = {.scope = {7, PAY_TEST},
                                         .seq = 42,
                                         .reference = "order-1",
                                         .token = "tok_1",
                                         .card = {"555555", "4444", "Mastercard", "NG", "debit"},
                                         .money = {1050, "NGN"},
                                         .email = "ada@example.com",
                                         .first_name = "Ada",
                                         .last_name = "Obi",
                                         .request_ip = "192.0.2.1",
                                         .acquirer = "simulator",
                                         .created_at = CREATED,
                                         .answer_version = 1,
                                         .code = "00",
                                         .message = "Approved",
                                         .authorization_code = "L5K7O4",
                                         .contradiction = "05"};

static const pay_refund_t refund_then = {.id = "ref_1",
                                         .refund_reference = "rfd_1",
                                         .money = {300, "NGN"},
                                         .scope = {7, PAY_TEST},
                                         .channel = "API",
                                         .customer_note = "sorry",
                                         .transaction_reference = "order-1",
                                         .created_at = CREATED};

static const char *body(const pay_event_t *event)
{
    pay_writer_t *w = pay_writer_make(64, unit_pool);

    pay_event_body_to_json(w, event);
    return w->text;
}

START_TEST(test_body)
{
    pay_charge_t charge = charge_then;
    pay_refund_t refund = refund_then;
    pay_event_t event = bodies[_i].event;
    int k;

    for (k = 0; k < UNIT_ROWS(since); k++) {
        charge.state = since[k].charge;
        charge.refunded_minor = since[k].refunded_minor;
        charge.refunds_pending_minor = since[k].refunds_pending_minor;
        charge.updated_at = refund.updated_at = since[k].updated_at;
        refund.state = since[k].refund;
        charge.events = 9;
        event.charge_seq = event.kind == PAY_EVENT_TEST ? 0 : charge.seq;
        event.charge = event.kind == PAY_EVENT_TEST ? NULL : &charge;
        event.refund = event.kind == PAY_EVENT_REFUND ? &refund : NULL;
        event.failures = (apr_uint32_t)k; /* the state of its delivery is not part of it */
        event.leases = (apr_uint32_t)k;
        event.due_at = LATER + k;
        event.error = k ? "no" : "";
        ck_assert_msg(!strcmp(body(&event), bodies[_i].want), "%s, %d: %s\nnot %s", bodies[_i].name,
                      k, body(&event), bodies[_i].want);
    }
}
END_TEST

/* For mail, which reads the records themselves: the given ones are not changed. */
START_TEST(test_records_as_they_were)
{
    pay_charge_t charge = charge_then, then;
    pay_refund_t refund = refund_then, refunded;
    pay_event_t event = bodies[0].event;

    charge.state = PAY_CHARGE_REVERSED;
    charge.updated_at = LATER;
    charge.refunded_minor = 1050;
    event.charge = &charge;
    then = pay_event_charge(&event);
    ck_assert_int_eq(then.state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_int_eq(then.updated_at, DECIDED);
    ck_assert_int_eq(then.refunded_minor, 0);
    ck_assert_str_eq(then.code, "00");
    ck_assert_int_eq(charge.state, PAY_CHARGE_REVERSED);
    event = bodies[5].event;
    refund.state = PAY_REFUND_FAILED;
    event.charge = &charge;
    event.refund = &refund;
    refunded = pay_event_refund(&event);
    ck_assert_int_eq(refunded.state, PAY_REFUND_PROCESSED);
    ck_assert_int_eq(refunded.updated_at, DECIDED);
    ck_assert_int_eq(refund.state, PAY_REFUND_FAILED);
}
END_TEST

START_TEST(test_listed)
{
    const pay_event_t event = {.scope = {7, PAY_LIVE},
                               .endpoint = PAY_ENDPOINT_NOTICE,
                               .charge_seq = 300 | PAY_EVENT_PARKED_BIT,
                               .sequence = 2,
                               .kind = PAY_EVENT_PARKED,
                               .created_at = DECIDED,
                               .failures = 3,
                               .first_try_at = DECIDED,
                               .due_at = LATER,
                               .answered_at = LATER,
                               .status = 451,
                               .error = "The relay said \"later\"",
                               .answer = "a\nb"};
    pay_writer_t *w = pay_writer_make(64, unit_pool);

    pay_writer_object_open(w, NULL);
    pay_event_members_to_json(w, &event);
    pay_writer_object_close(w);
    ck_assert_str_eq(
        w->text, apr_pstrcat(unit_pool, "{\"id\":\"", pay_event_id(&event, unit_pool),
                             "\",\"notify\":\"event\",\"notifyType\":\"parked\",\"to\":\"notice\","
                             "\"domain\":\"live\",\"transaction\":300,\"sequence\":2,\"standing\":"
                             "\"waiting\",\"createdAt\":\"2026-01-01T00:00:00.250Z\",\"tries\":3,"
                             "\"firstTryAt\":\"2026-01-01T00:00:00.250Z\","
                             "\"dueAt\":\"2026-01-01T00:01:30.000Z\",\"parkedAt\":null,"
                             "\"answeredAt\":\"2026-01-01T00:01:30.000Z\",\"status\":451,"
                             "\"error\":\"The relay said \\\"later\\\"\",\"answer\":\"a\\nb\"}",
                             NULL));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_body, 0, UNIT_ROWS(bodies));
    tcase_add_test(tcase, test_records_as_they_were);
    tcase_add_test(tcase, test_listed);
}

UNIT_PROGRAM(add)
