/* SPDX-License-Identifier: Apache-2.0 */
#include "request_goods.h"

#include "base/text/writer.h"
#include "checkout_goods.h"
#include "model/checkout_answer.h"
#include "model/order.h"

#define PAGE "https://shop.example/payment/page/x?reference=order-1"
#define CREATED APR_INT64_C(1767225600000000)
#define DECIDED (CREATED + apr_time_from_sec(60))

static pay_charge_t charge_make(pay_mode_t mode, const char *acquirer_url, pay_charge_state_t state)
{
    pay_checkout_t *checkout = checkout_make(0, unit_pool);
    const pay_charge_t charge = {.scope = {7, mode},
                                 .seq = 3,
                                 .reference = "order-1",
                                 .money = {1050, "NGN"},
                                 .email = "ada@shop.example",
                                 .first_name = "Ada",
                                 .last_name = "Obi",
                                 .code = "00",
                                 .message = "Approved",
                                 .state = state,
                                 .created_at = CREATED,
                                 .decided_at = DECIDED,
                                 .checkout = checkout};

    checkout->acquirer_url = acquirer_url;
    checkout->phone = "+2348000000000";
    checkout->description = "\"One\" pair";
    return charge;
}

#define ORDER(status, id)                                                                          \
    "\"order\":{\"reference\":\"order-1\",\"processorReference\":\"\","                            \
    "\"orderPaymentReference\":null,\"amount\":10.50,\"fee\":0,\"feeRate\":0,\"statusId\":" id     \
    ",\"status\":\"" status "\",\"currency\":\"NGN\",\"narration\":\"\\\"One\\\" pair\","          \
    "\"description\":\"\\\"One\\\" pair\",\"createdAt\":\"2026-01-01T00:00:00.000Z\""

/* ---- order/create */

static const struct {
    const char *name;
    pay_mode_t mode;
    const char *acquirer_url, *shop_name;
    int open;
} created_rows[] = {
    {"Test Mode", PAY_TEST, "", "Ada's shoes", 1},
    {"Live Mode", PAY_LIVE, "https://bank.example/1", "", 1},
    {"the acquirer opened no page", PAY_LIVE, "", "", 0},
};

/* Everything that a strict decoder expects is there. */
#define REST                                                                                       \
    ",\"paymentLink\":\"" PAGE "\"},\"subsidiary\":{\"id\":7,\"name\":\"%s\",\"country\":\"\","    \
    "\"supportEmail\":\"\",\"customization\":[]},\"customer\":{\"email\":\"ada@shop.example\","    \
    "\"firstName\":\"Ada\",\"lastName\":\"Obi\",\"mobile\":\"+2348000000000\",\"country\":\"\"},"  \
    "\"payment\":{\"source\":\"\",\"code\":null,\"selectedOption\":null,\"accountNumber\":null,"   \
    "\"bankProviderName\":null},\"otherPaymentOptions\":[],\"savedCards\":[],"                     \
    "\"subsidiaryOrderSummary\":{\"orderName\":\"\\\"One\\\" pair\",\"totalAmount\":10.50,"        \
    "\"reference\":\"order-1\",\"currency\":\"NGN\",\"orderItems\":[]},\"checkout_url\":\"" PAGE   \
    "\",\"checkoutUrl\":\"" PAGE "\",\"paymentUrl\":\"" PAGE "\",\"redirect_url\":\"" PAGE         \
    "\",\"paymentLink\":\"" PAGE "\"}}"
#define HEAD(status, code, message)                                                                \
    "{\"status\":\"" status "\",\"status_code\":\"" code "\",\"statusCode\":\"" code               \
    "\",\"message\":\"" message "\",\"data\":{"

START_TEST(test_created)
{
    const char *const shop_name = created_rows[_i].shop_name;
    const pay_account_t account = {
        .number = 7, .name = "ada", .settings = {.shop_name = shop_name}};
    const pay_charge_t charge =
        charge_make(created_rows[_i].mode, created_rows[_i].acquirer_url,
                    created_rows[_i].open ? PAY_CHARGE_PENDING : PAY_CHARGE_FAILED);
    pay_writer_t *w = pay_writer_make(16, unit_pool);
    const char *want = created_rows[_i].open ? HEAD("success", "00", "Order created successfully")
                               ORDER("pending", "1") REST
                                             : HEAD("failed", "02", PAY_CHECKOUT_UNOPENED)
                                                 ORDER("failed", "4") REST;

    pay_order_created_to_json(w, &charge, &account, PAGE, PAY_VIEW_SECRET);
    want = apr_psprintf(unit_pool, want, *shop_name ? shop_name : "ada");
    ck_assert_msg(!strcmp(w->text, want), "%s: %s", created_rows[_i].name, w->text);
}
END_TEST

