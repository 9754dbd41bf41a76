/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"

#include <string.h>

#define ACCOUNT_SETTINGS                                                                           \
    (CTL_O(KEY_PREFIX) | CTL_O(CURRENCY) | CTL_O(TIMEZONE) | CTL_O(SHOP_NAME) | CTL_O(SHOP_LOGO)   \
     | CTL_O(SHOP_TEXT) | CTL_O(RETURN_HOST) | CTL_O(FEE))

#define LIVE_DETAILS                                                                               \
    "In Live Mode the account's live keys start charges and refunds, which move money; in Test\n"  \
    "Mode they start none. Test keys work in both. Before going live, check that the server has\n" \
    "a PaymentsAcquirer for the account: without one live charges are refused with 403.\n"

#define GRANT_DETAILS                                                                              \
    "USER is the name that the site's authentication gives on that host, letter by letter; the\n"  \
    "same name on another host is another person. A viewer sees, an operator also refunds and\n"   \
    "decides, an owner also has the keys and the settings. Another grant replaces the role.\n"

#define RESOLVE_DETAILS                                                                            \
    "For payments whose outcome cannot be queried: ask the acquirer first. The reason is kept\n"   \
    "in the record; it must not contain a card number.\n"

#define RANGE_DETAILS "Both dates are inclusive; bare ones are days in the account's time zone.\n"

#define AUDIT_DETAILS                                                                              \
    "Without ACCOUNT first the entries of the whole store, then account by account. Both dates\n"  \
    "are inclusive; bare ones are days in the account's time zone, without ACCOUNT in UTC.\n"

#define SYNC_DETAILS                                                                               \
    "Both dates are inclusive; bare ones are days in the account's time zone. The server alone\n"  \
    "holds the acquirer's key and does it; this waits for the end.\n"

#define CONFIRM_DETAILS                                                                            \
    "For a store that was restored from a backup or a copy: live refunds and events wait until\n"  \
    "then. Without --yes it lists what the copy brings back and changes nothing.\n"

#define TOKEN_CREATE_DETAILS                                                                       \
    "Cards of Test Mode: 5555555555554444 approved, 1234567898765432 declined,\n"                  \
    "4000000000009995 insufficient funds, 4000000000000069 expired card,\n"                        \
    "4000000000000119 no answer (pending, later successful),\n"                                    \
    "4000000000003220 asks a one-time code at checkout.\n"                                         \
    "Only the payer of --email can be charged with the token.\n"

