/* SPDX-License-Identifier: Apache-2.0 */
#include "base/problem.h"
#include "model/form.h"
#include "model/refund.h"

#define CHANNEL_API "API"

/* Returns the note as received, also ""; NULL means no note. */
static const char *read_note(pay_form_t *form, const char *name)
{
    const char *text = pay_form_string(form, name);
    const char *reason = pay_note_fault(text);

    if (reason) {
        pay_form_fault(form, name, reason);
    }
    return text;
}

const pay_problem_t *pay_refund_request_from_json(pay_refund_request_t **out,
                                                  const struct pay_json_t *body, int partial,
                                                  apr_pool_t *p)
{
    pay_refund_request_t *request = apr_pcalloc(p, sizeof(*request));
    pay_form_t form = {body, NULL, p, NULL};

    *out = NULL;
    request->reference = pay_form_reference(&form, "reference");
    if (partial) {
        request->amount = pay_form_amount(&form, "amount");
        if (!pay_form_is_given(&form, "amount")) {
            pay_form_fault(&form, "amount", "is required");
        }
    }
    request->customer_note = read_note(&form, "customer_note");
    request->merchant_note = read_note(&form, "merchant_note");
    request->channel = CHANNEL_API;
    if (form.problem) {
        return form.problem;
    }
    *out = request;
    return NULL;
}
