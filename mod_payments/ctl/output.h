/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_OUTPUT_H
#define PAY_CTL_OUTPUT_H

/* Standard output: rows as a table for people, as JSON or as CSV for programs. */

#include "base/pager.h"
#include "base/text/csv.h"
#include "base/text/writer.h"
#include "ctl/ctl.h"

#include <stddef.h>

typedef struct ctl_table_t ctl_table_t;
typedef struct ctl_list_t ctl_list_t;

#define CTL_COLUMNS_MAX 9       /* of a table */
#define CTL_TABLE_ROWS_MAX 1000 /* rows that are measured together */

/*
 * Where a column is shown. Those of a table and of details stand in the order of the columns, and
 * so do those of JSON and of CSV: a value whose place differs between them has two columns.
 */
#define CTL_TABLE 1U   /* of a list: a column; heads are in upper case */
#define CTL_DETAILS 2U /* of one row: a line FIELD, VALUE */
#define CTL_JSON 4U
#define CTL_CSV 8U
#define CTL_MORE 16U /* in JSON where it is one row's details */
#define CTL_BOTH (CTL_TABLE | CTL_DETAILS)
#define CTL_ONE (CTL_DETAILS | CTL_MORE)

typedef enum ctl_kind_t {
    CTL_TEXT,    /* NULL: null in JSON. For people NULL and empty texts are "-" */
    CTL_NAME,    /* a text whose absence is "" as well: null in JSON */
    CTL_ENUM,    /* an enum, shown by `word` */
    CTL_NUMBER,  /* an unsigned integer, or one that is not negative */
    CTL_BOOL,    /* an int: "yes" and "no" for people, "true" and "false" in CSV */
    CTL_TIME,    /* an apr_time_t; 0 is absent: "-", null, empty */
    CTL_AMOUNT,  /* a pay_money_t, a text in JSON; absent if the currency is empty */
    CTL_DECIMAL, /* a text that is a number with decimals */
    CTL_WORDS,   /* a text of words with blanks between them: in JSON an array of them */
    CTL_RAW,     /* a text that is JSON; NULL: null */
    CTL_GROUP    /* the columns `group` of a structure in the row; a name makes them an object */
} ctl_kind_t;

/* What a column's function returns; all is 0 when it is called. */
typedef struct ctl_value_t {
    const char *text;     /* of the kinds that are texts */
    apr_int64_t number;   /* of the others; CTL_AMOUNT: in minor units */
    const char *currency; /* of CTL_AMOUNT; NULL or "": the amount is absent */
    apr_pool_t *pool;     /* for what the value is made of; cleared once it is printed */
} ctl_value_t;

typedef struct ctl_column_t {
    unsigned int where; /* 0 ends the columns */
    const char *title;  /* for people, in lower case; NULL: it is not shown to them */
    const char *name;   /* for programs; NULL: they do not see it */
    ctl_kind_t kind;
    /* Where the value is in the row (CTL_FIELD), or who makes it. */
    apr_size_t hop; /* not 0: the row's pointer before it leads there; NULL is absent */
    apr_size_t offset;
    apr_size_t size;
    int is_array; /* 1: a text is in the row itself, 0: the row points to it */
    void (*get)(ctl_value_t *value, const void *row); /* NULL: the value is at `offset` */
    const char *(*word)(unsigned int value);          /* of CTL_ENUM; NULL: absent */
    const struct ctl_column_t *group;
} ctl_column_t;

/* The place of a member, whose type must be that of the column's kind. */
#define CTL_FIELD(type, member)                                                                    \
    .offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member),                      \
    .is_array = _Generic(&((type *)NULL)->member, const char ** : 0, char ** : 0, default : 1)

/* The same behind a pointer of the row: pointer->member. */
#define CTL_BEHIND(type, pointer, target, member)                                                  \
    CTL_FIELD(target, member), .hop = offsetof(type, pointer) + sizeof(void *)

/*
 * How rows of one sort are shown: by their columns. What the API or the dashboard prints as well is
 * printed by the functions that they use, which take the place of columns.
 */
typedef struct ctl_view_t {
    const ctl_column_t *columns;
    int is_details;           /* 1: one row, its columns below each other */
    const char *const *heads; /* of details; NULL: FIELD, VALUE */
    void (*members)(pay_writer_t *w, const void *row); /* in JSON before the columns; NULL: none */
    void (*json)(pay_writer_t *w, const void *row);    /* the whole value; NULL: the columns */
    const char *const *csv_titles;                     /* NULL-ended; NULL: the columns */
    void (*csv)(pay_csv_t *csv, const void *row);      /* with csv_titles: one cell a title */
    void (*more)(ctl_table_t *table, const void *row); /* details behind the columns */
    void (*more_members)(pay_writer_t *w, const void *row); /* the same in JSON */
} ctl_view_t;

/* A line of details for ctl_view_t's `more`. */
void ctl_line(ctl_table_t *table, const char *title, const char *value);

/* Scratch for lines; cleared once they are printed. */
apr_pool_t *ctl_table_pool(const ctl_table_t *table);

/* The members of JSON that the columns are, of any bit of `where`. */
void ctl_members(pay_writer_t *w, const ctl_column_t *columns, unsigned int where, const void *row);

/* One row: a table of one line, details, or the JSON value. */
void ctl_row_print(const ctl_t *ctl, const ctl_view_t *view, const void *row);

/*
 * Prints rows as they are added: a table, CSV, or one JSON array. Memory stays bounded. Rows beyond
 * `limit` (0: no limit) are dropped.
 */
ctl_list_t *ctl_list_open(const ctl_t *ctl, const ctl_view_t *view, apr_uint64_t limit);
void ctl_list_row(ctl_list_t *list, const void *row);
int ctl_list_is_full(const ctl_list_t *list);
void ctl_list_close(ctl_list_t *list);

/*
 * Closes the list of a walk that returned `status`. A failure is reported, and leaves the list
 * open, because an array of JSON that is cut short cannot be parsed.
 */
ctl_exit_t ctl_list_end(ctl_list_t *list, apr_status_t status, const char *failure);

/*
 * Prints the rows that pager->list lists until their end or the limit. pager->each prints one;
 * NULL: the row is printed as it is.
 */
apr_status_t ctl_list_walk(ctl_list_t *list, const pay_pager_t *pager, void *baton);

/* All of `rows`, an array of pointers. */
void ctl_list_print(const ctl_t *ctl, const ctl_view_t *view, const apr_array_header_t *rows,
                    apr_uint64_t limit);

/* A JSON object of a result that is no row: open, to be filled, and printed with its end. */
pay_writer_t *ctl_object_open(const ctl_t *ctl);
void ctl_object_print(pay_writer_t *w);

/* Returns 0 if all of standard output so far was written. */
int ctl_output_flush(void);

#endif
