/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_CHARGE_REQUEST_H
#define PAY_MODEL_CHARGE_REQUEST_H

/* The request that makes a charge (docs/api.md, "Charges"). Pure. */

#include "model/charge.h"

struct pay_json_t;
struct pay_problem_t;

/* A client's request, validated and normalised. Strings live in the request's pool. */
typedef struct pay_charge_request_t {
    const char *reference;
    const char *token;
    const char *email;      /* lower case */
    const char *first_name; /* "" if not given */
    const char *last_name;
    pay_money_t money;
    const char *amount_text;                  /* the literal that `money` was read from */
    int currency_defaulted;                   /* not given: it is the account's, which may change */
    const struct pay_problem_t *amount_fault; /* in that currency; counts for a new reference */
    unsigned char digest[PAY_SHA256_LEN]; /* of token, amount, currency, email: identifies "the same
                                           * request" */
} pay_charge_request_t;

/*
 * Reads and validates the body of a charge; `default_currency` replaces an absent one. Returns NULL
 * and sets `*out`, or returns a problem that lists every field at fault. Judges form only: the
 * tokens, currencies and amounts that an account allows are judged after the reference was looked
 * up, and so is an amount with too many decimals for the default currency alone (amount_fault).
 */
const struct pay_problem_t *pay_charge_request_from_json(pay_charge_request_t **out,
                                                         const struct pay_json_t *body,
                                                         const char *default_currency,
                                                         apr_pool_t *p);

/*
 * Makes the request as it would be if the default currency had been `currency` (upper case); fails
 * like pay_money_parse.
 */
apr_status_t pay_charge_request_rebase(pay_charge_request_t **out,
                                       const pay_charge_request_t *request, const char *currency,
                                       apr_pool_t *p);

#endif
