/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_ACQUIRER_SIMULATOR_H
#define PAY_ACQUIRER_SIMULATOR_H

/*
 * Test Mode's acquirer: moves no money, decides inside the process from the token and card alone
 * (docs/api.md, "Test data"), never waits. Its context is NULL.
 */

#include "acquirer/mod_payments.h"

extern const payments_acquirer_t pay_acquirer_simulator;

#endif
