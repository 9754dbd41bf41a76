/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAYERS_H
#define PAYERS_H

/*
 * The common part of the tests of erasing: two payers with records of every kind in each of the
 * till's scopes, and a look into all tables. A call that goes wrong fails the test.
 */

#include "outlet.h"

#include "base/shared/worker.h"
#include "store/erase/cascade.h"
#include "store/event/event.h"
#include "store/payment/charge.h"

#define ERASE_EMAIL "ada.lovelace@payer.example"
#define ERASE_OTHER "grace.hopper@payer.example"
#define ERASE_STEPS_MAX 1000
#define ERASE_TRACES 9

/* The data of a payer, each unlike anything else in the store. */
extern const char *const erase_traces[ERASE_TRACES];

/* Many undelivered events of the webhook on one charge, planted in one transaction. */
typedef struct erase_events_t {
    const pay_charge_t *charge;
    pay_endpoint_kind_t endpoint;
    int count;
} erase_events_t;

pay_charge_t *erase_proposal(int i, const char *reference, int is_ada);

pay_charge_t *erase_charge(int i, const char *reference, int is_ada, const pay_outcome_t *outcome,
                           const pay_idempotency_t *use);

pay_refund_t *erase_refund(int i, const char *reference, apr_int64_t amount_minor, int is_ada,
                           const pay_idempotency_t *use);

void erase_token(int i, const char *text, const char *email);

void erase_keep(int i, const char *key, const char *text);

/* `count` refunds of history on the charge, each of 1, numbered from `first` on. */
void erase_history(int i, const char *reference, int first, int count);

/*
 * Of each payer in each scope: paid and refunded, failed, pending, with all rows that lead there.
 */
void erase_fill(void);

/* Counts rows of the scope (all: -1), of any table, whose key or value contains the text. */
int erase_rows_with(int i, const char *text);

/* Counts rows of the scope in one table, whose keys begin with the scope. */
int erase_count(int i, pay_table_t table);

int erase_events_work(pay_rows_txn_t *txn, void *baton);

#endif
