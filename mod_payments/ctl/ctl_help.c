/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ctl_help.h"

#include "ctl/ctl_options.h"

#include <stdio.h>
#include <string.h>

#define COMMAND_WIDTH 16
#define OPTION_WIDTH 28

static void options_print(unsigned int which)
{
    char left[OPTION_WIDTH * 2];
    int id;

    for (id = 0; id < CTL_OPTION_COUNT; id++) {
        const ctl_option_t *option = &ctl_options[id];

        if (which & (1U << id)) {
            snprintf(left, sizeof(left), "%c%c --%s%s%s", option->letter ? '-' : ' ',
                     option->letter ? option->letter : ' ', option->name, option->value ? " " : "",
                     option->value ? option->value : "");
            printf("  %-*s  %s\n", OPTION_WIDTH, left, option->summary);
        }
    }
}

static void commands_print(const ctl_command_t *commands, int count, const char *noun)
{
    char left[COMMAND_WIDTH * 2];
    int i;

    puts("Commands:");
    for (i = 0; i < count; i++) {
        if (!noun || strcmp(commands[i].noun, noun) == 0) {
            snprintf(left, sizeof(left), "%s %s", commands[i].noun, commands[i].verb);
            printf("  %-*s%s\n", COMMAND_WIDTH, left, commands[i].summary);
        }
    }
    puts("");
}

void ctl_help_all(const ctl_command_t *commands, int count)
{
    puts("Usage: paymentsctl -s lmdb:DIR NOUN VERB [ARGUMENT ...] [OPTION ...]\n");
    commands_print(commands, count, NULL);
    puts("Options of every command:");
    options_print(CTL_OPTIONS_COMMON);
    puts("\n'paymentsctl NOUN VERB --help' tells more of one command.\n"
         "\n"
         "Exit status: 0 done, 1 store or file not usable, 2 command line, 3 refused by what is\n"
         "stored, 4 interrupted (outcome unknown), 5 a value too long, 6 a value of wrong form,\n"
         "7 store or file damaged. 'store check' exits 1 when it finds faults.");
}

void ctl_help_noun(const ctl_command_t *commands, int count, const char *noun)
{
    printf("Usage: paymentsctl -s lmdb:DIR %s VERB [ARGUMENT ...] [OPTION ...]\n\n", noun);
    commands_print(commands, count, noun);
    printf("'paymentsctl %s VERB --help' tells more of one command.\n", noun);
}

void ctl_help_command(const ctl_command_t *command)
{
    printf("Usage: paymentsctl -s lmdb:DIR %s%s%s%s%s%s\n\n", command->noun,
           *command->verb ? " " : "", command->verb, *command->synopsis ? " " : "",
           command->synopsis, command->optional ? " [OPTION ...]" : "");
    printf("%c%s.\n", command->summary[0] - 'a' + 'A', command->summary + 1);
    if (command->details) {
        fputs(command->details, stdout);
    }
    puts("\nOptions:");
    options_print(command->required | command->optional | CTL_OPTIONS_COMMON);
}
