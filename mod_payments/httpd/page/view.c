/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/page/view.h"

#include "httpd/page/parts.h"
#include "model/shop.h"
#include "service/checkout/checkout_create.h"

#include <apr_strings.h>
#include <string.h>

#define PAGE_SIZE_HINT 8192

void pay_page_write(pay_html_t *html, const char *before, const char *text, const char *after)
{
    pay_html_markup(html, before);
    pay_html_text(html, text);
    pay_html_markup(html, after);
}

const char *pay_page_shop_name(const pay_account_t *account)
{
    return *account->settings.shop_name ? account->settings.shop_name : account->name;
}

const char *pay_page_amount(const pay_charge_t *charge, apr_pool_t *p)
{
    char *text = apr_palloc(p, PAY_MONEY_SHOWN_MAX);

    return pay_money_show(text, charge->money.amount_minor, charge->money.currency);
}

pay_html_t *pay_page_open_bare(const char *title, int test_mode, apr_pool_t *p)
{
    pay_html_t *html = pay_html_make(PAGE_SIZE_HINT, p);

    pay_page_write(html,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<meta name=\"robots\" content=\"noindex, nofollow\">\n<title>",
                   title,
                   "</title>\n<link rel=\"stylesheet\" href=\"" PAY_PAGE_STYLE
                   "\" referrerpolicy=\"no-referrer\">\n</head>\n<body>\n");
    if (test_mode) {
        pay_html_markup(html, "<header class=\"ribbon\"><strong>Test Mode.</strong> No money moves "
                              "here, and no real card is taken.</header>\n");
    }
    pay_html_markup(html, "<main class=\"card\">\n");
    return html;
}

pay_html_t *pay_page_open_of_shop(const char *title, const char *shop, const char *logo,
                                  int test_mode, apr_pool_t *p)
{
    pay_html_t *html;

    html = pay_page_open_bare(apr_pstrcat(p, title, " \xe2\x80\x93 ", shop, NULL), test_mode, p);
    pay_html_markup(html, "<div class=\"shop\">");
    if (logo) {
        pay_page_write(html, "<img src=\"", logo,
                       "\" alt=\"\" width=\"40\" height=\"40\" referrerpolicy=\"no-referrer\">");
    }
    pay_page_write(html, "<span>", shop, "</span></div>\n");
    return html;
}

/*
 * Returns the picture that the request for the checkout names, else the shop's; NULL: no picture.
 */
static const char *logo_of(const pay_page_view_t *view, apr_pool_t *p)
{
    const char *path;

    path = pay_shop_logo_path(view->charge->checkout->logo_url, view->authority, p);
    if (!path) {
        path = pay_shop_logo_path(view->account->settings.shop_logo, view->authority, p);
    }
    return path;
}

pay_html_t *pay_page_open(const pay_page_view_t *view, const char *title, apr_pool_t *p)
{
    return pay_page_open_of_shop(title, pay_page_shop_name(view->account), logo_of(view, p),
                                 view->charge->scope.mode == PAY_TEST, p);
}

void pay_page_close(pay_html_t *html)
{
    pay_html_markup(html, "</main>\n</body>\n</html>\n");
}

/* Writes the order, above the forms. */
static void write_order(pay_html_t *html, const pay_page_view_t *view, apr_pool_t *p)
{
    const pay_checkout_t *checkout = view->charge->checkout;

    if (*checkout->title) {
        pay_page_write(html, "<div><h1>", pay_text_cut(checkout->title, PAY_PAGE_TEXT_MAX, p),
                       "</h1>\n");
    } else {
        pay_page_write(html, "<div><h1>Pay ", pay_page_shop_name(view->account), "</h1>\n");
    }
    pay_page_write(html, "<p class=\"amount\">", pay_page_amount(view->charge, p), "</p></div>\n");
    if (*checkout->description) {
        pay_page_write(html, "<p class=\"text\">",
                       pay_text_cut(checkout->description, PAY_PAGE_TEXT_MAX, p), "</p>\n");
    }
    if (*view->account->settings.shop_text) {
        pay_page_write(html, "<p class=\"text\">", view->account->settings.shop_text, "</p>\n");
    }
}

