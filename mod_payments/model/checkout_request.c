/* SPDX-License-Identifier: Apache-2.0 */
#include "model/checkout_request.h"

#include "base/net/url.h"
#include "base/problem.h"
#include "base/text/json.h"
#include "model/card.h"
#include "model/form.h"
#include "model/idempotency.h"
#include "model/text.h"

#include <apr_strings.h>
#include <string.h>

#define REASON_CARD "must not hold a card number"

/* A member that is an object: reads its members as a form with its name in front. */
static pay_form_t inner_form(const pay_form_t *form, const char *name)
{
    pay_form_t inner = {pay_json_object(form->body, name, form->p), form->problem, form->p,
                        apr_pstrcat(form->p, name, "/", NULL)};

    return inner;
}

static const char *plain(pay_form_t *form, const char *name, const char *text, apr_size_t max)
{
    if (pay_text_length(text) > max || !pay_text_is_visible(text, "")) {
        pay_form_fault(form, name,
                       apr_psprintf(form->p,
                                    "must be at most %" APR_SIZE_T_FMT
                                    " characters without control or invisible characters",
                                    max));
        return "";
    }
    return text;
}

/* Reads optional text for people. */
static const char *read_text(pay_form_t *form, const char *name, apr_size_t max)
{
    const char *text = pay_form_string(form, name);

    if (!text) {
        return "";
    }
    if (pay_card_number_within(text)) {
        pay_form_fault(form, name, REASON_CARD);
        return "";
    }
    return plain(form, name, text, max);
}

/* A telephone number may look like a card number, up to its greatest length. */
static const char *read_phone(pay_form_t *form, const char *name)
{
    const char *text = pay_form_string(form, name);

    if (text && pay_card_number_in_phone(text)) {
        pay_form_fault(form, name, REASON_CARD);
        return "";
    }
    return text ? plain(form, name, text, PAY_CHECKOUT_PHONE_MAX) : "";
}

static const char *read_name(pay_form_t *form, const char *name)
{
    return pay_form_required(form, name) ? read_text(form, name, PAY_NAME_MAX) : "";
}

static void read_names(pay_checkout_request_t *request, pay_form_t *form, const char *first,
                       const char *last)
{
    const char *fault;

    request->first_name = read_name(form, first);
    request->last_name = read_name(form, last);
    fault = pay_charge_names_fault(request->first_name, request->last_name);
    if (fault) {
        pay_form_fault(form, last, fault);
    }
}

static const char *read_email(pay_form_t *form, const char *name)
{
    const char *email = pay_form_email(form, name);

    return email ? email : "";
}

static const char *read_url(pay_form_t *form, const char *name)
{
    const char *text = pay_form_string(form, name);
    const char *fault;
    pay_url_t *url;
    apr_status_t rv;

    if (!text || !*text) {
        return "";
    }
    rv = pay_url_parse(&url, &fault, text, "https http", form->p);
    if (rv != APR_SUCCESS || strlen(text) > PAY_CHECKOUT_URL_MAX) {
        pay_form_fault(form, name, "must be an absolute http or https URL");
        return "";
    }
    if (pay_card_number_in_url(text)) {
        pay_form_fault(form, name, REASON_CARD);
        return "";
    }
    return text;
}

/* Returns the text of the member, which is an object or a string. */
static const char *read_metadata(pay_form_t *form, const char *name)
{
    const char *text = pay_json_string(form->body, name);

    if (!pay_form_is_given(form, name)) {
        return "";
    }
    if (!text) {
        text = pay_json_object_text(form->body, name);
    }
    if (!text) {
        pay_form_fault(form, name, "must be an object or a string");
        return "";
    }
    if (pay_card_number_within(text)) {
        pay_form_fault(form, name, REASON_CARD);
        return "";
    }
    if (pay_text_length(text) > PAY_CHECKOUT_METADATA_MAX) {
        pay_form_fault(form, name,
                       "must be at most " APR_STRINGIFY(PAY_CHECKOUT_METADATA_MAX) " characters");
        return "";
    }
    return apr_pstrdup(form->p, text);
}

static void read_money(pay_checkout_request_t *request, pay_form_t *form,
                       const char *default_currency)
{
    request->currency_defaulted = !pay_form_is_given(form, "currency");
    request->amount_text = pay_form_money(&request->money, form, default_currency);
}

/* Reads the shop's own, unique reference of a checkout. */
static const char *read_reference(pay_form_t *form)
{
    const char *text = pay_form_reference(form, "transactionReference");
    apr_size_t len = text ? strlen(text) : 0;

    if (text && (len < PAY_CHECKOUT_REFERENCE_MIN || len > PAY_CHECKOUT_REFERENCE_MAX)) {
        pay_form_fault(form, "transactionReference",
                       "must have " APR_STRINGIFY(PAY_CHECKOUT_REFERENCE_MIN) " to " APR_STRINGIFY(
                           PAY_CHECKOUT_REFERENCE_MAX) " characters");
    }
    return text ? text : "";
}

