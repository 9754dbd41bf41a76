/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_AUDIT_H
#define PAY_MODEL_AUDIT_H

/*
 * A change that a person made through the dashboard or paymentsctl: one entry for each, which is
 * never deleted. It contains no secret, and of people only the names of staff. Pure.
 */

#include <apr_pools.h>
#include <apr_time.h>

struct pay_writer_t;

#define PAY_AUDIT_TEXT_MAX 512 /* bytes of each text */

/*
 * How many entries an account may have at most for one more to be appended (PaymentsAccountQuota).
 */
typedef enum pay_audit_bound_t {
    PAY_AUDIT_UNBOUNDED, /* any number: paymentsctl, and changes that end something or decide about
                          * money */
    PAY_AUDIT_OF_CHANGE, /* fewer than the quota */
    PAY_AUDIT_OF_NOTICE, /* fewer than half of it: exports, refusals and limits, which viewers and
                          * anonymous visitors cause, leave room for the owner's changes */
} pay_audit_bound_t;

typedef struct pay_audit_t {
    apr_uint32_t account;    /* number; 0: the whole store, which has no quota */
    apr_uint64_t seq;        /* of the account, from 1, in the order of commits; set by the store */
    apr_time_t at;           /* set by the store */
    const char *who;         /* the site's user, or "root (uid 0)" */
    const char *from;        /* "dashboard pay.example.com 192.0.2.7", "paymentsctl" */
    const char *what;        /* the words of paymentsctl's command: "key create" */
    const char *subject;     /* an id or a name: "key_...", a reference, a user */
    const char *detail;      /* "test -> live" */
    pay_audit_bound_t bound; /* not stored */
} pay_audit_t;

/* Returns at most PAY_AUDIT_TEXT_MAX bytes as one line of plain text; "" for NULL. */
const char *pay_audit_text(const char *text, apr_pool_t *p);

/*
 * Writes {"account","at","who","from","what","subject","detail"}; `account` is its name, NULL:
 * null.
 */
void pay_audit_to_json(struct pay_writer_t *w, const char *name, const pay_audit_t *entry,
                       const char *account);

#endif
