/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/pay_page_parts.h"

#include "base/pay_problem.h"

#include <string.h>

const char *const pay_page_actions[PAY_ACTION_COUNT] = {
    [PAY_ACTION_CARD] = "card",
    [PAY_ACTION_CODE] = "code",
    [PAY_ACTION_TRANSFER] = "transfer",
    [PAY_ACTION_CANCEL] = "cancel",
};

/* The inputs: a field's name in the form is its id, and behind a slash in a problem. */
typedef struct input_t {
    const char *name;
    const char *label;
    const char *hint;       /* NULL: none */
    const char *attributes; /* markup */
} input_t;

static const input_t number = {"number", "Card number", NULL,
                               "inputmode=\"numeric\" autocomplete=\"cc-number\" maxlength=\"40\""};
static const input_t expiry = {"expiry", "Expiry date", "MM/YY",
                               "inputmode=\"numeric\" autocomplete=\"cc-exp\" maxlength=\"12\""};
static const input_t csc = {"csc", "Security code", "3 or 4 digits",
                            "inputmode=\"numeric\" autocomplete=\"cc-csc\" maxlength=\"4\""};
static const input_t code = {
    "code", "One-time code", NULL,
    "inputmode=\"numeric\" autocomplete=\"one-time-code\" maxlength=\"12\""};
static const input_t bank_code = {"bankCode", "Bank code", "000 is Test Bank",
                                  "inputmode=\"numeric\" autocomplete=\"off\" maxlength=\"12\""};
static const input_t account_number = {
    "accountNumber", "Account number", "The test account is 0000000000",
    "inputmode=\"numeric\" autocomplete=\"off\" maxlength=\"20\""};

static const input_t *const inputs[] = {&number, &expiry, &csc, &code, &bank_code, &account_number};
#define INPUTS (sizeof(inputs) / sizeof(inputs[0]))

/* The cards of Test Mode (docs/api.md, "Test data"). */
static const struct {
    const char *number;
    const char *what;
} cards[] = {
    {"5555 5555 5555 4444", "is approved"},
    {"1234 5678 9876 5432", "is declined"},
    {"4000 0000 0000 9995", "has insufficient funds"},
    {"4000 0000 0000 0069", "has expired"},
    {"4000 0000 0000 0119", "gets no answer at first, and is approved later"},
    {"4000 0000 0000 3220", "asks for a one-time code: 123456 approves, any other declines"},
};

/* The reason, when the field is at fault; else NULL. */
static const char *fault_of(const pay_page_view_t *view, const char *name)
{
    const pay_field_error_t *field;
    int i;

    for (i = 0; view->faults && view->faults->fields && i < view->faults->fields->nelts; i++) {
        field = &APR_ARRAY_IDX(view->faults->fields, i, pay_field_error_t);
        if (!strcmp(field->field + (field->field[0] == '/'), name)) {
            return field->reason;
        }
    }
    return NULL;
}

void pay_page_write_faults(pay_html_t *html, const pay_page_view_t *view)
{
    const char *reason;
    apr_size_t i;

    if (!view->faults) {
        return;
    }
    /* autofocus: whoever cannot see the page hears first that something is wrong. */
    pay_html_markup(html, "<div class=\"errors\" role=\"alert\" id=\"errors\" tabindex=\"-1\" "
                          "autofocus>\n<h2>Nothing was paid yet. Please correct:</h2>\n<ul>\n");
    for (i = 0; i < INPUTS; i++) {
        reason = fault_of(view, inputs[i]->name);
        if (reason) {
            pay_page_write(html, "<li><a href=\"#", inputs[i]->name, "\">");
            pay_page_write(html, "", inputs[i]->label, " ");
            pay_page_write(html, "", reason, "</a></li>\n");
        }
    }
    pay_html_markup(html, "</ul></div>\n");
}

static void write_description(pay_html_t *html, const input_t *input, const char *reason)
{
    if (!input->hint && !reason) {
        return;
    }
    pay_html_markup(html, " aria-describedby=\"");
    if (input->hint) {
        pay_page_write(html, "", input->name, reason ? "-hint " : "-hint");
    }
    if (reason) {
        pay_page_write(html, "", input->name, "-error");
    }
    pay_html_markup(html, "\"");
}

