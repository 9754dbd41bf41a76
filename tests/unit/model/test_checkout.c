/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "checkout_goods.h"

#define EXPIRES_AT apr_time_from_sec(1000)

/* ---- what the payer is shown */

static const struct {
    const char *name;
    pay_charge_state_t state;
    pay_checkout_step_t step;
    apr_time_t now;
    pay_checkout_stage_t want;
    const char *status;
} stages[] = {
    {"new", PAY_CHARGE_PENDING, PAY_CHECKOUT_OPEN, 0, PAY_STAGE_PAY, "cancelled"},
    {"the last moment", PAY_CHARGE_PENDING, PAY_CHECKOUT_OPEN, EXPIRES_AT - 1, PAY_STAGE_PAY,
     "cancelled"},
    {"its time is over", PAY_CHARGE_PENDING, PAY_CHECKOUT_OPEN, EXPIRES_AT, PAY_STAGE_EXPIRED,
     "cancelled"},
    {"a code is asked for", PAY_CHARGE_PENDING, PAY_CHECKOUT_CODE, 0, PAY_STAGE_CODE, "cancelled"},
    {"a code that comes too late", PAY_CHARGE_PENDING, PAY_CHECKOUT_CODE, EXPIRES_AT,
     PAY_STAGE_EXPIRED, "cancelled"},
    {"sent", PAY_CHARGE_PENDING, PAY_CHECKOUT_SENT, 0, PAY_STAGE_WAITING, "pending"},
    {"sent, and time does not matter", PAY_CHARGE_PENDING, PAY_CHECKOUT_SENT, EXPIRES_AT,
     PAY_STAGE_WAITING, "pending"},
    {"paid", PAY_CHARGE_SUCCESSFUL, PAY_CHECKOUT_SENT, 0, PAY_STAGE_APPROVED, "successful"},
    {"paid, and given back", PAY_CHARGE_REVERSED, PAY_CHECKOUT_SENT, 0, PAY_STAGE_APPROVED,
     "successful"},
    {"paid after it was cancelled", PAY_CHARGE_SUCCESSFUL, PAY_CHECKOUT_CANCELLED, EXPIRES_AT,
     PAY_STAGE_APPROVED, "successful"},
    {"declined", PAY_CHARGE_FAILED, PAY_CHECKOUT_SENT, 0, PAY_STAGE_DECLINED, "failed"},
    {"cancelled", PAY_CHARGE_ABANDONED, PAY_CHECKOUT_CANCELLED, EXPIRES_AT, PAY_STAGE_CANCELLED,
     "cancelled"},
    {"abandoned", PAY_CHARGE_ABANDONED, PAY_CHECKOUT_EXPIRED, EXPIRES_AT, PAY_STAGE_EXPIRED,
     "cancelled"},
    {"voided by the shop", PAY_CHARGE_VOID, PAY_CHECKOUT_OPEN, 0, PAY_STAGE_CLOSED, "cancelled"},
};

START_TEST(test_stage)
{
    pay_checkout_t *checkout = checkout_make(EXPIRES_AT, unit_pool);
    const pay_charge_t charge = {.state = stages[_i].state, .checkout = checkout};
    pay_checkout_stage_t got;

    checkout->step = stages[_i].step;
    got = pay_checkout_stage(&charge, stages[_i].now);
    ck_assert_msg(got == stages[_i].want, "%s: %d", stages[_i].name, got);
    ck_assert_str_eq(pay_checkout_return_status(got), stages[_i].status);
}
END_TEST

/* ---- what it counts as */

