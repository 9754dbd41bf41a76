/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/output.h"

#include "output.h"
#include "unit.h"

#include <string.h>

/* Tables and lists as they are printed, to the byte. */

static void row_get(ctl_value_t *value, const void *row)
{
    value->text = row;
}

static void b_get(ctl_value_t *value, const void *row)
{
    (void)row;
    value->text = "b";
}

static void text_json(pay_writer_t *w, const void *row)
{
    pay_writer_string(w, NULL, row);
}

static const ctl_column_t text_columns[] = {
    {CTL_TABLE | CTL_CSV, "a", "a", CTL_TEXT, .get = row_get},
    {CTL_TABLE, "b", NULL, CTL_TEXT, .get = b_get},
    {0},
};

static const ctl_view_t view = {.columns = text_columns, .json = text_json};

/* ---- what a cell may hold */

#define NO_CHANGE "*"

static const struct {
    const char *name, *text, *want;
} text_rows[] = {
    {"nothing", NULL, "-"},
    {"an empty text", "", "-"},
    {"the last control character", "a\x1f", "a?"},
    {"a line's end", "a\nb", "a?b"},
    {"a blank", "a b", NO_CHANGE},
    {"a tilde", "~", NO_CHANGE},
    {"DEL", "\x7f", "?"},
    {"before C1, which is no UTF-8", "\xc2\x7f", "\xc2?"},
    {"the first of C1", "\xc2\x80x", "??x"},
    {"the last of C1", "\xc2\x9f", "??"},
    {"behind C1", "\xc2\xa0", NO_CHANGE},
    {"as C1 with another first byte", "\xc3\x80", NO_CHANGE},
    {"before the line separator", "\xe2\x80\xa7", NO_CHANGE},
    {"the line separator", "\xe2\x80\xa8y", "???y"},
    {"the last override", "\xe2\x80\xae", "???"},
    {"behind it", "\xe2\x80\xaf", NO_CHANGE},
    {"before the isolates", "\xe2\x81\xa5", NO_CHANGE},
    {"the first isolate", "\xe2\x81\xa6", "???"},
    {"the last isolate", "\xe2\x81\xa9", "???"},
    {"behind them", "\xe2\x81\xaa", NO_CHANGE},
    {"another block before", "\xe2\x7f\xa8", "\xe2?\xa8"},
    {"another block behind", "\xe2\x82\xa8", NO_CHANGE},
    {"another plane", "\xe3\x80\xa8", NO_CHANGE},
    {"one that is cut short", "\xe2\x80", NO_CHANGE},
};

static const ctl_column_t pair_columns[] = {
    {CTL_TABLE, "a", NULL, CTL_TEXT, .get = b_get},
    {CTL_TABLE, "b", NULL, CTL_TEXT, .get = row_get},
    {0},
};

START_TEST(test_what_steers_a_terminal_is_not_shown)
{
    static const ctl_view_t pair = {.columns = pair_columns};
    const char *want =
        strcmp(text_rows[_i].want, NO_CHANGE) == 0 ? text_rows[_i].text : text_rows[_i].want;
    const ctl_t ctl = {.pool = unit_pool};
    const char *output;
    int before;

    output = output_open(&before);
    ctl_row_print(&ctl, &pair, text_rows[_i].text);
    output = output_read(output, before);
    want = apr_pstrcat(unit_pool, "A  B\nb  ", want, "\n", NULL);
    ck_assert_msg(strcmp(output, want) == 0, "%s: %s", text_rows[_i].name, output);
}
END_TEST

/* ---- a row of each kind, in each form */

typedef struct inner_t {
    const char *word;
    apr_uint32_t count;
} inner_t;

typedef struct row_t {
    const char *text;
    char array[4];
    const char *name;
    const char *decimal, *words, *raw;
    apr_uint64_t number;
    apr_uint32_t small;
    int yes;
    apr_time_t when;
    pay_money_t money;
    pay_mode_t mode;
    const inner_t *behind;
    inner_t inner;
} row_t;

static void twice_get(ctl_value_t *value, const void *row)
{
    value->text = apr_pstrcat(value->pool, ((const row_t *)row)->text, "2", NULL);
}

static const ctl_column_t inner_columns[] = {
    {CTL_DETAILS | CTL_JSON, "inner word", "word", CTL_TEXT, CTL_FIELD(inner_t, word)},
    {CTL_ONE, "inner count", "count", CTL_NUMBER, CTL_FIELD(inner_t, count)},
    {0},
};

