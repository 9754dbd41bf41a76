/* SPDX-License-Identifier: Apache-2.0 */
#include "acquirer/relay/answer.h"
#include "acquirer/relay/record.h"
#include "base/log.h"
#include "model/outcome.h"
#include "model/refund.h"
#include "model/refund_tag.h"

#include <apr_strings.h>
#include <string.h>

#define REFUND_PATH "/api/v1/partial-refund"
#define BODY_SIZE 1024

/* The refund that is searched for. */
typedef struct wanted_t {
    const payments_refund_t *refund;
    const char *charge_reference; /* "": not known */
    int found;                    /* records with the tag */
    apr_array_header_t *similar;  /* of const char *: names of similar ones without a tag */
    payments_answer_t *out;
    apr_pool_t *pool;
} wanted_t;

/* ---- records of a refund */

static const payments_verdict_t verdicts[] = {
    [PAY_REFUND_PENDING] = PAYMENTS_PENDING,
    [PAY_REFUND_PROCESSED] = PAYMENTS_APPROVED,
    [PAY_REFUND_FAILED] = PAYMENTS_DECLINED,
};
_Static_assert(sizeof(verdicts) / sizeof(verdicts[0]) == PAY_REFUND_STATE_COUNT, "one a state");

static int is_same(const payments_record_t *record, const wanted_t *wanted)
{
    pay_money_t money;
    apr_status_t rv;

    if (strcmp(record->currency, wanted->refund->currency) != 0) {
        return 0;
    }
    rv = pay_money_parse(&money, record->amount, record->currency);
    return rv == APR_SUCCESS && money.amount_minor == wanted->refund->amount_minor
           && (!*wanted->charge_reference
               || strcmp(record->transaction_reference, wanted->charge_reference) == 0)
           /* An upstream may cut notes; one that ends with another tag belongs to another
            * refund. */
           && (!*record->tag || !*wanted->refund->tag
               || strcmp(record->tag, wanted->refund->tag) == 0);
}

static void record_take(const payments_record_t *record, wanted_t *wanted)
{
    payments_answer_t *out = wanted->out;
    int state;

    if (!is_same(record, wanted)) {
        out->verdict = PAYMENTS_DIFFERENT;
        return;
    }
    for (state = 0; state < PAY_REFUND_STATE_COUNT; state++) {
        if (strcmp(record->status, pay_refund_state_name((pay_refund_state_t)state)) == 0) {
            out->verdict = verdicts[state];
        }
    }
    out->acquirer_reference = apr_pstrdup(wanted->pool, record->reference);
}

static wanted_t wanted_make(payments_answer_t *out, const payments_refund_t *refund,
                            const payments_charge_t *charge, apr_pool_t *p)
{
    wanted_t wanted = {.refund = refund,
                       .charge_reference = charge && charge->reference ? charge->reference : "",
                       .similar = apr_array_make(p, 1, sizeof(const char *)),
                       .out = out,
                       .pool = p};

    return wanted;
}

/* Reads a bare record; anything else leaves the verdict unknown. */
static void answer_take(wanted_t *wanted, const pay_relay_t *relay,
                        const pay_relay_answer_t *answer)
{
    payments_record_t record;
    apr_status_t rv;

    if (!answer->body) {
        return;
    }
    rv = pay_relay_record_read(&record, relay->mode, answer->body, wanted->pool);
    if (rv == APR_SUCCESS && *record.transaction_reference) {
        record_take(&record, wanted);
    }
}

/* ---- by its tag */

/* An upstream may drop notes, and the tag with them: a refund of the same charge and amount may be
 * it. */
static apr_status_t tag_compare(void *baton, const payments_record_t *record)
{
    wanted_t *wanted = baton;

    if (strcmp(record->tag, wanted->refund->tag) == 0) {
        wanted->found++;
        record_take(record, wanted);
    } else if (!*record->tag && is_same(record, wanted)
               && strcmp(record->status, pay_refund_state_name(PAY_REFUND_FAILED)) != 0
               && wanted->similar->nelts <= PAYMENTS_SIMILAR_MAX) {
        APR_ARRAY_PUSH(wanted->similar, const char *) =
            apr_pstrdup(wanted->pool, record->reference);
    }
    return APR_SUCCESS;
}

