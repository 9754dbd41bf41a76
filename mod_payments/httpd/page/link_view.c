/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/page/inputs.h"
#include "httpd/page/link.h"
#include "httpd/page/parts.h"
#include "model/shop.h"

#include <apr_strings.h>
#include <string.h>

static const pay_page_input_t amount = {
    "amount", "Amount", NULL,
    "type=\"text\" inputmode=\"decimal\" autocomplete=\"transaction-amount\""};
static const pay_page_input_t email = {"email", "E-mail", NULL,
                                       "type=\"email\" autocomplete=\"email\" maxlength=\"254\""};
static const pay_page_input_t first_name = {
    "firstName", "First name", NULL, "type=\"text\" autocomplete=\"given-name\" maxlength=\"100\""};
static const pay_page_input_t last_name = {
    "lastName", "Last name", NULL, "type=\"text\" autocomplete=\"family-name\" maxlength=\"100\""};

static const pay_page_input_t *const inputs[] = {&amount, &email, &first_name, &last_name};
#define INPUTS (sizeof(inputs) / sizeof(inputs[0]))

/* The sentence on a link that cannot be paid; NULL: it can. */
static const char *const closed[] = {
    [PAY_LINK_ACTIVE] = NULL,
    [PAY_LINK_EXPIRED] = "This payment link has expired",
    [PAY_LINK_DISABLED] = "The shop has closed this payment link",
    [PAY_LINK_USED] = "This payment link was paid already",
};
_Static_assert(sizeof(closed) / sizeof(closed[0]) == PAY_LINK_STATE_COUNT, "a text each");

/* Returns the payer's input, to be corrected or sent again; one at fault may be a card number. */
static const char *value_of(const pay_page_link_view_t *view, const pay_page_input_t *input)
{
    const pay_link_payer_t *payer = view->payer;
    const char *value;

    if (!payer || pay_page_fault_of(view->faults, input->name)) {
        return "";
    }
    value = input == &amount       ? payer->amount
            : input == &email      ? payer->email
            : input == &first_name ? payer->first_name
                                   : payer->last_name;
    return value ? value : "";
}

/* The amount of a fixed link is not an input. */
static int is_asked(const pay_page_link_view_t *view, const pay_page_input_t *input)
{
    return input != &amount || view->page->link->money.amount_minor == 0;
}

static const char *amount_of(const pay_link_t *link, apr_pool_t *p)
{
    return pay_money_show(apr_palloc(p, PAY_MONEY_SHOWN_MAX), link->money.amount_minor,
                          link->money.currency);
}

static pay_html_t *open(const pay_page_link_view_t *view, const char *title, apr_pool_t *p)
{
    const pay_account_t *account = view->page->account;

    return pay_page_open_of_shop(
        title, pay_page_shop_name(account),
        pay_shop_logo_path(account->settings.shop_logo, view->authority, p),
        view->page->link->scope.mode == PAY_TEST, p);
}

static void write_order(pay_html_t *html, const pay_page_link_view_t *view, apr_pool_t *p)
{
    const pay_account_t *account = view->page->account;
    const pay_link_t *link = view->page->link;

    if (*link->title) {
        pay_page_write(html, "<div><h1>", pay_text_cut(link->title, PAY_PAGE_TEXT_MAX, p),
                       "</h1>\n");
    } else {
        pay_page_write(html, "<div><h1>Pay ", pay_page_shop_name(account), "</h1>\n");
    }
    if (link->money.amount_minor > 0) {
        pay_page_write(html, "<p class=\"amount\">", amount_of(link, p), "</p>");
    }
    pay_html_markup(html, "</div>\n");
    if (*link->description) {
        pay_page_write(html, "<p class=\"text\">",
                       pay_text_cut(link->description, PAY_PAGE_TEXT_MAX, p), "</p>\n");
    }
    if (*account->settings.shop_text) {
        pay_page_write(html, "<p class=\"text\">", account->settings.shop_text, "</p>\n");
    }
}

static void write_input(pay_html_t *html, const pay_page_link_view_t *view,
                        const pay_page_input_t *input, apr_pool_t *p)
{
    pay_page_input_t shown = *input;

    if (input == &amount) {
        shown.label =
            apr_pstrcat(p, input->label, " (", view->page->link->money.currency, ")", NULL);
    }
    pay_page_write_input(html, view->faults, &shown, value_of(view, input));
}

static void write_form(pay_html_t *html, const pay_page_link_view_t *view, apr_pool_t *p)
{
    apr_size_t i;

    pay_page_write(html, "<form method=\"post\" novalidate action=\"", view->page->link->page_id,
                   "\">\n");
    for (i = 0; i < INPUTS; i++) {
        if (is_asked(view, inputs[i])) {
            write_input(html, view, inputs[i], p);
        }
    }
    pay_html_markup(html, "<div class=\"actions\"><button type=\"submit\">Go on to pay</button>"
                          "</div></form>\n");
}

const pay_html_t *pay_page_link_html(const pay_page_link_view_t *view, apr_pool_t *p)
{
    const char *why = closed[pay_link_state(view->page->link, view->now)];
    pay_html_t *html = open(view, why ? why : view->faults ? "Not paid yet" : "Pay", p);

    if (why) {
        pay_html_markup(html, "<div class=\"result expired\"><span class=\"mark\" "
                              "aria-hidden=\"true\"></span>\n");
        pay_page_write(html, "<h1>", why, "</h1>\n");
        pay_html_markup(html, "<p>Nothing was paid. Please ask the shop for another one.</p>"
                              "</div>\n");
    } else {
        write_order(html, view, p);
        pay_page_write_faults(html, view->faults, inputs, INPUTS);
        write_form(html, view, p);
    }
    pay_page_close(html);
    return html;
}

const pay_html_t *pay_page_link_onward(const pay_page_link_view_t *view, const char *page_id,
                                       apr_pool_t *p)
{
    pay_html_t *html = open(view, "Go on to pay", p);

    write_order(html, view, p);
    pay_page_write(html, "<div class=\"actions\"><a class=\"button\" href=\"", page_id,
                   "\">Go on to pay</a></div>\n");
    pay_page_close(html);
    return html;
}
