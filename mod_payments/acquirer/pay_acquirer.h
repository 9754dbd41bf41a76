/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_ACQUIRER_H
#define PAY_ACQUIRER_H

/*
 * Who decides charges and refunds. A provider (group "payments-acquirer", version "0") is one
 * static const vtable. Slots are called by many threads at once, block at most `timeout`, and are
 * never called with a store transaction open. They get no request: the watchdog has none.
 */

#include "model/pay_charge.h"
#include "model/pay_refund.h"

#define PAY_ACQUIRER_GROUP "payments-acquirer"
#define PAY_ACQUIRER_VERSION "0"
#define PAY_ACQUIRER_ABI 1

/* Provably no byte left this process. Any other status but APR_SUCCESS is an unknown outcome: money
 * may have moved. */
#define PAY_ACQUIRER_NOT_SENT (APR_OS_START_USERERR + 101)

typedef struct pay_acquirer_t {
    apr_uint32_t struct_size; /* sizeof(pay_acquirer_t) of the provider's build */
    apr_uint32_t abi;         /* PAY_ACQUIRER_ABI */
    const char *name;         /* as stored in rows that went through it */
    /*
     * 1: it decides inside this process, from the charge alone, without waiting and without a
     * trace: asked twice it says the same. Its decision is then made before the charge is written,
     * and both are one transaction. Only the simulator may.
     */
    int is_pure;

    /* Charges the card behind charge->token. Strings of *out live in `p` or are static. */
    apr_status_t (*charge)(pay_outcome_t *out, void *context, const pay_charge_t *charge,
                           apr_interval_time_t timeout, apr_pool_t *p);
    /* What became of a charge that was sent before. UNKNOWN: ask again later. */
    apr_status_t (*charge_query)(pay_outcome_t *out, void *context, const pay_charge_t *charge,
                                 apr_interval_time_t timeout, apr_pool_t *p);
    /* Gives refund->money back on `charge`. APPROVED: processed. DECLINED: failed. */
    apr_status_t (*refund)(pay_outcome_t *out, void *context, const pay_refund_t *refund,
                           const pay_charge_t *charge, apr_interval_time_t timeout, apr_pool_t *p);
    apr_status_t (*refund_query)(pay_outcome_t *out, void *context, const pay_refund_t *refund,
                                 const pay_charge_t *charge, apr_interval_time_t timeout,
                                 apr_pool_t *p);
} pay_acquirer_t;

#endif