/* Each in the order of --help. docs/paymentsctl.8 has a section for each command. */
static const ctl_command_t money[] = {
    {.name = "account create",
     .synopsis = "NAME",
     .summary = "create an account, and the store if it does not exist",
     .args_min = 1,
     .args_max = 1,
     .optional = ACCOUNT_SETTINGS,
     .open = CTL_OPEN_CREATE,
     .run = ctl_account_create},
    {.name = "account list",
     .synopsis = "",
     .summary = "list the accounts",
     .optional = CTL_O(LIMIT),
     .open = CTL_OPEN_READ,
     .run = ctl_account_list},
    {.name = "account show",
     .synopsis = "NAME",
     .summary = "show one account",
     .args_min = 1,
     .args_max = 1,
     .open = CTL_OPEN_READ,
     .run = ctl_account_show},
    {.name = "account set",
     .synopsis = "NAME",
     .summary = "change settings of an account",
     .args_min = 1,
     .args_max = 1,
     .optional = ACCOUNT_SETTINGS,
     .open = CTL_OPEN_WRITE,
     .run = ctl_account_set},
    {.name = "account mode",
     .synopsis = "NAME test|live",
     .summary = "switch an account to Test Mode or Live Mode",
     .details = LIVE_DETAILS,
     .args_min = 2,
     .args_max = 2,
     .open = CTL_OPEN_WRITE,
     .run = ctl_account_mode},
    {.name = "account grant",
     .synopsis = "ACCOUNT USER --host NAME --role owner|operator|viewer",
     .summary = "let a user of a virtual host use the dashboard",
     .details = GRANT_DETAILS,
     .args_min = 2,
     .args_max = 2,
     .required = CTL_O(HOST) | CTL_O(ROLE),
     .open = CTL_OPEN_WRITE,
     .run = ctl_account_grant},
    {.name = "account revoke",
     .synopsis = "ACCOUNT USER --host NAME",
     .summary = "remove a user's grant",
     .args_min = 2,
     .args_max = 2,
     .required = CTL_O(HOST),
     .open = CTL_OPEN_WRITE,
     .run = ctl_account_revoke},
    {.name = "account grants",
     .synopsis = "[ACCOUNT]",
     .summary = "list who may use the dashboard",
     .args_max = 1,
     .optional = CTL_O(LIMIT),
     .open = CTL_OPEN_READ,
     .run = ctl_account_grants},
    {.name = "key create",
     .synopsis = "ACCOUNT --mode test|live --kind secret|public",
     .summary = "create a key and print it, once",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE) | CTL_O(KIND),
     .open = CTL_OPEN_WRITE,
     .run = ctl_key_create},
    {.name = "key import",
     .synopsis = "ACCOUNT --mode test|live --kind secret|public",
     .summary = "import the key on standard input",
     .details = "The key is one line of standard input. Prints its id.\n",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE) | CTL_O(KIND),
     .open = CTL_OPEN_WRITE,
     .run = ctl_key_import},
    {.name = "key list",
     .synopsis = "[ACCOUNT]",
     .summary = "list the keys of an account, or of all, without their text",
     .args_max = 1,
     .optional = CTL_O(LIMIT),
     .open = CTL_OPEN_READ,
     .run = ctl_key_list},
    {.name = "key revoke",
     .synopsis = "ID",
     .summary = "end a key now",
     .args_min = 1,
     .args_max = 1,
     .open = CTL_OPEN_WRITE,
     .run = ctl_key_revoke},
    {.name = "key rotate",
     .synopsis = "ID",
     .summary = "create a key's successor and print it, once",
     .details = "Without --overlap the old key ends now.\n",
     .args_min = 1,
     .args_max = 1,
     .optional = CTL_O(OVERLAP),
     .open = CTL_OPEN_WRITE,
     .run = ctl_key_rotate},
    {.name = "token create",
     .synopsis = "ACCOUNT --mode test --card NUMBER --email ADDRESS",
     .summary = "create a card token of Test Mode and print it",
     .details = TOKEN_CREATE_DETAILS,
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE) | CTL_O(CARD) | CTL_O(EMAIL),
     .optional = CTL_O(TOKEN),
     .open = CTL_OPEN_WRITE,
     .run = ctl_token_create},
    {.name = "token list",
     .synopsis = "ACCOUNT --mode test|live",
     .summary = "list the card tokens",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE),
     .optional = CTL_O(LIMIT),
     .open = CTL_OPEN_READ,
     .run = ctl_token_list},
    {.name = "token revoke",
     .synopsis = "ACCOUNT TOKEN --mode test|live",
     .summary = "end a card token now",
     .args_min = 2,
     .args_max = 2,
     .required = CTL_O(MODE),
     .open = CTL_OPEN_WRITE,
     .run = ctl_token_revoke},
    {.name = "charge list",
     .synopsis = "ACCOUNT --mode test|live",
     .summary = "list the charges, oldest first",
     .details = RANGE_DETAILS "With --email or --state the newest is first.\n",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE),
     .optional =
         CTL_O(EMAIL) | CTL_O(STATE) | CTL_O(FROM) | CTL_O(TO) | CTL_O(LIMIT) | CTL_O(FORMAT),
     .open = CTL_OPEN_READ,
     .run = ctl_charge_list},
    {.name = "charge show",
     .synopsis = "ACCOUNT REFERENCE --mode test|live",
     .summary = "show one charge",
     .args_min = 2,
     .args_max = 2,
     .required = CTL_O(MODE),
     .open = CTL_OPEN_READ,
     .run = ctl_charge_show},
    {.name = "charge resolve",
     .synopsis = "ACCOUNT REFERENCE --mode test|live --outcome successful|failed --reason TEXT",
     .summary = "decide a charge that waits for a person",
     .details = RESOLVE_DETAILS,
     .args_min = 2,
     .args_max = 2,
     .required = CTL_O(MODE) | CTL_O(OUTCOME) | CTL_O(REASON),
     .open = CTL_OPEN_WRITE,
     .run = ctl_charge_resolve},
    {.name = "refund create",
     .synopsis = "ACCOUNT --mode test|live --reference TEXT",
     .summary = "refund a charge, or part of it",
     .details = "With --mode live the server carries it out; 'refund show' prints the outcome.\n",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE) | CTL_O(REFERENCE),
     .optional = CTL_O(AMOUNT) | CTL_O(CUSTOMER_NOTE) | CTL_O(MERCHANT_NOTE),
     .open = CTL_OPEN_WRITE,
     .run = ctl_refund_create},
    {.name = "refund list",
     .synopsis = "ACCOUNT --mode test|live",
     .summary = "list the refunds, oldest first",
     .details = RANGE_DETAILS,
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE),
     .optional = CTL_O(FROM) | CTL_O(TO) | CTL_O(LIMIT) | CTL_O(FORMAT),
     .open = CTL_OPEN_READ,
     .run = ctl_refund_list},
    {.name = "refund show",
     .synopsis = "ACCOUNT REFUND --mode test|live",
     .summary = "show one refund",
     .args_min = 2,
     .args_max = 2,
     .required = CTL_O(MODE),
     .open = CTL_OPEN_READ,
     .run = ctl_refund_show},
    {.name = "refund resolve",
     .synopsis = "ACCOUNT REFUND --mode test|live --outcome processed|failed --reason TEXT",
     .summary = "decide a refund that waits for a person",
     .details = RESOLVE_DETAILS,
     .args_min = 2,
     .args_max = 2,
     .required = CTL_O(MODE) | CTL_O(OUTCOME) | CTL_O(REASON),
     .open = CTL_OPEN_WRITE,
     .run = ctl_refund_resolve},
    {.name = "refund sync",
     .synopsis = "ACCOUNT --mode live --from DATE --to DATE",
     .summary = "have the server fetch refunds from the acquirer",
     .details = SYNC_DETAILS,
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE) | CTL_O(FROM) | CTL_O(TO),
     .optional = CTL_O(NO_WAIT),
     .open = CTL_OPEN_WRITE,
     .run = ctl_refund_sync},
    {.name = "refund link",
     .synopsis = "ACCOUNT --mode live [--yes]",
     .summary = "list the refunds without a charge, and link those whose charge exists",
     .details = "They come from the acquirer's books, and count on no charge of this store. --yes "
                "links\n"
                "those whose charge is here by now.\n",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE),
     .optional = CTL_O(YES),
     .open = CTL_OPEN_WRITE,
     .run = ctl_refund_link},
    {.name = "refund import",
     .synopsis = "ACCOUNT FILE --mode test|live",
     .summary = "import refund records made elsewhere",
     .details =
         "FILE is a JSON array of refund records, or one record a line. A fault anywhere in\n"
         "it leaves the store as it was; records that the store already has are skipped.\n",
     .args_min = 2,
     .args_max = 2,
     .required = CTL_O(MODE),
     .open = CTL_OPEN_WRITE,
     .run = ctl_refund_import},
    {.name = "held list",
     .synopsis = "[ACCOUNT]",
     .summary = "list the charges and refunds that wait for a person",
     .details = "'charge resolve' and 'refund resolve' decide them.\n",
     .args_max = 1,
     .optional = CTL_O(MODE) | CTL_O(LIMIT) | CTL_O(FORMAT),
     .open = CTL_OPEN_READ,
     .run = ctl_held_list},
    {.name = "totals",
     .synopsis = "ACCOUNT --mode test|live --by day|month",
     .summary = "sum up charges and refunds by day or month and currency",
     .details = "Days and months are those of the account's time zone; both dates are inclusive.\n",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE) | CTL_O(BY),
     .optional = CTL_O(FROM) | CTL_O(TO) | CTL_O(FORMAT),
     .open = CTL_OPEN_READ,
     .run = ctl_totals},
};

