/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ACCOUNT_GRANT_H
#define PAY_STORE_ACCOUNT_GRANT_H

/*
 * Rows of grants. Host and user are too long for LMDB's keys, which hold a digest of both instead:
 * after the account in the rows, before it in the index.
 */

#include "store/keys.h"
#include "store/record/index.h"
#include "store/rows.h"

#define PAY_STORE_GRANT_KEY_LEN (4 + PAY_SHA256_LEN)

/* The digest of host and user, which contain no NUL. */
apr_status_t pay_store_grant_digest(unsigned char out[PAY_SHA256_LEN], const char *host,
                                    const char *user, apr_pool_t *p);

void pay_store_grant_key(pay_store_key_t *key, apr_uint32_t account, const unsigned char *digest);
void pay_store_grant_user_key(pay_store_key_t *key, const unsigned char *digest,
                              apr_uint32_t account);

/* The row at a key, without its account. PAY_ROWS_BAD also if the key is that of another grant. */
int pay_store_grant_decode(pay_grant_t **out, const pay_bytes_t *key, const pay_bytes_t *row,
                           apr_pool_t *p);
int pay_store_grant_encode(pay_bytes_t *row, const pay_grant_t *grant, apr_pool_t *p);

extern const pay_store_record_t pay_store_grant_record; /* of pay_grant_t */

#endif
