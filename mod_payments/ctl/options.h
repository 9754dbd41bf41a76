/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_OPTIONS_H
#define PAY_CTL_OPTIONS_H

/* The command line: one table of all options, and the values of options. */

#include "ctl/ctl.h"

#define CTL_LIMIT_MAX 1000000000

/* Options that every command has. */
#define CTL_OPTIONS_COMMON (CTL_O(STORE) | CTL_O(MASTER_KEY) | CTL_O(JSON) | CTL_O(HELP))

typedef struct ctl_option_t {
    const char *name;    /* without the dashes */
    int letter;          /* one-letter form, 0: none */
    const char *value;   /* name of its value, for --help; NULL: a flag */
    const char *summary; /* for --help */
    int length_max;      /* in bytes, of a note in characters; 0: checked elsewhere */
    int is_list;         /* 1: repeatable; ctl->option has all values, separated by blanks */
} ctl_option_t;

extern const ctl_option_t ctl_options[CTL_OPTION_COUNT];

/*
 * Reads the options before the noun; sets *next to the index of the noun in argv, or to `argc`
 * without a noun. Prints errors on standard error.
 */
ctl_exit_t ctl_options_global(int *next, ctl_t *ctl, int argc, const char *const *argv);

/* Reads the command's options and arguments, which follow the verb in any order. */
ctl_exit_t ctl_options_command(ctl_t *ctl, int argc, const char *const *argv);

/*
 * Values of options; each function prints its error. Without --limit *out is 0, no limit; without
 * --overlap it is `missing`.
 */
ctl_exit_t ctl_option_mode(pay_mode_t *out, const ctl_t *ctl);
ctl_exit_t ctl_option_kind(pay_key_kind_t *out, const ctl_t *ctl);
ctl_exit_t ctl_option_limit(apr_uint64_t *out, const ctl_t *ctl);
ctl_exit_t ctl_option_overlap(apr_interval_time_t *out, const ctl_t *ctl,
                              apr_interval_time_t missing);
/* Sets *out to 1 for "on", 0 for "off" of --receipts; -1 if it is not given. */
ctl_exit_t ctl_option_receipts(int *out, const ctl_t *ctl);
/* Sets ctl->json or ctl->csv according to --format, which must not contradict --json. */
ctl_exit_t ctl_option_format(ctl_t *ctl);

#endif
