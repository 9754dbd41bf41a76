/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_OUTBOX_MAIL_H
#define PAY_SERVICE_OUTBOX_MAIL_H

/* E-mails, made from templates (docs/notifications.md, "E-mail"). */

#include "base/net/transfer.h"
#include "service/outbox/mail_values.h"
#include "service/service.h"

/*
 * Fills in what `transfer` needs to be sent: addresses, encoded headers, text and HTML part. The
 * event's records are set (event->parked for an event that was given up: without it the mail does
 * not say which); `merchant` is the address of the account's notice endpoint or "". Templates are
 * read from delivery->mail_templates, what is missing there from the installed ones.
 * APR_NOTFOUND: nobody to send it to, or no mail tells of such an event. APR_EINVAL: the address
 * cannot be written to, now or later. Other statuses: a template or the sender is wrong; later it
 * may be well. But for APR_NOTFOUND *fault is a sentence, without any address. Strings live in `p`.
 * URL, login and CA of the relay are the caller's.
 */
apr_status_t pay_mail_make(pay_transfer_t *transfer, const char **fault, const pay_event_t *event,
                           const pay_account_t *account, const char *merchant,
                           const pay_delivery_t *delivery, apr_pool_t *p);

/*
 * The same for the mail that brings the merchant the code of a change that the dashboard wants
 * confirmed. It is about no event, and no mode.
 */
apr_status_t pay_mail_make_confirmation(pay_transfer_t *transfer, const char **fault,
                                        const pay_mail_confirmation_t *confirmation,
                                        const pay_account_t *account, const char *merchant,
                                        const pay_delivery_t *delivery, apr_pool_t *p);

/* Reads every template: a sentence on what is wrong with one, NULL when all are well. `directory`
 * "" for the installed ones. */
const char *pay_mail_templates_fault(const char *directory, apr_pool_t *p);

/* Where the installed templates are. Tests may name another place (NULL restores the real one)
 * while single-threaded. */
const char *pay_mail_installed(void);
void pay_mail_set_installed(const char *directory);

#endif
