/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/output.h"

#include "base/text/money.h"
#include "base/text/time.h"

#include <apr_strings.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>

#define COLUMN_GAP 2
#define NUMBER_TEXT_SIZE 24
#define ROW_SIZE_HINT 1024

struct ctl_table_t {
    const char *const *titles;
    int columns;
    int width[CTL_COLUMNS_MAX];
    const char *cells[CTL_TABLE_ROWS_MAX][CTL_COLUMNS_MAX];
    int cells_count; /* of all rows held */
    int started;     /* the titles were printed */
    apr_pool_t *rows_pool;
};

struct ctl_list_t {
    const ctl_view_t *view;
    ctl_table_t *table; /* NULL: JSON or CSV */
    pay_csv_t csv;
    apr_uint64_t limit; /* 0: none */
    apr_uint64_t count;
    apr_pool_t *row_pool;
};

/* Characters of UTF-8 text as a terminal counts them, near enough for columns. */
static int text_width(const char *text)
{
    int width = 0;

    for (; *text; text++) {
        if (((unsigned char)*text & 0xc0) != 0x80) {
            width++;
        }
    }
    return width;
}

/* U+2028 to U+202E and U+2066 to U+2069 break lines or turn the direction of what follows. */
static int turns_text(const unsigned char *c)
{
    return c[0] == 0xe2
           && ((c[1] == 0x80 && c[2] >= 0xa8 && c[2] <= 0xae)
               || (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9));
}

/* What clients stored must not steer the terminal of the person who lists it: no C0, DEL, C1. */
static const char *text_tame(const char *text, apr_pool_t *p)
{
    char *out = apr_pstrdup(p, text);
    unsigned char *c;

    for (c = (unsigned char *)out; *c; c++) {
        if (*c < 0x20 || *c == 0x7f) {
            *c = '?';
        } else if (*c == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) {
            c[0] = '?';
            c[1] = '?';
        } else if (turns_text(c)) {
            memset(c, '?', 3);
        }
    }
    return out;
}

static ctl_table_t *table_make(const char *const *titles, apr_pool_t *p)
{
    ctl_table_t *table = apr_pcalloc(p, sizeof(*table));

    table->titles = titles;
    while (titles[table->columns]) {
        assert(table->columns < CTL_COLUMNS_MAX);
        table->width[table->columns] = text_width(titles[table->columns]);
        table->columns++;
    }
    apr_pool_create(&table->rows_pool, p);
    return table;
}

static void line_print(const ctl_table_t *table, const char *const *cells)
{
    int i;

    for (i = 0; i < table->columns; i++) {
        int pad = table->width[i] - text_width(cells[i]) + COLUMN_GAP;

        fputs(cells[i], stdout);
        if (i < table->columns - 1) {
            printf("%*s", pad > COLUMN_GAP ? pad : COLUMN_GAP, "");
        }
    }
    putchar('\n');
}

static void rows_print(ctl_table_t *table)
{
    int row;

    if (!table->started) {
        line_print(table, table->titles);
        table->started = 1;
    }
    for (row = 0; row < table->cells_count / table->columns; row++) {
        line_print(table, table->cells[row]);
    }
    table->cells_count = 0;
    apr_pool_clear(table->rows_pool);
}

void ctl_table_cell(ctl_table_t *table, const char *text)
{
    int row, column, width;

    if (table->cells_count == CTL_TABLE_ROWS_MAX * table->columns) {
        rows_print(table);
    }
    row = table->cells_count / table->columns;
    column = table->cells_count % table->columns;
    text = text && *text ? text_tame(text, table->rows_pool) : "-";
    width = text_width(text);
    if (width > table->width[column]) {
        table->width[column] = width;
    }
    table->cells[row][column] = text;
    table->cells_count++;
}

void ctl_table_number(ctl_table_t *table, apr_uint64_t number)
{
    char text[NUMBER_TEXT_SIZE];

    apr_snprintf(text, sizeof(text), "%" APR_UINT64_T_FMT, number);
    ctl_table_cell(table, text);
}

void ctl_table_time(ctl_table_t *table, apr_time_t when)
{
    char text[PAY_TIME_TEXT_LEN + 1];

    ctl_table_cell(table, when ? pay_time_format(text, when) : NULL);
}

void ctl_table_amount(ctl_table_t *table, apr_int64_t amount_minor, const char *currency)
{
    char text[PAY_MONEY_TEXT_MAX];

    ctl_table_cell(table, *currency ? pay_money_format(text, amount_minor, currency) : NULL);
}

apr_pool_t *ctl_table_pool(const ctl_table_t *table)
{
    return table->rows_pool;
}

