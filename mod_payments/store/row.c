/* SPDX-License-Identifier: Apache-2.0 */
#include "store/row.h"
#include "store/rows.h"

#include <apr_strings.h>
#include <assert.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#define ROW_VERSION 1
#define ROW_HEAD_LEN 2 /* version, number of fields */
#define ROW_INT_LEN 8
#define ROW_LENGTH_LEN 2 /* precedes strings and texts */
#define ROW_STRING_MAX 65534
#define ROW_STRING_NULL 65535

/* Position where a row is written. */
typedef struct row_writer_t {
    unsigned char *at;
    size_t left;
} row_writer_t;

/* Position where a row is read. */
typedef struct row_cursor_t {
    const unsigned char *at;
    size_t left;
} row_cursor_t;

static const void *member_of(const void *record, const pay_row_field_t *field)
{
    return (const char *)record + field->offset;
}

static apr_uint64_t int_load(const void *member, size_t size)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    apr_uint64_t eight = 0;

    switch (size) {
    case 1:
        memcpy(&one, member, size);
        return one;
    case 2:
        memcpy(&two, member, size);
        return two;
    case 4:
        memcpy(&four, member, size);
        return four;
    default:
        assert(size == sizeof(eight));
        memcpy(&eight, member, size);
        return eight;
    }
}

/* Returns 0 if the member is too narrow for the value. */
static int int_store(void *member, size_t size, apr_uint64_t value)
{
    uint8_t one = (uint8_t)value;
    uint16_t two = (uint16_t)value;
    uint32_t four = (uint32_t)value;

    if (size < sizeof(value) && value >> (8 * size)) {
        return 0;
    }
    switch (size) {
    case 1:
        memcpy(member, &one, size);
        return 1;
    case 2:
        memcpy(member, &two, size);
        return 1;
    case 4:
        memcpy(member, &four, size);
        return 1;
    default:
        assert(size == sizeof(value));
        memcpy(member, &value, size);
        return 1;
    }
}

static void put_be(row_writer_t *row, apr_uint64_t value, size_t width)
{
    size_t i;

    assert(row->left >= width);
    for (i = 0; i < width; i++) {
        row->at[i] = (unsigned char)(value >> (8 * (width - 1 - i)));
    }
    row->at += width;
    row->left -= width;
}

static void put_bytes(row_writer_t *row, const void *bytes, size_t len)
{
    assert(row->left >= len);
    if (len) {
        memcpy(row->at, bytes, len);
    }
    row->at += len;
    row->left -= len;
}

/* Returns 0 if the row ends before. */
static int take_be(apr_uint64_t *value, row_cursor_t *row, size_t width)
{
    size_t i;

    *value = 0;
    if (row->left < width) {
        return 0;
    }
    for (i = 0; i < width; i++) {
        *value = *value << 8 | row->at[i];
    }
    row->at += width;
    row->left -= width;
    return 1;
}

static const char *string_of(const void *record, const pay_row_field_t *field)
{
    const char *text;

    memcpy(&text, member_of(record, field), sizeof(text));
    return text;
}

/*
 * Returns the number of bytes that a field takes in the row; 0 if it does not fit (every field
 * takes at least one).
 */
static size_t field_len(const pay_row_field_t *field, const void *record)
{
    const char *text;
    size_t len;

    switch (field->type) {
    case PAY_ROW_INT:
        return ROW_INT_LEN;
    case PAY_ROW_STRING:
        assert(field->size == sizeof(char *));
        text = string_of(record, field);
        len = text ? strlen(text) : 0;
        return len > ROW_STRING_MAX ? 0 : ROW_LENGTH_LEN + len;
    case PAY_ROW_TEXT:
        len = strnlen(member_of(record, field), field->size);
        return len == field->size || len > ROW_STRING_MAX ? 0 : ROW_LENGTH_LEN + len;
    case PAY_ROW_BYTES:
        return field->size;
    }
    return 0;
}

static void field_put(row_writer_t *row, const pay_row_field_t *field, const void *record)
{
    const void *member = member_of(record, field);
    const char *text;
    size_t len;

    switch (field->type) {
    case PAY_ROW_INT:
        put_be(row, int_load(member, field->size), ROW_INT_LEN);
        return;
    case PAY_ROW_STRING:
        text = string_of(record, field);
        len = text ? strlen(text) : 0;
        put_be(row, text ? len : ROW_STRING_NULL, ROW_LENGTH_LEN);
        put_bytes(row, text, len);
        return;
    case PAY_ROW_TEXT:
        len = strnlen(member, field->size);
        put_be(row, len, ROW_LENGTH_LEN);
        put_bytes(row, member, len);
        return;
    case PAY_ROW_BYTES:
        put_bytes(row, member, field->size);
        return;
    }
}

static int is_zero(const unsigned char *bytes, size_t len)
{
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, len - 1) == 0;
}

