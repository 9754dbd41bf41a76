/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/keyring.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/output.h"

#include "base/crypto/crypto.h"
#include "base/crypto/rsa.h"
#include "service/account/encryption.h"

#include <stdio.h>
#include <string.h>

/* Prints only the key on standard output, for scripts; in JSON in every form. */
static ctl_exit_t key_print(const ctl_t *ctl, const pay_encryption_key_t *key,
                            const pay_account_t *account)
{
    const char *xml, *base64;
    apr_status_t rv;
    pay_writer_t *w;

    rv = pay_rsa_xml(&xml, key->public_pem, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail(CTL_EXIT_NOT_VALID,
                        "the stored encryption key is damaged; 'paymentsctl encryption-key "
                        "renew' creates another one");
    }
    base64 = pay_base64(xml, strlen(xml), ctl->pool);
    if (!ctl->json) {
        if (!ctl->option[CTL_OPTION_XML]) {
            fputs(key->public_pem, stdout); /* it ends with a newline */
        } else {
            puts(ctl->option[CTL_OPTION_BASE64] ? base64 : xml);
        }
        return CTL_OK;
    }
    w = ctl_object_open(ctl);
    pay_writer_string(w, "account", account->name);
    pay_writer_string(w, "mode", pay_mode_name(key->scope.mode));
    pay_writer_string(w, "publicKey", key->public_pem);
    pay_writer_string(w, "xml", xml);
    pay_writer_string(w, "xmlBase64", base64);
    pay_writer_time(w, "createdAt", key->created_at);
    ctl_object_print(w);
    return CTL_OK;
}

static ctl_exit_t key_need(ctl_t *ctl, int renew)
{
    const pay_problem_t *problem;
    pay_encryption_key_t *key;
    pay_account_t *account;
    pay_scope_t scope;
    ctl_exit_t failed;

    if (ctl->option[CTL_OPTION_BASE64] && !ctl->option[CTL_OPTION_XML]) {
        return ctl_fail(CTL_EXIT_USAGE, "--base64 applies to the XML form: add --xml");
    }
    failed = ctl_scope_find(&scope, &account, ctl);
    if (failed) {
        return failed;
    }
    problem = pay_encryption_find(&key, &ctl->service, &scope, ctl->pool);
    if (!problem && (!key || renew)) { /* showing one needs no master key */
        failed = ctl_keyring_need(ctl, 1);
        if (failed) {
            return failed;
        }
        problem = pay_encryption_need(&key, &ctl->service, &scope, renew, ctl->pool);
    }
    if (problem) {
        return ctl_fail_service(problem, "cannot read or create the encryption key", ctl->pool);
    }
    return key_print(ctl, key, account);
}

ctl_exit_t ctl_encryption_key_show(ctl_t *ctl)
{
    return key_need(ctl, 0);
}

ctl_exit_t ctl_encryption_key_renew(ctl_t *ctl)
{
    return key_need(ctl, 1);
}