const char *const ctl_detail_titles[] = {"FIELD", "VALUE", NULL};

void ctl_detail(ctl_table_t *table, const char *name, const char *value)
{
    ctl_table_cell(table, name);
    ctl_table_cell(table, value);
}

void ctl_detail_number(ctl_table_t *table, const char *name, apr_uint64_t value)
{
    ctl_table_cell(table, name);
    ctl_table_number(table, value);
}

void ctl_detail_time(ctl_table_t *table, const char *name, apr_time_t when)
{
    ctl_table_cell(table, name);
    ctl_table_time(table, when);
}

static void table_end(ctl_table_t *table)
{
    assert(table->cells_count % table->columns == 0);
    rows_print(table);
}

void ctl_json_print(const pay_writer_t *w)
{
    fwrite(w->text, 1, w->len, stdout);
    putchar('\n');
}

void ctl_row_print(const ctl_t *ctl, const ctl_view_t *view, const void *row)
{
    pay_writer_t *w;
    ctl_table_t *table;

    if (ctl->json) {
        w = pay_writer_make(ROW_SIZE_HINT, ctl->pool);
        view->json(w, row);
        ctl_json_print(w);
        return;
    }
    table = table_make(view->titles, ctl->pool);
    view->cells(table, row);
    table_end(table);
}

static void csv_print(void *baton, const char *text, apr_size_t len)
{
    (void)baton;
    fwrite(text, 1, len, stdout);
}

ctl_list_t *ctl_list_open(const ctl_t *ctl, const ctl_view_t *view, apr_uint64_t limit)
{
    ctl_list_t *list = apr_pcalloc(ctl->pool, sizeof(*list));

    list->view = view;
    list->limit = limit;
    apr_pool_create(&list->row_pool, ctl->pool);
    if (ctl->csv) {
        assert(view->csv);
        pay_csv_open(&list->csv, csv_print, NULL, view->csv_titles);
    } else if (ctl->json) {
        putchar('[');
    } else {
        list->table = table_make(view->titles, ctl->pool);
    }
    return list;
}

int ctl_list_is_full(const ctl_list_t *list)
{
    return list->limit && list->count >= list->limit;
}

void ctl_list_row(ctl_list_t *list, const void *row)
{
    pay_writer_t *w;

    if (ctl_list_is_full(list)) {
        return;
    }
    if (list->table) {
        list->view->cells(list->table, row);
    } else if (list->csv.columns) {
        list->view->csv(&list->csv, row);
    } else {
        w = pay_writer_make(ROW_SIZE_HINT, list->row_pool);
        list->view->json(w, row);
        fputs(list->count ? ",\n" : "\n", stdout);
        fwrite(w->text, 1, w->len, stdout);
        apr_pool_clear(list->row_pool);
    }
    list->count++;
}

void ctl_list_close(ctl_list_t *list)
{
    if (list->table) {
        table_end(list->table);
    } else if (!list->csv.columns) {
        fputs(list->count ? "\n]\n" : "]\n", stdout);
    }
}

typedef struct walk_t {
    ctl_list_t *list;
    const pay_pager_t *pager;
    void *baton;
} walk_t;

static apr_status_t walk_list(apr_array_header_t **rows, void *baton, const void *after,
                              apr_pool_t *p)
{
    const walk_t *walk = baton;

    return walk->pager->list(rows, walk->baton, after, p);
}

static apr_status_t walk_row(void *baton, const void *row, apr_pool_t *p)
{
    const walk_t *walk = baton;
    apr_status_t rv = APR_SUCCESS;

    if (walk->pager->each) {
        rv = walk->pager->each(walk->baton, row, p);
    } else {
        ctl_list_row(walk->list, row);
    }
    return rv == APR_SUCCESS && ctl_list_is_full(walk->list) ? APR_EOF : rv;
}

apr_status_t ctl_list_walk(ctl_list_t *list, const pay_pager_t *pager, void *baton)
{
    const pay_pager_t own = {walk_list, walk_row, pager->done};
    walk_t walk = {list, pager, baton};

    return pay_pager_walk(&own, &walk, apr_pool_parent_get(list->row_pool));
}

void ctl_list_print(const ctl_t *ctl, const ctl_view_t *view, const apr_array_header_t *rows,
                    apr_uint64_t limit)
{
    ctl_list_t *list = ctl_list_open(ctl, view, limit);
    int i;

    for (i = 0; i < rows->nelts; i++) {
        ctl_list_row(list, APR_ARRAY_IDX(rows, i, const void *));
    }
    ctl_list_close(list);
}

int ctl_output_flush(void)
{
    (void)fflush(stdout); /* ferror() tells of its failure too */
    return ferror(stdout);
}
