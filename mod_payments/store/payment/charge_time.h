/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_PAYMENT_CHARGE_TIME_H
#define PAY_STORE_PAYMENT_CHARGE_TIME_H

/*
 * The index of charges by time (store/payment/charge_record.c).
 *
 * An entry holds a mark of the charge's e-mail: four bytes of its SHA-256. A search for an e-mail
 * reads the marks, and only the charges that they hint at; an index by digests would cost each
 * new charge a page somewhere, while this entry's page is the one that is written anyway.
 */

#include "store/keys.h"
#include "store/rows.h"

#define PAY_STORE_CHARGE_TIME_KEY_LEN (PAY_STORE_SCOPE_LEN + 8 + 8) /* scope, createdAt, seq */
#define PAY_STORE_CHARGE_MARK_LEN 4

/* 0 for "", which is no e-mail. Fails with pay_sha256's status. */
apr_status_t pay_store_charge_mark(apr_uint32_t *out, const char *email);

void pay_store_charge_time_key(pay_store_key_t *key, const pay_scope_t *scope,
                               apr_time_t created_at, apr_uint64_t seq);

#endif
