/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/page/parts.h"

#include "httpd/page/inputs.h"

const char *const pay_page_actions[PAY_ACTION_COUNT] = {
    [PAY_ACTION_CARD] = "card",
    [PAY_ACTION_CODE] = "code",
    [PAY_ACTION_TRANSFER] = "transfer",
    [PAY_ACTION_CANCEL] = "cancel",
};

#define NUMERIC "type=\"text\" spellcheck=\"false\" inputmode=\"numeric\""

static const pay_page_input_t number = {"number", "Card number", NULL,
                                        NUMERIC " autocomplete=\"cc-number\" maxlength=\"40\""};
static const pay_page_input_t expiry = {"expiry", "Expiry date", "MM/YY",
                                        NUMERIC " autocomplete=\"cc-exp\" maxlength=\"12\""};
static const pay_page_input_t csc = {"csc", "Security code", "3 or 4 digits",
                                     NUMERIC " autocomplete=\"cc-csc\" maxlength=\"4\""};
static const pay_page_input_t code = {"code", "One-time code", NULL,
                                      NUMERIC " autocomplete=\"one-time-code\" maxlength=\"12\""};
static const pay_page_input_t bank_code = {"bankCode", "Bank code", "000 is Test Bank",
                                           NUMERIC " autocomplete=\"off\" maxlength=\"12\""};
static const pay_page_input_t account_number = {"accountNumber", "Account number",
                                                "The test account is 0000000000",
                                                NUMERIC " autocomplete=\"off\" maxlength=\"20\""};

static const pay_page_input_t *const inputs[] = {&number, &expiry,    &csc,
                                                 &code,   &bank_code, &account_number};
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

void pay_page_write_form_faults(pay_html_t *html, const pay_page_view_t *view)
{
    pay_page_write_faults(html, view->faults, inputs, INPUTS);
}

/* Never with a value: typed text is not sent back. */
static void write_input(pay_html_t *html, const pay_page_view_t *view,
                        const pay_page_input_t *input)
{
    pay_page_write_input(html, view->faults, input, NULL);
}

static void form_open(pay_html_t *html, const pay_page_view_t *view, pay_page_action_t action)
{
    /* novalidate: one place reports faults, whatever the browser can do. */
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

    pay_html_markup(html, "<details><summary>Cards that can be used in Test Mode</summary>\n"
                          "<table class=\"cards\">\n"
                          "<caption>Any expiry date in the future, any security code.</caption>\n"
                          "<thead><tr><th scope=\"col\">Card number</th><th "
                          "scope=\"col\">Result</th></tr></thead>\n"
                          "<tbody>\n");
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
