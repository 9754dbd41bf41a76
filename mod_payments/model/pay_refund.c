/* SPDX-License-Identifier: Apache-2.0 */
#include "model/pay_refund.h"

#include "base/pay_json.h"
#include "base/pay_problem.h"
#include "base/pay_time.h"
#include "base/pay_writer.h"
#include "model/pay_card.h"
#include "model/pay_charge.h"
#include "model/pay_text.h"

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
    [PAY_REFUND_PROCESSED] = {"processed", TO(PAY_REFUND_FAILED)}, /* the acquirer took it back */
    [PAY_REFUND_FAILED] = {"failed", 0},
};
_Static_assert(sizeof(states) / sizeof(states[0]) == PAY_REFUND_STATE_COUNT, "one row a state");

/* One record being read: faults are gathered, so that all of them are told at once. */
typedef struct reader_t {
    const pay_json_t *record;
    pay_problem_t *problem;
    apr_pool_t *p;
} reader_t;

/* States come from stored rows too, so they are not trusted to be in the table. */
static int is_state(pay_refund_state_t state)
{
    return (unsigned int)state < PAY_REFUND_STATE_COUNT;
}

int pay_refund_may_become(pay_refund_state_t from, pay_refund_state_t to)
{
    return is_state(from) && is_state(to) && (states[from].next & TO(to)) != 0;
}

const char *pay_refund_state_name(pay_refund_state_t state)
{
    return is_state(state) ? states[state].name : "unknown";
}

int pay_refund_in_flight(const pay_refund_t *refund)
{
    return refund->state == PAY_REFUND_PENDING && refund->worker.pid != 0
           && pay_time_boot_ms() < refund->wait_until_ms && pay_worker_alive(&refund->worker);
}

void pay_refund_to_json(pay_writer_t *w, const char *name, const pay_refund_t *refund)
{
    char amount[PAY_MONEY_TEXT_MAX];
    const pay_money_t *money = &refund->money;
    int has_currency = money->currency[0] != '\0';

    /* No refund is of nothing: an amount of 0 is one that imported history left out. */
    pay_writer_object_open(w, name);
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
    pay_writer_object_close(w);
}

void pay_refund_answer_to_json(pay_writer_t *w, const pay_refund_t *refund)
{
    pay_refund_t then = *refund;

    /* As it was when decided: what the acquirer said later is not part of the answer. */
    then.state = is_state(refund->decided_state) ? refund->decided_state : PAY_REFUND_PENDING;
    then.updated_at = then.state == PAY_REFUND_PENDING ? refund->created_at : refund->decided_at;
    pay_refund_to_json(w, NULL, &then);
}

const char *pay_note_fault(const char *note)
{
    if (!note) {
        return NULL;
    }
    if (!pay_text_is_plain(note, "")) {
        return "must be UTF-8 without control characters";
    }
    if (pay_text_length(note) > PAY_NOTE_MAX) {
        return "must be at most " APR_STRINGIFY(PAY_NOTE_MAX) " characters";
    }
    if (pay_card_number_within(note)) {
        return "must not hold a card number";
    }
    return NULL;
}

/* History was written under other rules: it may be longer and have lines. */
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

static void fault(reader_t *reader, const char *name, const char *reason)
{
    pay_problem_add(&reader->problem, apr_pstrcat(reader->p, "/", name, NULL), reason, reader->p);
}

static int is_given(const reader_t *reader, const char *name)
{
    pay_json_type_t type = pay_json_type(reader->record, name);

    return type != PAY_JSON_ABSENT && type != PAY_JSON_NULL;
}

/* The member, or NULL when it is not given, or with its fault noted when it is no string. */
static const char *read_string(reader_t *reader, const char *name)
{
    const char *text = pay_json_string(reader->record, name);

    if (!text && is_given(reader, name)) {
        fault(reader, name, "must be a string or null");
    }
    return text ? apr_pstrdup(reader->p, text) : NULL;
}

static const char *read_reference(reader_t *reader, const char *name)
{
    const char *text = read_string(reader, name);
    apr_status_t rv;

    if (!text) {
        if (!is_given(reader, name)) {
            fault(reader, name, "is required");
        }
        return NULL;
    }
    rv = pay_reference_check(text);
    if (rv != APR_SUCCESS || pay_card_number_is(text)) {
        fault(reader, name,
              "must be 1 to " APR_STRINGIFY(PAY_REFUND_REFERENCE_MAX) " printable ASCII characters"
                                                                      " without blanks, / \\ ? #,"
                                                                      " and no card number");
        return NULL;
    }
    return text;
}

