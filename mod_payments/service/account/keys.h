/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_ACCOUNT_KEYS_H
#define PAY_SERVICE_ACCOUNT_KEYS_H

#include "service/service.h"

/*
 * Authenticates a caller: `authorization` is the header's value or NULL. NULL: *out is a valid key
 * of an account that this service serves. 401 B01 in every other case, without distinction; 503 if
 * the store is unavailable. *given is 1 if there were any credentials (RFC 6750 section 3.1).
 */
const pay_problem_t *pay_key_authenticate(const pay_api_key_t **out, int *given,
                                          pay_service_t *service, const char *authorization,
                                          apr_pool_t *p);

/* --- changes of keys leave an entry in the audit (service/change.h) --- */

/* Makes a new random key: *text is its text, to be shown once, so nothing between here and the
 * answer may fail. NULL with a problem. */
const pay_problem_t *pay_key_issue(pay_api_key_t **out, const char **text,
                                   const pay_service_t *service, const pay_account_t *account,
                                   pay_mode_t mode, pay_key_kind_t kind, apr_pool_t *p);

/* Imports an existing key text. 400 on /key: it does not have the form of a key, or names another
 * mode or kind; 409 D1: it exists already. */
const pay_problem_t *pay_key_import(pay_api_key_t **out, const pay_service_t *service,
                                    const pay_account_t *account, pay_mode_t mode,
                                    pay_key_kind_t kind, const char *text, apr_pool_t *p);

/* Below: the key `id` of the account (NULL: of any account). 404 N1: it does not exist. */
const pay_problem_t *pay_key_find(pay_api_key_t **out, const pay_service_t *service,
                                  const pay_account_t *account, const char *id, apr_pool_t *p);

/* Ends the key for good; one that has ended stays as it is. */
const pay_problem_t *pay_key_revoke(pay_api_key_t **out, const pay_service_t *service,
                                    const pay_account_t *account, const char *id, apr_pool_t *p);

/*
 * Makes a successor with the same account, mode and kind; *old is the old one after the change: it
 * works `overlap` (0 or more) longer. *text as above. 409 D1: the key already has an end.
 */
const pay_problem_t *pay_key_rotate(pay_api_key_t **out, pay_api_key_t **old, const char **text,
                                    const pay_service_t *service, const pay_account_t *account,
                                    const char *id, apr_interval_time_t overlap, apr_pool_t *p);

/* --- how long an old key or secret remains valid beside its successor --- */

#define PAY_OVERLAP_FAULT "must be a duration such as 0s, 30m, 24h or 7d, at most 366d"

/* APR_EINVAL, and *out 0, if it is not such a duration; PAY_OVERLAP_FAULT says so. */
apr_status_t pay_overlap_parse(apr_interval_time_t *out, const char *text);

#endif