#define AT(member) CTL_FIELD(row_t, member)
#define ALL (CTL_BOTH | CTL_JSON | CTL_CSV)
#define NO_TABLE (CTL_DETAILS | CTL_JSON | CTL_CSV)

static const ctl_column_t columns[] = {
    {ALL, "text", "text", CTL_TEXT, AT(text)},
    {ALL, "an array", "array", CTL_TEXT, AT(array)},
    {NO_TABLE, "name", "name", CTL_NAME, AT(name)},
    {NO_TABLE, "decimal", "decimal", CTL_DECIMAL, AT(decimal)},
    {CTL_DETAILS | CTL_JSON, "words", "words", CTL_WORDS, AT(words)},
    {CTL_JSON, NULL, "raw", CTL_RAW, AT(raw)},
    {ALL, "number", "number", CTL_NUMBER, AT(number)},
    {ALL, "small", "small", CTL_NUMBER, AT(small)},
    {ALL, "yes", "yes", CTL_BOOL, AT(yes)},
    {ALL, "when", "when", CTL_TIME, AT(when)},
    {ALL, "money", "money", CTL_AMOUNT, AT(money)},
    {ALL, "mode", "mode", CTL_ENUM, AT(mode), .word = pay_mode_name},
    {NO_TABLE, "behind", "behind", CTL_TEXT, CTL_BEHIND(row_t, behind, inner_t, word)},
    {CTL_ONE, "count behind", "countBehind", CTL_NUMBER, CTL_BEHIND(row_t, behind, inner_t, count)},
    {NO_TABLE, "twice", "twice", CTL_TEXT, .get = twice_get},
    {CTL_DETAILS | CTL_JSON, NULL, NULL, CTL_GROUP, AT(inner), .group = inner_columns},
    {CTL_JSON, NULL, "inner", CTL_GROUP, AT(inner), .group = inner_columns},
    {0},
};

static void first_member(pay_writer_t *w, const void *row)
{
    (void)row;
    pay_writer_integer(w, "first", 1);
}

static void last_member(pay_writer_t *w, const void *row)
{
    (void)row;
    pay_writer_integer(w, "last", 2);
}

static void last_line(ctl_table_t *table, const void *row)
{
    (void)row;
    ctl_line(table, apr_pstrcat(ctl_table_pool(table), "la", "st", NULL), "2");
}

static const ctl_view_t list_view = {.columns = columns};
static const ctl_view_t one_view = {.columns = columns,
                                    .is_details = 1,
                                    .members = first_member,
                                    .more = last_line,
                                    .more_members = last_member};
static const char *const other_heads[] = {"WHAT", "HOW MUCH"};
static const ctl_view_t headed_view = {
    .columns = inner_columns, .is_details = 1, .heads = other_heads};

static const inner_t behind = {"far", 8};
static const row_t whole = {
    "=a",        "EUR",         "n",     "-1.50",    "a b",
    "{\"x\":1}", APR_INT64_MAX, 7,       1,          APR_TIME_C(1000000000000000),
    {5, "EUR"},  PAY_LIVE,      &behind, {"near", 9}};
static const row_t none = {.text = NULL, .name = "", .words = "", .inner = {"", 0}};

