/* SPDX-License-Identifier: Apache-2.0 */
#include "model/refund.h"

#include "base/problem.h"
#include "base/text/json.h"
#include "base/text/time.h"
#include "base/text/writer.h"
#include "model/card.h"
#include "model/charge.h"
#include "model/form.h"
#include "model/text.h"

#include <apr_strings.h>
#include <string.h>

_Static_assert(PAY_REFUND_REFERENCE_MAX == PAY_REFERENCE_MAX, "one check serves both");
_Static_assert(PAY_NOTE_MAX * 4 <= PAY_NOTE_BYTES_MAX, "a note of four-byte characters fits");

#define CHANNEL_MAX 32 /* bytes of an imported channel */
#define MICROSECONDS_PER_MS 1000

#define TO(state) (1u << (state))

static const struct {
    const char *name;
    unsigned int next; /* set of TO() */
} states[] = {
    [PAY_REFUND_PENDING] = {"pending", TO(PAY_REFUND_PROCESSED) | TO(PAY_REFUND_FAILED)},
    [PAY_REFUND_PROCESSED] = {"processed", TO(PAY_REFUND_FAILED)}, /* the acquirer reversed it */
    [PAY_REFUND_FAILED] = {"failed", 0},
};
_Static_assert(sizeof(states) / sizeof(states[0]) == PAY_REFUND_STATE_COUNT, "one row a state");

/* States come from stored rows too, so they may not be in the table. */
static int is_state(pay_refund_state_t state)
{
    return (unsigned int)state < PAY_REFUND_STATE_COUNT;
}

void pay_refund_init(pay_refund_t *refund)
{
    *refund = (pay_refund_t){.id = "",
                             .refund_reference = "",
                             .state = PAY_REFUND_PENDING,
                             .decided_state = PAY_REFUND_PENDING,
                             .acquirer = "",
                             .key_id = "",
                             .tag = "",
                             .acquirer_reference = "",
                             .resolution = "",
                             .acquirer_charge = "",
                             .asked_digest = ""};
}

int pay_refund_may_become(pay_refund_state_t from, pay_refund_state_t to)
{
    return is_state(from) && is_state(to) && (states[from].next & TO(to)) != 0;
}

const char *pay_refund_state_name(pay_refund_state_t state)
{
    return is_state(state) ? states[state].name : "unknown";
}

apr_interval_time_t pay_refund_busy_for(const pay_refund_t *refund)
{
    if (refund->state != PAY_REFUND_PENDING) {
        return 0;
    }
    return pay_worker_left(&refund->worker, refund->wait_until_ms, refund->wait_until_at,
                           refund->read_at);
}

int pay_refund_in_flight(const pay_refund_t *refund)
{
    return pay_refund_busy_for(refund) > 0;
}

void pay_refund_members_to_json(pay_writer_t *w, const pay_refund_t *refund)
{
    char amount[PAY_MONEY_TEXT_MAX];
    const pay_money_t *money = &refund->money;
    int has_currency = money->currency[0] != '\0';

    /* No refund has an amount of 0: it stands for one that imported history left out. */
    pay_writer_string(w, "id", refund->id);
    pay_writer_string(w, "refundReference", refund->refund_reference);
    if (money->amount_minor && has_currency) {
        pay_writer_string(w, "amount",
                          pay_money_format(amount, money->amount_minor, money->currency));
    } else {
        pay_writer_null(w, "amount");
    }
    pay_writer_string(w, "currency", has_currency ? money->currency : NULL);
    pay_writer_string(w, "domain", pay_mode_name(refund->scope.mode));
    pay_writer_string(w, "channel", refund->channel);
    pay_writer_string(w, "merchantNote", refund->merchant_note);
    pay_writer_string(w, "customerNote", refund->customer_note);
    pay_writer_string(w, "status", pay_refund_state_name(refund->state));
    pay_writer_string(w, "transactionReference", refund->transaction_reference);
    pay_writer_time(w, "createdAt", refund->created_at);
    pay_writer_time(w, "updatedAt", refund->updated_at);
}

void pay_refund_to_json(pay_writer_t *w, const char *name, const pay_refund_t *refund)
{
    pay_writer_object_open(w, name);
    pay_refund_members_to_json(w, refund);
    pay_writer_object_close(w);
}

void pay_refund_answer_to_json(pay_writer_t *w, const pay_refund_t *refund)
{
    pay_refund_t then = *refund;

    /* As it was when decided: later reports of the acquirer are not part of the answer. */
    then.state = is_state(refund->decided_state) ? refund->decided_state : PAY_REFUND_PENDING;
    then.updated_at = then.state == PAY_REFUND_PENDING ? refund->created_at : refund->decided_at;
    pay_refund_to_json(w, NULL, &then);
}

const char *pay_note_fault(const char *note)
{
    if (!note) {
        return NULL;
    }
    if (!pay_text_is_visible(note, "")) {
        return "must be UTF-8 without control or invisible characters";
    }
    if (pay_text_length(note) > PAY_NOTE_MAX) {
        return "must be at most " APR_STRINGIFY(PAY_NOTE_MAX) " characters";
    }
    if (pay_card_number_within(note)) {
        return "must not hold a card number";
    }
    return NULL;
}

/* History was written under other rules: it may be longer and have several lines. */
static const char *history_note_fault(const char *note)
{
    if (!note) {
        return NULL;
    }
    if (strlen(note) > PAY_NOTE_BYTES_MAX) {
        return "must be at most " APR_STRINGIFY(PAY_NOTE_BYTES_MAX) " bytes";
    }
    if (!pay_text_is_plain(note, "\n\t")) {
        return "must be UTF-8 without control characters but newline and tab";
    }
    if (pay_card_number_within(note)) {
        return "must not hold a card number";
    }
    return NULL;
}

