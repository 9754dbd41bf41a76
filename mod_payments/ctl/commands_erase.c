/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"

const ctl_command_t ctl_commands_erase[] = {
    {.name = "payer erase",
     .synopsis = "ACCOUNT --email ADDRESS --yes",
     .summary = "blank name, e-mail and address of a payer, for ever",
     .details = "In both modes, unless --mode says test or live. Amounts stay.\n",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(EMAIL) | CTL_O(YES),
     .optional = CTL_O(MODE),
     .open = CTL_OPEN_WRITE,
     .run = ctl_payer_erase},
    {.name = "account reset",
     .synopsis = "NAME --mode test --yes",
     .summary = "empty an account's Test Mode",
     .details = "Charges, refunds, events, tokens and totals go; keys and settings stay.\n",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE) | CTL_O(YES),
     .open = CTL_OPEN_WRITE,
     .run = ctl_account_reset},
};

const int ctl_commands_erase_count =
    (int)(sizeof(ctl_commands_erase) / sizeof(ctl_commands_erase[0]));
