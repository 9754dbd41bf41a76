/* SPDX-License-Identifier: Apache-2.0 */

/* paymentsctl: accounts, keys, tokens, charges, refunds and the store, from a shell. */

#include "ctl/ctl_help.h"
#include "ctl/ctl_message.h"
#include "ctl/ctl_options.h"
#include "ctl/ctl_output.h"

#include <apr_general.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ACCOUNT_SETTINGS (CTL_O(KEY_PREFIX) | CTL_O(CURRENCY) | CTL_O(TIMEZONE))

#define RANGE_DETAILS "Both dates are inclusive; bare ones are days in the account's time zone.\n"

#define TOKEN_CREATE_DETAILS                                                                       \
    "Cards of Test Mode: 5555555555554444 approved, 1234567898765432 declined,\n"                  \
    "4000000000009995 insufficient funds, 4000000000000069 expired card,\n"                        \
    "4000000000000119 no answer (pending, later successful),\n"                                    \
    "4000000000003220 asks a one-time code at checkout.\n"

/* Every command, in the order of --help. docs/paymentsctl.8 has a section for each. */
static const ctl_command_t commands[] = {
    {.noun = "account",
     .verb = "create",
     .synopsis = "NAME",
     .summary = "make an account, and the store if there is none",
     .args_min = 1,
     .args_max = 1,
     .optional = ACCOUNT_SETTINGS,
     .open = CTL_OPEN_CREATE,
     .run = ctl_account_create},
    {.noun = "account",
     .verb = "list",
     .synopsis = "",
     .summary = "list the accounts",
     .optional = CTL_O(LIMIT),
     .open = CTL_OPEN_READ,
     .run = ctl_account_list},
    {.noun = "account",
     .verb = "show",
     .synopsis = "NAME",
     .summary = "show one account",
     .args_min = 1,
     .args_max = 1,
     .open = CTL_OPEN_READ,
     .run = ctl_account_show},
    {.noun = "account",
     .verb = "set",
     .synopsis = "NAME",
     .summary = "change settings of an account",
     .details = "With --mode live, live keys may start charges; with --mode test they may not.\n",
     .args_min = 1,
     .args_max = 1,
     .optional = ACCOUNT_SETTINGS | CTL_O(MODE),
     .open = CTL_OPEN_WRITE,
     .run = ctl_account_set},
    {.noun = "key",
     .verb = "create",
     .synopsis = "ACCOUNT --mode test|live --kind secret|public",
     .summary = "make a key and print it, once",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE) | CTL_O(KIND),
     .open = CTL_OPEN_WRITE,
     .run = ctl_key_create},
    {.noun = "key",
     .verb = "import",
     .synopsis = "ACCOUNT --mode test|live --kind secret|public",
     .summary = "take over the key on standard input",
     .details = "The key is one line of standard input. Prints the id it got.\n",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE) | CTL_O(KIND),
     .open = CTL_OPEN_WRITE,
     .run = ctl_key_import},
    {.noun = "key",
     .verb = "list",
     .synopsis = "[ACCOUNT]",
     .summary = "list the keys of an account, or of all, without their text",
     .args_max = 1,
     .optional = CTL_O(LIMIT),
     .open = CTL_OPEN_READ,
     .run = ctl_key_list},
    {.noun = "key",
     .verb = "revoke",
     .synopsis = "ID",
     .summary = "end a key now",
     .args_min = 1,
     .args_max = 1,
     .open = CTL_OPEN_WRITE,
     .run = ctl_key_revoke},
    {.noun = "key",
     .verb = "rotate",
     .synopsis = "ID",
     .summary = "make a key's successor and print it, once",
     .args_min = 1,
     .args_max = 1,
     .optional = CTL_O(OVERLAP),
     .open = CTL_OPEN_WRITE,
     .run = ctl_key_rotate},
    {.noun = "token",
     .verb = "create",
     .synopsis = "ACCOUNT --mode test --card NUMBER --email ADDRESS",
     .summary = "make a card token of Test Mode and print it",
     .details = TOKEN_CREATE_DETAILS,
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE) | CTL_O(CARD) | CTL_O(EMAIL),
     .optional = CTL_O(TOKEN),
     .open = CTL_OPEN_WRITE,
     .run = ctl_token_create},
    {.noun = "token",
     .verb = "list",
     .synopsis = "ACCOUNT --mode test|live",
     .summary = "list the card tokens",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE),
     .optional = CTL_O(LIMIT),
     .open = CTL_OPEN_READ,
     .run = ctl_token_list},
    {.noun = "token",
     .verb = "revoke",
     .synopsis = "ACCOUNT TOKEN --mode test|live",
     .summary = "end a card token now",
     .args_min = 2,
     .args_max = 2,
     .required = CTL_O(MODE),
     .open = CTL_OPEN_WRITE,
     .run = ctl_token_revoke},
    {.noun = "charge",
     .verb = "list",
     .synopsis = "ACCOUNT --mode test|live",
     .summary = "list the charges, oldest first",
     .details = RANGE_DETAILS,
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE),
     .optional = CTL_O(FROM) | CTL_O(TO) | CTL_O(LIMIT) | CTL_O(FORMAT),
     .open = CTL_OPEN_READ,
     .run = ctl_charge_list},
    {.noun = "charge",
     .verb = "show",
     .synopsis = "ACCOUNT REFERENCE --mode test|live",
     .summary = "show one charge",
     .args_min = 2,
     .args_max = 2,
     .required = CTL_O(MODE),
     .open = CTL_OPEN_READ,
     .run = ctl_charge_show},
    {.noun = "refund",
     .verb = "create",
     .synopsis = "ACCOUNT --mode test|live --reference TEXT",
     .summary = "refund a charge, or part of it",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE) | CTL_O(REFERENCE),
     .optional = CTL_O(AMOUNT) | CTL_O(CUSTOMER_NOTE) | CTL_O(MERCHANT_NOTE),
     .open = CTL_OPEN_WRITE,
     .run = ctl_refund_create},
    {.noun = "refund",
     .verb = "list",
     .synopsis = "ACCOUNT --mode test|live",
     .summary = "list the refunds, oldest first",
     .details = RANGE_DETAILS,
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE),
     .optional = CTL_O(FROM) | CTL_O(TO) | CTL_O(LIMIT) | CTL_O(FORMAT),
     .open = CTL_OPEN_READ,
     .run = ctl_refund_list},
    {.noun = "refund",
     .verb = "import",
     .synopsis = "ACCOUNT FILE --mode test|live",
     .summary = "take over refund records made elsewhere",
     .details =
         "FILE is a JSON array of refund records, or one record a line. A fault anywhere in\n"
         "it leaves the store as it was; what the store has already is skipped.\n",
     .args_min = 2,
     .args_max = 2,
     .required = CTL_O(MODE),
     .open = CTL_OPEN_WRITE,
     .run = ctl_refund_import},
    {.noun = "totals",
     .verb = "",
     .synopsis = "ACCOUNT --mode test|live --by day|month",
     .summary = "sum up charges and refunds by day or month and currency",
     .details = "Days and months are those of the account's time zone; both dates are inclusive.\n",
     .args_min = 1,
     .args_max = 1,
     .required = CTL_O(MODE) | CTL_O(BY),
     .optional = CTL_O(FROM) | CTL_O(TO) | CTL_O(FORMAT),
     .open = CTL_OPEN_READ,
     .run = ctl_totals},
    {.noun = "store",
     .verb = "check",
     .synopsis = "",
     .summary = "read all of the store and print one line per fault",
     .details = "Exits 0 when there is no fault, 1 otherwise.\n",
     .open = CTL_OPEN_READ,
     .run = ctl_store_check},
    {.noun = "store",
     .verb = "stat",
     .synopsis = "",
     .summary = "show counts and sizes",
     .open = CTL_OPEN_READ,
     .run = ctl_store_stat},
    {.noun = "store",
     .verb = "backup",
     .synopsis = "DIR",
     .summary = "copy the store into the new directory DIR",
     .args_min = 1,
     .args_max = 1,
     .open = CTL_OPEN_READ,
     .run = ctl_store_backup},
    {.noun = "store",
     .verb = "upgrade",
     .synopsis = "",
     .summary = "bring an older store to this version, after a backup beside it",
     .details = "Nothing else may use the store meanwhile: stop the server first.\n",
     .optional = CTL_O(DRY_RUN),
     .open = CTL_OPEN_BY_ITSELF,
     .run = ctl_store_upgrade},
};

