/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_ACCOUNT_ACCOUNTS_H
#define PAY_SERVICE_ACCOUNT_ACCOUNTS_H

/*
 * Accounts: their settings, their mode and what they lack for Live Mode, who may use the dashboard
 * for them, and tokens of test cards. Changes leave an entry in the audit (service/change.h).
 */

#include "service/service.h"

/* --- settings --- */

/*
 * Brings settings as they were typed into the form in which they are stored; NULL members are not
 * given. Faults are added to *problem (NULL: there was none before): 400 on /keyPrefix, /currency,
 * /timezone, /shop/name, /shop/logo, /shop/text, /returnHosts and /fees.
 */
void pay_account_settings_judge(pay_account_settings_t *settings, pay_problem_t **problem,
                                apr_pool_t *p);

/* A new account in Test Mode: what is not given is as the server has it (docs/directives.md). 409
 * D1: the name is taken. */
const pay_problem_t *pay_account_open(pay_account_t **out, const pay_service_t *service,
                                      const char *name, const pay_account_settings_t *given,
                                      apr_pool_t *p);

/* Changes what is given of settings that were judged. 404 N1: there is no such account (any more).
 */
const pay_problem_t *pay_account_change(pay_account_t **out, const pay_service_t *service,
                                        const pay_account_t *account,
                                        const pay_account_settings_t *given, apr_pool_t *p);

/* Switches the account, whatever it lacks. 404 N1 likewise. */
const pay_problem_t *pay_account_switch(pay_account_t **out, const pay_service_t *service,
                                        const pay_account_t *account, pay_mode_t mode,
                                        apr_pool_t *p);

/* --- Live Mode --- */

/* What has been set up in one mode. */
typedef struct pay_account_setup_t {
    int has_key;        /* of any kind, that works */
    int has_secret_key; /* that works */
    int has_webhook;    /* that is on */
} pay_account_setup_t;

const pay_problem_t *pay_account_setup(pay_account_setup_t *out, const pay_service_t *service,
                                       const pay_account_t *account, pay_mode_t mode,
                                       apr_pool_t *p);

/* What the account lacks for Live Mode, in sentences for people. */
typedef struct pay_account_lack_t {
    const char *what;
    const char *how;  /* to mend it */
    int is_essential; /* 0: advice */
} pay_account_lack_t;

/* *out: array of pay_account_lack_t. `requires_tls` 0: calls without TLS are served. */
const pay_problem_t *pay_account_lacks(apr_array_header_t **out, const pay_service_t *service,
                                       const pay_account_t *account, int requires_tls,
                                       apr_pool_t *p);

/* NULL: nothing essential is among them; else 409 G1 with each on /mode. */
const pay_problem_t *pay_account_judge_lacks(const apr_array_header_t *lacks, apr_pool_t *p);

/* --- who may use the dashboard (model/grant.h) --- */

/* NULL: `user` can be one; else what it "must be". NULL: nobody was named. */
const char *pay_grant_user_fault(const char *user);

/*
 * Gives the user of the host the role, in place of another. With `keep_owner` the account's only
 * owner keeps that role: 409 D1. 409 D1 too when the account, or the user, has PAY_GRANTS_MAX; 404
 * N1: there is no such account (any more).
 */
const pay_problem_t *pay_grant_give(pay_grant_t **out, const pay_service_t *service,
                                    const pay_account_t *account, const char *host,
                                    const char *user, pay_role_t role, int keep_owner,
                                    apr_pool_t *p);

/* Takes it away; *out is as it was. 404 N1: there is no such grant; 409 D1 likewise. */
const pay_problem_t *pay_grant_take(pay_grant_t **out, const pay_service_t *service,
                                    const pay_account_t *account, const char *host,
                                    const char *user, int keep_owner, apr_pool_t *p);

/* --- tokens of test cards --- */

/* 409 D1: the scope has this token already. */
const pay_problem_t *pay_token_issue(pay_token_t **out, const pay_service_t *service,
                                     const pay_token_t *token, apr_pool_t *p);

/* Nothing is charged by it any more. 404 N1: there is no such token. */
const pay_problem_t *pay_token_revoke(pay_token_t **out, const pay_service_t *service,
                                      const pay_scope_t *scope, const char *token, apr_pool_t *p);

#endif
