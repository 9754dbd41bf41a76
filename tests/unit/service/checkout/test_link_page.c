/* SPDX-License-Identifier: Apache-2.0 */
#include "checkout_shop.h"

#include "service/checkout/link_page.h"
#include "service/checkout/links.h"

static pay_page_t page;

static void set_up(void)
{
    checkout_shop_open(unit_dir());
}

static void open_page(const char *amount)
{
    const pay_link_form_t form = {.reference = "shop-1", .amount = amount};
    const pay_link_t *link;

    ck_assert_ptr_null(
        pay_link_make(&link, &shop->service, shop->account, PAY_TEST, &form, unit_pool));
    ck_assert_ptr_null(pay_page_get(&page, &shop->service, link->page_id, unit_pool));
    ck_assert_str_eq(page.link->reference, "shop-1");
}

static const struct {
    const char *name;
    const char *fixed; /* amount of the link; NULL: open */
    pay_link_payer_t payer;
    const char *fault; /* the first field at fault; "": the form as a whole; NULL: no fault */
    apr_int64_t amount_minor;
} cases[] = {
    {"a fixed link", "10", {"1", "ada@shop.example", "Ada", "Obi"}, NULL, 1000},
    {"an open link", NULL, {" 12.5 ", " ada@shop.example ", "Ada", "Obi"}, NULL, 1250},
    {"a blank in the amount", NULL, {"10 50", "ada@shop.example", "Ada", "Obi"}, "/amount", 0},
    {"a blank in the e-mail",
     "10",
     {NULL, "a da@shop.example", "Ada", "Obi"},
     "/checkoutCustomerData/email",
     0},
    {"no amount", NULL, {NULL, "ada@shop.example", "Ada", "Obi"}, "/amount", 0},
    {"blanks for an amount", NULL, {"  ", "ada@shop.example", "Ada", "Obi"}, "/amount", 0},
    {"nothing at all", "10", {NULL, NULL, NULL, NULL}, "/checkoutCustomerData/email", 0},
    {"quotes", "10", {NULL, "ada@shop.example", "\"A\",", "}"}, NULL, 1000},
    {"no name", "10", {NULL, "ada@shop.example", "", "Obi"}, "/checkoutCustomerData/firstName", 0},
    {"no UTF-8", "10", {NULL, "ada@shop.example", "\xff", "Obi"}, "", 0},
};

START_TEST(test_pay)
{
    const pay_problem_t *problem;
    const pay_charge_t *charge;

    open_page(cases[_i].fixed);
    problem = pay_link_page_pay(&charge, &shop->service, &page, &cases[_i].payer, PAGE_ROOT,
                                "192.0.2.1", unit_pool);
    ck_assert_msg(!problem == !cases[_i].fault, "%s", cases[_i].name);
    if (!problem) {
        ck_assert_int_eq(charge->money.amount_minor, cases[_i].amount_minor);
        ck_assert_str_eq(charge->email, "ada@shop.example");
        ck_assert_str_eq(charge->first_name, cases[_i].payer.first_name);
        ck_assert_str_eq(charge->checkout->link, "shop-1");
        ck_assert_str_eq(charge->key_id, "");
        ck_assert_str_eq(charge->request_ip, "192.0.2.1");
    } else {
        ck_assert_int_eq(problem->status, 400);
        ck_assert_ptr_null(charge);
        ck_assert_str_eq(
            problem->fields ? APR_ARRAY_IDX(problem->fields, 0, pay_field_error_t).field : "",
            cases[_i].fault);
    }
    store_is_clean();
}
END_TEST

/* A checkout's page is not a link's, nor the reverse; another account's is neither. */
START_TEST(test_other_pages)
{
    const pay_page_t other = checkout_page(checkout_new(PAY_TEST, "checkout-00000001"));
    const char *id;

    ck_assert_ptr_null(other.link);
    open_page(NULL);
    ck_assert_ptr_null(page.charge);
    id = page.link->page_id;
    shop->service.account_name = "another";
    ck_assert_str_eq(pay_page_get(&page, &shop->service, id, unit_pool)->code, "N2");
    ck_assert_ptr_null(page.link);
    shop->service.account_name = "demo";
    ck_assert_ptr_null(pay_page_get(&page, &shop->service, id, unit_pool));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, test_pay, 0, UNIT_ROWS(cases));
    tcase_add_test(tcase, test_other_pages);
}

UNIT_PROGRAM(add)
