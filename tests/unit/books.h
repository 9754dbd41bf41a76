/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOOKS_H
#define BOOKS_H

/*
 * An acquirer that lists the refunds in its books, and charges and refunds of a live account that
 * went through it. `till` is set up.
 */

#include "till.h"

#include "service/history/sync.h"

#define BOOKS_RECORDS_MAX 6000
#define BOOKS_CALLS_MAX 64
#define BOOKS_INTERVAL apr_time_from_sec(600) /* of rounds */
#define BOOKS_SCOPE 1                         /* of till->scopes: the live one */

typedef struct books_t {
    payments_record_t *records;
    int count;
    apr_status_t status; /* of the next `failures` lists, or of all (-1) */
    int failures;
    int calls;
    apr_time_t from[BOOKS_CALLS_MAX], to[BOOKS_CALLS_MAX];
    apr_interval_time_t ahead; /* of its clock, relative to ours */
    void (*meanwhile)(void);   /* called after the records were passed */
} books_t;

books_t *books_make(void);
pay_acquirer_t *books_acquirer(books_t *books);

/* A refund of 5.00 NGN made elsewhere, an hour ago: "id_<name>", "up_<name>". */
payments_record_t *books_add(books_t *books, const char *name, const char *status);

/* The acquirer's name for our charge with this reference. */
const char *books_reference(const char *reference);

/* A live charge of ours that the acquirer has; pending until it is resolved. */
pay_charge_t *books_open(const char *reference, apr_int64_t amount_minor);
/* The same, successful. */
pay_charge_t *books_charge(const char *reference, apr_int64_t amount_minor);

/* A refund of ours under the tag in the acquirer's books; pending. */
pay_refund_t *books_refund(const char *reference, apr_int64_t amount_minor, const char *tag);
pay_refund_t *books_find(const char *refund_reference);
/* How many of the scope's refunds a list shows. */
int books_listed(void);

/* A host of the account, whose only live acquirer this is. */
pay_service_t *books_service(const char *account, const pay_acquirer_t *acquirer);

/* One step now, and as many as there is work for; both return the number of steps. */
int books_step(pay_history_sync_t *sync);
int books_steps(pay_history_sync_t *sync);

/* The time before a round has just been examined. */
void books_far_done(const pay_scope_t *scope);

pay_history_t *books_row(const pay_scope_t *scope);
void books_ask(const pay_scope_t *scope, apr_time_t from, apr_time_t to);
/* The window of a call. */
void books_check_call(const books_t *books, int call, apr_time_t from, apr_time_t to);

#endif
