/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/output.h"

#include "base/text/money.h"
#include "base/text/time.h"
#include "ctl/message.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <assert.h>
#include <stdio.h>
#include <string.h>

#define COLUMN_GAP 2
#define ROW_SIZE_HINT 1024

struct ctl_table_t {
    const char *heads[CTL_COLUMNS_MAX];
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

static ctl_table_t *table_make(apr_pool_t *p)
{
    ctl_table_t *table = apr_pcalloc(p, sizeof(*table));

    apr_pool_create(&table->rows_pool, p);
    return table;
}

static void head_add(ctl_table_t *table, const char *head)
{
    assert(table->columns < CTL_COLUMNS_MAX);
    table->heads[table->columns] = head;
    table->width[table->columns] = text_width(head);
    table->columns++;
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
        line_print(table, table->heads);
        table->started = 1;
    }
    for (row = 0; row < table->cells_count / table->columns; row++) {
        line_print(table, table->cells[row]);
    }
    table->cells_count = 0;
    apr_pool_clear(table->rows_pool);
}

/* Before the cells of a row and what they are made of. */
static void row_begin(ctl_table_t *table)
{
    if (table->cells_count == CTL_TABLE_ROWS_MAX * table->columns) {
        rows_print(table);
    }
}

/* One cell more. Copied; control characters become "?". */
static void cell_add(ctl_table_t *table, const char *text)
{
    int row = table->cells_count / table->columns;
    int column = table->cells_count % table->columns;
    int width;

    text = text && *text ? text_tame(text, table->rows_pool) : "-";
    width = text_width(text);
    if (width > table->width[column]) {
        table->width[column] = width;
    }
    table->cells[row][column] = text;
    table->cells_count++;
}

apr_pool_t *ctl_table_pool(const ctl_table_t *table)
{
    return table->rows_pool;
}

static void table_end(ctl_table_t *table)
{
    assert(table->cells_count % table->columns == 0);
    rows_print(table);
}

/* ---- values */

static void value_read(ctl_value_t *value, const ctl_column_t *column, const void *row,
                       apr_pool_t *p)
{
    const pay_money_t *money;
    const void *at;

    memset(value, 0, sizeof(*value));
    value->pool = p;
    if (column->get) {
        column->get(value, row);
        return;
    }
    if (column->hop) {
        row = *(const void *const *)((const char *)row + column->hop - sizeof(void *));
    }
    if (!row) {
        return;
    }
    at = (const char *)row + column->offset;
    switch (column->kind) {
    case CTL_NUMBER:
    case CTL_BOOL:
    case CTL_TIME:
        value->number = column->size == sizeof(apr_uint32_t)
                            ? (apr_int64_t) * (const apr_uint32_t *)at
                            : *(const apr_int64_t *)at;
        break;
    case CTL_AMOUNT:
        money = at;
        value->number = money->amount_minor;
        value->currency = money->currency;
        break;
    case CTL_ENUM:
        value->text = column->word(*(const unsigned int *)at);
        break;
    default:
        value->text = column->is_array ? at : *(const char *const *)at;
    }
}

/* For people, and an amount for JSON; NULL: absent. */
static const char *value_text(const ctl_value_t *value, ctl_kind_t kind)
{
    char text[PAY_TIME_TEXT_LEN + PAY_MONEY_TEXT_MAX];

    switch (kind) {
    case CTL_NUMBER:
        return apr_psprintf(value->pool, "%" APR_UINT64_T_FMT, (apr_uint64_t)value->number);
    case CTL_BOOL:
        return value->number ? "yes" : "no";
    case CTL_TIME:
        return value->number ? apr_pstrdup(value->pool, pay_time_format(text, value->number))
                             : NULL;
    case CTL_AMOUNT:
        if (!value->currency || !*value->currency) {
            return NULL;
        }
        pay_money_format(text, value->number, value->currency);
        return apr_pstrdup(value->pool, text);
    default:
        return value->text;
    }
}

static void value_json(pay_writer_t *w, const char *name, const ctl_value_t *value, ctl_kind_t kind)
{
    switch (kind) {
    case CTL_NUMBER:
        pay_writer_integer(w, name, value->number);
        break;
    case CTL_BOOL:
        pay_writer_bool(w, name, value->number != 0);
        break;
    case CTL_TIME:
        pay_writer_time(w, name, value->number);
        break;
    case CTL_NAME:
        pay_writer_string(w, name, value->text && *value->text ? value->text : NULL);
        break;
    case CTL_WORDS:
        pay_writer_words(w, name, value->text);
        break;
    case CTL_RAW:
        pay_writer_raw(w, name, value->text ? value->text : "null");
        break;
    default:
        pay_writer_string(w, name, value_text(value, kind));
    }
}

/* Only texts can be mistaken for formulas. */
static void value_csv(pay_csv_t *csv, const ctl_value_t *value, ctl_kind_t kind)
{
    const char *text = value_text(value, kind);

    if (kind == CTL_BOOL) {
        text = value->number ? "true" : "false";
    }
    if (text
        && (kind == CTL_NUMBER || kind == CTL_TIME || kind == CTL_AMOUNT || kind == CTL_DECIMAL)) {
        pay_csv_decimal(csv, text);
    } else {
        pay_csv_text(csv, text);
    }
}

/* ---- rows */

static const char *head_text(const char *title, apr_pool_t *p)
{
    char *head = apr_pstrdup(p, title);
    char *c;

    for (c = head; *c; c++) {
        *c = (char)apr_toupper(*c);
    }
    return head;
}

