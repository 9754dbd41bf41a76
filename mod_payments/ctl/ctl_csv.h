/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTL_CSV_H
#define CTL_CSV_H

/*
 * Rows on standard output as RFC 4180 has them: a header, CRLF, UTF-8, quotes where they are
 * needed. Spreadsheets run what begins like a formula: such a text, and one that begins with an
 * apostrophe, gets an apostrophe in front, which whoever reads the file can take off again.
 * Numbers, amounts and times cannot be mistaken, and stay as they are.
 */

#include <apr_time.h>

typedef struct ctl_csv_t {
    int columns; /* 0: not open */
    int cell;    /* the next one's, from 0 */
} ctl_csv_t;

/* Prints the header. `titles` end with NULL. */
void ctl_csv_open(ctl_csv_t *csv, const char *const *titles);

/* One cell more; the last one of the titles ends the row. NULL is an empty cell. */
void ctl_csv_text(ctl_csv_t *csv, const char *text);
void ctl_csv_number(ctl_csv_t *csv, apr_uint64_t number);
void ctl_csv_time(ctl_csv_t *csv, apr_time_t when); /* 0: empty */
void ctl_csv_amount(ctl_csv_t *csv, apr_int64_t amount_minor, const char *currency);
/* A decimal number that is text already. */
void ctl_csv_decimal(ctl_csv_t *csv, const char *text);

#endif
