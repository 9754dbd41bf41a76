/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_FORM_H
#define PAY_MODEL_FORM_H

/*
 * A request's body, or a record of a file, while its members are read. Faults are gathered, so that
 * all of them are told at once. Pure; what is read lives in the form's pool.
 */

#include "base/text/money.h"

#include <apr_pools.h>

struct pay_json_t;
struct pay_problem_t;

typedef struct pay_form_t {
    const struct pay_json_t *body;
    struct pay_problem_t *problem; /* NULL: no fault was found so far */
    apr_pool_t *p;
    const char
        *within; /* "order/" where the body is that member of another one; NULL: it is whole */
} pay_form_t;

/* Notes that the member `name` is at fault; `reason` is static or in the form's pool. */
void pay_form_fault(pay_form_t *form, const char *name, const char *reason);

/* 1 when the member is there and not null. */
int pay_form_is_given(const pay_form_t *form, const char *name);

/* The string, or NULL when it is not given, or with its fault noted when it is no string. */
const char *pay_form_string(pay_form_t *form, const char *name);

/* 1, 0, or -1 when it is not given, or with its fault noted when it is neither true nor false. */
int pay_form_bool(pay_form_t *form, const char *name);

/* A required string: not empty, and no card number; NULL with its fault noted. */
const char *pay_form_required(pay_form_t *form, const char *name);

/* A required e-mail address in normal form (model/email.h), with no card number in it; NULL
 * with its fault noted. */
const char *pay_form_email(pay_form_t *form, const char *name);

/* A required reference of a transaction; NULL with its fault noted. */
const char *pay_form_reference(pay_form_t *form, const char *name);

/*
 * The literal of an amount, a number or its text in a string, that some currency can have; NULL
 * when it is not given, or with its fault noted.
 */
const char *pay_form_amount(pay_form_t *form, const char *name);

/*
 * The required member "amount" in the currency that "currency" names, or in `default_currency` if
 * that is absent or null. Returns the amount's literal, or NULL if it has none that some currency
 * can have; faults are noted, and *out is set if there was none.
 */
const char *pay_form_money(pay_money_t *out, pay_form_t *form, const char *default_currency);

/*
 * NULL and *out set, or a sentence that says why `text` is no amount in `currency` (upper case).
 * `currency` NULL: it is not known yet, so only what no currency allows is at fault.
 */
const char *pay_amount_fault(pay_money_t *out, const char *text, const char *currency,
                             apr_pool_t *p);

#endif
