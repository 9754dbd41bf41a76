/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"

#include "base/text/id.h"
#include "model/card.h"
#include "model/email.h"
#include "service/account/accounts.h"

#include <apr_strings.h>
#include <stdio.h>
#include <string.h>

#define AT(member) CTL_FIELD(pay_token_t, member)

static const ctl_column_t columns[] = {
    {CTL_TABLE, "token", NULL, CTL_TEXT, AT(token)},
    {CTL_TABLE, "mode", NULL, CTL_ENUM, AT(scope.mode), .word = pay_mode_name},
    {CTL_TABLE, "card", NULL, CTL_TEXT, AT(card.last4)},
    {CTL_TABLE, "issuer", NULL, CTL_TEXT, AT(card.issuer)},
    {CTL_TABLE, "email", NULL, CTL_TEXT, AT(email)},
    {CTL_TABLE, "created", NULL, CTL_TIME, AT(created_at)},
    {CTL_TABLE, "revoked", NULL, CTL_TIME, AT(revoked_at)},
    {0},
};

static void token_json(pay_writer_t *w, const void *row)
{
    pay_token_to_json(w, NULL, row);
}

static const ctl_view_t token_view = {.columns = columns, .json = token_json};

/* What the options say of a new token; scope and text excepted. */
static ctl_exit_t payer_read(pay_token_t *out, const ctl_t *ctl)
{
    const pay_card_t *card = pay_test_card_find(ctl->option[CTL_OPTION_CARD]);
    apr_status_t rv;

    if (!card) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--card: want a card of Test Mode; 'paymentsctl token "
                                          "create --help' lists them");
    }
    out->card = *card;
    rv = pay_email_normalize(&out->email, ctl->option[CTL_OPTION_EMAIL], ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--email: want one e-mail address");
    }
    return CTL_OK;
}

static ctl_exit_t text_read(const char **out, const ctl_t *ctl)
{
    const char *text = ctl->option[CTL_OPTION_TOKEN];
    apr_status_t rv;

    *out = NULL;
    if (!text) {
        rv = pay_id_make(out, "tok_", PAY_ID_BITS, ctl->pool);
        return rv == APR_SUCCESS ? CTL_OK : ctl_fail_status(rv, "cannot create a random token");
    }
    if (pay_test_token_is_reserved(text)) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--token: tokens that begin with tok_test_ are built in; "
                                          "choose another text");
    }
    rv = pay_token_text_check(text);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_ILLEGAL,
                        "--token: want 1 to %d printable characters without "
                        "blank, not a card number",
                        PAY_TOKEN_TEXT_MAX);
    }
    *out = text;
    return CTL_OK;
}

ctl_exit_t ctl_token_create(ctl_t *ctl)
{
    pay_token_t proposal = {{0, PAY_TEST}, .token = NULL};
    const pay_problem_t *problem;
    pay_account_t *account;
    pay_token_t *token;
    ctl_exit_t failed;

    failed = ctl_scope_find(&proposal.scope, &account, ctl);
    if (failed) {
        return failed;
    }
    if (proposal.scope.mode != PAY_TEST) {
        return ctl_fail(CTL_EXIT_REFUSED, "live tokens come from the acquirer's own checkout; "
                                          "this command creates them with --mode test only");
    }
    failed = payer_read(&proposal, ctl);
    if (failed) {
        return failed;
    }
    failed = text_read(&proposal.token, ctl);
    if (failed) {
        return failed;
    }
    problem = pay_token_issue(&token, &ctl->service, &proposal, ctl->pool);
    if (problem) {
        return ctl_fail_service(problem, "cannot create the token", ctl->pool);
    }
    if (ctl->json) {
        ctl_row_print(ctl, &token_view, token);
    } else {
        puts(token->token);
    }
    return CTL_OK;
}

ctl_exit_t ctl_token_list(ctl_t *ctl)
{
    apr_array_header_t *tokens;
    pay_account_t *account;
    pay_scope_t scope;
    apr_uint64_t limit;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = ctl_option_limit(&limit, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_scope_find(&scope, &account, ctl);
    if (failed) {
        return failed;
    }
    rv = pay_store_token_list(&tokens, ctl->service.store, &scope, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot list the tokens");
    }
    ctl_list_print(ctl, &token_view, tokens, limit);
    return CTL_OK;
}

ctl_exit_t ctl_token_revoke(ctl_t *ctl)
{
    const char *text = ctl->arg[1];
    const pay_problem_t *problem;
    pay_account_t *account;
    pay_token_t *token;
    pay_scope_t scope;
    ctl_exit_t failed;

    failed = ctl_scope_find(&scope, &account, ctl);
    if (failed) {
        return failed;
    }
    if (strlen(text) > PAY_TOKEN_TEXT_MAX) {
        return ctl_fail(CTL_EXIT_TOO_LONG, "the token: want at most %d characters",
                        PAY_TOKEN_TEXT_MAX);
    }
    if (pay_test_token_is_reserved(text)) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "tokens that begin with tok_test_ are built in and "
                                          "cannot be revoked");
    }
    problem = pay_token_revoke(&token, &ctl->service, &scope, text, ctl->pool);
    if (problem && problem->error == PAY_ERR_REFERENCE_UNKNOWN) {
        return ctl_fail(CTL_EXIT_REFUSED,
                        "account %s has no such token in %s mode; 'paymentsctl token list' lists "
                        "them",
                        account->name, pay_mode_name(scope.mode));
    }
    if (problem) {
        return ctl_fail_service(problem, "cannot revoke the token", ctl->pool);
    }
    ctl_row_print(ctl, &token_view, token);
    return CTL_OK;
}