static const ctl_command_t store[] = {
    {.name = "audit list",
     .synopsis = "[ACCOUNT]",
     .summary = "list the changes that people made, newest first",
     .details = AUDIT_DETAILS,
     .args_max = 1,
     .optional = CTL_O(FROM) | CTL_O(TO) | CTL_O(LIMIT) | CTL_O(FORMAT),
     .open = CTL_OPEN_READ,
     .run = ctl_audit_list},
    {.name = "store check",
     .synopsis = "",
     .summary = "read all of the store and print one line per fault",
     .details = "Exits 0 when there is no fault, 1 otherwise.\n",
     .open = CTL_OPEN_READ,
     .run = ctl_store_check},
    {.name = "store stat",
     .synopsis = "",
     .summary = "show counts and sizes",
     .open = CTL_OPEN_READ,
     .run = ctl_store_stat},
    {.name = "store backup",
     .synopsis = "DIR",
     .summary = "copy the store into the new directory DIR",
     .args_min = 1,
     .args_max = 1,
     .open = CTL_OPEN_READ,
     .run = ctl_store_backup},
    {.name = "store confirm",
     .synopsis = "",
     .summary = "let a restored store send live refunds and events again",
     .details = CONFIRM_DETAILS,
     .optional = CTL_O(YES) | CTL_O(UNSYNCED),
     .open = CTL_OPEN_WRITE,
     .run = ctl_store_confirm},
    {.name = "store upgrade",
     .synopsis = "",
     .summary = "upgrade an older store to this version, after a backup next to it",
     .details = "Nothing else may use the store meanwhile: stop the server first.\n",
     .optional = CTL_O(DRY_RUN),
     .open = CTL_OPEN_BY_ITSELF,
     .run = ctl_store_upgrade},
    {.name = "store rotate-master-key",
     .synopsis = "",
     .summary = "create a new master key and seal the stored secrets again",
     .details = "Reload the server afterwards: until then it cannot open them. If it is "
                "interrupted,\n"
                "run it again.\n",
     .open = CTL_OPEN_WRITE,
     .keyring = CTL_KEYRING_WRITE,
     .run = ctl_store_rotate_master_key},
};

