/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_TRANSACTION_H
#define PAY_MODEL_TRANSACTION_H

/* A charge with its refunds, as verify shows it, and the requests about one. Pure. */

#include "model/charge.h"

#include <apr_tables.h>

struct pay_json_t;
struct pay_problem_t;

#define PAY_TRANSACTION_REFUNDS_MAX 100 /* shown references */

typedef struct pay_transaction_t {
    pay_charge_t *charge;
    apr_array_header_t *refunds; /* of const char *: refund references, oldest first */
    /* 0: there are more, beyond PAY_TRANSACTION_REFUNDS_MAX or in an import that is under way. */
    int refunds_complete;
} pay_transaction_t;

/* The request of POST transaction/verify. */
typedef struct pay_verify_request_t {
    const char *reference;
    const char *amount;           /* decimal literal in major units; NULL: not compared */
    const char *transaction_type; /* NULL if not given; not used */
} pay_verify_request_t;

/* Returns NULL and sets *out, or returns a problem that lists every field at fault. */
const struct pay_problem_t *pay_verify_request_from_json(pay_verify_request_t **out,
                                                         const struct pay_json_t *body,
                                                         apr_pool_t *p);
/* Reads the reference that POST void-transaction names. */
const struct pay_problem_t *
pay_void_reference_from_json(const char **out, const struct pay_json_t *body, apr_pool_t *p);

/*
 * Writes the transaction object with `refunds` and `refundsComplete`; for PAY_VIEW_PUBLIC `refunds`
 * is empty, like everything that identifies the payer.
 */
void pay_transaction_to_json(struct pay_writer_t *w, const char *name,
                             const pay_transaction_t *transaction, pay_view_t view);

/* Writes the whole answer of the verify operations; if `page_url` is not NULL, with the address
 * where the payer pays ("": no page) and the channel. */
void pay_verify_answer_to_json(struct pay_writer_t *w, const pay_transaction_t *transaction,
                               pay_view_t view, const char *page_url);
/* Writes the whole answer of void-transaction; a checkout that was never paid has no refunds. */
void pay_void_answer_to_json(struct pay_writer_t *w, const pay_charge_t *charge);

#endif
