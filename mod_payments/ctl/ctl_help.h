/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTL_HELP_H
#define CTL_HELP_H

/* --help, on standard output, from the table of commands. */

#include "ctl/ctl.h"

/* Every command, a line each. tests/check_man.sh reads the lines between "Commands:" and a blank.
 */
void ctl_help_all(const ctl_command_t *commands, int count);

/* Those of one noun. */
void ctl_help_noun(const ctl_command_t *commands, int count, const char *noun);

/* One command with its options. */
void ctl_help_command(const ctl_command_t *command);

#endif