/* A client that names an existing order learns nothing of its payer. */
START_TEST(test_created_by_an_anonymous_client)
{
    static const char *const members[] = {"email", "firstName", "lastName", "mobile", "country"};
    const pay_account_t account = {.number = 7, .name = "ada", .settings = {.shop_name = ""}};
    const pay_charge_t charge = charge_make(PAY_TEST, "", PAY_CHARGE_PENDING);
    pay_writer_t *w = pay_writer_make(16, unit_pool);
    const pay_json_t *data, *customer;
    int i;

    pay_order_created_to_json(w, &charge, &account, PAGE, PAY_VIEW_PUBLIC);
    data = pay_json_object(parse(w->text), "data", unit_pool);
    customer = pay_json_object(data, "customer", unit_pool);
    for (i = 0; i < UNIT_ROWS(members); i++) {
        ck_assert_str_eq(pay_json_string(customer, members[i]), "");
    }
}
END_TEST

/* ---- order/verify and order/status */

static const struct {
    pay_charge_state_t state;
    const char *word;
    int id, is_final, is_taken;
} state_rows[] = {
    {PAY_CHARGE_PENDING, "Pending", 1, 0, 0}, {PAY_CHARGE_SUCCESSFUL, "Successful", 5, 1, 1},
    {PAY_CHARGE_FAILED, "Failed", 4, 1, 0},   {PAY_CHARGE_REVERSED, "Failed", 4, 1, 0},
    {PAY_CHARGE_VOID, "Failed", 4, 1, 0},     {PAY_CHARGE_ABANDONED, "Failed", 4, 1, 0},
};

static const pay_json_t *state_of(const pay_charge_t *charge, pay_view_t view)
{
    pay_writer_t *w = pay_writer_make(16, unit_pool);

    pay_order_state_to_json(w, charge, view);
    return pay_json_object(parse(w->text), "data", unit_pool);
}

/* An amount that clients take for paid is there only while the shop has the money. */
START_TEST(test_state)
{
    const pay_charge_t charge = charge_make(PAY_TEST, "", state_rows[_i].state);
    const pay_json_t *data = state_of(&charge, PAY_VIEW_SECRET);
    const pay_json_t *order = pay_json_object(data, "order", unit_pool);
    const pay_json_t *summary = pay_json_object(data, "orderSummary", unit_pool);
    const char *taken = state_rows[_i].is_taken ? "10.50" : "0.00";

    ck_assert_str_eq(pay_json_string(data, "status"), state_rows[_i].word);
    ck_assert_str_eq(pay_json_string(order, "status"), state_rows[_i].word);
    ck_assert_str_eq(pay_json_string(summary, "status"), state_rows[_i].word);
    ck_assert_str_eq(pay_json_number(data, "totalAmountCharged"), taken);
    ck_assert_str_eq(pay_json_number(summary, "totalChargedAmount"), taken);
    ck_assert_str_eq(pay_json_number(data, "orderAmount"), "10.50");
    ck_assert_ptr_null(pay_json_number(data, "amount"));
}
END_TEST

/* ---- requests */

static const struct {
    const char *name, *body, *want; /* fields at fault */
} reference_rows[] = {
    {"a reference", "{\"reference\":\"order-1\"}", ""},
    {"none", "{}", "/reference"},
    {"null", "{\"reference\":null}", "/reference"},
    {"a number", "{\"reference\":7}", "/reference"},
    {"a card number", "{\"reference\":\"" PAN "\"}", "/reference"},
};

START_TEST(test_reference)
{
    const char *reference;
    const char *got = fields_of(
        pay_order_reference_from_json(&reference, parse(reference_rows[_i].body), unit_pool));

    ck_assert_msg(!strcmp(got, reference_rows[_i].want), "%s: %s", reference_rows[_i].name, got);
    if (!*got) {
        ck_assert_str_eq(reference, "order-1");
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_created, 0, UNIT_ROWS(created_rows));
    tcase_add_test(tcase, test_created_by_an_anonymous_client);
    tcase_add_loop_test(tcase, test_state, 0, UNIT_ROWS(state_rows));
    tcase_add_loop_test(tcase, test_reference, 0, UNIT_ROWS(reference_rows));
}

UNIT_PROGRAM(add)