/* Returns 1 if a row without the field is read as having this value. */
static int is_empty(const pay_row_field_t *field, const void *record)
{
    const char *text;

    switch (field->type) {
    case PAY_ROW_INT:
        return int_load(member_of(record, field), field->size) == 0;
    case PAY_ROW_STRING:
        text = string_of(record, field);
        return text && *text == '\0';
    case PAY_ROW_TEXT:
        return *(const char *)member_of(record, field) == '\0';
    case PAY_ROW_BYTES:
        return is_zero(member_of(record, field), field->size);
    }
    return 0;
}

/* The number of fields up to the last one that is not empty. */
static size_t count_used(const pay_row_field_t *fields, size_t count, const void *record)
{
    while (count > 0 && is_empty(&fields[count - 1], record)) {
        count--;
    }
    return count;
}

size_t pay_row_left_out(const pay_row_field_t *fields, size_t count, const void *record)
{
    size_t len = 0;
    size_t i;

    for (i = count_used(fields, count, record); i < count; i++) {
        len += field_len(&fields[i], record);
    }
    return len;
}

int pay_row_encode(pay_bytes_t *out, const pay_row_field_t *fields, size_t count,
                   const void *record, apr_pool_t *p)
{
    row_writer_t row;
    size_t total = ROW_HEAD_LEN;
    size_t len;
    size_t i;

    out->len = 0;
    out->data = NULL;
    assert(count <= UINT8_MAX);
    count = count_used(fields, count, record);
    for (i = 0; i < count; i++) {
        len = field_len(&fields[i], record);
        if (!len) {
            return ENAMETOOLONG;
        }
        total += len;
    }
    row.at = apr_palloc(p, total);
    row.left = total;
    out->data = row.at;
    out->len = total;
    put_be(&row, ROW_VERSION, 1);
    put_be(&row, count, 1);
    for (i = 0; i < count; i++) {
        field_put(&row, &fields[i], record);
    }
    assert(row.left == 0);
    return 0;
}

/* Reads the text of the row's next field: returns 0 if it is cut short or contains a NUL. */
static int take_text(const char **text, size_t *len, row_cursor_t *row)
{
    apr_uint64_t value;

    *text = NULL;
    *len = 0;
    if (!take_be(&value, row, ROW_LENGTH_LEN)) {
        return 0;
    }
    if (value == ROW_STRING_NULL) {
        return 1;
    }
    if (row->left < value || memchr(row->at, 0, (size_t)value)) {
        return 0;
    }
    *text = (const char *)row->at;
    *len = (size_t)value;
    row->at += *len;
    row->left -= *len;
    return 1;
}

static int field_take(void *record, const pay_row_field_t *field, row_cursor_t *row, apr_pool_t *p)
{
    char *member = (char *)record + field->offset;
    const char *text;
    apr_uint64_t value;
    size_t len;

    switch (field->type) {
    case PAY_ROW_INT:
        return take_be(&value, row, ROW_INT_LEN) && value <= field->max
               && int_store(member, field->size, value);
    case PAY_ROW_STRING:
        if (!take_text(&text, &len, row) || (!text && !field->may_be_null)) {
            return 0;
        }
        text = text ? apr_pstrmemdup(p, text, len) : NULL;
        memcpy(member, &text, sizeof(text));
        return 1;
    case PAY_ROW_TEXT:
        if (!take_text(&text, &len, row) || !text || len >= field->size) {
            return 0;
        }
        memcpy(member, text, len);
        member[len] = '\0';
        return 1;
    case PAY_ROW_BYTES:
        if (row->left < field->size) {
            return 0;
        }
        memcpy(member, row->at, field->size);
        row->at += field->size;
        row->left -= field->size;
        return 1;
    }
    return 0;
}

/* Fields that were added to the table after the row was written. */
static void fields_default(void *record, const pay_row_field_t *fields, size_t from, size_t count)
{
    static const char *const empty = "";
    size_t i;

    for (i = from; i < count; i++) {
        if (fields[i].type == PAY_ROW_STRING) {
            memcpy((char *)record + fields[i].offset, &empty, sizeof(empty));
        }
    }
}

int pay_row_decode(void *record, const pay_row_field_t *fields, size_t count,
                   const pay_bytes_t *row, size_t *used, apr_pool_t *p)
{
    row_cursor_t cursor;
    apr_uint64_t version;
    apr_uint64_t stored;
    size_t i;

    if (used) {
        *used = 0;
    }
    cursor.at = row->data;
    cursor.left = row->len;
    if (!take_be(&version, &cursor, 1) || version != ROW_VERSION) {
        return PAY_ROWS_BAD;
    }
    if (!take_be(&stored, &cursor, 1) || stored > count) {
        return PAY_ROWS_BAD;
    }
    for (i = 0; i < stored; i++) {
        if (!field_take(record, &fields[i], &cursor, p)) {
            return PAY_ROWS_BAD;
        }
    }
    fields_default(record, fields, (size_t)stored, count);
    if (used) {
        *used = row->len - cursor.left;
        return 0;
    }
    return cursor.left ? PAY_ROWS_BAD : 0;
}
