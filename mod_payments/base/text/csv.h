/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_CSV_H
#define PAY_BASE_TEXT_CSV_H

/*
 * Rows as RFC 4180 has them: a header, CRLF, UTF-8, quotes where they are needed. Spreadsheets run
 * what begins like a formula, behind blanks and in full-width forms too, and in much of Europe
 * begin a cell after each semicolon: such a start, and one with an apostrophe, gets an apostrophe
 * in front. Whoever reads the file takes one off at the start of a text and after a semicolon.
 * Numbers, amounts and times cannot be mistaken, and stay as they are. Used by one thread; keeps
 * nothing of what was written.
 */

#include <apr_time.h>

/* Where the text goes; what it does with a failure is its own business. */
typedef void (*pay_csv_sink_t)(void *baton, const char *text, apr_size_t len);

typedef struct pay_csv_t {
    pay_csv_sink_t sink;
    void *baton;
    int columns; /* 0: not open */
    int cell;    /* the next one's, from 0 */
} pay_csv_t;

/* Writes the header. `titles` end with NULL. */
void pay_csv_open(pay_csv_t *csv, pay_csv_sink_t sink, void *baton, const char *const *titles);

/* One cell more; the last one of the titles ends the row. NULL is an empty cell. */
void pay_csv_text(pay_csv_t *csv, const char *text);
void pay_csv_number(pay_csv_t *csv, apr_uint64_t number);
void pay_csv_time(pay_csv_t *csv, apr_time_t when); /* 0: empty */
void pay_csv_amount(pay_csv_t *csv, apr_int64_t amount_minor, const char *currency);
/* A decimal number that is text already. */
void pay_csv_decimal(pay_csv_t *csv, const char *text);

#endif
