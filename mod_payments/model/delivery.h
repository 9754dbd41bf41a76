/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_DELIVERY_H
#define PAY_MODEL_DELIVERY_H

/*
 * How the server delivers, according to its directives. The server stores this at each start, so
 * that paymentsctl delivers in the same way. All strings are set; "" stands for an absent value.
 */
typedef struct pay_delivery_t {
    int webhook_insecure;       /* PaymentsWebhookInsecure: http in Test Mode */
    const char *trusted_ca;     /* PaymentsTrustedCA: a file of certificates; "": the system's */
    const char *webhook_allow;  /* PaymentsWebhookAllow: networks, separated by blanks */
    const char *mail_relay;     /* PaymentsMailRelay: smtp://host:port, smtps://host:port */
    const char *mail_login;     /* "user\npassword", sealed by the keyring */
    const char *mail_from;      /* PaymentsMailFrom: an addr-spec */
    const char *mail_templates; /* PaymentsMailTemplates: a directory; "": the installed one */
} pay_delivery_t;

/* The context under which mail_login is sealed. */
#define PAY_DELIVERY_LOGIN_CONTEXT "mail login"

#endif
