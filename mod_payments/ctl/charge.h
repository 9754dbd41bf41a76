/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_CHARGE_H
#define PAY_CTL_CHARGE_H

/* One charge, for the commands that show or decide it. */

#include "ctl/output.h"

/* Finds the charge that the first two arguments and --mode name; prints errors. */
ctl_exit_t ctl_charge_find(pay_charge_t **out, ctl_t *ctl);

/* As shown by `charge show`. */
void ctl_charge_print(const ctl_t *ctl, const pay_charge_t *charge);

#endif