/* The sentences at the end, and while the payer waits for it; NULL: a form is shown. */
static const struct {
    const char *kind; /* of the style sheet */
    const char *title;
    const char *text;
} results[] = {
    [PAY_STAGE_PAY] = {NULL, NULL, NULL},
    [PAY_STAGE_CODE] = {NULL, NULL, NULL},
    [PAY_STAGE_ASKED] =
        {"pending", "This payment page is closed",
         "If you have paid, please do not pay again: the result appears here, and the shop "
         "receives it. If you have not, ask the shop for a new page."},
    [PAY_STAGE_WAITING] = {"pending", "Your payment is being processed",
                           "Please do not pay again. The result appears here by itself."},
    [PAY_STAGE_APPROVED] = {"approved", "Payment approved", "Thank you. Your payment was made."},
    [PAY_STAGE_DECLINED] = {"declined", "Payment declined",
                            "Nothing was paid. Return to the shop to try again or to pay in "
                            "another way."},
    [PAY_STAGE_CANCELLED] = {"cancelled", "Payment cancelled", "Nothing was paid."},
    [PAY_STAGE_EXPIRED] = {"expired", "This payment page has expired",
                           "Nothing was paid. Please ask the shop for a new page."},
    [PAY_STAGE_CLOSED] = {"cancelled", "The shop has closed this payment",
                          "Nothing was paid. Please ask the shop if you still want to pay."},
};
_Static_assert(sizeof(results) / sizeof(results[0]) == PAY_STAGE_COUNT, "one row a stage");

static void write_fact(pay_html_t *html, const char *name, const char *value)
{
    pay_page_write(html, "<div><dt>", name, "</dt>");
    pay_page_write(html, "<dd>", value, "</dd></div>\n");
}

static void write_facts(pay_html_t *html, const pay_charge_t *charge, apr_pool_t *p)
{
    char text[PAY_MONEY_SHOWN_MAX];

    pay_html_markup(html, "<dl class=\"facts\">\n");
    write_fact(html, "Amount", pay_page_amount(charge, p));
    if (pay_charge_refunded_minor(charge) > 0) {
        write_fact(html, "Refunded",
                   pay_money_show(text, pay_charge_refunded_minor(charge), charge->money.currency));
    }
    if (charge->channel == PAY_CHANNEL_BANK_TRANSFER) {
        write_fact(html, "Paid by", "Bank transfer");
    } else if (*charge->card.last4) {
        write_fact(html, "Card",
                   apr_pstrcat(p, charge->card.issuer, *charge->card.issuer ? " " : "",
                               "ending in ", charge->card.last4, NULL));
    }
    write_fact(html, "Reference", charge->reference);
    pay_html_markup(html, "</dl>\n");
}

/* Writes the ways on: back to the shop, and for a waiting page to itself. */
static void write_ways(pay_html_t *html, const pay_page_view_t *view)
{
    const int waiting = view->stage <= PAY_STAGE_WAITING;
    const int asks = view->came_back || view->stage == PAY_STAGE_ASKED; /* the acquirer */

    if (!waiting && !*view->return_url) {
        pay_html_markup(html, "<p>You can close this page.</p>\n");
        return;
    }
    pay_html_markup(html, "<div class=\"actions\">\n");
    if (waiting) {
        pay_page_write(html, "<a class=\"button\" href=\"", view->charge->checkout->page_id,
                       asks ? PAY_PAGE_RETURN_SUFFIX "\">Look again</a>\n" : "\">Look again</a>\n");
    }
    if (view->came_back) {
        pay_page_write(html, "<a class=\"button secondary\" rel=\"noreferrer\" href=\"",
                       view->charge->checkout->acquirer_url, "\">I have not paid yet</a>\n");
    }
    if (*view->return_url) {
        pay_html_markup(html, waiting ? "<a class=\"button secondary\"" : "<a class=\"button\"");
        pay_page_write(html, " rel=\"noreferrer\" href=\"", view->return_url, "\">");
        if (view->return_host) { /* not the shop's name: it may be anybody's host */
            pay_page_write(html, "Go back to ", view->return_host, "</a>\n");
        } else {
            pay_page_write(html, "Return to ", pay_page_shop_name(view->account), "</a>\n");
        }
    }
    pay_html_markup(html, "</div>\n");
}

