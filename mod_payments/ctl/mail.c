/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/endpoint.h"
#include "ctl/message.h"
#include "ctl/options.h"

#include "service/account/endpoints.h"

#include <apr_strings.h>
#include <string.h>

static const pay_mode_t modes[] = {PAY_TEST, PAY_LIVE};
#define MODES ((int)(sizeof(modes) / sizeof(modes[0])))

/* Kinds of e-mail, in the order in which they are shown. */
static const struct {
    pay_endpoint_kind_t kind;
    const char *title;
} mails[] = {{PAY_ENDPOINT_NOTICE, "notices"}, {PAY_ENDPOINT_RECEIPT, "receipts"}};
#define MAILS ((int)(sizeof(mails) / sizeof(mails[0])))

typedef struct mail_t {
    const char *account;
    const pay_endpoint_t *endpoint[MAILS][MODES]; /* NULL: never set */
    const pay_delivery_t *delivery;               /* NULL: no server has stored it */
} mail_t;

static int mail_is_on(const mail_t *mail, int i)
{
    return mail->endpoint[i][0] && mail->endpoint[i][0]->enabled;
}

/* Recipients of Test Mode receipts in addition to the merchant. */
static const char *recipients_of(const mail_t *mail)
{
    return mail->endpoint[1][0] ? mail->endpoint[1][0]->recipients : "";
}

/* NULL if nobody gets notices. */
static const char *merchant_of(const mail_t *mail)
{
    return mail_is_on(mail, 0) ? mail->endpoint[0][0]->address : NULL;
}

static void merchant_get(ctl_value_t *value, const void *row)
{
    value->text = merchant_of(row);
}

static void receipts_get(ctl_value_t *value, const void *row)
{
    value->number = mail_is_on(row, 1);
    value->text = value->number ? "on" : "off";
}

static void recipients_get(ctl_value_t *value, const void *row)
{
    value->text = recipients_of(row);
}

#define SHOWN (CTL_DETAILS | CTL_JSON)

static const ctl_column_t columns[] = {
    {SHOWN, "account", "account", CTL_TEXT, CTL_FIELD(mail_t, account)},
    {SHOWN, "merchant address", "merchantAddress", CTL_TEXT, .get = merchant_get},
    {CTL_DETAILS, "receipts", NULL, CTL_TEXT, .get = receipts_get},
    {CTL_JSON, NULL, "receipts", CTL_BOOL, .get = receipts_get},
    {SHOWN, "test recipients", "testRecipients", CTL_WORDS, .get = recipients_get},
    {SHOWN, "mail relay", "relay", CTL_NAME,
     CTL_BEHIND(mail_t, delivery, pay_delivery_t, mail_relay)},
    {SHOWN, "sender", "sender", CTL_NAME, CTL_BEHIND(mail_t, delivery, pay_delivery_t, mail_from)},
    {0},
};

static void mail_lines(ctl_table_t *table, const void *row)
{
    const mail_t *mail = row;
    apr_pool_t *p = ctl_table_pool(table);
    int i, j;

    for (i = 0; i < MAILS; i++) {
        for (j = 0; j < MODES; j++) {
            if (mail->endpoint[i][j]) {
                ctl_line(table,
                         apr_psprintf(p, "%s, %s mode", mails[i].title, pay_mode_name(modes[j])),
                         ctl_endpoint_line(mail->endpoint[i][j], p));
            }
        }
    }
}

static void mail_members(pay_writer_t *w, const void *row)
{
    const mail_t *mail = row;
    int i, j;

    pay_writer_array_open(w, "deliveries");
    for (i = 0; i < MAILS; i++) {
        for (j = 0; j < MODES; j++) {
            if (mail->endpoint[i][j]) {
                pay_writer_object_open(w, NULL);
                pay_writer_string(w, "kind", pay_endpoint_kind_name(mails[i].kind));
                pay_writer_string(w, "mode", pay_mode_name(modes[j]));
                pay_writer_bool(w, "enabled", mail->endpoint[i][j]->enabled);
                ctl_members(w, ctl_endpoint_columns, CTL_JSON, mail->endpoint[i][j]);
                pay_writer_object_close(w);
            }
        }
    }
    pay_writer_array_close(w);
}

static const ctl_view_t mail_view = {
    .columns = columns, .is_details = 1, .more = mail_lines, .more_members = mail_members};

static ctl_exit_t mail_print(ctl_t *ctl, const pay_account_t *account)
{
    mail_t mail = {.account = account->name};
    pay_scope_t scope = {.account = account->number};
    pay_endpoint_t *endpoint;
    pay_delivery_t *delivery;
    ctl_exit_t failed;
    apr_status_t rv;
    int i, j;

    for (i = 0; i < MAILS; i++) {
        for (j = 0; j < MODES; j++) {
            scope.mode = modes[j];
            failed = ctl_endpoint_get(&endpoint, ctl, &scope, mails[i].kind);
            if (failed) {
                return failed;
            }
            mail.endpoint[i][j] = endpoint;
        }
    }
    rv = pay_store_delivery_get(&delivery, ctl->service.store, ctl->pool);
    if (rv != APR_SUCCESS && rv != APR_NOTFOUND) {
        return ctl_fail_status(rv, "cannot read the server's delivery settings");
    }
    mail.delivery = rv == APR_SUCCESS ? delivery : NULL;
    ctl_row_print(ctl, &mail_view, &mail);
    return CTL_OK;
}

ctl_exit_t ctl_mail_show(ctl_t *ctl)
{
    pay_account_t *account;
    ctl_exit_t failed;

    failed = ctl_account_find(&account, ctl, ctl->arg[0]);
    if (failed) {
        return failed;
    }
    return mail_print(ctl, account);
}

ctl_exit_t ctl_mail_set(ctl_t *ctl)
{
    const char *address = ctl->option[CTL_OPTION_MERCHANT_ADDRESS];
    const char *recipients = ctl->option[CTL_OPTION_TEST_RECIPIENT];
    pay_mail_settings_t settings = {.notices = -1, .test_recipients = recipients};
    pay_problem_t *faults = NULL;
    const pay_problem_t *problem;
    pay_account_t *account;
    ctl_exit_t failed;

    if (!address && !ctl->option[CTL_OPTION_RECEIPTS] && !recipients) {
        return ctl_fail(CTL_EXIT_USAGE, "nothing to set; see 'paymentsctl mail set --help'");
    }
    if (address) {
        settings.notices = strcmp(address, "off") != 0;
        settings.address = settings.notices ? address : NULL;
    }
    pay_mail_settings_judge(&settings, &faults, ctl->pool);
    if (faults) {
        return ctl_fail_problem(faults, ctl->pool);
    }
    failed = ctl_option_receipts(&settings.receipts, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_account_find(&account, ctl, ctl->arg[0]);
    if (failed) {
        return failed;
    }
    problem = pay_mail_set(&ctl->service, account->number, &settings, ctl->pool);
    if (problem) {
        return ctl_fail_service(problem, "cannot store the mail settings", ctl->pool);
    }
    return mail_print(ctl, account);
}
