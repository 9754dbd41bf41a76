/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_CHARGE_REQUEST_H
#define PAY_MODEL_CHARGE_REQUEST_H

/* The request that makes a charge (docs/api.md, "Charges"). Pure. */

#include "model/charge.h"

struct pay_json_t;
struct pay_problem_t;

/* What a client asked for, validated and normalised. Strings live in the request's pool. */
typedef struct pay_charge_request_t {
    const char *reference;
    const char *token;
    const char *email;      /* lower case */
    const char *first_name; /* "" when not given */
    const char *last_name;
    pay_money_t money;
    const char *amount_text;                  /* the literal that `money` was read from */
    int currency_defaulted;                   /* none was given: the account's, which may change */
    const struct pay_problem_t *amount_fault; /* in that currency; counts for a new reference */
    unsigned char
        digest[PAY_SHA256_LEN]; /* of token, amount, currency, email: "the same request" */
} pay_charge_request_t;

/*
 * Reads and validates the body of a charge; `default_currency` fills in for an absent one. NULL
 * and `*out` set, or a problem that lists every field at fault. Judges form only: which tokens,
 * currencies and amounts an account allows comes after the reference was looked up, and so does
 * an amount with too many decimals for the default currency alone (amount_fault).
 */
const struct pay_problem_t *pay_charge_request_from_json(pay_charge_request_t **out,
                                                         const struct pay_json_t *body,
                                                         const char *default_currency,
                                                         apr_pool_t *p);

/* The request had the default currency been `currency` (upper case); fails as pay_money_parse. */
apr_status_t pay_charge_request_rebase(pay_charge_request_t **out,
                                       const pay_charge_request_t *request, const char *currency,
                                       apr_pool_t *p);

#endif