/* Free text of at most `len_max` bytes that stands for itself. */
static const char *read_label(reader_t *reader, const char *name, apr_size_t len_max)
{
    const char *text = read_string(reader, name);

    if (text
        && (strlen(text) > len_max || !pay_text_is_plain(text, "") || pay_card_number_is(text))) {
        fault(reader, name,
              apr_psprintf(reader->p,
                           "must be at most %" APR_SIZE_T_FMT
                           " bytes without control characters, and no card number",
                           len_max));
    }
    return text;
}

static const char *read_note(reader_t *reader, const char *name)
{
    const char *text = read_string(reader, name);
    const char *reason = history_note_fault(text);

    if (reason) {
        fault(reader, name, reason);
    }
    return text;
}

static void read_money(pay_money_t *money, reader_t *reader)
{
    const char *amount = read_string(reader, "amount");
    const char *currency = read_string(reader, "currency");
    char code[PAY_CURRENCY_LEN + 1] = "";
    apr_status_t rv;

    if (currency) {
        rv = pay_currency_normalize(code, currency);
        if (rv != APR_SUCCESS) {
            fault(reader, "currency", "must be an ISO 4217 currency code or null");
            return;
        }
    } else if (amount) {
        if (!is_given(reader, "currency")) {
            fault(reader, "currency", "is required where there is an amount");
        }
        return;
    }
    if (amount) {
        rv = pay_money_parse(money, amount, code);
        if (rv != APR_SUCCESS) {
            fault(reader, "amount",
                  "must be null or a decimal number above 0, with no more decimals than its"
                  " currency has");
        }
        return;
    }
    apr_cpystrn(money->currency, code, sizeof(money->currency));
}

/*
 * A record of history that tells no status is taken as processed: its money counts as given back,
 * and nobody asks an acquirer about it.
 */
static pay_refund_state_t read_state(reader_t *reader)
{
    const char *text = read_string(reader, "status");
    int state;

    if (!text) {
        return PAY_REFUND_PROCESSED;
    }
    for (state = 0; state < PAY_REFUND_STATE_COUNT; state++) {
        if (!strcmp(text, states[state].name)) {
            return (pay_refund_state_t)state;
        }
    }
    fault(reader, "status", "must be pending, processed, failed or null");
    return PAY_REFUND_PROCESSED;
}

static void read_domain(reader_t *reader, pay_mode_t mode)
{
    const char *text = read_string(reader, "domain");

    if (text && strcmp(text, pay_mode_name(mode)) != 0) {
        fault(reader, "domain",
              apr_psprintf(reader->p, "must be \"%s\", the mode that is imported into",
                           pay_mode_name(mode)));
    }
}

/* In whole milliseconds; 0 when it is not given. The epoch itself stands for "no time". */
static apr_time_t read_time(reader_t *reader, const char *name)
{
    const char *text = read_string(reader, name);
    apr_time_t when;
    apr_status_t rv;

    if (!text) {
        return 0;
    }
    rv = pay_time_parse(&when, text);
    if (rv != APR_SUCCESS || when < MICROSECONDS_PER_MS) {
        fault(reader, name, "must be an RFC 3339 date-time after 1970 began");
        return 0;
    }
    return when - when % MICROSECONDS_PER_MS;
}

const pay_problem_t *pay_refund_from_json(pay_refund_t **out, const pay_json_t *record,
                                          pay_mode_t mode, apr_pool_t *p)
{
    pay_refund_t *refund = apr_pcalloc(p, sizeof(*refund));
    reader_t reader = {record, NULL, p};

    *out = NULL;
    refund->id = read_reference(&reader, "id");
    refund->refund_reference = read_reference(&reader, "refundReference");
    read_money(&refund->money, &reader);
    read_domain(&reader, mode);
    refund->scope.mode = mode;
    refund->channel = read_label(&reader, "channel", CHANNEL_MAX);
    refund->merchant_note = read_note(&reader, "merchantNote");
    refund->customer_note = read_note(&reader, "customerNote");
    refund->state = read_state(&reader);
    refund->transaction_reference = read_label(&reader, "transactionReference", PAY_REFERENCE_MAX);
    if (refund->transaction_reference && !*refund->transaction_reference) {
        refund->transaction_reference = NULL;
    }
    refund->created_at = read_time(&reader, "createdAt");
    if (!is_given(&reader, "createdAt")) {
        fault(&reader, "createdAt", "is required");
    }
    refund->updated_at = read_time(&reader, "updatedAt");
    if (!refund->updated_at) {
        refund->updated_at = refund->created_at;
    }
    if (reader.problem) {
        return reader.problem;
    }
    *out = refund;
    return NULL;
}
