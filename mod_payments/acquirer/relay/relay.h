/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_ACQUIRER_RELAY_RELAY_H
#define PAY_ACQUIRER_RELAY_RELAY_H

/*
 * The connector "relay": an upstream with this same API (docs/api.md), either the deployed service
 * or another mod_payments. PaymentsAcquirer live relay https://HOST[/PATH] key=... [ca=...]
 * (docs/live-mode.md).
 */

#include "acquirer/mod_payments.h"

#define PAY_ACQUIRER_RELAY_NAME "relay"
#define PAY_ACQUIRER_RELAY_CA "ca"   /* parameter: a file of certificates, else the system's */
#define PAY_ACQUIRER_RELAY_KEY "key" /* parameter: a secret key of the upstream */

extern const payments_acquirer_t pay_acquirer_relay;

/* Returns 1 if the key is of the upstream's Test Mode: its payments move no money. */
int pay_acquirer_relay_is_test_key(const char *key);

#endif
