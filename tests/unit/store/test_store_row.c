/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "store/row.h"
#include "store/rows.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#define STRING_MAX 65534

typedef enum colour_t { COLOUR_RED, COLOUR_BLUE } colour_t;

typedef struct record_t {
    apr_int64_t wide;
    int narrow;
    unsigned short two;
    unsigned char one;
    colour_t colour;
    const char *text;
    const char *absent;
    const char *empty;
    char code[4];
    unsigned char digest[5];
} record_t;

static const pay_row_field_t fields[] = {
    PAY_ROW_FIELD(PAY_ROW_INT, record_t, wide),   PAY_ROW_FIELD(PAY_ROW_INT, record_t, narrow),
    PAY_ROW_FIELD(PAY_ROW_INT, record_t, two),    PAY_ROW_FIELD(PAY_ROW_INT, record_t, one),
    PAY_ROW_FIELD(PAY_ROW_INT, record_t, colour), PAY_ROW_FIELD(PAY_ROW_STRING, record_t, text),
    PAY_ROW_NULLABLE(record_t, absent),           PAY_ROW_NULLABLE(record_t, empty),
    PAY_ROW_FIELD(PAY_ROW_TEXT, record_t, code),  PAY_ROW_FIELD(PAY_ROW_BYTES, record_t, digest),
};

static const record_t sample = {
    .wide = INT64_MIN,
    .narrow = -7,
    .two = 65535,
    .one = 255,
    .colour = COLOUR_BLUE,
    .text = "caf\xc3\xa9",
    .absent = NULL,
    .empty = "",
    .code = "NGN",
    .digest = {0, 1, 0, 255, 0},
};

static pay_bytes_t encoded(const record_t *record)
{
    pay_bytes_t row;

    ck_assert_int_eq(pay_row_encode(&row, fields, UNIT_ROWS(fields), record, unit_pool), 0);
    return row;
}

START_TEST(test_what_goes_in_comes_out)
{
    record_t back = {0};
    pay_bytes_t row = encoded(&sample);

    ck_assert_int_eq(pay_row_decode(&back, fields, UNIT_ROWS(fields), &row, NULL, unit_pool), 0);
    ck_assert_int_eq(back.wide, sample.wide);
    ck_assert_int_eq(back.narrow, sample.narrow);
    ck_assert_uint_eq(back.two, sample.two);
    ck_assert_uint_eq(back.one, sample.one);
    ck_assert_int_eq(back.colour, sample.colour);
    ck_assert_str_eq(back.text, sample.text);
    ck_assert_ptr_null(back.absent);
    ck_assert_str_eq(back.empty, "");
    ck_assert_str_eq(back.code, "NGN");
    ck_assert_mem_eq(back.digest, sample.digest, sizeof(back.digest));
}
END_TEST

START_TEST(test_every_cut_is_found)
{
    pay_bytes_t row = encoded(&sample);
    const size_t whole = row.len;

    for (row.len = 0; row.len < whole; row.len++) {
        record_t back = {0};

        ck_assert_msg(pay_row_decode(&back, fields, UNIT_ROWS(fields), &row, NULL, unit_pool)
                          == PAY_ROWS_BAD,
                      "cut to %d bytes", (int)row.len);
    }
}
END_TEST

START_TEST(test_what_follows_is_left_alone)
{
    pay_bytes_t row = encoded(&sample);
    char *longer = apr_palloc(unit_pool, row.len + 4);
    pay_bytes_t both = {row.len + 4, longer};
    record_t back = {0};
    size_t used;

    memcpy(longer, row.data, row.len);
    memcpy(longer + row.len, "{}\n", 4);
    ck_assert_int_eq(pay_row_decode(&back, fields, UNIT_ROWS(fields), &both, &used, unit_pool), 0);
    ck_assert_uint_eq(used, row.len);
    ck_assert_int_eq(pay_row_decode(&back, fields, UNIT_ROWS(fields), &both, NULL, unit_pool),
                     PAY_ROWS_BAD);
}
END_TEST

START_TEST(test_a_row_of_an_older_table_has_defaults)
{
    record_t back = {0};
    pay_bytes_t row;
    size_t used;

    /* Up to `colour`: three strings, the code and the digest were added later. */
    ck_assert_int_eq(pay_row_encode(&row, fields, 5, &sample, unit_pool), 0);
    ck_assert_int_eq(pay_row_decode(&back, fields, UNIT_ROWS(fields), &row, &used, unit_pool), 0);
    ck_assert_uint_eq(used, row.len);
    ck_assert_int_eq(back.narrow, -7);
    ck_assert_str_eq(back.text, "");
    ck_assert_str_eq(back.absent, "");
    ck_assert_str_eq(back.code, "");
}
END_TEST

