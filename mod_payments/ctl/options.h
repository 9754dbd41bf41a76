/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_OPTIONS_H
#define PAY_CTL_OPTIONS_H

/* The command line: every option in one table, and the values that options carry. */

#include "ctl/ctl.h"

#define CTL_LIMIT_MAX 1000000000

/* Options that every command has. */
#define CTL_OPTIONS_COMMON (CTL_O(STORE) | CTL_O(MASTER_KEY) | CTL_O(JSON) | CTL_O(HELP))

typedef struct ctl_option_t {
    const char *name;    /* without the dashes */
    int letter;          /* one-letter form, 0: none */
    const char *value;   /* what it takes, for --help; NULL: a flag */
    const char *summary; /* for --help */
    int length_max;      /* bytes of the value, of a note characters; 0: judged elsewhere */
    int is_list;         /* 1: it may be given again; ctl->option has all with blanks between */
} ctl_option_t;

extern const ctl_option_t ctl_options[CTL_OPTION_COUNT];

/*
 * Reads the options that stand before the noun; *next is the index of the noun in argv, `argc` when
 * there is none. Wrong ones are told on standard error.
 */
ctl_exit_t ctl_options_global(int *next, ctl_t *ctl, int argc, const char *const *argv);

/* Reads what follows the verb: the command's options and arguments, in any order. */
ctl_exit_t ctl_options_command(ctl_t *ctl, int argc, const char *const *argv);

/*
 * Values of options; each tells its error. A missing --limit is *out 0, no limit; a missing
 * --overlap is `missing`.
 */
ctl_exit_t ctl_option_mode(pay_mode_t *out, const ctl_t *ctl);
ctl_exit_t ctl_option_kind(pay_key_kind_t *out, const ctl_t *ctl);
ctl_exit_t ctl_option_limit(apr_uint64_t *out, const ctl_t *ctl);
ctl_exit_t ctl_option_overlap(apr_interval_time_t *out, const ctl_t *ctl,
                              apr_interval_time_t missing);
/* "on" or "off" of --receipts; -1 when it is not given. */
ctl_exit_t ctl_option_receipts(int *out, const ctl_t *ctl);
/* Sets ctl->json or ctl->csv as --format says, which may not contradict --json. */
ctl_exit_t ctl_option_format(ctl_t *ctl);

#endif
