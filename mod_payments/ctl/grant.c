/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"
#include "service/account/accounts.h"

#include <string.h>

#define AT(member) CTL_FIELD(pay_grant_t, member)

static const ctl_column_t columns[] = {
    {CTL_TABLE, "account", NULL, CTL_TEXT, CTL_BEHIND(pay_grant_t, account, pay_account_t, name)},
    {CTL_TABLE, "user", NULL, CTL_TEXT, AT(user)},
    {CTL_TABLE, "host", NULL, CTL_TEXT, AT(host)},
    {CTL_TABLE, "role", NULL, CTL_ENUM, AT(role), .word = pay_role_name},
    {CTL_TABLE, "granted", NULL, CTL_TIME, AT(created_at)},
    {0},
};

static void grant_json(pay_writer_t *w, const void *row)
{
    pay_grant_to_json(w, NULL, row);
}

static const ctl_view_t grant_view = {.columns = columns, .json = grant_json};

/* The user of the second argument, the host of --host. */
static ctl_exit_t name_check(ctl_t *ctl)
{
    const char *host = ctl->option[CTL_OPTION_HOST];
    const char *user = ctl->arg[1], *fault;
    apr_status_t rv;

    rv = pay_grant_host(&host, host, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--host: want the name of the dashboard's virtual host, "
                                          "such as pay.example.com");
    }
    fault = pay_grant_user_fault(user);
    if (fault) {
        return ctl_fail(strlen(user) > PAY_GRANT_USER_MAX ? CTL_EXIT_TOO_LONG : CTL_EXIT_ILLEGAL,
                        "user: %s", fault);
    }
    return CTL_OK;
}

ctl_exit_t ctl_account_grant(ctl_t *ctl)
{
    const pay_problem_t *problem;
    pay_account_t *account;
    pay_grant_t *grant;
    pay_role_t role;
    ctl_exit_t failed;
    apr_status_t rv;

    rv = pay_role_parse(&role, ctl->option[CTL_OPTION_ROLE]);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--role: want owner, operator or viewer");
    }
    failed = name_check(ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_account_find(&account, ctl, ctl->arg[0]);
    if (failed) {
        return failed;
    }
    problem = pay_grant_give(&grant, &ctl->service, account, ctl->option[CTL_OPTION_HOST],
                             ctl->arg[1], role, 0, ctl->pool);
    if (problem) {
        return ctl_fail_service(problem, "cannot grant the account", ctl->pool);
    }
    ctl_row_print(ctl, &grant_view, grant);
    return CTL_OK;
}

ctl_exit_t ctl_account_revoke(ctl_t *ctl)
{
    const pay_problem_t *problem;
    pay_account_t *account;
    pay_grant_t *grant;
    ctl_exit_t failed;

    failed = name_check(ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_account_find(&account, ctl, ctl->arg[0]);
    if (failed) {
        return failed;
    }
    problem = pay_grant_take(&grant, &ctl->service, account, ctl->option[CTL_OPTION_HOST],
                             ctl->arg[1], 0, ctl->pool);
    if (problem && problem->error == PAY_ERR_REFERENCE_UNKNOWN) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "there is no such grant of account %s; 'paymentsctl account grants %s' "
                        "lists them",
                        account->name, account->name);
    }
    if (problem) {
        return ctl_fail_service(problem, "cannot remove the grant", ctl->pool);
    }
    ctl_row_print(ctl, &grant_view, grant);
    return CTL_OK;
}

/* Those of the account of the argument, or of all. */
static apr_status_t grants_print(ctl_t *ctl, ctl_list_t *list, const apr_array_header_t *accounts)
{
    apr_array_header_t *grants;
    apr_pool_t *part;
    apr_status_t rv = APR_SUCCESS;
    int i, k;

    apr_pool_create(&part, ctl->pool);
    for (i = 0; i < accounts->nelts && !ctl_list_is_full(list); i++) {
        const pay_account_t *account = APR_ARRAY_IDX(accounts, i, const pay_account_t *);

        apr_pool_clear(part);
        rv = pay_store_grant_list(&grants, ctl->service.store, account->name, part);
        if (rv != APR_SUCCESS) {
            break;
        }
        for (k = 0; k < grants->nelts; k++) {
            ctl_list_row(list, APR_ARRAY_IDX(grants, k, const pay_grant_t *));
        }
    }
    apr_pool_destroy(part);
    return rv;
}

ctl_exit_t ctl_account_grants(ctl_t *ctl)
{
    apr_array_header_t *accounts;
    pay_account_t *account;
    apr_uint64_t limit;
    ctl_list_t *list;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = ctl_option_limit(&limit, ctl);
    if (failed) {
        return failed;
    }
    if (ctl->arg[0]) {
        failed = ctl_account_find(&account, ctl, ctl->arg[0]);
        if (failed) {
            return failed;
        }
        accounts = apr_array_make(ctl->pool, 1, sizeof(pay_account_t *));
        APR_ARRAY_PUSH(accounts, pay_account_t *) = account;
    } else {
        rv = pay_store_account_list(&accounts, ctl->service.store, ctl->pool);
        if (rv != APR_SUCCESS) {
            return ctl_fail_status(rv, "cannot list the accounts");
        }
    }
    list = ctl_list_open(ctl, &grant_view, limit);
    rv = grants_print(ctl, list, accounts);
    return ctl_list_end(list, rv, "cannot list the grants");
}
