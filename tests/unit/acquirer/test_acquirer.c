/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "scripted_acquirer.h"

#include <apr_strings.h>
#include <stddef.h>
#include <stdint.h>

static pay_charge_t charge_of(pay_mode_t mode)
{
    pay_charge_t charge = {.scope = {7, mode},
                           .reference = "order-1",
                           .acquirer_reference = mode == PAY_LIVE ? "0f0f" : "",
                           .token = "card_9",
                           .card = {"411111", "1111", "Visa", "NG", "credit"},
                           .money = {105, "KWD"},
                           .email = "ada@example.com",
                           .first_name = "Ada",
                           .last_name = "",
                           .late_tag = "late-tag",
                           .created_at = 17};

    return charge;
}

static const pay_refund_t refund = {.refund_reference = "rfd_1",
                                    .money = {5, "KWD"},
                                    .tag = "tag-1",
                                    .acquirer_reference = "up-1",
                                    .customer_note = "sorry",
                                    .created_at = 18};

static void reset(void)
{
    memset(&script, 0, sizeof(script));
}

/* ---- calls of connectors */

static payments_charge_t told_charge;
static payments_refund_t told_refund;

static void hear(const payments_charge_t *charge, const payments_refund_t *refund_told)
{
    told_charge = *charge;
    if (refund_told) {
        told_refund = *refund_told;
    }
}

START_TEST(test_charge_told)
{
    const pay_charge_t charge = charge_of(_i ? PAY_LIVE : PAY_TEST);
    pay_acquirer_news_t news;
    pay_outcome_t out;

    reset();
    script.meanwhile = hear;
    ck_assert_int_eq(pay_acquirer_charge(&out, &news, &script_acquirer, &charge, unit_pool),
                     APR_SUCCESS);
    ck_assert_uint_eq(told_charge.struct_size, sizeof(told_charge));
    ck_assert_str_eq(told_charge.reference, _i ? "0f0f" : "order-1");
    ck_assert_str_eq(told_charge.token, "card_9");
    ck_assert_int_eq(told_charge.amount_minor, 105);
    ck_assert_str_eq(told_charge.amount, "0.105");
    ck_assert_str_eq(told_charge.currency, "KWD");
    ck_assert_str_eq(told_charge.email, "ada@example.com");
    ck_assert_str_eq(told_charge.first_name, "Ada");
    ck_assert_str_eq(told_charge.card_last4, "1111");
    ck_assert_int_eq(told_charge.opened_at, 17);
    ck_assert_int_eq(told_charge.live, _i);
}
END_TEST