#define ROWS(table)                                                                                \
    {                                                                                              \
        (table), (int)(sizeof(table) / sizeof((table)[0]))                                         \
    }

const ctl_command_t *ctl_command_at(int i)
{
    const struct {
        const ctl_command_t *rows;
        int count;
    } groups[] = {ROWS(money),
                  {ctl_commands_notify, ctl_commands_notify_count},
                  {ctl_commands_checkout, ctl_commands_checkout_count},
                  {ctl_commands_erase, ctl_commands_erase_count},
                  ROWS(store)};
    size_t group;

    for (group = 0; group < sizeof(groups) / sizeof(groups[0]); group++) {
        if (i < groups[group].count) {
            return &groups[group].rows[i];
        }
        i -= groups[group].count;
    }
    return NULL;
}

int ctl_command_begins(int *all, const ctl_command_t *command, const char *const *words, int count)
{
    const char *name = command->name;
    size_t len;
    int i;

    *all = 0;
    for (i = 0; i < count; i++) {
        len = strcspn(name, " ");
        if (strlen(words[i]) != len || strncmp(words[i], name, len) != 0) {
            return 0;
        }
        name += len;
        if (!*name) {
            *all = i == count - 1;
            return *all;
        }
        name++;
    }
    return 1;
}

const ctl_command_t *ctl_command_find(int *known, const char *const *words, int count)
{
    const ctl_command_t *command;
    int all, i;

    *known = 0;
    for (i = 0; (command = ctl_command_at(i)) != NULL; i++) {
        if (ctl_command_begins(&all, command, words, count)) {
            *known = 1;
            if (all) {
                return command;
            }
        }
    }
    return NULL;
}
