/* SPDX-License-Identifier: Apache-2.0 */
#include "acquirer/relay/record.h"

#include "acquirer/relay/answer.h"
#include "model/outcome.h"
#include "model/refund.h"
#include "model/refund_tag.h"

#include <apr_strings.h>
#include <string.h>

static int is_status(const char *text)
{
    int state;

    for (state = 0; state < PAY_REFUND_STATE_COUNT; state++) {
        if (strcmp(text, pay_refund_state_name((pay_refund_state_t)state)) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Returns 1 if the member is a string, null or absent. */
static int is_text_or_null(const pay_json_t *json, const char *name)
{
    pay_json_type_t type = pay_json_type(json, name);

    return type == PAY_JSON_STRING || type == PAY_JSON_NULL || type == PAY_JSON_ABSENT;
}

/*
 * Returns a decimal, which may be a string or a number; "" if it is neither, or not an amount of
 * the currency.
 */
static const char *amount_of(const pay_json_t *json, const char *currency)
{
    const char *text = pay_json_number(json, "amount");
    pay_money_t money;
    apr_status_t rv;

    if (!text) {
        text = pay_relay_text(json, "amount");
    }
    rv = pay_money_parse(&money, text, currency);
    return rv == APR_SUCCESS ? text : "";
}

static apr_status_t times_read(payments_record_t *out, const pay_json_t *json)
{
    const char *updated = pay_relay_text(json, "updatedAt");
    apr_status_t rv;

    rv = pay_time_parse(&out->created_at, pay_relay_text(json, "createdAt"));
    if (rv == APR_SUCCESS && *updated) {
        rv = pay_time_parse(&out->updated_at, updated);
    }
    return rv;
}

apr_status_t pay_relay_record_read(payments_record_t *out, pay_mode_t mode, const pay_json_t *json,
                                   apr_pool_t *p)
{
    static const char *const texts[] = {
        "domain", "channel", "merchantNote", "customerNote", "transactionReference", "updatedAt"};
    char currency[PAY_CURRENCY_LEN + 1];
    const char *domain = pay_relay_text(json, "domain");
    apr_size_t i;
    apr_status_t rv;

    memset(out, 0, sizeof(*out));
    out->struct_size = sizeof(*out);
    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (!is_text_or_null(json, texts[i])) {
            return APR_EINVAL;
        }
    }
    rv = pay_currency_normalize(currency, pay_relay_text(json, "currency"));
    if (rv != APR_SUCCESS) {
        return APR_EINVAL;
    }
    out->id = pay_relay_text(json, "id");
    out->reference = pay_relay_text(json, "refundReference");
    out->currency = apr_pstrdup(p, currency);
    out->amount = amount_of(json, currency);
    out->channel = pay_relay_text(json, "channel");
    out->merchant_note = pay_relay_text(json, "merchantNote");
    out->customer_note = pay_relay_text(json, "customerNote");
    out->status = pay_relay_text(json, "status");
    out->transaction_reference = pay_relay_text(json, "transactionReference");
    out->tag = pay_refund_tag_split(&out->merchant_note, p);
    if (!*out->id || !*out->reference || !*out->amount || !is_status(out->status)
        || (*domain && strcmp(domain, pay_mode_name(mode)) != 0)) {
        return APR_EINVAL;
    }
    return times_read(out, json);
}