static ctl_table_t *view_table(const ctl_view_t *view, apr_pool_t *p)
{
    ctl_table_t *table = table_make(p);
    const ctl_column_t *column;

    if (view->is_details) {
        head_add(table, view->heads ? view->heads[0] : "FIELD");
        head_add(table, view->heads ? view->heads[1] : "VALUE");
        return table;
    }
    for (column = view->columns; column->where; column++) {
        if (column->where & CTL_TABLE) {
            head_add(table, head_text(column->title, p));
        }
    }
    return table;
}

static void row_cells(ctl_table_t *table, const ctl_column_t *column, const void *row)
{
    ctl_value_t value;

    row_begin(table);
    for (; column->where; column++) {
        if (column->where & CTL_TABLE) {
            value_read(&value, column, row, table->rows_pool);
            cell_add(table, value_text(&value, column->kind));
        }
    }
}

void ctl_line(ctl_table_t *table, const char *title, const char *value)
{
    row_begin(table);
    cell_add(table, title);
    cell_add(table, value);
}

static void row_lines(ctl_table_t *table, const ctl_column_t *column, const void *row)
{
    ctl_value_t value;

    for (; column->where; column++) {
        if (column->where & CTL_DETAILS && column->kind == CTL_GROUP) {
            row_lines(table, column->group, (const char *)row + column->offset);
        } else if (column->where & CTL_DETAILS) {
            row_begin(table);
            value_read(&value, column, row, table->rows_pool);
            ctl_line(table, column->title, value_text(&value, column->kind));
        }
    }
}

/* With a name it is an object of its own. */
static void group_members(pay_writer_t *w, const ctl_column_t *column, unsigned int where,
                          const void *row)
{
    if (column->name) {
        pay_writer_object_open(w, column->name);
    }
    ctl_members(w, column->group, where, (const char *)row + column->offset);
    if (column->name) {
        pay_writer_object_close(w);
    }
}

void ctl_members(pay_writer_t *w, const ctl_column_t *column, unsigned int where, const void *row)
{
    ctl_value_t value;

    for (; column->where; column++) {
        if (column->where & where && column->kind == CTL_GROUP) {
            group_members(w, column, where, row);
        } else if (column->where & where) {
            value_read(&value, column, row, w->pool);
            value_json(w, column->name, &value, column->kind);
        }
    }
}

static void row_json(pay_writer_t *w, const ctl_view_t *view, const void *row)
{
    if (view->json) {
        view->json(w, row);
        return;
    }
    pay_writer_object_open(w, NULL);
    if (view->members) {
        view->members(w, row);
    }
    ctl_members(w, view->columns, view->is_details ? CTL_JSON | CTL_MORE : CTL_JSON, row);
    if (view->more_members) {
        view->more_members(w, row);
    }
    pay_writer_object_close(w);
}

static void row_csv(pay_csv_t *csv, const ctl_view_t *view, const void *row, apr_pool_t *p)
{
    const ctl_column_t *column;
    ctl_value_t value;

    if (view->csv) {
        view->csv(csv, row);
        return;
    }
    for (column = view->columns; column->where; column++) {
        if (column->where & CTL_CSV) {
            value_read(&value, column, row, p);
            value_csv(csv, &value, column->kind);
        }
    }
}

/* NULL-ended. */
static const char *const *csv_titles(const ctl_view_t *view, apr_pool_t *p)
{
    apr_array_header_t *titles = apr_array_make(p, CTL_COLUMNS_MAX, sizeof(const char *));
    const ctl_column_t *column;

    if (view->csv) {
        return view->csv_titles;
    }
    for (column = view->columns; column->where; column++) {
        if (column->where & CTL_CSV) {
            APR_ARRAY_PUSH(titles, const char *) = column->name;
        }
    }
    assert(titles->nelts > 0);
    APR_ARRAY_PUSH(titles, const char *) = NULL;
    return (const char *const *)titles->elts;
}

static void json_print(const pay_writer_t *w)
{
    fwrite(w->text, 1, w->len, stdout);
    putchar('\n');
}

pay_writer_t *ctl_object_open(const ctl_t *ctl)
{
    pay_writer_t *w = pay_writer_make(ROW_SIZE_HINT, ctl->pool);

    pay_writer_object_open(w, NULL);
    return w;
}

void ctl_object_print(pay_writer_t *w)
{
    pay_writer_object_close(w);
    json_print(w);
}

void ctl_row_print(const ctl_t *ctl, const ctl_view_t *view, const void *row)
{
    pay_writer_t *w;
    ctl_table_t *table;

    if (ctl->json) {
        w = pay_writer_make(ROW_SIZE_HINT, ctl->pool);
        row_json(w, view, row);
        json_print(w);
        return;
    }
    table = view_table(view, ctl->pool);
    if (view->is_details) {
        row_lines(table, view->columns, row);
    } else {
        row_cells(table, view->columns, row);
    }
    if (view->more) {
        view->more(table, row);
    }
    table_end(table);
}

/* ---- lists */

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
        pay_csv_open(&list->csv, csv_print, NULL, csv_titles(view, ctl->pool));
    } else if (ctl->json) {
        putchar('[');
    } else {
        list->table = view_table(view, ctl->pool);
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
        row_cells(list->table, list->view->columns, row);
    } else if (list->csv.columns) {
        row_csv(&list->csv, list->view, row, list->row_pool);
        apr_pool_clear(list->row_pool);
    } else {
        w = pay_writer_make(ROW_SIZE_HINT, list->row_pool);
        row_json(w, list->view, row);
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

ctl_exit_t ctl_list_end(ctl_list_t *list, apr_status_t status, const char *failure)
{
    if (status != APR_SUCCESS) {
        return ctl_fail_status(status, failure);
    }
    ctl_list_close(list);
    return CTL_OK;
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
    (void)fflush(stdout); /* ferror() reports its failure too */
    return ferror(stdout);
}
