/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ctl_commands.h"

#define SYNOPSIS "ACCOUNT --mode test|live"
#define FORMS (CTL_O(XML) | CTL_O(BASE64))

const ctl_command_t ctl_commands_checkout[] = {
    {.name = "encryption-key show",
     .synopsis = SYNOPSIS,
     .summary = "print the public key that orders are encrypted with",
     .details = "Makes it when there is none. PEM; --xml --base64 prints what clients of the\n"
                "deployed API are given.\n",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE),
     .optional = FORMS,
     .open = CTL_OPEN_WRITE,
     .keyring = CTL_KEYRING_WRITE,
     .run = ctl_encryption_key_show},
    {.name = "encryption-key renew",
     .synopsis = SYNOPSIS,
     .summary = "make another one and print it",
     .details = "What is encrypted with the one before is refused at once.\n",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE),
     .optional = FORMS,
     .open = CTL_OPEN_WRITE,
     .keyring = CTL_KEYRING_WRITE,
     .run = ctl_encryption_key_renew},
};

const int ctl_commands_checkout_count =
    (int)(sizeof(ctl_commands_checkout) / sizeof(ctl_commands_checkout[0]));
