/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/output.h"

#include "output.h"
#include "unit.h"

#include <string.h>

/* Tables and lists as they are printed, to the byte. */

static const char *const titles[] = {"A", "B", NULL};
static const char *const csv_titles[] = {"a", NULL};

static void text_cells(ctl_table_t *table, const void *row)
{
    ctl_table_cell(table, row);
    ctl_table_cell(table, "b");
}

static void text_json(pay_writer_t *w, const void *row)
{
    pay_writer_string(w, NULL, row);
}

static void text_csv(pay_csv_t *csv, const void *row)
{
    pay_csv_text(csv, row);
}

static const ctl_view_t view = {.titles = titles,
                                .cells = text_cells,
                                .json = text_json,
                                .csv_titles = csv_titles,
                                .csv = text_csv};

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

static void pair_cells(ctl_table_t *table, const void *row)
{
    ctl_table_cell(table, "b");
    ctl_table_cell(table, row);
}

START_TEST(test_what_steers_a_terminal_is_not_shown)
{
    static const ctl_view_t pair = {.titles = titles, .cells = pair_cells};
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

static void value_cells(ctl_table_t *table, const void *row)
{
    (void)row;
    ctl_table_number(table, 0);
    ctl_table_number(table, APR_UINT64_MAX);
    ctl_table_time(table, 0);
    ctl_table_time(table, apr_time_from_sec(1000000000));
    ctl_table_amount(table, 5, "EUR");
    ctl_table_amount(table, 5, "");
    ctl_detail(table, "name", NULL);
    ctl_detail_number(table, "number", 3);
    ctl_detail_time(table, "time", 0);
}

START_TEST(test_values)
{
    static const ctl_view_t values = {.titles = ctl_detail_titles, .cells = value_cells};
    const ctl_t ctl = {.pool = unit_pool};
    const char *output;
    int before;

    output = output_open(&before);
    ctl_row_print(&ctl, &values, "");
    output = output_read(output, before);
    ck_assert_str_eq(output, "FIELD   VALUE\n"
                             "0       18446744073709551615\n"
                             "-       2001-09-09T01:46:40.000Z\n"
                             "0.05    -\n"
                             "name    -\n"
                             "number  3\n"
                             "time    -\n");
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
    tcase_add_test(tcase, test_values);
    tcase_add_loop_test(tcase, test_lists, 0, UNIT_ROWS(list_rows));
    tcase_add_test(tcase, test_a_long_table_is_measured_in_parts);
    tcase_add_test(tcase, test_what_was_not_taken_is_known_afterwards);
}

UNIT_PROGRAM(add)
