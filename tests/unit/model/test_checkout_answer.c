/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/text/writer.h"
#include "checkout_goods.h"
#include "model/checkout_answer.h"

#define PAGE "https://shop.example/payment/page/x"
#define BANK "https://bank.example/1"
#define CREATED APR_INT64_C(1767225600000000)

static const struct {
    const char *name;
    pay_mode_t mode;
    const char *acquirer_url;
    pay_charge_state_t state;
    int open;
} cases[] = {
    {"Test Mode", PAY_TEST, "", PAY_CHARGE_PENDING, 1},
    {"Test Mode, declined since", PAY_TEST, "", PAY_CHARGE_FAILED, 1},
    {"Live Mode", PAY_LIVE, BANK, PAY_CHARGE_PENDING, 1},
    {"declined since", PAY_LIVE, BANK, PAY_CHARGE_FAILED, 1},
    {"paid since", PAY_LIVE, BANK, PAY_CHARGE_SUCCESSFUL, 1},
    {"the acquirer opened no page", PAY_LIVE, "", PAY_CHARGE_FAILED, 0},
    {"its page could not be stored", PAY_LIVE, "", PAY_CHARGE_PENDING, 0},
    /* Its address is gone, and the shop must not make another checkout in its place. */
    {"paid, and its payer was erased", PAY_LIVE, "", PAY_CHARGE_SUCCESSFUL, 1},
    {"given back, and its payer was erased", PAY_LIVE, "", PAY_CHARGE_REVERSED, 1},
    {"voided, and its payer was erased", PAY_LIVE, "", PAY_CHARGE_VOID, 1},
    {"abandoned, and its payer was erased", PAY_LIVE, "", PAY_CHARGE_ABANDONED, 1},
};

/* The checkout of a row. */
static pay_charge_t charge_make(int row)
{
    pay_checkout_t *checkout = checkout_make(0, unit_pool);
    const pay_charge_t charge = {.scope = {7, cases[row].mode},
                                 .reference = "order-1",
                                 .money = {1050, "NGN"},
                                 .state = cases[row].state,
                                 .created_at = CREATED,
                                 .checkout = checkout};

    checkout->acquirer_url = cases[row].acquirer_url;
    checkout->description = "\"One\" pair";
    return charge;
}

#define DATA(code, message)                                                                        \
    "\"data\":{\"transactionReference\":\"order-1\",\"amount\":10.50,\"statusCode\":\"" code       \
    "\",\"statusMessage\":\"" message "\",\"publicKey\":\"pay_testpk_1\","                         \
    "\"paymentRedirectUrl\":\"" PAGE "\"}}"

START_TEST(test_initiate)
{
    const pay_charge_t charge = charge_make(_i);
    pay_writer_t *w = pay_writer_make(16, unit_pool);

    pay_checkout_answer_to_json(w, &charge, PAGE, "pay_testpk_1");
    ck_assert_msg(
        !strcmp(w->text,
                cases[_i].open
                    ? "{\"status\":true,\"message\":\"Transaction Initialized successfully\"," DATA(
                        "01", "Transaction Initialized")
                    : "{\"status\":false,\"message\":\"" PAY_CHECKOUT_UNOPENED
                      "\"," DATA("02", PAY_CHECKOUT_UNOPENED)),
        "%s: %s", cases[_i].name, w->text);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_initiate, 0, UNIT_ROWS(cases));
}

UNIT_PROGRAM(add)
