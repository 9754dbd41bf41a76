/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_OUTBOX_MAIL_H
#define PAY_SERVICE_OUTBOX_MAIL_H

/* Makes e-mails from templates (docs/notifications.md, "E-mail"). */

#include "base/net/transfer.h"
#include "service/outbox/mail_values.h"
#include "service/service.h"

/*
 * Fills in what `transfer` needs to be sent: addresses, encoded headers, text and HTML part. The
 * event's records are set (event->parked for an event that was given up: without it the mail does
 * not say which one); `merchant` is the address of the account's notice endpoint or "". Templates
 * are read from delivery->mail_templates; if missing there, the installed ones are used.
 * APR_NOTFOUND: there is no recipient, or no mail for such an event. APR_EINVAL: the address is not
 * valid, now or later. Other statuses: a template or the sender is wrong; a later attempt may
 * succeed. Except for APR_NOTFOUND *fault is a sentence, without any address. Strings live in `p`.
 * The caller sets URL, login and CA of the relay.
 */
apr_status_t pay_mail_make(pay_transfer_t *transfer, const char **fault, const pay_event_t *event,
                           const pay_account_t *account, const char *merchant,
                           const pay_delivery_t *delivery, apr_pool_t *p);

/*
 * Does the same for the mail that brings the merchant the code of a change that the dashboard wants
 * confirmed. It belongs to no event and no mode.
 */
apr_status_t pay_mail_make_confirmation(pay_transfer_t *transfer, const char **fault,
                                        const pay_mail_confirmation_t *confirmation,
                                        const pay_account_t *account, const char *merchant,
                                        const pay_delivery_t *delivery, apr_pool_t *p);

/* Reads every template: returns a sentence that says what is wrong with one, NULL if all are valid.
 * `directory` "" for the installed ones. */
const char *pay_mail_templates_fault(const char *directory, apr_pool_t *p);

/* Returns the directory of the installed templates. Tests may set another one (NULL restores the
 * real one) while single-threaded. */
const char *pay_mail_installed(void);
void pay_mail_set_installed(const char *directory);

#endif
