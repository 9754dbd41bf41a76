/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/problem.h"
#include "base/text/writer.h"
#include "model/link.h"

#include <string.h>

#define NOW APR_TIME_C(1800000000000000)
#define TEN "aaaaaaaaaa"
#define FIFTY TEN TEN TEN TEN TEN
#define LONGEST FIFTY FIFTY FIFTY FIFTY FIFTY "aaaa\xc3\xb6" /* 255 characters */

/* ---- what it is */

static const struct {
    const char *name;
    int once;
    apr_time_t expires_at, disabled_at;
    apr_uint64_t paid;
    const char *want;
} states[] = {
    {"a new one", 0, 0, 0, 0, "active"},
    {"paid often", 0, 0, 0, 9, "active"},
    {"to be paid once", 1, 0, 0, 0, "active"},
    {"paid once", 1, 0, 0, 1, "used"},
    {"paid once and disabled", 1, 0, NOW, 1, "used"},
    {"before its end", 0, NOW + 1, 0, 0, "active"},
    {"at its end", 0, NOW, 0, 0, "expired"},
    {"disabled", 0, 0, 1, 0, "disabled"},
    {"disabled and expired", 0, NOW, NOW, 0, "disabled"},
};

START_TEST(test_state)
{
    const pay_link_t link = {.once = states[_i].once,
                             .expires_at = states[_i].expires_at,
                             .disabled_at = states[_i].disabled_at,
                             .paid = states[_i].paid};

    ck_assert_msg(!strcmp(pay_link_state_name(pay_link_state(&link, NOW)), states[_i].want), "%s",
                  states[_i].name);
    ck_assert_str_eq(pay_link_state_name(PAY_LINK_STATE_COUNT), "unknown");
}
END_TEST

/* ---- what is taken for a new one */

static const struct {
    const char *name;
    pay_link_form_t form;
    const char *fault; /* the fields at fault, "": none */
} forms[] = {
    {"nothing", {.once = 0}, ""},
    {"a card number in the way back",
     {.redirect_url = "https://shop.example/?pan=4111+1111+1111+1111"},
     "/redirectUrl "},
    {"a title with an isolate", {.title = "a\xe2\x81\xa6"}, "/title "},
    {"empty texts", {"", "", "", "", "", "", 1, 0}, ""},
    {"all",
     {"shop-1", "Shoes", "One pair", "https://a.example/x?y#z", "12.50", "ngn", 1, NOW + 1},
     ""},
    {"the longest reference", {.reference = FIFTY}, ""},
    {"a longer reference", {.reference = FIFTY "a"}, "/reference "},
    {"a slash in the reference", {.reference = "a/b"}, "/reference "},
    {"a dot as reference", {.reference = "."}, "/reference "},
    {"a card as reference", {.reference = "5555555555554444"}, "/reference "},
    {"a card in the title", {.title = "pay 5555 5555 5555 4444"}, "/title "},
    {"the longest title", {.title = LONGEST}, ""},
    {"a longer title", {.title = LONGEST "a"}, "/title "},
    {"a line's end in the title", {.title = "a\nb"}, "/title "},
    {"a longer description", {.description = LONGEST "a"}, "/description "},
    {"no UTF-8", {.description = "\xff"}, "/description "},
    {"a path", {.redirect_url = "/done"}, "/redirectUrl "},
    {"a script", {.redirect_url = "javascript:alert(1)"}, "/redirectUrl "},
    {"nothing to pay", {.amount = "0"}, "/amount "},
    {"too many decimals", {.amount = "1.234"}, "/amount "},
    {"decimals of the currency", {.amount = "1.234", .currency = "KWD"}, ""},
    {"no number", {.amount = "ten"}, "/amount "},
    {"a card as amount", {.amount = "5555555555554444"}, "/amount "},
    {"no currency", {.amount = "10", .currency = "XXY"}, "/currency "},
    {"an end that is over", {.expires_at = NOW}, "/expiresAt "},
    {"many faults",
     {.reference = "?", .currency = "N", .title = "\n", .expires_at = 1},
     "/reference /currency /title /expiresAt "},
};