static const struct {
    const char *name;
    record_t record;
    int want; /* fields in the row */
} trim_rows[] = {
    {"every field", {1, 1, 1, 1, COLOUR_BLUE, "a", "b", "c", "NGN", {1, 2, 3, 4, 5}}, 10},
    {"bytes, the last one set",
     {.absent = "", .empty = "", .text = "", .digest = {0, 0, 0, 0, 1}},
     10},
    {"bytes, the first one set", {.absent = "", .empty = "", .text = "", .digest = {1}}, 10},
    {"a text, then zero bytes", {.absent = "", .empty = "", .text = "", .code = "N"}, 9},
    {"a string, then an empty text", {.absent = "", .empty = "c", .text = ""}, 8},
    {"NULL, then an empty text", {.absent = "", .empty = NULL, .text = ""}, 8},
    {"a string, then an empty string", {.absent = "b", .empty = "", .text = ""}, 7},
    {"NULL, then an empty string", {.absent = NULL, .empty = "", .text = ""}, 7},
    {"an enum, then empty strings",
     {.colour = COLOUR_BLUE, .absent = "", .empty = "", .text = ""},
     5},
    {"one byte, then an enum of 0", {.one = 1, .absent = "", .empty = "", .text = ""}, 4},
    {"two bytes, then 0", {.two = 256, .absent = "", .empty = "", .text = ""}, 3},
    {"four bytes, then 0", {.narrow = INT_MIN, .absent = "", .empty = "", .text = ""}, 2},
    {"eight bytes, then 0", {.wide = INT64_MIN, .absent = "", .empty = "", .text = ""}, 1},
    {"no field", {.absent = "", .empty = "", .text = ""}, 0},
};

static size_t text_len(const char *text)
{
    return text ? strlen(text) : 0;
}

static void check_same(const char *name, const record_t *got, const record_t *want)
{
    ck_assert_msg(got->wide == want->wide && got->narrow == want->narrow && got->two == want->two
                      && got->one == want->one && got->colour == want->colour,
                  "%s: numbers", name);
    ck_assert_msg(!got->text == !want->text && !got->absent == !want->absent
                      && !got->empty == !want->empty,
                  "%s: NULL", name);
    ck_assert_pstr_eq(got->text, want->text);
    ck_assert_pstr_eq(got->absent, want->absent);
    ck_assert_pstr_eq(got->empty, want->empty);
    ck_assert_msg(!strcmp(got->code, want->code), "%s: text", name);
    ck_assert_msg(!memcmp(got->digest, want->digest, sizeof(got->digest)), "%s: bytes", name);
}

/* Empty fields at the end are left out, and read as they were; a shorter table reads it too. */
START_TEST(test_trimming)
{
    const record_t *record = &trim_rows[_i].record;
    const char *name = trim_rows[_i].name;
    const size_t whole = 2 + 5 * 8 + 4 * 2 + text_len(record->text) + text_len(record->absent)
                         + text_len(record->empty) + strlen(record->code) + sizeof(record->digest);
    const size_t want = (size_t)trim_rows[_i].want;
    record_t back = {0}, older = {0};
    pay_bytes_t row = encoded(record);

    ck_assert_msg(((const unsigned char *)row.data)[1] == want, "%s: %d fields", name,
                  ((const unsigned char *)row.data)[1]);
    ck_assert_msg(row.len + pay_row_left_out(fields, UNIT_ROWS(fields), record) == whole,
                  "%s: %d bytes", name, (int)row.len);
    ck_assert_int_eq(pay_row_decode(&back, fields, UNIT_ROWS(fields), &row, NULL, unit_pool), 0);
    check_same(name, &back, record);
    ck_assert_msg(pay_row_decode(&older, fields, want, &row, NULL, unit_pool) == 0, "%s: older",
                  name);
}
END_TEST

/* Rows of earlier versions have the fields that are left out now. */
START_TEST(test_a_whole_row_of_empty_fields_is_read)
{
    static unsigned char bytes[2 + 5 * 8 + 4 * 2 + 5] = {1, 10};
    pay_bytes_t row = {sizeof(bytes), bytes};
    record_t back = {0};

    ck_assert_int_eq(pay_row_decode(&back, fields, UNIT_ROWS(fields), &row, NULL, unit_pool), 0);
    check_same("whole", &back, &trim_rows[UNIT_ROWS(trim_rows) - 1].record);
}
END_TEST

START_TEST(test_a_row_of_a_newer_table_is_refused)
{
    record_t back = {0};
    pay_bytes_t row = encoded(&sample);

    ck_assert_int_eq(pay_row_decode(&back, fields, UNIT_ROWS(fields) - 1, &row, NULL, unit_pool),
                     PAY_ROWS_BAD);
}
END_TEST

static const struct {
    const char *name;
    size_t offset;
    unsigned char value;
} damage_rows[] = {
    {"another version", 0, 2},
    {"more fields than the table", 1, 11},
    {"a number wider than its member", 10, 1}, /* first byte of `narrow` */
    {"a string longer than the row", 42, 0x7F},
    {"a NUL inside a string", 44, 0},
    {"a text longer than its member", 54, 4},
};

START_TEST(test_damage_is_found)
{
    pay_bytes_t row = encoded(&sample);
    record_t back = {0};

    ((unsigned char *)row.data)[damage_rows[_i].offset] = damage_rows[_i].value;
    ck_assert_msg(pay_row_decode(&back, fields, UNIT_ROWS(fields), &row, NULL, unit_pool)
                      == PAY_ROWS_BAD,
                  "%s", damage_rows[_i].name);
}
END_TEST

