/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_ROW_H
#define PAY_STORE_ROW_H

/*
 * Rows: a version byte, the number of fields (at most 255), then the fields of a C struct in the
 * order of a table of fields. The same table is used for writing and reading. New fields are
 * appended to the table. A row omits the empty fields at its end: 0, "" or zero bytes; a NULL
 * string is not empty. Fields that a row does not have are read as empty. Checks are made on
 * reading, not on writing: a row that does not decode, has more fields than the table, or has a
 * value that its field does not allow is PAY_ROWS_BAD.
 */

#include "store/bytes.h"

#include <apr_pools.h>
#include <stddef.h>

typedef enum pay_row_type_t {
    PAY_ROW_INT,    /* any integer or enum member of 1, 2, 4 or 8 bytes; 8 bytes in the row */
    PAY_ROW_STRING, /* const char *; NULL is distinct from "" */
    PAY_ROW_TEXT,   /* char[n], NUL-terminated */
    PAY_ROW_BYTES   /* unsigned char[n], all of them */
} pay_row_type_t;

typedef struct pay_row_field_t {
    pay_row_type_t type;
    size_t offset;
    size_t size;      /* of the member */
    int may_be_null;  /* 1: a NULL string is accepted; 0: it means a damaged row */
    apr_uint64_t max; /* the largest number accepted, without a sign */
} pay_row_field_t;

#define PAY_ROW_FIELD_OF(type, record, member, may_be_null, max)                                   \
    {                                                                                              \
        type, offsetof(record, member), sizeof(((record *)0)->member), may_be_null, max            \
    }

/* A string that is never NULL, a number of any value, a text or bytes. */
#define PAY_ROW_FIELD(type, record, member)                                                        \
    PAY_ROW_FIELD_OF(type, record, member, 0, APR_UINT64_MAX)
/* A string that may be NULL. */
#define PAY_ROW_NULLABLE(record, member)                                                           \
    PAY_ROW_FIELD_OF(PAY_ROW_STRING, record, member, 1, APR_UINT64_MAX)
/* A number or enum member from 0 to `largest`, which the member can hold: INT_MAX for a
 * non-negative int, APR_INT64_MAX for eight bytes. */
#define PAY_ROW_MAX(record, member, largest)                                                       \
    PAY_ROW_FIELD_OF(PAY_ROW_INT, record, member, 0, largest)

/* Encodes `record` in `p`. ENAMETOOLONG for a string above 65,534 bytes. */
int pay_row_encode(pay_bytes_t *out, const pay_row_field_t *fields, size_t count,
                   const void *record, apr_pool_t *p);

/* The number of bytes that the fields omitted from the row of `record` take once they are written;
 * a string that is set then takes its own length in addition. */
size_t pay_row_left_out(const pay_row_field_t *fields, size_t count, const void *record);

/*
 * Fills `record` (zeroed by the caller); strings are copied into `p`. Returns 0 or PAY_ROWS_BAD,
 * which it does not log. If `used` is not NULL, sets *used to the length of the row in bytes, so
 * that something may follow it; if it is NULL, the row must use all bytes.
 */
int pay_row_decode(void *record, const pay_row_field_t *fields, size_t count,
                   const pay_bytes_t *row, size_t *used, apr_pool_t *p);

#endif
