/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_CHARGE_H
#define PAY_CTL_CHARGE_H

/* One charge, for the commands that show or decide it. */

#include "ctl/output.h"

/* The charge of the first two arguments with --mode; faults are told. */
ctl_exit_t ctl_charge_find(pay_charge_t **out, ctl_t *ctl);

/* As `charge show` has it. */
void ctl_charge_print(const ctl_t *ctl, const pay_charge_t *charge);

#endif
