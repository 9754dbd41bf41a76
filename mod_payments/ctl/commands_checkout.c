/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"

#define SYNOPSIS "ACCOUNT --mode test|live"
#define FORMS (CTL_O(XML) | CTL_O(BASE64))

#define CREATE_OPTIONS                                                                             \
    (CTL_O(REFERENCE) | CTL_O(AMOUNT) | CTL_O(CURRENCY) | CTL_O(TITLE) | CTL_O(DESCRIPTION)        \
     | CTL_O(ONCE) | CTL_O(EXPIRES) | CTL_O(REDIRECT) | CTL_O(SITE))

#define CREATE_DETAILS                                                                             \
    "Without --amount payers enter the amount. Prints the path of the link's page, with --site\n"  \
    "its whole address.\n"

#define DISABLE_DETAILS "Payers who have begun to pay can finish. A disabled link stays disabled.\n"

const ctl_command_t ctl_commands_checkout[] = {
    {.name = "encryption-key show",
     .synopsis = SYNOPSIS,
     .summary = "print the public key that encrypts orders",
     .details = "Creates it if it does not exist. PEM; --xml --base64 prints the form for clients "
                "of\n"
                "the deployed API.\n",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE),
     .optional = FORMS,
     .open = CTL_OPEN_WRITE,
     .keyring = CTL_KEYRING_WRITE,
     .run = ctl_encryption_key_show},
    {.name = "encryption-key renew",
     .synopsis = SYNOPSIS,
     .summary = "create another one and print it",
     .details = "Orders encrypted with the previous key are refused at once.\n",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE),
     .optional = FORMS,
     .open = CTL_OPEN_WRITE,
     .keyring = CTL_KEYRING_WRITE,
     .run = ctl_encryption_key_renew},
    {.name = "link create",
     .synopsis = SYNOPSIS,
     .summary = "create a payment link",
     .details = CREATE_DETAILS,
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE),
     .optional = CREATE_OPTIONS,
     .open = CTL_OPEN_WRITE,
     .run = ctl_link_create},
    {.name = "link list",
     .synopsis = SYNOPSIS,
     .summary = "list the payment links by reference",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE),
     .optional = CTL_O(LIMIT) | CTL_O(FORMAT) | CTL_O(SITE),
     .open = CTL_OPEN_READ,
     .run = ctl_link_list},
    {.name = "link show",
     .synopsis = "ACCOUNT REFERENCE --mode test|live",
     .summary = "show one payment link",
     .args_min = 2,
     .args_max = 2,
     .required = CTL_O(MODE),
     .optional = CTL_O(SITE),
     .open = CTL_OPEN_READ,
     .run = ctl_link_show},
    {.name = "link disable",
     .synopsis = "ACCOUNT REFERENCE --mode test|live",
     .summary = "end a payment link now",
     .details = DISABLE_DETAILS,
     .args_min = 2,
     .args_max = 2,
     .required = CTL_O(MODE),
     .optional = CTL_O(SITE),
     .open = CTL_OPEN_WRITE,
     .run = ctl_link_disable},
};

const int ctl_commands_checkout_count =
    (int)(sizeof(ctl_commands_checkout) / sizeof(ctl_commands_checkout[0]));