static void write_result(pay_html_t *html, const pay_page_view_t *view, apr_pool_t *p)
{
    const pay_checkout_stage_t stage = view->stage;
    const char *text = results[stage].text;

    if (stage == PAY_STAGE_WAITING && view->reloads >= PAY_PAGE_RELOADS_MAX) {
        text = "This takes longer than usual. Please do not pay again: look again later, or ask "
               "the shop.";
    } else if (view->came_back) {
        text = "If you have paid, please do not pay again: the result appears here by itself.";
    }
    pay_page_write(html, "<div class=\"result ", results[stage].kind,
                   "\"><span class=\"mark\" aria-hidden=\"true\"></span>\n");
    pay_page_write(html, "<h1>", results[stage].title, "</h1>\n");
    if (stage == PAY_STAGE_DECLINED && *view->charge->message) {
        pay_page_write(html, "<p>The answer was: ", view->charge->message, "</p>\n");
    }
    pay_page_write(html, "<p>", text, "</p></div>\n");
    write_facts(html, view->charge, p);
    if (*view->return_url && view->return_host) {
        pay_page_write(html, "<p>The way back leads to ", view->return_host,
                       ". Go there only if that is where you came from.</p>\n");
    } else if (stage > PAY_STAGE_WAITING && *view->return_url) {
        pay_page_write(html, "<p>You will be taken back to ", pay_page_shop_name(view->account),
                       " in a few seconds.</p>\n");
    }
    write_ways(html, view);
}

const pay_html_t *pay_page_html(const pay_page_view_t *view, apr_pool_t *p)
{
    const char *title = results[view->stage].title;
    pay_html_t *html;

    if (!title) {
        title = apr_pstrcat(p, view->faults ? "Not paid yet: " : "",
                            view->stage == PAY_STAGE_CODE ? "Confirm " : "Pay ",
                            pay_page_amount(view->charge, p), NULL);
    }
    html = pay_page_open(view, title, p);
    if (results[view->stage].title) {
        write_result(html, view, p);
    } else {
        write_order(html, view, p);
        pay_page_write_form_faults(html, view);
    }
    if (view->stage == PAY_STAGE_PAY) {
        pay_page_write_pay_forms(html, view, p);
    } else if (view->stage == PAY_STAGE_CODE) {
        pay_page_write_code_form(html, view, p);
    }
    pay_page_close(html);
    return html;
}

const pay_html_t *pay_page_unready(const pay_page_view_t *view, apr_pool_t *p)
{
    pay_html_t *html = pay_page_open(view, "This payment cannot be made yet", p);

    write_order(html, view, p);
    pay_html_markup(html, "<div class=\"result expired\"><span class=\"mark\" "
                          "aria-hidden=\"true\"></span>\n"
                          "<h2>This payment cannot be made at the moment</h2>\n"
                          "<p>Nothing was paid. Please wait a moment and look again, or ask the "
                          "shop.</p></div>\n<div class=\"actions\">\n");
    pay_page_write(html, "<a class=\"button\" href=\"", view->charge->checkout->page_id,
                   "\">Look again</a>\n</div>\n");
    pay_page_close(html);
    return html;
}

const pay_html_t *pay_page_notice(const char *title, const char *advice, const char *request_id,
                                  apr_pool_t *p)
{
    pay_html_t *html = pay_page_open_bare(title, 0, p);

    pay_html_markup(html, "<div class=\"result expired\"><span class=\"mark\" "
                          "aria-hidden=\"true\"></span>\n");
    pay_page_write(html, "<h1>", title, "</h1>\n");
    pay_page_write(html, "<p>", advice, "</p></div>\n");
    pay_page_write(html, "<p class=\"small\">For questions to the shop: request ", request_id,
                   "</p>\n");
    pay_page_close(html);
    return html;
}
