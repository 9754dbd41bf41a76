/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_ACCOUNT_KEYS_H
#define PAY_SERVICE_ACCOUNT_KEYS_H

#include "service/service.h"

/*
 * Who calls: `authorization` is the header's value or NULL. NULL: *out is a valid key of an account
 * that this service serves. 401 B01 for every other case, without telling which; 503 when the
 * store cannot be asked. *given tells whether any credentials came (RFC 6750 section 3.1).
 */
const pay_problem_t *pay_key_authenticate(const pay_api_key_t **out, int *given,
                                          pay_service_t *service, const char *authorization,
                                          apr_pool_t *p);

/* --- changes of keys leave an entry in the audit (service/change.h) --- */

/* A new random key: its text is in *text, to be shown once, so nothing between here and the answer
 * may fail. NULL with a problem. */
const pay_problem_t *pay_key_issue(pay_api_key_t **out, const char **text,
                                   const pay_service_t *service, const pay_account_t *account,
                                   pay_mode_t mode, pay_key_kind_t kind, apr_pool_t *p);

/* Takes over an existing key text. 400 on /key: it is not the form of a key, or names another mode
 * or kind; 409 D1: it is known. */
const pay_problem_t *pay_key_import(pay_api_key_t **out, const pay_service_t *service,
                                    const pay_account_t *account, pay_mode_t mode,
                                    pay_key_kind_t kind, const char *text, apr_pool_t *p);

/* Below: the key `id` of the account, NULL: of any account. 404 N1: there is none. */
const pay_problem_t *pay_key_find(pay_api_key_t **out, const pay_service_t *service,
                                  const pay_account_t *account, const char *id, apr_pool_t *p);

/* It ends for good; one that ended stays as it is. */
const pay_problem_t *pay_key_revoke(pay_api_key_t **out, const pay_service_t *service,
                                    const pay_account_t *account, const char *id, apr_pool_t *p);

/*
 * A successor with the same account, mode and kind; *old is the old one as it is then: it works
 * `overlap` (0 or more) longer. *text as above. 409 D1: the key has an end already.
 */
const pay_problem_t *pay_key_rotate(pay_api_key_t **out, pay_api_key_t **old, const char **text,
                                    const pay_service_t *service, const pay_account_t *account,
                                    const char *id, apr_interval_time_t overlap, apr_pool_t *p);

/* --- how long an old key or secret goes on beside its successor --- */

#define PAY_OVERLAP_FAULT "must be a duration such as 0s, 30m, 24h or 7d, at most 366d"

/* APR_EINVAL, and *out 0: it is none, which PAY_OVERLAP_FAULT says. */
apr_status_t pay_overlap_parse(apr_interval_time_t *out, const char *text);

#endif