static const char *read_reference(pay_form_t *form, const char *name)
{
    const char *text = pay_form_string(form, name);
    apr_status_t rv;

    if (!text) {
        if (!pay_form_is_given(form, name)) {
            pay_form_fault(form, name, "is required");
        }
        return NULL;
    }
    rv = pay_reference_check(text);
    if (rv != APR_SUCCESS || pay_card_number_is(text)) {
        pay_form_fault(
            form, name,
            "must be 1 to " APR_STRINGIFY(PAY_REFUND_REFERENCE_MAX) " printable ASCII characters"
                                                                    " without blanks, / \\ ? #,"
                                                                    " and no card number");
        return NULL;
    }
    return text;
}

/* Reads free text of at most `len_max` bytes. */
static const char *read_label(pay_form_t *form, const char *name, apr_size_t len_max)
{
    const char *text = pay_form_string(form, name);

    if (text
        && (strlen(text) > len_max || !pay_text_is_plain(text, "") || pay_card_number_is(text))) {
        pay_form_fault(form, name,
                       apr_psprintf(form->p,
                                    "must be at most %" APR_SIZE_T_FMT
                                    " bytes without control characters, and no card number",
                                    len_max));
    }
    return text;
}

static const char *read_note(pay_form_t *form, const char *name)
{
    const char *text = pay_form_string(form, name);
    const char *reason = history_note_fault(text);

    if (reason) {
        pay_form_fault(form, name, reason);
    }
    return text;
}

static void read_money(pay_money_t *money, pay_form_t *form)
{
    const char *amount = pay_form_string(form, "amount");
    const char *currency = pay_form_string(form, "currency");
    char code[PAY_CURRENCY_LEN + 1] = "";
    apr_status_t rv;

    if (currency) {
        rv = pay_currency_normalize(code, currency);
        if (rv != APR_SUCCESS) {
            pay_form_fault(form, "currency", "must be an ISO 4217 currency code or null");
            return;
        }
    } else if (amount) {
        if (!pay_form_is_given(form, "currency")) {
            pay_form_fault(form, "currency", "is required if there is an amount");
        }
        return;
    }
    if (amount) {
        rv = pay_money_parse(money, amount, code);
        if (rv != APR_SUCCESS) {
            pay_form_fault(
                form, "amount",
                "must be null or a decimal number above 0, with no more decimals than its"
                " currency has");
        }
        return;
    }
    apr_cpystrn(money->currency, code, sizeof(money->currency));
}

/*
 * A record of history without a status is taken as processed: its amount counts as refunded, and no
 * acquirer is queried about it.
 */
static pay_refund_state_t read_state(pay_form_t *form)
{
    const char *text = pay_form_string(form, "status");
    int state;

    if (!text) {
        return PAY_REFUND_PROCESSED;
    }
    for (state = 0; state < PAY_REFUND_STATE_COUNT; state++) {
        if (!strcmp(text, states[state].name)) {
            return (pay_refund_state_t)state;
        }
    }
    pay_form_fault(form, "status", "must be pending, processed, failed or null");
    return PAY_REFUND_PROCESSED;
}

static void read_domain(pay_form_t *form, pay_mode_t mode)
{
    const char *text = pay_form_string(form, "domain");

    if (text && strcmp(text, pay_mode_name(mode)) != 0) {
        pay_form_fault(
            form, "domain",
            apr_psprintf(form->p, "must be \"%s\", the mode of the import", pay_mode_name(mode)));
    }
}

/*
 * Reads a time in whole milliseconds; 0 if it is not given. The epoch itself stands for "no time".
 */
static apr_time_t read_time(pay_form_t *form, const char *name)
{
    const char *text = pay_form_string(form, name);
    apr_time_t when;
    apr_status_t rv;

    if (!text) {
        return 0;
    }
    rv = pay_time_parse(&when, text);
    if (rv != APR_SUCCESS || when < MICROSECONDS_PER_MS) {
        pay_form_fault(form, name, "must be an RFC 3339 date-time after the start of 1970");
        return 0;
    }
    return when - when % MICROSECONDS_PER_MS;
}

const pay_problem_t *pay_refund_from_json(pay_refund_t **out, const pay_json_t *record,
                                          pay_mode_t mode, apr_pool_t *p)
{
    pay_refund_t *refund = apr_pcalloc(p, sizeof(*refund));
    pay_form_t form = {record, NULL, p, NULL};

    *out = NULL;
    refund->id = read_reference(&form, "id");
    refund->refund_reference = read_reference(&form, "refundReference");
    read_money(&refund->money, &form);
    read_domain(&form, mode);
    refund->scope.mode = mode;
    refund->channel = read_label(&form, "channel", CHANNEL_MAX);
    refund->merchant_note = read_note(&form, "merchantNote");
    refund->customer_note = read_note(&form, "customerNote");
    refund->state = read_state(&form);
    refund->transaction_reference = read_label(&form, "transactionReference", PAY_REFERENCE_MAX);
    if (refund->transaction_reference && !*refund->transaction_reference) {
        refund->transaction_reference = NULL;
    }
    refund->created_at = read_time(&form, "createdAt");
    if (!pay_form_is_given(&form, "createdAt")) {
        pay_form_fault(&form, "createdAt", "is required");
    }
    refund->updated_at = read_time(&form, "updatedAt");
    if (!refund->updated_at) {
        refund->updated_at = refund->created_at;
    }
    if (form.problem) {
        return form.problem;
    }
    *out = refund;
    return NULL;
}