/* Never with a value: what was typed is not sent back. */
static void write_input(pay_html_t *html, const pay_page_view_t *view, const input_t *input)
{
    const char *reason = fault_of(view, input->name);

    pay_page_write(html, "<div class=\"field\"><label for=\"", input->name, "\">");
    pay_page_write(html, "", input->label, "</label>\n");
    if (input->hint) {
        pay_page_write(html, "<span class=\"hint\" id=\"", input->name, "-hint\">");
        pay_page_write(html, "", input->hint, "</span>\n");
    }
    if (reason) {
        pay_page_write(html, "<span class=\"error\" id=\"", input->name, "-error\">");
        pay_page_write(html, "", reason, "</span>\n");
    }
    pay_page_write(html, "<input id=\"", input->name, "\" ");
    pay_page_write(html, "name=\"", input->name, "\" type=\"text\" required spellcheck=\"false\" ");
    pay_html_markup(html, input->attributes);
    write_description(html, input, reason);
    pay_html_markup(html, reason ? " aria-invalid=\"true\"></div>\n" : "></div>\n");
}

static void form_open(pay_html_t *html, const pay_page_view_t *view, pay_page_action_t action)
{
    /* novalidate: one place says what is wrong, with or without a browser that can. */
    pay_page_write(html, "<form method=\"post\" novalidate action=\"",
                   view->charge->checkout->page_id, "\">\n");
    pay_page_write(html, "<input type=\"hidden\" name=\"action\" value=\"",
                   pay_page_actions[action], "\">\n");
}

static void form_close(pay_html_t *html, const char *before, const char *text, const char *after)
{
    pay_html_markup(html, "<div class=\"actions\">");
    pay_page_write(html, before, text, after);
    pay_html_markup(html, "</div></form>\n");
}

static void write_cancel(pay_html_t *html, const pay_page_view_t *view)
{
    form_open(html, view, PAY_ACTION_CANCEL);
    form_close(html, "<button type=\"submit\" class=\"secondary\">", "Cancel the payment",
               "</button>");
}

static void write_cards(pay_html_t *html)
{
    apr_size_t i;

    pay_html_markup(html, "<details><summary>Cards that may be used in Test Mode</summary>\n"
                          "<table class=\"cards\">\n<caption>Any expiry date in the future, any "
                          "security code.</caption>\n<thead><tr><th scope=\"col\">Card number</th>"
                          "<th scope=\"col\">What becomes of it</th></tr></thead>\n<tbody>\n");
    for (i = 0; i < sizeof(cards) / sizeof(cards[0]); i++) {
        pay_page_write(html, "<tr><td><code>", cards[i].number, "</code></td>");
        pay_page_write(html, "<td>", cards[i].what, "</td></tr>\n");
    }
    pay_html_markup(html, "</tbody></table></details>\n");
}

void pay_page_write_pay_forms(pay_html_t *html, const pay_page_view_t *view, apr_pool_t *p)
{
    const char *amount = pay_page_amount(view->charge, p);

    form_open(html, view, PAY_ACTION_CARD);
    write_input(html, view, &number);
    pay_html_markup(html, "<div class=\"fields\">\n");
    write_input(html, view, &expiry);
    write_input(html, view, &csc);
    pay_html_markup(html, "</div>\n");
    form_close(html, "<button type=\"submit\">Pay ", amount, "</button>");
    write_cards(html);
    pay_html_markup(html, view->faults && view->action == PAY_ACTION_TRANSFER
                              ? "<details class=\"choice\" open>"
                              : "<details class=\"choice\">");
    pay_html_markup(html, "<summary>Pay by bank transfer</summary>\n");
    form_open(html, view, PAY_ACTION_TRANSFER);
    write_input(html, view, &bank_code);
    write_input(html, view, &account_number);
    form_close(html, "<button type=\"submit\">Pay ", amount, " by bank transfer</button>");
    pay_html_markup(html, "</details>\n");
    write_cancel(html, view);
}

void pay_page_write_code_form(pay_html_t *html, const pay_page_view_t *view, apr_pool_t *p)
{
    pay_html_markup(html, "<p class=\"text\">Your bank asks for a one-time code. In Test Mode "
                          "123456 approves the payment, and any other declines it.</p>\n");
    form_open(html, view, PAY_ACTION_CODE);
    write_input(html, view, &code);
    form_close(html, "<button type=\"submit\">Confirm ", pay_page_amount(view->charge, p),
               "</button>");
    write_cancel(html, view);
}