/* Refunds in its own books count, too, if no refund here does. */
START_TEST(test_refunded_told)
{
    pay_charge_t charge = charge_of(PAY_LIVE);
    pay_acquirer_news_t news;
    pay_outcome_t out;

    reset();
    script.meanwhile = hear;
    charge.refunded_minor = 2;
    charge.refunded_there_minor = 5;
    charge.refunds_pending_minor = 8;
    ck_assert_int_eq(
        pay_acquirer_refund_query(&out, &news, &script_acquirer, &refund, &charge, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(told_charge.refunded_minor, 5);
    ck_assert_int_eq(told_charge.refunds_pending_minor, 3); /* except for the one in question */
}
END_TEST

START_TEST(test_refund_told)
{
    const pay_charge_t charge = charge_of(PAY_LIVE);
    pay_acquirer_news_t news;
    pay_outcome_t out;

    reset();
    script.meanwhile = hear;
    ck_assert_int_eq(
        pay_acquirer_refund(&out, &news, &script_acquirer, &refund, &charge, unit_pool),
        APR_SUCCESS);
    ck_assert_str_eq(told_charge.reference, "0f0f");
    ck_assert_str_eq(told_refund.reference, "rfd_1");
    ck_assert_str_eq(told_refund.tag, "tag-1");
    ck_assert_str_eq(told_refund.acquirer_reference, "up-1");
    ck_assert_str_eq(told_refund.amount, "0.005");
    ck_assert_str_eq(told_refund.merchant_note, "");
    ck_assert_str_eq(told_refund.customer_note, "sorry");
    /* The refund of a late approval is of the whole amount, under the charge's tag. */
    ck_assert_int_eq(pay_acquirer_late_refund(&out, &news, &script_acquirer, &charge, unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(told_refund.tag, "late-tag");
    ck_assert_str_eq(told_refund.amount, "0.105");
    ck_assert_str_eq(told_refund.acquirer_reference, "");
}
END_TEST

/* ---- what they answer */

static const struct {
    const char *name;
    apr_status_t status;
    payments_verdict_t verdict;
    pay_outcome_kind_t want;
    int present, absent, different; /* of a query */
} answers[] = {
    {"approved", APR_SUCCESS, PAYMENTS_APPROVED, PAY_OUTCOME_APPROVED, 1, 0, 0},
    {"declined", APR_SUCCESS, PAYMENTS_DECLINED, PAY_OUTCOME_DECLINED, 1, 0, 0},
    {"pending there", APR_SUCCESS, PAYMENTS_PENDING, PAY_OUTCOME_UNKNOWN, 1, 0, 0},
    {"absent there", APR_SUCCESS, PAYMENTS_ABSENT, PAY_OUTCOME_UNKNOWN, 0, 1, 0},
    {"different there", APR_SUCCESS, PAYMENTS_DIFFERENT, PAY_OUTCOME_UNKNOWN, 1, 0, 1},
    {"no verdict of the table", APR_SUCCESS, (payments_verdict_t)77, PAY_OUTCOME_UNKNOWN, 0, 0, 0},
    {"approved with an error", APR_TIMEUP, PAYMENTS_APPROVED, PAY_OUTCOME_UNKNOWN, 0, 0, 0},
    {"absent with an error", APR_EOF, PAYMENTS_ABSENT, PAY_OUTCOME_UNKNOWN, 0, 0, 0},
    {"not sent", PAYMENTS_NOT_SENT, PAYMENTS_DECLINED, PAY_OUTCOME_UNKNOWN, 0, 0, 0},
};

START_TEST(test_answer)
{
    const char *name = answers[_i].name;
    const pay_charge_t charge = charge_of(PAY_LIVE);
    pay_acquirer_news_t news;
    pay_outcome_t out;

    reset();
    script.verdict = answers[_i].verdict;
    script.status = answers[_i].status;
    ck_assert_int_eq(pay_acquirer_charge_query(&out, &news, &script_acquirer, &charge, unit_pool),
                     answers[_i].status);
    ck_assert_msg(out.kind == answers[_i].want, "%s: %d", name, out.kind);
    ck_assert_msg(news.present == answers[_i].present && news.absent == answers[_i].absent
                      && news.different == answers[_i].different,
                  "%s: %d %d %d", name, news.present, news.absent, news.different);
    ck_assert_str_eq(out.code, "");
    ck_assert_str_eq(out.message, "");
    ck_assert_str_eq(out.authorization_code, "");
    ck_assert_str_eq(out.acquirer_reference, "");
    ck_assert_int_eq(out.held, answers[_i].different ? PAY_HELD_DIFFERENT : PAY_NOT_HELD);
    /* For a request sent just now, a report of absence means nothing. */
    ck_assert_int_eq(pay_acquirer_charge(&out, &news, &script_acquirer, &charge, unit_pool),
                     answers[_i].status);
    ck_assert_msg(!news.absent, "%s", name);
    ck_assert_int_eq(
        pay_acquirer_refund(&out, &news, &script_acquirer, &refund, &charge, unit_pool),
        answers[_i].status);
    ck_assert_msg(!news.absent, "%s", name);
}
END_TEST

/* The values of a verdict count with it alone, and digits that are not a card's are left out. */
START_TEST(test_details)
{
    static const pay_card_t card = {"41x111", "1111", "Visa", "", ""};
    const pay_charge_t charge = charge_of(PAY_LIVE);
    pay_acquirer_news_t news;
    pay_outcome_t out;

    reset();
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_APPROVED,
                                     .code = "00",
                                     .message = "ok",
                                     .authorization_code = "A1",
                                     .acquirer_reference = "up-1",
                                     .spent = 1,
                                     .card = &card};
    script.trouble = PAYMENTS_BUSY;
    script.retry_after = apr_time_from_sec(3600);
    ck_assert_int_eq(pay_acquirer_charge(&out, &news, &script_acquirer, &charge, unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(out.code, "00");
    ck_assert_str_eq(out.authorization_code, "A1");
    ck_assert_str_eq(out.acquirer_reference, "up-1");
    ck_assert_int_eq(out.spent, 1);
    ck_assert_str_eq(out.card->first6, "");
    ck_assert_str_eq(out.card->last4, "1111");
    ck_assert_str_eq(out.card->issuer, "Visa");
    ck_assert_int_eq(news.trouble, PAYMENTS_BUSY);
    ck_assert_int_eq(news.retry_after, apr_time_from_sec(60));
    script.outcome.kind = PAY_OUTCOME_UNKNOWN;
    script.retry_after = -1;
    ck_assert_int_eq(pay_acquirer_charge(&out, &news, &script_acquirer, &charge, unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(out.code, "");
    ck_assert_str_eq(out.acquirer_reference, "up-1"); /* a refund's name is known before its end */
    ck_assert_ptr_null(out.card);
    ck_assert_int_eq(news.retry_after, 0);
    script.verdict = PAYMENTS_DIFFERENT; /* the name belongs to another payment */
    ck_assert_int_eq(pay_acquirer_charge(&out, &news, &script_acquirer, &charge, unit_pool),
                     APR_SUCCESS);
    ck_assert_str_eq(out.acquirer_reference, "");
}
END_TEST

/* A connector's text has any origin: it is stored and shown as one line of plain text. */
static const struct {
    const char *name, *text, *want;
    int may_name; /* 1: a refund can be looked for by it */
} texts[] = {
    {"plain", "Declined", "Declined", 1},
    {"accents", "Refus\303\251", "Refus\303\251", 1},
    {"lines", "a\r\nb\tc", "a? b c", 0},
    {"an escape sequence", "\033[31mred", "?[31mred", 0},
    {"DEL", "a\177", "a?", 0},
    {"a C1 control", "a\302\205b", "a??b", 0},
    {"a byte that is no UTF-8", "a\377b", "a?b", 0},
    {"a sequence that is cut off", "a\303", "a?", 0},
    {"a surrogate", "\355\240\200", "???", 0},
    {"a long number", "Order 4111111111111112", "Order 4111111111111112", 1},
    {"a card number", "Card 4111 1111 1111 1111 is blocked", "", 1},
};

START_TEST(test_texts)
{
    const char *text = texts[_i].text;
    const char *want = texts[_i].want;
    const pay_card_t card = {"", "1111", text, text, text};
    const pay_charge_t charge = charge_of(PAY_LIVE);
    pay_acquirer_news_t news;
    pay_outcome_t out;

    reset();
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_DECLINED,
                                     .code = text,
                                     .message = text,
                                     .authorization_code = text,
                                     .acquirer_reference = text,
                                     .card = &card};
    ck_assert_int_eq(pay_acquirer_charge(&out, &news, &script_acquirer, &charge, unit_pool),
                     APR_SUCCESS);
    ck_assert_msg(!strcmp(out.message, want), "%s: %s", texts[_i].name, out.message);
    ck_assert_str_eq(out.code, want);
    ck_assert_str_eq(out.authorization_code, want);
    ck_assert_str_eq(out.card->issuer, want);
    ck_assert_str_eq(out.card->country, want);
    ck_assert_str_eq(out.card->type, want);
    ck_assert_str_eq(out.acquirer_reference, texts[_i].may_name ? text : "");
}
END_TEST

/* ---- which providers can be used */

static const struct {
    const char *name;
    apr_uint32_t abi;
    int cut; /* 1: charge is missing */
    const char *want;
} faults[] = {
    {"sound", PAYMENTS_ACQUIRER_ABI, 0, NULL},
    {"another version", PAYMENTS_ACQUIRER_ABI + 1, 0, "version 2"},
    {"a slot is missing", PAYMENTS_ACQUIRER_ABI, 1, "it lacks check"},
};

START_TEST(test_fault)
{
    payments_acquirer_t connector = script_connector;
    const char *fault;

    connector.abi = faults[_i].abi;
    connector.charge = faults[_i].cut ? NULL : connector.charge;
    fault = pay_acquirer_fault(&connector, unit_pool);
    if (!faults[_i].want) {
        ck_assert_msg(fault == NULL, "%s: %s", faults[_i].name, fault);
        return;
    }
    ck_assert_msg(fault && strstr(fault, faults[_i].want), "%s: %s", faults[_i].name,
                  fault ? fault : "(none)");
}
END_TEST

/* The first version of the table ended with refund_query. */
#define FIRST offsetof(payments_acquirer_t, refund_list)

static const struct {
    const char *name;
    size_t size;
    const char *want; /* NULL: it is used */
    int has_refund_list, has_checkout;
} sizes[] = {
    {"no size", 0, "too short", 0, 0},
    {"the head only", offsetof(payments_acquirer_t, check), "too short", 0, 0},
    {"without refund_query", FIRST - sizeof(void *), "too short", 0, 0},
    {"a byte short", FIRST - 1, "too short", 0, 0},
    {"the first version", FIRST, NULL, 0, 0},
    {"a part of refund_list", FIRST + 1, NULL, 0, 0},
    {"with refund_list", offsetof(payments_acquirer_t, checkout), NULL, 1, 0},
    {"a byte short of checkout", sizeof(payments_acquirer_t) - 1, NULL, 1, 0},
    {"today's", sizeof(payments_acquirer_t), NULL, 1, 1},
    {"a later version's", sizeof(payments_acquirer_t) + sizeof(void *), NULL, 1, 1},
    {"the largest", UINT32_MAX, NULL, 1, 1},
};

static apr_status_t no_list(void *context, apr_time_t from, apr_time_t to,
                            payments_record_fn *found, void *baton, apr_interval_time_t timeout,
                            apr_pool_t *p)
{
    (void)context, (void)from, (void)to, (void)found, (void)baton, (void)timeout, (void)p;
    return APR_EGENERAL;
}

static apr_status_t no_page(payments_page_t *out, void *context,
                            const payments_checkout_t *checkout, apr_interval_time_t timeout,
                            apr_pool_t *p)
{
    (void)out, (void)context, (void)checkout, (void)timeout, (void)p;
    return APR_EGENERAL;
}

/* What is in memory behind a short table is not one of its slots. */
START_TEST(test_sizes)
{
    payments_acquirer_t connector = script_connector;
    const pay_acquirer_t acquirer = {.connector = &connector, .name = "scripted"};
    const char *fault;

    connector.struct_size = (apr_uint32_t)sizes[_i].size;
    connector.refund_list = no_list;
    connector.checkout = no_page;
    fault = pay_acquirer_fault(&connector, unit_pool);
    ck_assert_msg(sizes[_i].want ? fault && strstr(fault, sizes[_i].want) : !fault, "%s: %s",
                  sizes[_i].name, fault ? fault : "(none)");
    ck_assert_msg(pay_acquirer_has_refund_list(&acquirer) == sizes[_i].has_refund_list, "%s",
                  sizes[_i].name);
    ck_assert_msg(pay_acquirer_has_checkout(&acquirer) == sizes[_i].has_checkout, "%s",
                  sizes[_i].name);
    connector.refund_list = NULL;
    connector.checkout = NULL;
    ck_assert_msg(!pay_acquirer_has_refund_list(&acquirer) && !pay_acquirer_has_checkout(&acquirer),
                  "%s: a slot that is NULL", sizes[_i].name);
}
END_TEST

START_TEST(test_flags)
{
    ck_assert_int_eq(pay_acquirer_is_pure(&script_acquirer), 0);
    ck_assert_int_eq(pay_acquirer_is_pure(&script_pure_acquirer), 1);
    ck_assert_int_eq(pay_acquirer_keeps_tokens(&script_acquirer), 0);
    ck_assert_int_eq(pay_acquirer_keeps_tokens(&script_tokens_acquirer), 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_charge_told, 0, 2);
    tcase_add_test(tcase, test_refund_told);
    tcase_add_test(tcase, test_refunded_told);
    tcase_add_loop_test(tcase, test_answer, 0, UNIT_ROWS(answers));
    tcase_add_test(tcase, test_details);
    tcase_add_loop_test(tcase, test_texts, 0, UNIT_ROWS(texts));
    tcase_add_loop_test(tcase, test_fault, 0, UNIT_ROWS(faults));
    tcase_add_loop_test(tcase, test_sizes, 0, UNIT_ROWS(sizes));
    tcase_add_test(tcase, test_flags);
}

UNIT_PROGRAM(add)
