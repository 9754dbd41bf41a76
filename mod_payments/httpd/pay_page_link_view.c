/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pay_problem.h"
#include "httpd/pay_page_link.h"
#include "httpd/pay_page_parts.h"
#include "model/pay_shop.h"

#include <apr_strings.h>
#include <string.h>

/* An input: its name in the form is its id, and the last part of its place in a problem. */
typedef struct input_t {
    const char *name;
    const char *label;
    const char *attributes; /* markup */
} input_t;

static const input_t inputs[] = {
    {"amount", "Amount", "type=\"text\" inputmode=\"decimal\" autocomplete=\"transaction-amount\""},
    {"email", "E-mail", "type=\"email\" autocomplete=\"email\" maxlength=\"254\""},
    {"firstName", "First name", "type=\"text\" autocomplete=\"given-name\" maxlength=\"100\""},
    {"lastName", "Last name", "type=\"text\" autocomplete=\"family-name\" maxlength=\"100\""},
};
#define INPUTS (sizeof(inputs) / sizeof(inputs[0]))

/* What is said of a link that cannot be paid; NULL: it can. */
static const char *const closed[] = {
    [PAY_LINK_ACTIVE] = NULL,
    [PAY_LINK_EXPIRED] = "This payment link has expired",
    [PAY_LINK_DISABLED] = "The shop has closed this payment link",
    [PAY_LINK_USED] = "This payment link was paid already",
};
_Static_assert(sizeof(closed) / sizeof(closed[0]) == PAY_LINK_STATE_COUNT, "a text each");

static const char *fault_of(const pay_page_link_view_t *view, const char *name)
{
    const pay_field_error_t *field;
    const char *last;
    int i;

    for (i = 0; view->faults && view->faults->fields && i < view->faults->fields->nelts; i++) {
        field = &APR_ARRAY_IDX(view->faults->fields, i, pay_field_error_t);
        last = strrchr(field->field, '/');
        if (last && !strcmp(last + 1, name)) {
            return field->reason;
        }
    }
    return NULL;
}

/* What the payer typed, to be mended or sent again; what is at fault may be a card number. */
static const char *value_of(const pay_page_link_view_t *view, const char *name)
{
    const pay_link_payer_t *payer = view->payer;
    const char *values[] = {payer ? payer->amount : NULL, payer ? payer->email : NULL,
                            payer ? payer->first_name : NULL, payer ? payer->last_name : NULL};
    apr_size_t i;

    for (i = 0; i < INPUTS && strcmp(inputs[i].name, name) != 0; i++) {
    }
    return i < INPUTS && values[i] && !fault_of(view, name) ? values[i] : "";
}

/* That of a fixed link is not asked for. */
static int is_asked(const pay_page_link_view_t *view, const input_t *input)
{
    return input != &inputs[0] || view->page->link->money.amount_minor == 0;
}

static const char *amount_of(const pay_link_t *link, apr_pool_t *p)
{
    return pay_money_show(apr_palloc(p, PAY_MONEY_SHOWN_MAX), link->money.amount_minor,
                          link->money.currency);
}

static pay_html_t *open(const pay_page_link_view_t *view, const char *title, apr_pool_t *p)
{
    const pay_account_t *account = view->page->account;
    const char *shop = pay_page_shop_name(account);
    const char *logo = pay_shop_logo_path(account->settings.shop_logo, view->authority, p);
    pay_html_t *html;

    html = pay_page_open_bare(apr_pstrcat(p, title, " \xe2\x80\x93 ", shop, NULL),
                              view->page->link->scope.mode == PAY_TEST, p);
    pay_html_markup(html, "<div class=\"shop\">");
    if (logo) {
        pay_page_write(html, "<img src=\"", logo,
                       "\" alt=\"\" width=\"40\" height=\"40\" referrerpolicy=\"no-referrer\">");
    }
    pay_page_write(html, "<span>", shop, "</span></div>\n");
    return html;
}

static void write_order(pay_html_t *html, const pay_page_link_view_t *view, apr_pool_t *p)
{
    const pay_account_t *account = view->page->account;
    const pay_link_t *link = view->page->link;

    if (*link->title) {
        pay_page_write(html, "<div><h1>", link->title, "</h1>\n");
    } else {
        pay_page_write(html, "<div><h1>Pay ", pay_page_shop_name(account), "</h1>\n");
    }
    if (link->money.amount_minor > 0) {
        pay_page_write(html, "<p class=\"amount\">", amount_of(link, p), "</p>");
    }
    pay_html_markup(html, "</div>\n");
    if (*link->description) {
        pay_page_write(html, "<p class=\"text\">", link->description, "</p>\n");
    }
    if (*account->settings.shop_text) {
        pay_page_write(html, "<p class=\"text\">", account->settings.shop_text, "</p>\n");
    }
}

static void write_faults(pay_html_t *html, const pay_page_link_view_t *view)
{
    const char *reason;
    apr_size_t i;

    if (!view->faults) {
        return;
    }
    pay_html_markup(html, "<div class=\"errors\" role=\"alert\" id=\"errors\" tabindex=\"-1\" "
                          "autofocus>\n<h2>Nothing was paid yet. Please correct:</h2>\n<ul>\n");
    for (i = 0; i < INPUTS; i++) {
        reason = fault_of(view, inputs[i].name);
        if (reason) {
            pay_page_write(html, "<li><a href=\"#", inputs[i].name, "\">");
            pay_page_write(html, "", inputs[i].label, " ");
            pay_page_write(html, "", reason, "</a></li>\n");
        }
    }
    pay_html_markup(html, "</ul></div>\n");
}

static void write_input(pay_html_t *html, const pay_page_link_view_t *view, const input_t *input)
{
    const char *reason = fault_of(view, input->name);

    pay_page_write(html, "<div class=\"field\"><label for=\"", input->name, "\">");
    pay_page_write(html, "", input->label, "");
    if (input == &inputs[0]) {
        pay_page_write(html, " (", view->page->link->money.currency, ")");
    }
    pay_html_markup(html, "</label>\n");
    if (reason) {
        pay_page_write(html, "<span class=\"error\" id=\"", input->name, "-error\">");
        pay_page_write(html, "", reason, "</span>\n");
    }
    pay_page_write(html, "<input id=\"", input->name, "\" ");
    pay_page_write(html, "name=\"", input->name, "\" required ");
    pay_html_markup(html, input->attributes);
    pay_page_write(html, " value=\"", value_of(view, input->name), "\"");
    if (reason) {
        pay_page_write(html, " aria-invalid=\"true\" aria-describedby=\"", input->name, "-error\"");
    }
    pay_html_markup(html, "></div>\n");
}

static void write_form(pay_html_t *html, const pay_page_link_view_t *view)
{
    apr_size_t i;

    pay_page_write(html, "<form method=\"post\" novalidate action=\"", view->page->link->page_id,
                   "\">\n");
    for (i = 0; i < INPUTS; i++) {
        if (is_asked(view, &inputs[i])) {
            write_input(html, view, &inputs[i]);
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
        write_faults(html, view);
        write_form(html, view);
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