/* Both days inclusive, as the upstream counts them. */
static apr_status_t list_by_tag(wanted_t *wanted, pay_relay_call_t *call, apr_int64_t first_day,
                                apr_int64_t last_day)
{
    payments_answer_t *out = wanted->out;
    apr_status_t rv;

    wanted->found = 0;
    apr_array_clear(wanted->similar);
    rv = pay_relay_records(call, &out->trouble, &out->retry_after, first_day, last_day, tag_compare,
                           wanted, wanted->pool);
    if (rv != APR_SUCCESS) {
        /* An incomplete list decides nothing. */
        out->verdict = PAYMENTS_UNKNOWN;
        out->acquirer_reference = "";
        return rv;
    }
    if (wanted->found > 1) {
        out->verdict = PAYMENTS_DIFFERENT; /* it was made twice */
    }
    return APR_SUCCESS;
}

/*
 * Searches from when it was opened until now, by the upstream's clock, which is known after an
 * answer. Absence from a list means nothing while the two clocks differ, or if it was opened
 * tomorrow.
 */
static apr_status_t query_by_tag(wanted_t *wanted, pay_relay_call_t *call)
{
    const apr_time_t now = pay_time_now(), opened_at = wanted->refund->opened_at;
    const apr_time_t from = opened_at < now ? opened_at : now;
    const apr_int64_t first_day = pay_relay_first_day(from);
    const apr_int64_t last_day = pay_relay_last_day(now);
    payments_answer_t *out = wanted->out;
    apr_int64_t first, last;
    apr_status_t rv;

    rv = list_by_tag(wanted, call, first_day, last_day);
    first = pay_relay_first_day(from + call->ahead);
    last = pay_relay_last_day(now + call->ahead);
    if (rv == APR_SUCCESS && wanted->found == 0 && (first < first_day || last > last_day)) {
        rv = list_by_tag(wanted, call, first, last);
    }
    if (rv != APR_SUCCESS || wanted->found > 0) {
        return rv;
    }
    if (opened_at <= now + PAY_RELAY_APART_MAX) {
        pay_relay_absent(out, call);
    } else {
        out->doubted = 1;
    }
    out->similar = wanted->similar;
    return APR_SUCCESS;
}

/* ---- the record of its charge */

/* Reads an amount of the transaction, 0 included; returns 0 if it is missing. */
static int amount_read(apr_int64_t *out, const pay_json_t *data, const char *name,
                       const char *currency)
{
    const char *text = pay_json_number(data, name);
    char normalised[PAY_DECIMAL_TEXT_MAX];
    pay_money_t money;

    *out = 0;
    if (!text) {
        text = pay_relay_text(data, name);
    }
    if (pay_decimal_normalize(normalised, text) == APR_SUCCESS && !strcmp(normalised, "0")) {
        return 1;
    }
    if (pay_money_parse(&money, text, currency) != APR_SUCCESS) {
        return 0;
    }
    *out = money.amount_minor;
    return 1;
}

/*
 * Reads the total refunded amount of the charge there, including pending refunds; returns 0 if it
 * is not reported.
 */
static int given_back(apr_int64_t *out, const pay_json_t *data, const wanted_t *wanted)
{
    const char *reference = wanted->charge_reference, *currency = wanted->refund->currency;
    apr_int64_t pending = 0;

    if (pay_relay_match_text(data, "currency", currency) != PAY_RELAY_SAME
        || (pay_relay_match_text(data, "reference", reference) != PAY_RELAY_SAME
            && pay_relay_match_text(data, "transactionReference", reference) != PAY_RELAY_SAME)
        || !amount_read(out, data, "refundedAmount", currency)
        || (pay_json_type(data, "refundsPendingAmount") != PAY_JSON_ABSENT
            && !amount_read(&pending, data, "refundsPendingAmount", currency))) {
        return 0;
    }
    *out = *out <= APR_INT64_MAX - pending ? *out + pending : APR_INT64_MAX;
    return 1;
}