static const struct {
    const char *name;
    const ctl_view_t *view;
    const void *row;
    int json, csv, is_list;
    const char *want;
} form_rows[] = {
    {"a table", &list_view, &whole, 0, 0, 1,
     "TEXT  AN ARRAY  NUMBER               SMALL  YES  WHEN                      MONEY  MODE\n"
     "=a    EUR       9223372036854775807  7      yes  2001-09-09T01:46:40.000Z  0.05   live\n"},
    {"a table of what is absent", &list_view, &none, 0, 0, 1,
     "TEXT  AN ARRAY  NUMBER  SMALL  YES  WHEN  MONEY  MODE\n"
     "-     -         0       0      no   -     -      test\n"},
    {"details", &one_view, &whole, 0, 0, 0,
     "FIELD         VALUE\n"
     "text          =a\n"
     "an array      EUR\n"
     "name          n\n"
     "decimal       -1.50\n"
     "words         a b\n"
     "number        9223372036854775807\n"
     "small         7\n"
     "yes           yes\n"
     "when          2001-09-09T01:46:40.000Z\n"
     "money         0.05\n"
     "mode          live\n"
     "behind        far\n"
     "count behind  8\n"
     "twice         =a2\n"
     "inner word    near\n"
     "inner count   9\n"
     "last          2\n"},
    {"details with other heads", &headed_view, &whole.inner, 0, 0, 0,
     "WHAT         HOW MUCH\ninner word   near\ninner count  9\n"},
    {"one in JSON", &one_view, &whole, 1, 0, 0,
     "{\"first\":1,\"text\":\"=a\",\"array\":\"EUR\",\"name\":\"n\",\"decimal\":\"-1.50\","
     "\"words\":[\"a\",\"b\"],\"raw\":{\"x\":1},\"number\":9223372036854775807,\"small\":7,"
     "\"yes\":true,\"when\":\"2001-09-09T01:46:40.000Z\",\"money\":\"0.05\",\"mode\":\"live\","
     "\"behind\":\"far\",\"countBehind\":8,\"twice\":\"=a2\",\"word\":\"near\",\"count\":9,"
     "\"inner\":{\"word\":\"near\",\"count\":9},\"last\":2}\n"},
    {"a list in JSON has less", &list_view, &none, 1, 0, 1,
     "[\n{\"text\":null,\"array\":\"\",\"name\":null,\"decimal\":null,\"words\":[],\"raw\":null,"
     "\"number\":0,\"small\":0,\"yes\":false,\"when\":null,\"money\":null,\"mode\":\"test\","
     "\"behind\":null,\"twice\":\"\",\"word\":\"\",\"inner\":{\"word\":\"\"}}\n]\n"},
    {"CSV: only texts may be formulas", &list_view, &whole, 0, 1, 1,
     "text,array,name,decimal,number,small,yes,when,money,mode,behind,twice\r\n"
     "'=a,EUR,n,-1.50,9223372036854775807,7,true,2001-09-09T01:46:40.000Z,0.05,live,far,'=a2\r\n"},
    {"CSV of what is absent", &list_view, &none, 0, 1, 1,
     "text,array,name,decimal,number,small,yes,when,money,mode,behind,twice\r\n"
     ",,,,0,0,false,,,test,,\r\n"},
};

START_TEST(test_forms)
{
    const ctl_t ctl = {.pool = unit_pool, .json = form_rows[_i].json, .csv = form_rows[_i].csv};
    const char *output;
    ctl_list_t *list;
    int before;

    output = output_open(&before);
    if (form_rows[_i].is_list) {
        list = ctl_list_open(&ctl, form_rows[_i].view, 0);
        ctl_list_row(list, form_rows[_i].row);
        ctl_list_close(list);
    } else {
        ctl_row_print(&ctl, form_rows[_i].view, form_rows[_i].row);
    }
    output = output_read(output, before);
    ck_assert_msg(strcmp(output, form_rows[_i].want) == 0, "%s: %s", form_rows[_i].name, output);
}
END_TEST

/* ---- lists */

static const struct {
    const char *name;
    int json, csv, count;
    apr_uint64_t limit;
    const char *want;
} list_rows[] = {
    {"no row", 0, 0, 0, 0, "A  B\n"},
    {"two rows", 0, 0, 2, 0, "A    B\none  b\nt\xc3\xbc   b\n"},
    {"one of two", 0, 0, 2, 1, "A    B\none  b\n"},
    {"as many as there are", 0, 0, 2, 2, "A    B\none  b\nt\xc3\xbc   b\n"},
    {"no row in JSON", 1, 0, 0, 0, "[]\n"},
    {"two rows in JSON", 1, 0, 2, 0, "[\n\"one\",\n\"t\xc3\xbc\"\n]\n"},
    {"one of two in JSON", 1, 0, 2, 1, "[\n\"one\"\n]\n"},
    {"no row as CSV", 0, 1, 0, 0, "a\r\n"},
    {"two rows as CSV", 0, 1, 2, 0, "a\r\none\r\nt\xc3\xbc\r\n"},
    {"one of two as CSV", 0, 1, 2, 1, "a\r\none\r\n"},
};

START_TEST(test_lists)
{
    static const char *const texts[] = {"one", "t\xc3\xbc"};
    const ctl_t ctl = {.pool = unit_pool, .json = list_rows[_i].json, .csv = list_rows[_i].csv};
    apr_array_header_t *array = apr_array_make(unit_pool, 2, sizeof(const char *));
    const char *output;
    int before, i;

    for (i = 0; i < list_rows[_i].count; i++) {
        APR_ARRAY_PUSH(array, const char *) = texts[i];
    }
    output = output_open(&before);
    ctl_list_print(&ctl, &view, array, list_rows[_i].limit);
    output = output_read(output, before);
    ck_assert_msg(strcmp(output, list_rows[_i].want) == 0, "%s: %s", list_rows[_i].name, output);
}
END_TEST

