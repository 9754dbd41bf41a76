/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_FORM_H
#define PAY_MODEL_FORM_H

/*
 * A request's body, or a record of a file, while its members are read. Faults are collected, so
 * that the client gets all of them at once. Pure; values that are read live in the form's pool.
 */

#include "base/text/money.h"

#include <apr_pools.h>

struct pay_json_t;
struct pay_problem_t;

typedef struct pay_form_t {
    const struct pay_json_t *body;
    struct pay_problem_t *problem; /* NULL: no fault so far */
    apr_pool_t *p;
    const char *within; /* "order/" if the body is this member of another one; NULL: it is the whole
                         * body */
} pay_form_t;

/* Notes that the member `name` is at fault; `reason` is static or in the form's pool. */
void pay_form_fault(pay_form_t *form, const char *name, const char *reason);

/* Returns 1 if the member is present and not null. */
int pay_form_is_given(const pay_form_t *form, const char *name);

/*
 * Returns the string; NULL if it is not given, or if it is not a string, which is noted as a fault.
 */
const char *pay_form_string(pay_form_t *form, const char *name);

/*
 * Returns 1 or 0; -1 if it is not given, or if it is neither true nor false, which is noted as a
 * fault.
 */
int pay_form_bool(pay_form_t *form, const char *name);

/*
 * Returns a required string that is not empty and contains no card number; else notes the fault and
 * returns NULL.
 */
const char *pay_form_required(pay_form_t *form, const char *name);

/* Returns a required e-mail address in normal form (model/email.h) without a card number; else
 * notes the fault and returns NULL. */
const char *pay_form_email(pay_form_t *form, const char *name);

/* Returns a required reference of a transaction; else notes the fault and returns NULL. */
const char *pay_form_reference(pay_form_t *form, const char *name);

/*
 * Returns the literal of an amount, a number or a string with one, that is valid in some currency;
 * NULL if it is not given, or if it is at fault, which is noted.
 */
const char *pay_form_amount(pay_form_t *form, const char *name);

/*
 * Reads the required member "amount" in the currency that "currency" names, or in
 * `default_currency` if that is absent or null. Returns the amount's literal, or NULL if it is not
 * valid in any currency; faults are noted, and *out is set if nothing was at fault.
 */
const char *pay_form_money(pay_money_t *out, pay_form_t *form, const char *default_currency);

/*
 * Returns NULL and sets *out, or returns a sentence that says why `text` is not an amount in
 * `currency` (upper case). `currency` NULL: it is not known yet, so only faults in every currency
 * count.
 */
const char *pay_amount_fault(pay_money_t *out, const char *text, const char *currency,
                             apr_pool_t *p);

#endif
