/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_OUTBOX_MAIL_RELAY_H
#define PAY_SERVICE_OUTBOX_MAIL_RELAY_H

/* The relay for e-mails, according to the server's directives. */

#include "base/crypto/keyring.h"
#include "base/net/transfer.h"
#include "base/net/url.h"
#include "model/delivery.h"

typedef struct pay_mail_relay_t {
    const char *waits; /* why no e-mail can be sent; NULL: it can, and all below counts */
    const pay_url_t *url;
    const char *user, *password; /* NULL: the relay needs no login */
    const char *ca_file;         /* NULL: the system's certificates */
} pay_mail_relay_t;

/* `keyring` may be NULL: the login then stays sealed. Lives in `p`, and must not outlive
 * `delivery`. */
void pay_mail_relay_read(pay_mail_relay_t *out, const pay_delivery_t *delivery,
                         const pay_keyring_t *keyring, apr_pool_t *p);

/* Sets the relay as the destination of `transfer`, which pay_mail_make has filled in. */
void pay_mail_relay_address(pay_transfer_t *transfer, const pay_mail_relay_t *relay);

#endif
