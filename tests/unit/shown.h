/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHOWN_H
#define SHOWN_H

/* The output of a command of paymentsctl for rows that a test makes, in each of its forms. */

#include "ctl/commands.h"
#include "output.h"
#include "unit.h"

#include <string.h>

#define SHOWN_OPTIONS 3

/* "2001-09-09T01:46:40.000Z", and so many seconds later. */
#define SHOWN_AT(seconds) apr_time_from_sec(1000000000 + (seconds))

typedef struct shown_row_t {
    const char *name;
    ctl_exit_t (*run)(ctl_t *ctl);
    const char *form; /* "table", "json", "csv" */
    const char *mode; /* --mode; NULL: not given */
    const char *arg;  /* the second argument; the first one is "shop" */
    const char *want; /* blanks between columns are one '|'; "..." in front: only the end is
                       * compared */
    ctl_exit_t code;
} shown_row_t;

static inline const char *shown_squeeze(const char *text)
{
    char *out = apr_palloc(unit_pool, strlen(text) + 1);
    char *at = out;
    size_t blanks;

    while (*text) {
        blanks = strspn(text, " ");
        if (blanks > 1) {
            *at++ = '|';
            text += blanks;
        } else {
            *at++ = *text++;
        }
    }
    *at = '\0';
    return out;
}

static inline void shown_check(const shown_row_t *row, pay_store_t *store)
{
    ctl_t ctl = {.service.store = store, .pool = unit_pool, .arg = {"shop", row->arg}};
    const char *output, *tail = row->want;
    ctl_exit_t got;
    int before;

    ctl.json = strcmp(row->form, "json") == 0;
    ctl.csv = strcmp(row->form, "csv") == 0;
    ctl.option[CTL_OPTION_MODE] = row->mode;
    output = output_open(&before);
    got = row->run(&ctl);
    output = shown_squeeze(output_read(output, before));
    ck_assert_msg(got == row->code, "%s: exit status %d", row->name, (int)got);
    if (strncmp(row->want, "...", 3) == 0) {
        tail += 3;
        output += strlen(output) > strlen(tail) ? strlen(output) - strlen(tail) : 0;
    }
    ck_assert_msg(strcmp(output, tail) == 0, "%s:\n%.4000s\nin place of\n%.4000s", row->name,
                  output, tail);
}

#endif
