/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_REFUND_H
#define PAY_MODEL_REFUND_H

/* A refund: its record of twelve members, states and date ranges (docs/api.md, "Refunds"). Pure. */

#include "base/shared/worker.h"
#include "base/text/money.h"
#include "base/text/time.h"
#include "model/account.h"
#include "model/outcome.h"

#include <apr_pools.h>

struct pay_csv_t;
struct pay_json_t;
struct pay_problem_t;
struct pay_timezone_t;
struct pay_writer_t;

#define PAY_NOTE_MAX 500        /* characters of a note */
#define PAY_NOTE_BYTES_MAX 2000 /* bytes of a note, also in imported history */
#define PAY_REFUND_REFERENCE_MAX 100
#define PAY_REFUND_TEXT_MAX (32 * 1024) /* bytes of the record's JSON text */

/* The longest window in which a repetition may be refused (R5). */
#define PAY_REFUND_REPEAT_MAX apr_time_from_sec(24 * 3600)

typedef enum pay_refund_state_t {
    PAY_REFUND_PENDING,
    PAY_REFUND_PROCESSED,
    PAY_REFUND_FAILED,
    PAY_REFUND_STATE_COUNT
} pay_refund_state_t;

typedef struct pay_refund_t {
    /* The record: exactly these, in the order of pay_refund_to_json. NULL is null. */
    const char *id;
    const char *refund_reference;
    pay_money_t money; /* imported nulls: amount_minor 0 for the amount, "" for the currency */
    pay_scope_t scope; /* domain */
    const char *channel;
    const char *merchant_note;
    const char *customer_note;
    pay_refund_state_t state;
    const char *transaction_reference; /* NULL in imported history that names none */
    apr_time_t created_at; /* whole milliseconds, set by the store; imported: as received */
    apr_time_t updated_at;
    /* Frozen when it was decided: replays always render it. PENDING and 0 until then. */
    pay_refund_state_t decided_state;
    apr_time_t decided_at;

    /* Not part of the record. */
    apr_uint64_t seq;           /* creation sequence within the scope; never changes */
    apr_uint64_t charge_seq;    /* 0: the charge is not known here (imported) */
    apr_uint32_t import_number; /* 0: not imported */
    const char *acquirer;       /* name of the instance that it was sent through */
    const char *key_id;         /* "" if made by paymentsctl */
    pay_worker_t worker;        /* as in pay_charge_t */
    apr_int64_t send_before_ms;
    apr_int64_t wait_until_ms;
    apr_time_t wait_until_at;
    apr_time_t read_at;
    apr_time_t due_at;
    apr_uint32_t attempts;
    int waiting;     /* written by the tool, to be sent by the server; 0: it may have been sent */
    const char *tag; /* its mark in the acquirer's books; never NULL, nor is acquirer_reference */
    const char *acquirer_reference; /* the acquirer's name for it; "": not known */
    apr_time_t absent_since;        /* this and the following as in pay_charge_t */
    pay_moment_t absent_from;
    pay_held_t held;
    const char *resolution; /* never NULL, nor are the strings that follow */
    /* The acquirer's name for the charge, as long as the charge is not known here; "": it is known,
     * or the record names none. */
    const char *acquirer_charge;
    /* Of a refund whose notes were erased: identifies a repetition of its request until
     * PAY_REFUND_REPEAT_MAX is over; "": its amount and notes do. */
    const char *asked_digest;
    pay_moment_t opened;
} pay_refund_t;

/* Makes `refund` a new one: it is pending and every number is 0; strings that are never NULL are
 * "", the others NULL. */
void pay_refund_init(pay_refund_t *refund);

/* The request for a refund. */
typedef struct pay_refund_request_t {
    const char *reference;     /* of the charge */
    const char *amount;        /* decimal literal in major units; NULL: the whole remainder */
    const char *customer_note; /* NULL if not given */
    const char *merchant_note;
    const char *channel; /* "API", "dashboard", "cli" */
} pay_refund_request_t;

/*
 * Reads the body of POST refund, or with `partial` of POST partial-refund, whose amount is
 * required. Returns NULL and sets *out, or returns a problem that lists every field at fault.
 * Judges only what does not depend on the charge: the decimals of its currency are checked later.
 */
const struct pay_problem_t *pay_refund_request_from_json(pay_refund_request_t **out,
                                                         const struct pay_json_t *body, int partial,
                                                         apr_pool_t *p);

int pay_refund_may_become(pay_refund_state_t from, pay_refund_state_t to);
const char *pay_refund_state_name(pay_refund_state_t state);

/* Writes the record's 12 members into an open object. */
void pay_refund_members_to_json(struct pay_writer_t *w, const pay_refund_t *refund);

/* Writes the record: one object of exactly these members, compact. */
void pay_refund_to_json(struct pay_writer_t *w, const char *name, const pay_refund_t *refund);

/* One row of a file of refunds, with the record's members; null becomes an empty cell. */
extern const char *const pay_refund_csv_titles[];
void pay_refund_to_csv(struct pay_csv_t *csv, const pay_refund_t *refund);

/*
 * Reads a record in the form of pay_refund_to_json, or of an export of the deployed API (members
 * may be missing or null except for id, refundReference, createdAt; others are ignored). A missing
 * status reads as processed, a missing updatedAt as createdAt; an amount needs its currency. The
 * domain must be `mode`'s if given. Sets only the record's part of `*out`. Returns NULL, or a
 * problem that lists every field at fault.
 */
const struct pay_problem_t *pay_refund_from_json(pay_refund_t **out,
                                                 const struct pay_json_t *record, pay_mode_t mode,
                                                 apr_pool_t *p);

/* Like pay_charge_busy_for, for the process that opened or claimed it. */
apr_interval_time_t pay_refund_busy_for(const pay_refund_t *refund);
/* Returns 1 while that process is at work (409 D2). */
int pay_refund_in_flight(const pay_refund_t *refund);

/* Writes the record as it was when it was decided: the answer for a replay. */
void pay_refund_answer_to_json(struct pay_writer_t *w, const pay_refund_t *refund);

/*
 * Judges a note of a refund that is made here (UTF-8): at most PAY_NOTE_MAX characters, no control
 * characters, no card number. Returns NULL if it is valid or absent (NULL), else a sentence that
 * says what is wrong. History may contain longer notes with newlines and tabs, up to
 * PAY_NOTE_BYTES_MAX.
 */
const char *pay_note_fault(const char *note);

/*
 * Reads the range of a list request from its two path segments (docs/api.md, "Dates"). `days_max`
 * 0: any span. Returns NULL, or a problem that names /startDate, /endDate or both as at fault.
 */
const struct pay_problem_t *pay_refund_range_parse(pay_time_range_t *out, const char *start,
                                                   const char *end,
                                                   const struct pay_timezone_t *zone, int days_max,
                                                   apr_pool_t *p);

#endif