/* Logs once for each acquirer of a process why waiting refunds keep waiting. */
static void tell_no_sums(pay_relay_call_t *call, const pay_json_t *data)
{
    pay_relay_t *relay = call->relay;
    int told;

    if (pay_json_type(data, "refundedAmount") != PAY_JSON_ABSENT) {
        return;
    }
    (void)apr_thread_mutex_lock(relay->mutex);
    told = relay->sums_told;
    relay->sums_told = 1;
    (void)apr_thread_mutex_unlock(relay->mutex);
    if (!told) {
        pay_log(PAY_LOG_WARNING, APR_SUCCESS,
                PAYLOGNO(00792) "relay %s: its charges have no refundedAmount, so a refund that is "
                                "missing from its list may have been made anyway: refunds that "
                                "wait to be sent keep waiting, and none fails for absence",
                relay->host);
    }
}

/*
 * A refund that was made while the upstream's clock was wrong is listed on another day than the one
 * searched. Its charge then shows a higher refunded amount than we know of: in this case the days
 * around the charge's last change are searched, and a refund that cannot be found is not absent.
 */
static apr_status_t compare_charge(wanted_t *wanted, pay_relay_call_t *call,
                                   const payments_charge_t *charge)
{
    const char *path =
        apr_pstrcat(wanted->pool, "/api/v1/transaction/",
                    pay_relay_segment(wanted->charge_reference, wanted->pool), "/verify", NULL);
    payments_answer_t *out = wanted->out;
    pay_relay_answer_t answer;
    apr_int64_t given;
    apr_time_t changed_at;
    apr_status_t rv;

    out->verdict = PAYMENTS_UNKNOWN;
    rv = pay_relay_ask(&answer, &out->trouble, &out->retry_after, call, path, NULL, wanted->pool);
    if (rv != APR_SUCCESS || out->trouble != PAYMENTS_NO_TROUBLE) {
        return rv;
    }
    if (pay_relay_is_absent(&answer, wanted->charge_reference)) {
        pay_relay_absent(out, call);
        return APR_SUCCESS;
    }
    if (answer.status != 200 || answer.good != 1 || !answer.data) {
        return pay_relay_undecided(call, &answer, wanted->pool);
    }
    if (!given_back(&given, answer.data, wanted)) {
        tell_no_sums(call, answer.data);
        return pay_relay_undecided(call, &answer, wanted->pool);
    }
    if (given <= charge->refunded_minor + charge->refunds_pending_minor) {
        pay_relay_absent(out, call);
        return APR_SUCCESS;
    }
    if (pay_time_parse(&changed_at, pay_relay_text(answer.data, "updatedAt")) == APR_SUCCESS) {
        rv = list_by_tag(wanted, call, pay_relay_first_day(changed_at),
                         pay_relay_last_day(changed_at));
    }
    if (rv == APR_SUCCESS && wanted->found == 0) {
        out->verdict = PAYMENTS_DIFFERENT;
    }
    return rv;
}

/* ---- refund */

static pay_writer_t *refund_body(const payments_refund_t *refund, const char *charge_reference,
                                 apr_pool_t *p)
{
    pay_writer_t *w = pay_writer_make(BODY_SIZE, p);

    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "reference", charge_reference);
    pay_writer_amount(w, "amount", refund->amount_minor, refund->currency);
    if (refund->customer_note && *refund->customer_note) {
        pay_writer_string(w, "customer_note", refund->customer_note);
    }
    pay_writer_string(w, "merchant_note",
                      pay_refund_tag_join(refund->merchant_note, refund->tag, p));
    pay_writer_object_close(w);
    return w;
}

/* Returns 1 if nothing was refunded, and nothing will be. */
static int is_refused(const pay_relay_answer_t *answer, const char *charge_reference)
{
    return pay_relay_is_refusal(answer) || pay_relay_is_absent(answer, charge_reference)
           || (answer->status == 409 && pay_relay_is_error(answer) && !strcmp(answer->code, "R1"));
}

/* Returns 1 if too little is left, or a refund is under way. R5 and D2 report a similar one. */
static int is_forestalled(const pay_relay_answer_t *answer)
{
    static const char *const codes[] = {"R2", "R3", "R4"};
    apr_size_t i;

    for (i = 0; answer->status == 409 && pay_relay_is_error(answer)
                && i < sizeof(codes) / sizeof(codes[0]);
         i++) {
        if (!strcmp(answer->code, codes[i])) {
            return 1;
        }
    }
    return 0;
}

/*
 * The refund in the way may be itself: an intermediary that repeats requests may have delivered it
 * twice. The upstream's books decide; until they are read nothing is known.
 */
