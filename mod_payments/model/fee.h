/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_FEE_H
#define PAY_MODEL_FEE_H

/*
 * An account's fee rules: what its acquirer keeps of an approved charge, by currency and channel
 * (docs/api.md, "Fees"). A rule is
 *
 *     CURRENCY [CHANNEL] PERCENT% [+ AMOUNT] [min AMOUNT] [max AMOUNT]
 *     CURRENCY [CHANNEL] AMOUNT
 *
 * as in "NGN 1.5% + 100.00 max 2000.00". Rules follow each other, with a semicolon between them or
 * without. Pure.
 */

#include "model/charge.h"

#define PAY_FEE_RULES_MAX 32 /* of at most 100 bytes each in normal form */

/*
 * Sets *out to the rules of `text` in normal form, in `p`: one blank between words, "; " between
 * rules, amounts with all decimals of their currency. "" has no rules. Returns NULL, or a sentence
 * that says what is wrong; *out is not set then.
 */
const char *pay_fee_rules_read(const char **out, const char *text, apr_pool_t *p);

/*
 * Returns the fee of a charge of `money` through `channel`, in minor units of its currency, by
 * `rules` in normal form. A rule with a channel takes precedence over one without. The percentage
 * is rounded to the minor unit, halves up; min and max apply to the sum. 0 if no rule applies. A
 * rule whose currency ISO 4217 has dropped since is passed over.
 */
apr_int64_t pay_fee_of(const char *rules, const pay_money_t *money, pay_channel_t channel);

#endif
