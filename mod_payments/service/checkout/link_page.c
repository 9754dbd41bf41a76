/* SPDX-License-Identifier: Apache-2.0 */
#include "service/checkout/link_page.h"

#include "base/text/json.h"
#include "base/text/writer.h"
#include "service/checkout/checkout_create.h"

#include <apr_strings.h>
#include <string.h>

#define BODY_SIZE_HINT 512

/* Drops blanks around typed text; those inside stay, because they may be mistyped dots. */
static const char *typed(const char *text, apr_pool_t *p)
{
    apr_size_t len;

    if (!text) {
        return "";
    }
    text += strspn(text, " ");
    for (len = strlen(text); len > 0 && text[len - 1] == ' '; len--) {
    }
    return apr_pstrmemdup(p, text, len);
}

/* Makes the body that a shop would send for the payer: it is judged in one place. */
static const char *body_of(const pay_link_t *link, const pay_link_payer_t *payer, apr_pool_t *p)
{
    pay_writer_t *w = pay_writer_make(BODY_SIZE_HINT, p);
    char amount[PAY_MONEY_TEXT_MAX];

    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "paymentLinkReference", link->reference);
    pay_writer_string(w, "currency", link->money.currency);
    pay_writer_string(w, "amount",
                      link->money.amount_minor > 0
                          ? pay_money_format(amount, link->money.amount_minor, link->money.currency)
                          : typed(payer->amount, p));
    pay_writer_object_open(w, "checkoutCustomerData");
    pay_writer_string(w, "email", typed(payer->email, p));
    pay_writer_string(w, "firstName", payer->first_name ? payer->first_name : "");
    pay_writer_string(w, "lastName", payer->last_name ? payer->last_name : "");
    pay_writer_object_close(w);
    pay_writer_object_close(w);
    return w->text;
}

const pay_problem_t *pay_link_page_pay(const pay_charge_t **out, pay_service_t *service,
                                       const pay_page_t *page, const pay_link_payer_t *payer,
                                       const char *page_root, const char *request_ip, apr_pool_t *p)
{
    const pay_caller_t caller = {page->account, page->link->scope, PAY_KEY_PUBLIC, "", NULL};
    const char *text = body_of(page->link, payer, p);
    pay_checkout_request_t *request;
    const pay_problem_t *problem;
    const pay_json_t *body;
    const char *reason;
    apr_status_t rv;
    int replayed;

    *out = NULL;
    rv = pay_json_parse(&body, &reason, text, strlen(text), p);
    if (rv != APR_SUCCESS) { /* invalid UTF-8 */
        return pay_problem_make(PAY_ERR_INVALID, NULL, APR_SUCCESS, p);
    }
    problem = pay_checkout_request_from_json(&request, body, PAY_CHECKOUT_FORM_LINK,
                                             page->account->settings.currency, p);
    if (problem) {
        return problem;
    }
    return pay_checkout_create(out, &replayed, service, &caller, request, page_root, request_ip, p);
}
