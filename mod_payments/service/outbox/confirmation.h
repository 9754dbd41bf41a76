/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_OUTBOX_CONFIRMATION_H
#define PAY_SERVICE_OUTBOX_CONFIRMATION_H

/* The mail with the code of a change that needs confirmation (base/crypto/challenge.h). */

#include "service/outbox/mail.h"
#include "service/outbox/mail_relay.h"

/* How to reach the merchant. */
typedef struct pay_confirmation_way_t {
    const char *lacks;   /* why no code can be sent; NULL: it can, and all below counts */
    const char *address; /* of the merchant */
    const pay_delivery_t *delivery;
    pay_mail_relay_t relay;
} pay_confirmation_way_t;

const pay_problem_t *pay_confirmation_way(pay_confirmation_way_t *out, const pay_service_t *service,
                                          const pay_account_t *account, apr_pool_t *p);

/*
 * Sends it now, and waits for the relay's answer: no code is written to a store. Keeps the caller's
 * thread busy for at most PAY_CONFIRMATION_TOTAL_MS. Returns NULL if the relay accepted it, else
 * the reason, a sentence without an address. The code is in memory until `p` is destroyed.
 */
#define PAY_CONFIRMATION_TOTAL_MS 10000
const char *pay_confirmation_send(const pay_confirmation_way_t *way,
                                  const pay_mail_confirmation_t *confirmation,
                                  const pay_account_t *account, apr_pool_t *p);

#endif
