/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_CARD_ENTRY_H
#define PAY_MODEL_CARD_ENTRY_H

/*
 * The input of a payer in Test Mode's card form. Only the cards of Test Mode are accepted; no part
 * of any other input is kept, returned or repeated in a fault. Pure.
 */

#include "model/card.h"

#include <apr_pools.h>
#include <apr_time.h>

struct pay_problem_t;

typedef struct pay_card_entry_t {
    const char *number; /* blanks and dashes allowed */
    const char *expiry; /* "MM/YY", "MM/YYYY", "MM YY", "MMYY" */
    const char *csc;    /* 3 or 4 digits */
} pay_card_entry_t;

/*
 * Sets *card to the test card, or returns a problem that lists every field at fault: /number,
 * /expiry (form, or not in the future at `now`, UTC), /csc. Members may be NULL if not given.
 */
const struct pay_problem_t *pay_card_entry_judge(const pay_card_t **card,
                                                 const pay_card_entry_t *entry, apr_time_t now,
                                                 apr_pool_t *p);

#endif
