/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_HELP_H
#define PAY_CTL_HELP_H

/* --help, on standard output, from the table of commands. */

#include "ctl/ctl.h"

/*
 * The commands whose names begin with these words, one a line; all of them if `count` is 0.
 * tests/check_man.sh reads the lines between "Commands:" and a blank one.
 */
void ctl_help_some(const char *const *words, int count);

/* One command with its options. */
void ctl_help_command(const ctl_command_t *command);

#endif