/*
 * So many rows are measured together: a wide one among them widens all, one after them only itself.
 */
START_TEST(test_a_long_table_is_measured_in_parts)
{
    const ctl_t ctl = {.pool = unit_pool};
    const char *output, *last;
    ctl_list_t *list;
    int before, i;

    output = output_open(&before);
    list = ctl_list_open(&ctl, &view, 0);
    for (i = 1; i < CTL_TABLE_ROWS_MAX; i++) {
        ctl_list_row(list, "x");
    }
    ctl_list_row(list, "wide");
    ctl_list_row(list, "wider");
    ctl_list_row(list, "y");
    ctl_list_close(list);
    output = output_read(output, before);
    ck_assert_int_eq(strncmp(output, "A     B\nx     b\n", 16), 0);
    last = strstr(output, "wide  b\n");
    ck_assert_ptr_nonnull(last);
    ck_assert_str_eq(last, "wide  b\nwider  b\ny      b\n");
}
END_TEST

/* ---- lists that come in batches */

static apr_status_t texts_list(apr_array_header_t **rows, void *baton, const void *after,
                               apr_pool_t *p)
{
    static const char *const texts[] = {"1", "2", "3"};
    const int next = after ? *(const char *)after - '0' : 0;

    *rows = apr_array_make(p, 1, sizeof(const char *));
    if (next == *(const int *)baton) {
        return APR_EGENERAL;
    }
    if (next < UNIT_ROWS(texts)) {
        APR_ARRAY_PUSH(*rows, const char *) = texts[next];
    }
    return APR_SUCCESS;
}

static const struct {
    const char *name;
    int fails_at; /* rows printed by then; -1: never */
    apr_uint64_t limit;
    apr_status_t status;
    const char *want;
} walk_rows[] = {
    {"all", -1, 0, APR_SUCCESS, "A  B\n1  b\n2  b\n3  b\n"},
    {"no more than wanted", 2, 2, APR_SUCCESS, "A  B\n1  b\n2  b\n"},
    {"a batch that cannot be read", 2, 0, APR_EGENERAL, "A  B\n1  b\n2  b\n"},
};

START_TEST(test_walks)
{
    const pay_pager_t pager = {.list = texts_list};
    const ctl_t ctl = {.pool = unit_pool};
    int fails_at = walk_rows[_i].fails_at;
    const char *output;
    ctl_list_t *list;
    apr_status_t rv;
    int before;

    output = output_open(&before);
    list = ctl_list_open(&ctl, &view, walk_rows[_i].limit);
    rv = ctl_list_walk(list, &pager, &fails_at);
    ctl_list_close(list);
    output = output_read(output, before);
    ck_assert_msg(rv == walk_rows[_i].status, "%s: %d", walk_rows[_i].name, rv);
    ck_assert_msg(strcmp(output, walk_rows[_i].want) == 0, "%s: %s", walk_rows[_i].name, output);
}
END_TEST

/* ---- its end */

START_TEST(test_what_was_not_taken_is_known_afterwards)
{
    const int full = open("/dev/full", O_WRONLY);
    const char *output;
    int before, told;

    ck_assert_int_ge(full, 0);
    output = output_open(&before);
    ck_assert_int_eq(ctl_output_flush(), 0);
    ck_assert_int_eq(dup2(full, STDOUT_FILENO), STDOUT_FILENO);
    (void)puts("lost");
    (void)fflush(stdout);
    ck_assert_int_eq(dup2(open(output, O_WRONLY), STDOUT_FILENO), STDOUT_FILENO);
    told = ctl_output_flush();
    clearerr(stdout);
    (void)output_read(output, before);
    ck_assert_int_ne(told, 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_what_steers_a_terminal_is_not_shown, 0, UNIT_ROWS(text_rows));
    tcase_add_loop_test(tcase, test_forms, 0, UNIT_ROWS(form_rows));
    tcase_add_loop_test(tcase, test_walks, 0, UNIT_ROWS(walk_rows));
    tcase_add_loop_test(tcase, test_lists, 0, UNIT_ROWS(list_rows));
    tcase_add_test(tcase, test_a_long_table_is_measured_in_parts);
    tcase_add_test(tcase, test_what_was_not_taken_is_known_afterwards);
}

UNIT_PROGRAM(add)