static const char *read_link(pay_form_t *form)
{
    const char *text = pay_form_reference(form, "paymentLinkReference");

    if (text && strlen(text) > PAY_LINK_REFERENCE_MAX) {
        pay_form_fault(form, "paymentLinkReference",
                       "must have at most " APR_STRINGIFY(PAY_LINK_REFERENCE_MAX) " characters");
    }
    return text ? text : "";
}

static void read_initiate(pay_checkout_request_t *request, pay_form_t *form,
                          const char *default_currency)
{
    pay_form_t inner;

    if (request->form == PAY_CHECKOUT_FORM_LINK) {
        request->link = read_link(form);
    } else {
        request->reference = read_reference(form);
    }
    read_money(request, form, default_currency);
    request->redirect_url = read_url(form, "redirectUrl");
    request->metadata = read_metadata(form, "metaData");

    inner = inner_form(form, "checkoutCustomerData");
    if (inner.body) {
        request->email = read_email(&inner, "email");
        read_names(request, &inner, "firstName", "lastName");
        request->phone = read_phone(&inner, "phoneNumber");
        form->problem = inner.problem;
    } else {
        pay_form_fault(form, "checkoutCustomerData", "is required, an object");
    }
    inner = inner_form(form, "checkoutCustomizationData");
    if (inner.body) {
        request->logo_url = read_text(&inner, "logoUrl", PAY_CHECKOUT_URL_MAX);
        request->description = read_text(&inner, "paymentDescription", PAY_CHECKOUT_TEXT_MAX);
        request->title = read_text(&inner, "checkoutModalTitle", PAY_CHECKOUT_TEXT_MAX);
        form->problem = inner.problem;
    } else if (pay_form_is_given(form, "checkoutCustomizationData")) {
        pay_form_fault(form, "checkoutCustomizationData", "must be an object or null");
    }
}

static void read_order(pay_checkout_request_t *request, pay_form_t *form,
                       const char *default_currency)
{
    pay_form_t inner = inner_form(form, "customer");

    if (inner.body) {
        read_names(request, &inner, "firstname", "lastname");
        request->phone = read_phone(&inner, "mobile");
        request->email = read_email(&inner, "email");
        form->problem = inner.problem;
    } else {
        pay_form_fault(form, "customer", "is required, an object");
    }
    inner = inner_form(form, "order");
    if (inner.body) {
        request->reference = pay_form_reference(&inner, "reference");
        request->description = read_text(&inner, "description", PAY_CHECKOUT_TEXT_MAX);
        read_money(request, &inner, default_currency);
        form->problem = inner.problem;
    } else {
        pay_form_fault(form, "order", "is required, an object");
    }
    inner = inner_form(form, "payment");
    if (inner.body) {
        request->redirect_url = read_url(&inner, "RedirectUrl");
        form->problem = inner.problem;
    } else if (pay_form_is_given(form, "payment")) {
        pay_form_fault(form, "payment", "must be an object or null");
    }
}

/*
 * The same request: the same payer pays the same amount for the same thing, and returns to the same
 * place.
 */
static apr_status_t digest_make(pay_checkout_request_t *request, apr_pool_t *p)
{
    const char *values[] = {request->link,
                            apr_psprintf(p, "%" APR_INT64_T_FMT, request->money.amount_minor),
                            request->money.currency, request->email, request->redirect_url};

    return pay_idempotency_digest(request->digest, values, sizeof(values) / sizeof(values[0]));
}

const pay_problem_t *pay_checkout_request_from_json(pay_checkout_request_t **out,
                                                    const pay_json_t *body,
                                                    pay_checkout_form_t which,
                                                    const char *default_currency, apr_pool_t *p)
{
    pay_checkout_request_t *request = apr_pcalloc(p, sizeof(*request));
    pay_form_t form = {body, NULL, p, NULL};
    apr_status_t rv;

    *out = NULL;
    request->form = which;
    request->reference = request->link = request->email = request->first_name = "";
    request->last_name = request->phone = request->redirect_url = request->metadata = "";
    request->logo_url = request->title = request->description = "";
    if (which == PAY_CHECKOUT_FORM_ORDER) {
        read_order(request, &form, default_currency);
    } else {
        read_initiate(request, &form, default_currency);
    }
    if (form.problem) {
        return form.problem;
    }
    rv = digest_make(request, p);
    if (rv != APR_SUCCESS) {
        return pay_problem_make(PAY_ERR_INTERNAL, NULL, rv, p);
    }
    *out = request;
    return NULL;
}

apr_status_t pay_checkout_request_rebase(pay_checkout_request_t **out,
                                         const pay_checkout_request_t *request,
                                         const char *currency, apr_pool_t *p)
{
    pay_checkout_request_t *rebased = apr_pmemdup(p, request, sizeof(*request));
    apr_status_t rv;

    *out = NULL;
    rv = pay_money_parse(&rebased->money, request->amount_text, currency);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = digest_make(rebased, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *out = rebased;
    return APR_SUCCESS;
}
