/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_ACCOUNT_ENCRYPTION_H
#define PAY_SERVICE_ACCOUNT_ENCRYPTION_H

/* Encrypted orders (docs/api.md, "Encrypted orders"). */

#include "service/service.h"

/*
 * Decrypts `data`, the base64 of one block that was encrypted with the scope's public key, to a
 * JSON object; its text is NUL-terminated, in `p`. 400 T1 for everything else, always the same one,
 * after the same time: nothing reveals the decrypted text of a block from elsewhere. 503 if the
 * scope's private key cannot be used at all, whatever `data` is; the log says why.
 */
const pay_problem_t *pay_encryption_open(const char **out, const pay_service_t *service,
                                         const pay_scope_t *scope, const char *data, apr_pool_t *p);

/* Finds the scope's key; if none exists, *out is NULL without a problem. Never show its sealed
 * half. */
const pay_problem_t *pay_encryption_find(pay_encryption_key_t **out, const pay_service_t *service,
                                         const pay_scope_t *scope, apr_pool_t *p);

/*
 * Finds the key or makes it, which takes a second or several; two callers at once get the same one.
 * `renew` 1: makes a new one in any case, and orders encrypted with the previous key are refused
 * from then on. No transaction is open meanwhile. 503 without a master key.
 */
const pay_problem_t *pay_encryption_need(pay_encryption_key_t **out, const pay_service_t *service,
                                         const pay_scope_t *scope, int renew, apr_pool_t *p);

#endif
