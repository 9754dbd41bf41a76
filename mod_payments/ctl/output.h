/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_OUTPUT_H
#define PAY_CTL_OUTPUT_H

/* What goes to standard output: rows as a table for people, as JSON or as CSV for programs. */

#include "base/pager.h"
#include "base/text/csv.h"
#include "base/text/writer.h"
#include "ctl/ctl.h"

#define CTL_COLUMNS_MAX 9
#define CTL_TABLE_ROWS_MAX 1000 /* rows that are measured together */

typedef struct ctl_table_t ctl_table_t;
typedef struct ctl_list_t ctl_list_t;

extern const char *const ctl_detail_titles[]; /* FIELD, VALUE */

/* How rows of one sort are shown. */
typedef struct ctl_view_t {
    const char *const *titles; /* of the columns, NULL-ended, at most CTL_COLUMNS_MAX */
    void (*cells)(ctl_table_t *table, const void *row); /* one cell a title, in their order */
    void (*json)(pay_writer_t *w, const void *row);     /* one value */
    const char *const *csv_titles; /* NULL-ended, any number; NULL where there is no --format */
    void (*csv)(pay_csv_t *csv, const void *row); /* one cell a title */
} ctl_view_t;

/* One cell more; NULL or empty is shown as "-". Copied; control characters become "?". */
void ctl_table_cell(ctl_table_t *table, const char *text);
void ctl_table_number(ctl_table_t *table, apr_uint64_t number);
void ctl_table_time(ctl_table_t *table, apr_time_t when); /* 0 is shown as "-" */
void ctl_table_amount(ctl_table_t *table, apr_int64_t amount_minor, const char *currency);

/* For what cells are made of; cleared when the rows are printed. */
apr_pool_t *ctl_table_pool(const ctl_table_t *table);

/* A row of a table FIELD, VALUE. */
void ctl_detail(ctl_table_t *table, const char *name, const char *value);
void ctl_detail_number(ctl_table_t *table, const char *name, apr_uint64_t value);
void ctl_detail_time(ctl_table_t *table, const char *name, apr_time_t when);

/* One row: a table of one line, or the JSON value. */
void ctl_row_print(const ctl_t *ctl, const ctl_view_t *view, const void *row);

/*
 * Rows as they come: a table, CSV, or one JSON array. Memory stays bounded. Those beyond `limit`
 * (0: none) are dropped.
 */
ctl_list_t *ctl_list_open(const ctl_t *ctl, const ctl_view_t *view, apr_uint64_t limit);
void ctl_list_row(ctl_list_t *list, const void *row);
int ctl_list_is_full(const ctl_list_t *list);
void ctl_list_close(ctl_list_t *list);

/*
 * Prints the rows that pager->list lists until their end or the limit. pager->each prints one;
 * NULL: the row is printed as it is.
 */
apr_status_t ctl_list_walk(ctl_list_t *list, const pay_pager_t *pager, void *baton);

/* All of `rows`, an array of pointers. */
void ctl_list_print(const ctl_t *ctl, const ctl_view_t *view, const apr_array_header_t *rows,
                    apr_uint64_t limit);

/* The writer's text and a line's end. */
void ctl_json_print(const pay_writer_t *w);

/* 0 when all of standard output so far was taken. */
int ctl_output_flush(void);

#endif
