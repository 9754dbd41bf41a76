/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_OUTBOX_MAIL_RELAY_H
#define PAY_SERVICE_OUTBOX_MAIL_RELAY_H

/* The relay that e-mails go through, as the server's directives say. */

#include "base/crypto/keyring.h"
#include "base/net/transfer.h"
#include "base/net/url.h"
#include "model/delivery.h"

typedef struct pay_mail_relay_t {
    const char *waits; /* why no e-mail can be sent; NULL: it can, and all below counts */
    const pay_url_t *url;
    const char *user, *password; /* NULL: the relay wants no login */
    const char *ca_file;         /* NULL: the system's certificates */
} pay_mail_relay_t;

/* `keyring` may be NULL: the login then stays sealed. Lives in `p`, and no longer than `delivery`.
 */
void pay_mail_relay_read(pay_mail_relay_t *out, const pay_delivery_t *delivery,
                         const pay_keyring_t *keyring, apr_pool_t *p);

/* Where `transfer`, which pay_mail_make has filled in, goes. */
void pay_mail_relay_address(pay_transfer_t *transfer, const pay_mail_relay_t *relay);

#endif
