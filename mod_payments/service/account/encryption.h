/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_ACCOUNT_ENCRYPTION_H
#define PAY_SERVICE_ACCOUNT_ENCRYPTION_H

/* Orders that come encrypted (docs/api.md, "Encrypted orders"). */

#include "service/service.h"

/*
 * The JSON object in `data`, the base64 of one block that was encrypted with the scope's public
 * half; its text is NUL-terminated, in `p`. 400 T1 for everything else, always the same one, after
 * the same time: what a stranger's block decrypts to is not told in any way. 503 when the scope's
 * private half cannot be used at all, whatever `data` is; the log says why.
 */
const pay_problem_t *pay_encryption_open(const char **out, const pay_service_t *service,
                                         const pay_scope_t *scope, const char *data, apr_pool_t *p);

/* The scope's key; APR_NOTFOUND is *out NULL and no problem. Its sealed half is nobody's to show.
 */
const pay_problem_t *pay_encryption_find(pay_encryption_key_t **out, const pay_service_t *service,
                                         const pay_scope_t *scope, apr_pool_t *p);

/*
 * The same, made when there is none, which takes a second or several; two who do so at once get
 * the same one. `renew` 1: a new one in any case, and what is encrypted with the one before is
 * refused from then on. No transaction is open meanwhile. 503 without a master key.
 */
const pay_problem_t *pay_encryption_need(pay_encryption_key_t **out, const pay_service_t *service,
                                         const pay_scope_t *scope, int renew, apr_pool_t *p);

#endif