static const struct {
    const char *name;
    pay_mode_t mode;
    pay_charge_state_t state;
    pay_checkout_step_t step;
    apr_time_t due_at;
    const char *page; /* of the acquirer */
    const char *want;
} words[] = {
    {"new", PAY_TEST, PAY_CHARGE_PENDING, PAY_CHECKOUT_OPEN, EXPIRES_AT, "", "open"},
    {"a code is asked for", PAY_TEST, PAY_CHARGE_PENDING, PAY_CHECKOUT_CODE, EXPIRES_AT, "",
     "open"},
    {"sent", PAY_TEST, PAY_CHARGE_PENDING, PAY_CHECKOUT_SENT, 1, "", "pending"},
    {"looked at after its time", PAY_TEST, PAY_CHARGE_PENDING, PAY_CHECKOUT_OPEN, EXPIRES_AT + 1,
     "", "pending"},
    {"due at no time", PAY_TEST, PAY_CHARGE_PENDING, PAY_CHECKOUT_OPEN, 0, "", "pending"},
    {"the acquirer has a page", PAY_LIVE, PAY_CHARGE_PENDING, PAY_CHECKOUT_OPEN, EXPIRES_AT,
     "https://pay.example/1", "open"},
    {"asked about before its time is over", PAY_LIVE, PAY_CHARGE_PENDING, PAY_CHECKOUT_OPEN, 5,
     "https://pay.example/1", "open"},
    {"the acquirer is asked for a page", PAY_LIVE, PAY_CHARGE_PENDING, PAY_CHECKOUT_OPEN, 5, "",
     "pending"},
    {"asked about after its time", PAY_LIVE, PAY_CHARGE_PENDING, PAY_CHECKOUT_OPEN, EXPIRES_AT + 1,
     "https://pay.example/1", "pending"},
    {"paid", PAY_TEST, PAY_CHARGE_SUCCESSFUL, PAY_CHECKOUT_SENT, 0, "", "successful"},
    {"declined", PAY_TEST, PAY_CHARGE_FAILED, PAY_CHECKOUT_SENT, 0, "", "failed"},
    {"given back", PAY_TEST, PAY_CHARGE_REVERSED, PAY_CHECKOUT_SENT, 0, "", "reversed"},
    {"cancelled", PAY_LIVE, PAY_CHARGE_ABANDONED, PAY_CHECKOUT_CANCELLED, 5,
     "https://pay.example/1", "abandoned"},
    {"voided", PAY_LIVE, PAY_CHARGE_VOID, PAY_CHECKOUT_OPEN, 5, "https://pay.example/1", "void"},
};

START_TEST(test_word)
{
    pay_checkout_t *checkout = checkout_make(EXPIRES_AT, unit_pool);
    pay_charge_t charge = {.scope = {1, words[_i].mode},
                           .kind = PAY_CHARGE_CHECKOUT,
                           .state = words[_i].state,
                           .due_at = words[_i].due_at,
                           .checkout = checkout};
    unsigned int parsed;

    checkout->step = words[_i].step;
    checkout->acquirer_url = words[_i].page;
    ck_assert_msg(!strcmp(pay_charge_word_name(pay_charge_word(&charge)), words[_i].want), "%s: %s",
                  words[_i].name, pay_charge_word_name(pay_charge_word(&charge)));
    ck_assert_int_eq(pay_checkout_is_open(&charge), !strcmp(words[_i].want, "open"));
    ck_assert_int_eq(pay_charge_word_parse(&parsed, words[_i].want), APR_SUCCESS);
    ck_assert_uint_eq(parsed, pay_charge_word(&charge));
    charge.checkout = NULL; /* its row is lost: nobody can pay it here */
    ck_assert_int_eq(pay_checkout_is_open(&charge), 0);
}
END_TEST

START_TEST(test_no_word)
{
    static const char *const none[] = {"", "unknown", "cancelled", "Open", "open ", NULL};
    unsigned int parsed;
    int i;

    for (i = 0; none[i]; i++) {
        ck_assert_msg(pay_charge_word_parse(&parsed, none[i]) == APR_EINVAL, "%s", none[i]);
    }
}
END_TEST

/* In Live Mode nobody learns "not paid" as long as the acquirer or a person must still decide. */
static const struct {
    const char *name;
    pay_mode_t mode;
    pay_charge_state_t state;
    pay_checkout_step_t step;
    apr_time_t due_at;
    pay_held_t held;
    pay_checkout_stage_t want;
} told[] = {
    {"its time is over", PAY_LIVE, PAY_CHARGE_PENDING, PAY_CHECKOUT_OPEN, 1, PAY_NOT_HELD,
     PAY_STAGE_ASKED},
    {"abandoned", PAY_LIVE, PAY_CHARGE_ABANDONED, PAY_CHECKOUT_EXPIRED, 1, PAY_NOT_HELD,
     PAY_STAGE_ASKED},
    {"cancelled", PAY_LIVE, PAY_CHARGE_ABANDONED, PAY_CHECKOUT_CANCELLED, 1, PAY_NOT_HELD,
     PAY_STAGE_ASKED},
    {"voided", PAY_LIVE, PAY_CHARGE_VOID, PAY_CHECKOUT_OPEN, 1, PAY_NOT_HELD, PAY_STAGE_ASKED},
    {"voided, and held", PAY_LIVE, PAY_CHARGE_VOID, PAY_CHECKOUT_OPEN, 0, PAY_HELD_DIFFERENT,
     PAY_STAGE_ASKED},
    {"abandoned for good", PAY_LIVE, PAY_CHARGE_ABANDONED, PAY_CHECKOUT_EXPIRED, 0, PAY_NOT_HELD,
     PAY_STAGE_EXPIRED},
    {"sent", PAY_LIVE, PAY_CHARGE_PENDING, PAY_CHECKOUT_SENT, 1, PAY_NOT_HELD, PAY_STAGE_WAITING},
    {"declined", PAY_LIVE, PAY_CHARGE_FAILED, PAY_CHECKOUT_OPEN, 1, PAY_NOT_HELD,
     PAY_STAGE_DECLINED},
    {"paid", PAY_LIVE, PAY_CHARGE_SUCCESSFUL, PAY_CHECKOUT_OPEN, 0, PAY_NOT_HELD,
     PAY_STAGE_APPROVED},
    {"Test Mode", PAY_TEST, PAY_CHARGE_PENDING, PAY_CHECKOUT_OPEN, 1, PAY_NOT_HELD,
     PAY_STAGE_EXPIRED},
};

