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
#define PAY_NOTE_BYTES_MAX 2000 /* bytes of one, in history too */
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
    apr_time_t created_at; /* whole milliseconds, given by the store; imported: as given */
    apr_time_t updated_at;
    /* Frozen when it was decided: replays render it for ever. PENDING and 0 until then. */
    pay_refund_state_t decided_state;
    apr_time_t decided_at;

    /* Not part of the record. */
    apr_uint64_t seq;           /* creation sequence within the scope; never changes */
    apr_uint64_t charge_seq;    /* 0: the charge is not known here (imported) */
    apr_uint32_t import_number; /* 0: not imported */
    const char *acquirer;       /* name of the instance it was sent through */
    const char *key_id;         /* "" when made by paymentsctl */
    pay_worker_t worker;        /* as in pay_charge_t */
    apr_int64_t send_before_ms;
    apr_int64_t wait_until_ms;
    apr_time_t wait_until_at;
    apr_time_t read_at;
    apr_time_t due_at;
    apr_uint32_t attempts;
    int waiting;     /* written by the tool, to be sent by the server; 0: it may have been sent */
    const char *tag; /* by which the acquirer's books show it; never NULL, as the next */
    const char *acquirer_reference; /* what the acquirer calls it; "": not known */
    apr_time_t absent_since;        /* as the rest in pay_charge_t */
    pay_moment_t absent_from;
    pay_held_t held;
    const char *resolution; /* never NULL, as the next */
    /* What the acquirer calls the charge, as long as that is not known here; "": it is, or the
     * record names none. */
    const char *acquirer_charge;
    /* Of one whose notes were erased: what a repetition of its request is known by until
     * PAY_REFUND_REPEAT_MAX is over; "": its amount and notes tell. */
    const char *asked_digest;
    pay_moment_t opened;
} pay_refund_t;

/* Makes `refund` a new one: it is pending and every number is 0; strings that are never NULL are
 * "", the others NULL. */
void pay_refund_init(pay_refund_t *refund);

/* What is asked for when a refund is made. */
typedef struct pay_refund_request_t {
    const char *reference;     /* of the charge */
    const char *amount;        /* decimal literal in major units; NULL: all that is left */
    const char *customer_note; /* NULL when not given */
    const char *merchant_note;
    const char *channel; /* "API", "dashboard", "cli" */
} pay_refund_request_t;

/*
 * Reads the body of POST refund, or with `partial` of POST partial-refund, whose amount is
 * required. NULL and *out set, or a problem that lists every field at fault. Judges what can be
 * judged without the charge: its currency's decimals come later.
 */
const struct pay_problem_t *pay_refund_request_from_json(pay_refund_request_t **out,
                                                         const struct pay_json_t *body, int partial,
                                                         apr_pool_t *p);

int pay_refund_may_become(pay_refund_state_t from, pay_refund_state_t to);
const char *pay_refund_state_name(pay_refund_state_t state);

/* The record's 12 members, into an object that is open. */
void pay_refund_members_to_json(struct pay_writer_t *w, const pay_refund_t *refund);

/* The record: one object of exactly these, compact. */
void pay_refund_to_json(struct pay_writer_t *w, const char *name, const pay_refund_t *refund);

/* One row of a file of refunds, the record's members; one that is null is an empty cell. */
extern const char *const pay_refund_csv_titles[];
void pay_refund_to_csv(struct pay_csv_t *csv, const pay_refund_t *refund);

/*
 * Reads a record as pay_refund_to_json writes it, or as an export of the deployed API gives it
 * (members may be missing or null but for id, refundReference, createdAt; others are ignored).
 * No status reads as processed, no updatedAt as createdAt; an amount needs its currency.
 * The domain must be `mode`'s where given. Sets only the record's part of `*out`. NULL, or a
 * problem that lists every field at fault.
 */
const struct pay_problem_t *pay_refund_from_json(pay_refund_t **out,
                                                 const struct pay_json_t *record, pay_mode_t mode,
                                                 apr_pool_t *p);

/* As pay_charge_busy_for, of who opened or claimed it. */
apr_interval_time_t pay_refund_busy_for(const pay_refund_t *refund);
/* 1 while that is so (409 D2). */
int pay_refund_in_flight(const pay_refund_t *refund);

/* The record as it was when it was decided: what a replay is answered. */
void pay_refund_answer_to_json(struct pay_writer_t *w, const pay_refund_t *refund);

/*
 * A note of a refund that is made here (UTF-8): at most PAY_NOTE_MAX characters, no control
 * characters, no card number; else a sentence that says so, NULL when it is well, as none (NULL)
 * is. History may hold longer notes with newlines and tabs, up to PAY_NOTE_BYTES_MAX.
 */
const char *pay_note_fault(const char *note);

/*
 * The range of a list request from its two path segments (docs/api.md, "Dates"). `days_max` 0: any
 * span. NULL, or a problem that names /startDate and /endDate as they are at fault.
 */
const struct pay_problem_t *pay_refund_range_parse(pay_time_range_t *out, const char *start,
                                                   const char *end,
                                                   const struct pay_timezone_t *zone, int days_max,
                                                   apr_pool_t *p);

#endif
