/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_ACCOUNT_ACCOUNTS_H
#define PAY_SERVICE_ACCOUNT_ACCOUNTS_H

/*
 * Accounts: their settings, their mode and what they lack for Live Mode, grants for the dashboard,
 * and tokens of test cards. Changes leave an entry in the audit (service/change.h).
 */

#include "service/service.h"

/* --- settings --- */

/*
 * Normalises settings as a person typed them; NULL members are not given. Adds faults to *problem
 * (NULL: none so far): 400 on /keyPrefix, /currency, /timezone, /shop/name, /shop/logo, /shop/text,
 * /returnHosts and /fees.
 */
void pay_account_settings_judge(pay_account_settings_t *settings, pay_problem_t **problem,
                                apr_pool_t *p);

/* Makes an account in Test Mode; settings that are not given are the server's defaults
 * (docs/directives.md). 409 D1: the name is taken. */
const pay_problem_t *pay_account_open(pay_account_t **out, const pay_service_t *service,
                                      const char *name, const pay_account_settings_t *given,
                                      apr_pool_t *p);

/* Changes the given ones of normalised settings. 404 N1: the account does not exist (any more). */
const pay_problem_t *pay_account_change(pay_account_t **out, const pay_service_t *service,
                                        const pay_account_t *account,
                                        const pay_account_settings_t *given, apr_pool_t *p);

/* Switches the account, whatever it lacks. 404 N1 likewise. */
const pay_problem_t *pay_account_switch(pay_account_t **out, const pay_service_t *service,
                                        const pay_account_t *account, pay_mode_t mode,
                                        apr_pool_t *p);

/* --- Live Mode --- */

/* The setup of one mode. */
typedef struct pay_account_setup_t {
    int has_key;        /* of any kind, valid */
    int has_secret_key; /* valid */
    int has_webhook;    /* that is enabled */
} pay_account_setup_t;

const pay_problem_t *pay_account_setup(pay_account_setup_t *out, const pay_service_t *service,
                                       const pay_account_t *account, pay_mode_t mode,
                                       apr_pool_t *p);

/* Something that the account lacks for Live Mode, in sentences for people. */
typedef struct pay_account_lack_t {
    const char *what;
    const char *how;  /* to correct it */
    int is_essential; /* 0: only a recommendation */
} pay_account_lack_t;

/* Sets *out to an array of pay_account_lack_t. `requires_tls` 0: calls without TLS are accepted. */
const pay_problem_t *pay_account_lacks(apr_array_header_t **out, const pay_service_t *service,
                                       const pay_account_t *account, int requires_tls,
                                       apr_pool_t *p);

/* Returns NULL if nothing essential is missing, else 409 G1 with each lack on /mode. */
const pay_problem_t *pay_account_judge_lacks(const apr_array_header_t *lacks, apr_pool_t *p);

/* --- grants for the dashboard (model/grant.h) --- */

/* Returns NULL if `user` is valid, else the predicate of "must be". NULL: no name was given. */
const char *pay_grant_user_fault(const char *user);

/*
 * Gives the user of the host this role in place of any other. With `keep_owner` the account's only
 * owner keeps that role: 409 D1. 409 D1 also if the account or the user has PAY_GRANTS_MAX grants;
 * 404 N1: the account does not exist (any more).
 */
const pay_problem_t *pay_grant_give(pay_grant_t **out, const pay_service_t *service,
                                    const pay_account_t *account, const char *host,
                                    const char *user, pay_role_t role, int keep_owner,
                                    apr_pool_t *p);

/* Removes the grant; *out is its last state. 404 N1: there is no such grant; 409 D1 likewise. */
const pay_problem_t *pay_grant_take(pay_grant_t **out, const pay_service_t *service,
                                    const pay_account_t *account, const char *host,
                                    const char *user, int keep_owner, apr_pool_t *p);

/* --- tokens of test cards --- */

/* 409 D1: the scope already has this token. */
const pay_problem_t *pay_token_issue(pay_token_t **out, const pay_service_t *service,
                                     const pay_token_t *token, apr_pool_t *p);

/* Nothing can be charged with it from now on. 404 N1: there is no such token. */
const pay_problem_t *pay_token_revoke(pay_token_t **out, const pay_service_t *service,
                                      const pay_scope_t *scope, const char *token, apr_pool_t *p);

#endif
