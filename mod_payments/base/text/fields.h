/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_FIELDS_H
#define PAY_BASE_TEXT_FIELDS_H

/*
 * The fields of an HTML form (application/x-www-form-urlencoded). httpd's own parser accepts
 * percent signs without hex digits, a NUL and repeated fields, and leaves copies of every value in
 * buckets, where a card number cannot be wiped; this one decodes in place. Pure.
 */

#include <apr.h>
#include <apr_errno.h>

#define PAY_FIELDS_MAX 16
#define PAY_FIELDS_LEN_MAX 4096 /* bytes of a body of fields */

typedef struct pay_fields_t {
    int count;
    const char *name[PAY_FIELDS_MAX];
    const char *value[PAY_FIELDS_MAX];
    char *text; /* contains all names and values */
    apr_size_t len;
} pay_fields_t;

/*
 * Decodes `len` bytes of `text`, which is changed and has room for a NUL after them. APR_EINVAL:
 * more than PAY_FIELDS_MAX fields or PAY_FIELDS_LEN_MAX bytes, a field without a name or given
 * twice, a NUL, a percent sign without two hex digits; *out then has no fields. The caller judges
 * what the bytes mean (UTF-8, controls).
 */
apr_status_t pay_fields_parse(pay_fields_t *out, char *text, apr_size_t len);

/* Returns the field's value, NULL if it was not given. */
const char *pay_fields_get(const pay_fields_t *fields, const char *name);

/* Zeroes the text and forgets the fields. */
void pay_fields_wipe(pay_fields_t *fields);

#endif
