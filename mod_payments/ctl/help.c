/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/help.h"

#include "ctl/commands.h"
#include "ctl/options.h"

#include <stdio.h>

#define COMMAND_WIDTH 25
#define OPTION_WIDTH 28

static void options_print(apr_uint64_t which)
{
    char left[OPTION_WIDTH * 2];
    int id;

    for (id = 0; id < CTL_OPTION_COUNT; id++) {
        const ctl_option_t *option = &ctl_options[id];

        if (which & (APR_UINT64_C(1) << id)) {
            snprintf(left, sizeof(left), "%c%c --%s%s%s", option->letter ? '-' : ' ',
                     option->letter ? option->letter : ' ', option->name, option->value ? " " : "",
                     option->value ? option->value : "");
            printf("  %-*s  %s\n", OPTION_WIDTH, left, option->summary);
        }
    }
}

/* Prints the commands whose names begin with `words`. */
static void commands_print(const char *const *words, int count)
{
    const ctl_command_t *command;
    int all, i;

    puts("Commands:");
    for (i = 0; (command = ctl_command_at(i)) != NULL; i++) {
        if (ctl_command_begins(&all, command, words, count)) {
            printf("  %-*s%s\n", COMMAND_WIDTH, command->name, command->summary);
        }
    }
    puts("");
}

static void help_all(void)
{
    puts("Usage: paymentsctl -s lmdb:DIR NOUN VERB [ARGUMENT ...] [OPTION ...]\n");
    commands_print(NULL, 0);
    puts("Options of every command:");
    options_print(CTL_OPTIONS_COMMON);
    puts("\n"
         "'paymentsctl NOUN VERB --help' prints the help of one command.\n"
         "\n"
         "Exit status: 0 done, 1 store or file not usable, 2 command line, 3 refused because of\n"
         "stored data, 4 interrupted (outcome unknown), 5 a value too long, 6 a value of wrong "
         "form,\n"
         "7 store or file damaged. 'store check' exits 1 if it finds faults.");
}

static void words_print(const char *const *words, int count)
{
    int i;

    for (i = 0; i < count; i++) {
        printf("%s ", words[i]);
    }
}

void ctl_help_some(const char *const *words, int count)
{
    if (count == 0) {
        help_all();
        return;
    }
    printf("Usage: paymentsctl -s lmdb:DIR ");
    words_print(words, count);
    puts("VERB [ARGUMENT ...] [OPTION ...]\n");
    commands_print(words, count);
    printf("'paymentsctl ");
    words_print(words, count);
    puts("VERB --help' prints the help of one command.");
}

void ctl_help_command(const ctl_command_t *command)
{
    printf("Usage: paymentsctl -s lmdb:DIR %s%s%s%s\n\n", command->name,
           *command->synopsis ? " " : "", command->synopsis,
           command->optional ? " [OPTION ...]" : "");
    printf("%c%s.\n", command->summary[0] - 'a' + 'A', command->summary + 1);
    if (command->details) {
        fputs(command->details, stdout);
    }
    if (ctl_open_is_audited(command->open)) {
        puts("Its changes leave an entry in the audit, which 'audit list' prints.");
    }
    puts("\nOptions:");
    options_print(command->required | command->optional | CTL_OPTIONS_COMMON);
}
