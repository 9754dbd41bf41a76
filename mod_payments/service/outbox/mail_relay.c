/* SPDX-License-Identifier: Apache-2.0 */
#include "service/outbox/mail_relay.h"

#include <apr_strings.h>
#include <string.h>

#define RELAY_SCHEMES "smtp smtps"

/* "user\npassword", sealed. */
static void read_login(pay_mail_relay_t *out, const char *sealed, const pay_keyring_t *keyring,
                       apr_pool_t *p)
{
    const char *text, *end;
    apr_status_t rv;

    if (!*sealed) {
        return;
    }
    if (!keyring) {
        out->waits = "there is no master key to open the relay's login";
        return;
    }
    rv = pay_keyring_open(&text, keyring, PAY_DELIVERY_LOGIN_CONTEXT, sealed, p);
    if (rv != APR_SUCCESS) {
        out->waits = "the relay's login does not open under the master key";
        return;
    }
    end = strchr(text, '\n');
    out->user = end ? apr_pstrmemdup(p, text, (apr_size_t)(end - text)) : text;
    out->password = end ? end + 1 : "";
}

void pay_mail_relay_read(pay_mail_relay_t *out, const pay_delivery_t *delivery,
                         const pay_keyring_t *keyring, apr_pool_t *p)
{
    const char *fault;
    pay_url_t *relay;
    apr_status_t rv;

    memset(out, 0, sizeof(*out));
    out->ca_file = *delivery->trusted_ca ? delivery->trusted_ca : NULL;
    if (!*delivery->mail_relay) {
        out->waits = "PaymentsMailRelay is not set";
        return;
    }
    rv = pay_url_parse(&relay, &fault, delivery->mail_relay, RELAY_SCHEMES, p);
    if (rv != APR_SUCCESS) {
        out->waits = "PaymentsMailRelay is not the URL of a mail relay";
        return;
    }
    out->url = relay;
    read_login(out, delivery->mail_login, keyring, p);
}

void pay_mail_relay_address(pay_transfer_t *transfer, const pay_mail_relay_t *relay)
{
    transfer->url = relay->url->text;
    transfer->user = relay->user;
    transfer->password = relay->password;
    transfer->ca_file = relay->ca_file;
}
