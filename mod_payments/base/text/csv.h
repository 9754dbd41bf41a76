/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_CSV_H
#define PAY_BASE_TEXT_CSV_H

/*
 * Rows of RFC 4180: a header, CRLF, UTF-8, quotes where needed. Spreadsheets execute text that
 * begins like a formula, even after blanks and in full-width forms, and in much of Europe begin a
 * cell after each semicolon: text with such a start, or with an apostrophe, gets an apostrophe in
 * front. A reader of the file removes one at the start of a text and after a semicolon. Numbers,
 * amounts and times cannot be mistaken and stay as they are. Used by one thread; keeps nothing of
 * the text.
 */

#include <apr_time.h>

/* Receives the text, and handles its own failures. */
typedef void (*pay_csv_sink_t)(void *baton, const char *text, apr_size_t len);

typedef struct pay_csv_t {
    pay_csv_sink_t sink;
    void *baton;
    int columns; /* 0: not open */
    int cell;    /* of the next cell, from 0 */
} pay_csv_t;

/* Writes the header. `titles` end with NULL. */
void pay_csv_open(pay_csv_t *csv, pay_csv_sink_t sink, void *baton, const char *const *titles);

/* Append a cell; the cell of the last title ends the row. NULL is an empty cell. */
void pay_csv_text(pay_csv_t *csv, const char *text);
void pay_csv_number(pay_csv_t *csv, apr_uint64_t number);
void pay_csv_time(pay_csv_t *csv, apr_time_t when); /* 0: empty */
void pay_csv_amount(pay_csv_t *csv, apr_int64_t amount_minor, const char *currency);
/* A decimal number that is already text. */
void pay_csv_decimal(pay_csv_t *csv, const char *text);

#endif