START_TEST(test_told)
{
    pay_checkout_t *checkout = checkout_make(EXPIRES_AT, unit_pool);
    const pay_charge_t charge = {.scope = {1, told[_i].mode},
                                 .state = told[_i].state,
                                 .checkout = checkout,
                                 .due_at = told[_i].due_at,
                                 .held = told[_i].held};

    checkout->step = told[_i].step;
    ck_assert_msg(pay_checkout_told(&charge, EXPIRES_AT) == told[_i].want, "%s", told[_i].name);
    ck_assert_str_eq(pay_checkout_return_status(PAY_STAGE_ASKED), "pending");
}
END_TEST

START_TEST(test_lost)
{
    const pay_charge_t charge = {.state = PAY_CHARGE_PENDING};

    ck_assert_int_eq(pay_checkout_stage(&charge, 0), PAY_STAGE_CLOSED);
    ck_assert_str_eq(pay_checkout_return_url(&charge, PAY_STAGE_CLOSED, unit_pool), "");
    ck_assert_str_eq(pay_checkout_return_status(PAY_STAGE_COUNT), "cancelled");
}
END_TEST

/* ---- the way back */

static const struct {
    const char *name;
    const char *url;
    const char *reference;
    const char *want;
} returns[] = {
    {"bare", "https://shop.example/done", "order-1",
     "https://shop.example/done?reference=order-1&status=successful"},
    {"with a query", "https://shop.example/done?a=b", "order-1",
     "https://shop.example/done?a=b&reference=order-1&status=successful"},
    {"with a fragment", "https://shop.example/#/done", "order-1",
     "https://shop.example/?reference=order-1&status=successful#/done"},
    {"a question mark in the fragment", "https://shop.example/#/done?x", "order-1",
     "https://shop.example/?reference=order-1&status=successful#/done?x"},
    {"a reference with reserved characters", "https://shop.example/", "a&b=c%d+e",
     "https://shop.example/?reference=a%26b%3dc%25d%2be&status=successful"},
    {"none", "", "order-1", ""},
};

START_TEST(test_return_url)
{
    pay_checkout_t *checkout = checkout_make(EXPIRES_AT, unit_pool);
    const pay_charge_t charge = {.reference = returns[_i].reference, .checkout = checkout};
    const char *got;

    checkout->redirect_url = returns[_i].url;
    got = pay_checkout_return_url(&charge, PAY_STAGE_APPROVED, unit_pool);
    ck_assert_msg(strcmp(got, returns[_i].want) == 0, "%s: %s", returns[_i].name, got);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    int want;
} ids[] = {
    {"an id", "abcdefghijklmnopqrstuvwxyz234567", 1},
    {"one short", "abcdefghijklmnopqrstuvwxyz23456", 0},
    {"one too many", "abcdefghijklmnopqrstuvwxyz234567a", 0},
    {"capitals", "Abcdefghijklmnopqrstuvwxyz234567", 0},
    {"digits that base32 has not", "abcdefghijklmnopqrstuvwxyz234561", 0},
    {"empty", "", 0},
};

START_TEST(test_page_id)
{
    ck_assert_msg(pay_page_id_is(ids[_i].text) == ids[_i].want, "%s", ids[_i].name);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_stage, 0, UNIT_ROWS(stages));
    tcase_add_loop_test(tcase, test_word, 0, UNIT_ROWS(words));
    tcase_add_test(tcase, test_no_word);
    tcase_add_loop_test(tcase, test_told, 0, UNIT_ROWS(told));
    tcase_add_test(tcase, test_lost);
    tcase_add_loop_test(tcase, test_return_url, 0, UNIT_ROWS(returns));
    tcase_add_loop_test(tcase, test_page_id, 0, UNIT_ROWS(ids));
}

UNIT_PROGRAM(add)