START_TEST(test_read)
{
    const pay_problem_t *problem;
    const char *faults = "";
    pay_link_t *link;
    int i;

    problem = pay_link_read(&link, &forms[_i].form, "NGN", NOW, unit_pool);
    for (i = 0; problem && i < problem->fields->nelts; i++) {
        faults = apr_pstrcat(unit_pool, faults,
                             APR_ARRAY_IDX(problem->fields, i, pay_field_error_t).field, " ", NULL);
    }
    ck_assert_msg(!strcmp(faults, forms[_i].fault), "%s: %s", forms[_i].name, faults);
    ck_assert_int_eq(!link, *faults != '\0');
    ck_assert(!problem || problem->status == 400);
}
END_TEST

START_TEST(test_read_values)
{
    const pay_link_form_t form = {"shop-1", "Shoes", "One pair", "https://a.example/x",
                                  "12.5",   "kwd",   1,          NOW + 1};
    const pay_link_form_t none = {.once = 0};
    pay_link_t *link;

    ck_assert_ptr_null(pay_link_read(&link, &form, "NGN", NOW, unit_pool));
    ck_assert_str_eq(link->reference, "shop-1");
    ck_assert_str_eq(link->title, "Shoes");
    ck_assert_str_eq(link->description, "One pair");
    ck_assert_str_eq(link->redirect_url, "https://a.example/x");
    ck_assert_int_eq(link->money.amount_minor, 12500);
    ck_assert_str_eq(link->money.currency, "KWD");
    ck_assert_int_eq(link->once, 1);
    ck_assert_int_eq(link->expires_at, NOW + 1);
    ck_assert_ptr_null(pay_link_read(&link, &none, "NGN", NOW, unit_pool));
    ck_assert_int_eq(link->money.amount_minor, 0);
    ck_assert_str_eq(link->money.currency, "NGN");
    ck_assert_str_eq(link->reference, "");
}
END_TEST

/* ---- how it is shown */

START_TEST(test_json)
{
    pay_link_t link = {.reference = "shop-1",
                       .title = "Shoes",
                       .description = "",
                       .money = {1250, "NGN"},
                       .once = 1,
                       .expires_at = NOW,
                       .created_at = NOW - 1000000,
                       .paid = 1};
    pay_writer_t *w = pay_writer_make(0, unit_pool);

    pay_link_to_json(w, NULL, &link, "/payment/page/x", NOW);
    ck_assert_str_eq(w->text, "{\"reference\":\"shop-1\",\"title\":\"Shoes\",\"description\":\"\","
                              "\"amount\":12.50,\"currency\":\"NGN\",\"reusable\":false,"
                              "\"expiresAt\":\"2027-01-15T08:00:00.000Z\",\"disabledAt\":null,"
                              "\"createdAt\":\"2027-01-15T07:59:59.000Z\",\"paid\":1,"
                              "\"url\":\"/payment/page/x\",\"state\":\"used\"}");
    link.money.amount_minor = 0;
    link.once = 0;
    link.expires_at = 0;
    link.disabled_at = NOW;
    w = pay_writer_make(0, unit_pool);
    pay_link_to_json(w, NULL, &link, "", NOW);
    ck_assert_ptr_nonnull(strstr(w->text, "\"amount\":null,"));
    ck_assert_ptr_nonnull(strstr(w->text, "\"reusable\":true,\"expiresAt\":null,"
                                          "\"disabledAt\":\"2027-01-15T08:00:00.000Z\""));
    ck_assert_ptr_nonnull(strstr(w->text, "\"state\":\"disabled\""));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_state, 0, UNIT_ROWS(states));
    tcase_add_loop_test(tcase, test_read, 0, UNIT_ROWS(forms));
    tcase_add_test(tcase, test_read_values);
    tcase_add_test(tcase, test_json);
}

UNIT_PROGRAM(add)
