/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TILL_H
#define TILL_H

/*
 * The common part of the tests of the store's money: a real store with three scopes that are used
 * in turn, a clock to set, counted log lines, and a way to plant rows behind the store's back. A
 * call that goes wrong fails the test.
 */

#include "unit.h"

#include "base/log.h"
#include "base/text/time.h"
#include "store/keys.h"
#include "store/rows.h"

#include <string.h>

#define TILL_SCOPES 3
#define TILL_NOW APR_TIME_C(1800000000000000) /* 2027-01-15T08:00:00Z, where the clock starts */
#define TILL_LINE_MAX 512

typedef struct till_t {
    const char *url;
    pay_store_t *store;
    pay_scope_t scopes[TILL_SCOPES]; /* accounts and modes interleave */
    const char *key_ids[TILL_SCOPES];
    int names;        /* refund ids used so far */
    apr_pool_t *pool; /* of the store */
} till_t;

extern till_t *till;
extern apr_time_t till_clock; /* the result of pay_time_now */
/* By how much the clock was set while no time passed; the boot of the machine. */
extern apr_interval_time_t till_steps;
extern apr_int64_t till_boot;
extern int till_lines[PAY_LOG_DEBUG + 1];
extern char till_line[TILL_LINE_MAX];  /* the last log line */
extern char till_fault[TILL_LINE_MAX]; /* see till_faults */

/* A handle on the store at `url`, which is made if it is missing. */
pay_store_t *till_store(const char *url, apr_pool_t *p);

/* How many lines of the log had that number, "PAY00151", since the test began. */
int till_logged(const char *number);

void till_reopen(void);

/* No environment may be open across a fork. */
void till_close(void);

/*
 * Runs race(racer) for each of `count` racers of `size` bytes in a process of its own, in which
 * till->store is opened again. All begin together; each comes back as its process left it.
 */
void till_race(void *racers, size_t size, int count, void *(*race)(void *racer));

/* The checked fixture of every such test. */
void till_set_up(void);

void till_tear_down(void);

/* A charge to open in scope `i`; its digest is of reference and amount. */
pay_charge_t *till_proposal(int i, const char *reference, apr_int64_t amount_minor);

pay_charge_t *till_open(int i, const char *reference, apr_int64_t amount_minor);

/* The same as a checkout, which has no token. */
pay_charge_t *till_checkout(int i, const char *reference, apr_int64_t amount_minor);

/* A secret key's use of an Idempotency-Key; its digest is of `request`. */
pay_idempotency_t *till_use(pay_operation_t operation, const char *key, const char *request);
/* Its key in the table of idempotency records. */
void till_idempotency_key(pay_store_key_t *out, int i, const pay_idempotency_t *use);
/* NULL if there is no idempotency record. */
pay_idempotency_record_t *till_idempotency(int i, const pay_idempotency_t *use);

const pay_outcome_t *till_outcome(pay_outcome_kind_t kind);

/* Returns whether it changed. */
int till_resolve(pay_charge_t **out, int i, apr_uint64_t seq, pay_outcome_kind_t kind);

/* A successful charge. */
pay_charge_t *till_charge(int i, const char *reference, apr_int64_t amount_minor);

pay_charge_t *till_find(int i, const char *reference);

pay_refund_t *till_refund_proposal(int i, const char *reference, apr_int64_t amount_minor);

/* Opens a refund without the R5 rule and compares the verdict with `want`; NULL unless opened. */
pay_refund_t *till_refund(int i, const char *reference, apr_int64_t amount_minor,
                          pay_refund_verdict_t want);

/* Returns whether it changed. */
int till_refund_resolve(pay_refund_t **out, int i, const char *refund_reference,
                        pay_outcome_kind_t kind);

/* A record of history, as an import reads it. */
pay_refund_t *till_history(int i, int number, apr_time_t created_at, pay_refund_state_t state,
                           const char *reference, apr_int64_t amount_minor);

/* Work on the tables themselves, in a write transaction. */
void till_raw(pay_rows_work_t work, void *baton);

/* Plants a row behind the store's back; `bytes` NULL removes it. */
void till_plant(pay_table_t table, const pay_store_key_t *key, const void *bytes, size_t len);

/* Cuts `row` to its first `fields` fields, as an earlier version wrote it; `row` is then a copy.
 * The removed fields are numbers; a row may have fewer. */
void till_cut(pay_bytes_t *row, int fields);

/* A digest of everything in the store: the same if nothing was written. */
const char *till_snapshot(void);

/*
 * The number of faults that check finds; till_fault is then the one that contains `wanted`, if any.
 */
int till_faults(const char *wanted);

void till_check_clean(void);

#endif