/* Fields that state their limits. */
static const pay_row_field_t judged_fields[] = {
    PAY_ROW_MAX(record_t, wide, APR_INT64_MAX), PAY_ROW_MAX(record_t, narrow, 7),
    PAY_ROW_MAX(record_t, two, 1000),           PAY_ROW_MAX(record_t, one, 1),
    PAY_ROW_MAX(record_t, colour, COLOUR_BLUE), PAY_ROW_FIELD(PAY_ROW_STRING, record_t, text),
    PAY_ROW_NULLABLE(record_t, absent),
};

static const struct {
    const char *name;
    record_t record;
    int want;
} judged_rows[] = {
    {"every number at its largest",
     {APR_INT64_MAX, 7, 1000, 1, COLOUR_BLUE, "", "", "", "", {0}},
     0},
    {"no field", {.text = "", .absent = ""}, 0},
    {"eight bytes below 0", {.wide = -1, .text = ""}, PAY_ROWS_BAD},
    {"the least of eight bytes", {.wide = INT64_MIN, .text = ""}, PAY_ROWS_BAD},
    {"four bytes above their largest", {.narrow = 8, .text = ""}, PAY_ROWS_BAD},
    {"four bytes below 0", {.narrow = -1, .text = ""}, PAY_ROWS_BAD},
    {"two bytes above their largest", {.two = 1001, .text = ""}, PAY_ROWS_BAD},
    {"one byte above its largest", {.one = 2, .text = ""}, PAY_ROWS_BAD},
    {"no such member of an enum", {.colour = (colour_t)2, .text = ""}, PAY_ROWS_BAD},
    {"NULL where none may be", {.text = NULL, .absent = ""}, PAY_ROWS_BAD},
    {"NULL where it may be", {.text = "", .absent = NULL}, 0},
    {"NULL behind a string", {.text = "a", .absent = NULL}, 0},
};

/* Whatever is written, only values within the fields' limits are read. */
START_TEST(test_values_are_judged)
{
    const record_t *record = &judged_rows[_i].record;
    record_t back = {0};
    pay_bytes_t row;
    int rc;

    ck_assert_int_eq(
        pay_row_encode(&row, judged_fields, UNIT_ROWS(judged_fields), record, unit_pool), 0);
    rc = pay_row_decode(&back, judged_fields, UNIT_ROWS(judged_fields), &row, NULL, unit_pool);
    ck_assert_msg(rc == judged_rows[_i].want, "%s: %d", judged_rows[_i].name, rc);
    if (rc == 0) {
        ck_assert_pstr_eq(back.text, record->text);
        ck_assert_pstr_eq(back.absent, record->absent);
    }
}
END_TEST

static const struct {
    const char *name;
    size_t len;
    int want;
} string_rows[] = {
    {"the longest", STRING_MAX, 0},
    {"one past the longest", STRING_MAX + 1, ENAMETOOLONG},
};

START_TEST(test_length_of_strings)
{
    char *text = apr_palloc(unit_pool, string_rows[_i].len + 1);
    record_t record = sample;
    record_t back = {0};
    pay_bytes_t row;
    int rc;

    memset(text, 'x', string_rows[_i].len);
    text[string_rows[_i].len] = '\0';
    record.text = text;
    rc = pay_row_encode(&row, fields, UNIT_ROWS(fields), &record, unit_pool);
    ck_assert_msg(rc == string_rows[_i].want, "%s", string_rows[_i].name);
    if (rc == 0) {
        ck_assert_int_eq(pay_row_decode(&back, fields, UNIT_ROWS(fields), &row, NULL, unit_pool),
                         0);
        ck_assert_uint_eq(strlen(back.text), string_rows[_i].len);
    } else {
        ck_assert_ptr_null(row.data);
    }
}
END_TEST

START_TEST(test_a_text_without_its_end_is_refused)
{
    record_t record = sample;
    pay_bytes_t row;

    memcpy(record.code, "NGNX", sizeof(record.code));
    ck_assert_int_eq(pay_row_encode(&row, fields, UNIT_ROWS(fields), &record, unit_pool),
                     ENAMETOOLONG);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_what_goes_in_comes_out);
    tcase_add_test(tcase, test_every_cut_is_found);
    tcase_add_test(tcase, test_what_follows_is_left_alone);
    tcase_add_test(tcase, test_a_row_of_an_older_table_has_defaults);
    tcase_add_loop_test(tcase, test_trimming, 0, UNIT_ROWS(trim_rows));
    tcase_add_test(tcase, test_a_whole_row_of_empty_fields_is_read);
    tcase_add_test(tcase, test_a_row_of_a_newer_table_is_refused);
    tcase_add_loop_test(tcase, test_damage_is_found, 0, UNIT_ROWS(damage_rows));
    tcase_add_loop_test(tcase, test_values_are_judged, 0, UNIT_ROWS(judged_rows));
    tcase_add_loop_test(tcase, test_length_of_strings, 0, UNIT_ROWS(string_rows));
    tcase_add_test(tcase, test_a_text_without_its_end_is_refused);
}

UNIT_PROGRAM(add)
