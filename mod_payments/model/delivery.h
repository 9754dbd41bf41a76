/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_DELIVERY_H
#define PAY_MODEL_DELIVERY_H

/*
 * How the server delivers, as its directives say. The server stores it at each start, so that
 * paymentsctl delivers in the same way. All strings are set, "" for none.
 */
typedef struct pay_delivery_t {
    int webhook_insecure;       /* PaymentsWebhookInsecure: http in Test Mode */
    const char *trusted_ca;     /* PaymentsTrustedCA: a file of certificates; "": the system's */
    const char *webhook_allow;  /* PaymentsWebhookAllow: networks, blanks between them */
    const char *mail_relay;     /* PaymentsMailRelay: smtp://host:port, smtps://host:port */
    const char *mail_login;     /* "user\npassword", sealed by the keyring */
    const char *mail_from;      /* PaymentsMailFrom: an addr-spec */
    const char *mail_templates; /* PaymentsMailTemplates: a directory; "": the installed one */
} pay_delivery_t;

/* What mail_login is sealed under. */
#define PAY_DELIVERY_LOGIN_CONTEXT "mail login"

#endif
