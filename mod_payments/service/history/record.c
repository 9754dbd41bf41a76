/* SPDX-License-Identifier: Apache-2.0 */
#include "service/history/parts.h"

#include "base/text/json.h"
#include "base/text/time.h"
#include "base/text/writer.h"

#include <apr_strings.h>
#include <string.h>

#define TEXT_SIZE_HINT 1024
#define AHEAD_MAX apr_time_from_sec(5 * 60) /* of a createdAt (docs/store.md, rule 7) */

static int is_told(const char *text)
{
    return text && *text;
}

/* Returns NULL, which is written as null, for an absent value. */
static const char *told(const char *text)
{
    return is_told(text) ? text : NULL;
}

int pay_history_record_state(pay_refund_state_t *out, const payments_record_t *record)
{
    int state;

    *out = PAY_REFUND_PENDING;
    for (state = 0; record->status && state < PAY_REFUND_STATE_COUNT; state++) {
        if (!strcmp(record->status, pay_refund_state_name((pay_refund_state_t)state))) {
            *out = (pay_refund_state_t)state;
            return 1;
        }
    }
    return 0;
}

int pay_history_record_agrees(const payments_record_t *record, const pay_money_t *money)
{
    char currency[PAY_CURRENCY_LEN + 1];
    pay_money_t there;

    if (money->currency[0] == '\0') {
        return 1;
    }
    if (is_told(record->currency)
        && (pay_currency_normalize(currency, record->currency) != APR_SUCCESS
            || strcmp(currency, money->currency) != 0)) {
        return 0;
    }
    if (!is_told(record->amount) || money->amount_minor == 0) {
        return 1;
    }
    return pay_money_parse(&there, record->amount, money->currency) == APR_SUCCESS
           && there.amount_minor == money->amount_minor;
}

/* Writes the record in the form of an export, so that one reader judges both. `plain` 1: without
 * the texts that are not essential to the refund. */
static const char *write_record(const payments_record_t *record, const char *transaction_reference,
                                int plain, apr_pool_t *p)
{
    pay_writer_t *w = pay_writer_make(TEXT_SIZE_HINT, p);

    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "id", is_told(record->id) ? record->id : record->reference);
    pay_writer_string(w, "refundReference", record->reference);
    pay_writer_string(w, "amount", told(record->amount));
    pay_writer_string(w, "currency", told(record->currency));
    pay_writer_string(w, "channel", plain ? NULL : told(record->channel));
    pay_writer_string(w, "merchantNote", plain ? NULL : told(record->merchant_note));
    pay_writer_string(w, "customerNote", plain ? NULL : told(record->customer_note));
    pay_writer_string(w, "status", record->status);
    pay_writer_string(w, "transactionReference", transaction_reference);
    pay_writer_time(w, "createdAt", record->created_at);
    pay_writer_time(w, "updatedAt", record->updated_at);
    pay_writer_object_close(w);
    return w->text;
}

static const char *problem_text(const pay_problem_t *problem)
{
    const pay_field_error_t *field;

    if (!problem->fields || problem->fields->nelts == 0) {
        return problem->message;
    }
    field = &APR_ARRAY_IDX(problem->fields, 0, const pay_field_error_t);
    return apr_pstrcat(problem->fields->pool, field->field, " ", field->reason, NULL);
}

static apr_status_t read_text(pay_refund_t **out, const char **reason, const char *text,
                              pay_mode_t mode, apr_pool_t *p)
{
    const pay_problem_t *problem;
    const pay_json_t *json;
    apr_status_t rv;

    *out = NULL;
    rv = pay_json_parse(&json, reason, text, strlen(text), p);
    if (rv != APR_SUCCESS) {
        return APR_EINVAL;
    }
    problem = pay_refund_from_json(out, json, mode, p);
    if (problem) {
        *reason = problem_text(problem);
        return APR_EINVAL;
    }
    return APR_SUCCESS;
}

/* Out-of-range timestamps count as missing. */
static int is_time(apr_time_t when)
{
    return when > 0 && when <= pay_time_now() + AHEAD_MAX;
}

apr_status_t pay_history_record_read(pay_refund_t **out, const char **reason,
                                     const payments_record_t *record, const pay_scope_t *scope,
                                     const pay_charge_t *charge, apr_pool_t *p)
{
    const char *own = charge ? charge->reference : NULL;
    payments_record_t sane = *record;
    pay_refund_state_t state;
    apr_status_t rv;

    *out = NULL;
    *reason = NULL;
    if (!pay_history_record_state(&state, record)) {
        *reason = "its status is not a status of a refund";
        return APR_EINVAL;
    }
    if (!is_time(record->created_at)) {
        *reason = "its createdAt is missing, or more than 5 minutes ahead of this machine's time";
        return APR_EINVAL;
    }
    if (!is_time(record->updated_at)) {
        sane.updated_at = 0;
    }
    rv = read_text(out, reason,
                   write_record(&sane, own ? own : told(record->transaction_reference), 0, p),
                   scope->mode, p);
    if (rv != APR_SUCCESS) {
        rv = read_text(out, reason, write_record(&sane, own, 1, p), scope->mode, p);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    (*out)->scope = *scope;
    (*out)->charge_seq = charge ? charge->seq : 0;
    (*out)->acquirer_charge =
        own ? apr_pstrdup(p, record->transaction_reference) : (*out)->transaction_reference;
    return APR_SUCCESS;
}

void pay_history_refuse(pay_history_news_t *news, const char *reference, const char *reason)
{
    int may_be_told = reference && pay_reference_check(reference) == APR_SUCCESS
                      && !pay_card_number_is(reference);
    apr_pool_t *p = news->faults->pool;

    news->refused++;
    if (news->faults->nelts < PAY_HISTORY_FAULTS_MAX) {
        APR_ARRAY_PUSH(news->faults, const char *) = apr_psprintf(
            p, "refund %s: %s", may_be_told ? reference : "of no usable reference", reason);
    }
}