#define COMMANDS_COUNT ((int)(sizeof(commands) / sizeof(commands[0])))

static int noun_is_known(const char *noun)
{
    int i;

    for (i = 0; i < COMMANDS_COUNT; i++) {
        if (strcmp(commands[i].noun, noun) == 0) {
            return 1;
        }
    }
    return 0;
}

static const ctl_command_t *command_find(const char *noun, const char *verb)
{
    int i;

    for (i = 0; i < COMMANDS_COUNT; i++) {
        if (strcmp(commands[i].noun, noun) == 0 && strcmp(commands[i].verb, verb) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static ctl_exit_t command_run(ctl_t *ctl)
{
    ctl_exit_t failed;

    ctl->json = ctl->option[CTL_OPTION_JSON] != NULL;
    failed = ctl_option_format(ctl);
    if (failed) {
        return failed;
    }
    if (!ctl->option[CTL_OPTION_STORE]) {
        ctl->option[CTL_OPTION_STORE] = getenv("PAYMENTS_STORE");
    }
    if (!ctl->option[CTL_OPTION_STORE]) {
        return ctl_fail(CTL_EXIT_USAGE, "no store is named; give -s lmdb:DIR or set "
                                        "PAYMENTS_STORE");
    }
    if (ctl->command->open != CTL_OPEN_CREATE) { /* such a command looks at its arguments first */
        failed = ctl_open(ctl);
        if (failed) {
            return failed;
        }
    }
    return ctl->command->run(ctl);
}

/* Runs the command whose last word is argv[0]. */
static ctl_exit_t command_read(ctl_t *ctl, int argc, const char *const *argv)
{
    ctl_exit_t failed;

    failed = ctl_options_command(ctl, argc, argv);
    if (failed) {
        return failed;
    }
    if (ctl->option[CTL_OPTION_HELP]) {
        ctl_help_command(ctl->command);
        return CTL_OK;
    }
    return command_run(ctl);
}

/* Each level reads the options behind its word: the program's name, the noun, the verb. */
static ctl_exit_t line_read(ctl_t *ctl, int argc, const char *const *argv)
{
    ctl_exit_t failed;
    int next;

    failed = ctl_options_global(&next, ctl, argc, argv);
    if (failed) {
        return failed;
    }
    if (ctl->option[CTL_OPTION_HELP]) {
        ctl_help_all(commands, COMMANDS_COUNT);
        return CTL_OK;
    }
    if (next == argc) {
        return ctl_fail(CTL_EXIT_USAGE, "no command is given; see 'paymentsctl --help'");
    }
    argc -= next;
    argv += next;
    if (!noun_is_known(argv[0])) {
        return ctl_fail(CTL_EXIT_USAGE, "unknown command %s; see 'paymentsctl --help'", argv[0]);
    }
    ctl->command = command_find(argv[0], "");
    if (ctl->command) {
        return command_read(ctl, argc, argv);
    }
    failed = ctl_options_global(&next, ctl, argc, argv);
    if (failed) {
        return failed;
    }
    if (ctl->option[CTL_OPTION_HELP]) {
        ctl_help_noun(commands, COMMANDS_COUNT, argv[0]);
        return CTL_OK;
    }
    if (next == argc) {
        return ctl_fail(CTL_EXIT_USAGE, "%s wants a verb; see 'paymentsctl %s --help'", argv[0],
                        argv[0]);
    }
    ctl->command = command_find(argv[0], argv[next]);
    if (!ctl->command) {
        return ctl_fail(CTL_EXIT_USAGE, "unknown command %s %s; see 'paymentsctl %s --help'",
                        argv[0], argv[next], argv[0]);
    }
    return command_read(ctl, argc - next, argv + next);
}

int main(int argc, const char *const *argv)
{
    ctl_t ctl = {.command = NULL};
    ctl_exit_t code;
    apr_status_t rv;

    ctl_core_disable();
    umask(S_IRWXG | S_IRWXO);
    rv = apr_app_initialize(&argc, &argv, NULL);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot start");
    }
    atexit(apr_terminate);
    apr_pool_create(&ctl.pool, NULL);
    ctl_log_start();
    code = line_read(&ctl, argc, argv);
    if (ctl_output_flush() && code == CTL_OK) {
        code = ctl_fail(CTL_EXIT_ACCESS, "cannot write to standard output");
    }
    apr_pool_destroy(ctl.pool); /* closes the store, still as its owner */
    ctl_caller_resume();        /* leak checkers cannot look at a process of mixed users */
    return code;
}
