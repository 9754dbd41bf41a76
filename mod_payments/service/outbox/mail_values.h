/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_OUTBOX_MAIL_VALUES_H
#define PAY_SERVICE_OUTBOX_MAIL_VALUES_H

/* The values of names in a template of an e-mail (docs/notifications.md, "Templates"). */

#include "model/account.h"
#include "model/event.h"
#include "service/outbox/template.h"

#define PAY_MAIL_VALUES_MAX 32

/*
 * Sets the values of an event's mail, "" for those that the event does not have; times are in the
 * account's zone, in UTC if it cannot be loaded. Returns the number of values. A receipt has no
 * names that are only for the merchant. Records as in pay_mail_make.
 */
int pay_mail_values(pay_template_value_t out[PAY_MAIL_VALUES_MAX], const pay_event_t *event,
                    const pay_account_t *account, apr_pool_t *p);

/*
 * Sets the same names for an endpoint of that kind, each with the value "x": for checking
 * templates.
 */
int pay_mail_values_sample(pay_template_value_t out[PAY_MAIL_VALUES_MAX], pay_endpoint_kind_t kind);

/* A change in the dashboard that waits for its code. All strings are set, plain text in one
 * line. */
typedef struct pay_mail_confirmation_t {
    const char *change; /* "create a live secret key of shop" */
    const char *user;
    const char *host; /* of the dashboard */
    const char *code; /* "ABCD-EFGH" */
    int minutes;      /* of validity */
    const char *id;   /* of the message */
    apr_time_t at;
} pay_mail_confirmation_t;

int pay_mail_values_confirmation(pay_template_value_t out[PAY_MAIL_VALUES_MAX],
                                 const pay_mail_confirmation_t *confirmation,
                                 const pay_account_t *account, apr_pool_t *p);
int pay_mail_values_confirmation_sample(pay_template_value_t out[PAY_MAIL_VALUES_MAX]);

#endif