static apr_status_t forestalled(wanted_t *wanted, pay_relay_call_t *call,
                                const pay_relay_answer_t *answer)
{
    payments_answer_t *out = wanted->out;
    apr_status_t rv;

    rv = query_by_tag(wanted, call);
    if (rv != APR_SUCCESS) {
        return rv == PAYMENTS_NOT_SENT ? APR_EGENERAL : rv; /* the refund was sent */
    }
    if (out->verdict == PAYMENTS_ABSENT && wanted->similar->nelts > 0) {
        out->verdict = PAYMENTS_UNKNOWN; /* another's, or itself without its note */
    } else if (out->verdict == PAYMENTS_ABSENT) {
        out->verdict = PAYMENTS_DECLINED;
        out->message = pay_relay_refusal(answer, wanted->pool);
    }
    return APR_SUCCESS;
}

apr_status_t pay_relay_refund(payments_answer_t *out, void *context,
                              const payments_refund_t *refund, const payments_charge_t *charge,
                              apr_interval_time_t timeout, apr_pool_t *p)
{
    pay_relay_call_t call = pay_relay_call_begin(context, &out->times, timeout);
    wanted_t wanted = wanted_make(out, refund, charge, p);
    pay_relay_answer_t answer;
    apr_status_t rv;

    /* Without a tag it could not be found again, without its charge it cannot be made. */
    if (!*refund->tag || !*wanted.charge_reference) {
        return PAYMENTS_NOT_SENT;
    }
    rv = pay_relay_ask(&answer, &out->trouble, &out->retry_after, &call, REFUND_PATH,
                       refund_body(refund, wanted.charge_reference, p), p);
    if (rv != APR_SUCCESS || out->trouble != PAYMENTS_NO_TROUBLE) {
        return rv;
    }
    if (answer.status == 200 || answer.status == 202) {
        answer_take(&wanted, call.relay, &answer);
    } else if (is_refused(&answer, wanted.charge_reference)) {
        out->verdict = PAYMENTS_DECLINED;
        out->message = pay_relay_refusal(&answer, p);
    } else if (is_forestalled(&answer)) {
        return forestalled(&wanted, &call, &answer);
    }
    return out->verdict == PAYMENTS_UNKNOWN ? pay_relay_undecided(&call, &answer, p) : APR_SUCCESS;
}

/* ---- query */

static apr_status_t query_by_reference(wanted_t *wanted, pay_relay_call_t *call)
{
    const char *reference = wanted->refund->acquirer_reference;
    payments_answer_t *out = wanted->out;
    const char *path = apr_pstrcat(wanted->pool, "/api/v1/refund/",
                                   pay_relay_segment(reference, wanted->pool), NULL);
    pay_relay_answer_t answer;
    apr_status_t rv;

    rv = pay_relay_ask(&answer, &out->trouble, &out->retry_after, call, path, NULL, wanted->pool);
    if (rv != APR_SUCCESS || out->trouble != PAYMENTS_NO_TROUBLE) {
        return rv;
    }
    if (answer.status == 200) {
        answer_take(wanted, call->relay, &answer);
        if (out->acquirer_reference && strcmp(out->acquirer_reference, reference) != 0) {
            out->verdict = PAYMENTS_DIFFERENT;
        }
    } else if (pay_relay_is_absent(&answer, reference)) {
        pay_relay_absent(out, call);
        return APR_SUCCESS;
    }
    return out->verdict == PAYMENTS_UNKNOWN ? pay_relay_undecided(call, &answer, wanted->pool)
                                            : APR_SUCCESS;
}

apr_status_t pay_relay_refund_query(payments_answer_t *out, void *context,
                                    const payments_refund_t *refund,
                                    const payments_charge_t *charge, apr_interval_time_t timeout,
                                    apr_pool_t *p)
{
    pay_relay_call_t call = pay_relay_call_begin(context, &out->times, timeout);
    wanted_t wanted = wanted_make(out, refund, charge, p);
    apr_status_t rv;

    if (*refund->acquirer_reference) {
        return query_by_reference(&wanted, &call);
    }
    if (!*refund->tag) {
        return APR_EINVAL;
    }
    rv = query_by_tag(&wanted, &call);
    if (rv == APR_SUCCESS && out->verdict == PAYMENTS_ABSENT && *wanted.charge_reference) {
        rv = compare_charge(&wanted, &call, charge);
    }
    return rv;
}
