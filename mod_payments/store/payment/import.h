/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_SWEEP_H
#define PAY_STORE_PAYMENT_SWEEP_H

/* Removes the rows of an import that failed or never finished. */

#include "store/rows.h"

#define PAY_STORE_SWEEP_VISITS_MAX 4096 /* rows examined in one read transaction */
#define PAY_STORE_SWEEP_ROWS_MAX 500    /* rows removed in one write transaction */

/*
 * Deletes the refunds of import `number`, to which nobody adds any more, and restores the amounts
 * of the charges that counted them. Many short transactions; may be run again after a crash.
 */
apr_status_t pay_store_sweep(pay_store_t *db, const pay_scope_t *scope, apr_uint32_t number,
                             apr_pool_t *p);

#endif
