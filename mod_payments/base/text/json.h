/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_JSON_H
#define PAY_BASE_TEXT_JSON_H

/*
 * Reading JSON objects from clients (RFC 8259), over jansson. A document belongs to one thread at
 * a time and lives as long as the pool it was parsed into.
 */

#include <apr_errno.h>
#include <apr_pools.h>

#define PAY_JSON_DEPTH_MAX 32

typedef struct pay_json_t pay_json_t;

typedef enum pay_json_type_t {
    PAY_JSON_ABSENT,
    PAY_JSON_NULL,
    PAY_JSON_STRING,
    PAY_JSON_NUMBER,
    PAY_JSON_OTHER /* true, false, array, object */
} pay_json_type_t;

/*
 * Parses `text` (`len` bytes, `text[len]` must be NUL), whose top level must be an object.
 * APR_EINVAL: not JSON, not an object, nested deeper than PAY_JSON_DEPTH_MAX, invalid UTF-8, a NUL
 * or lone surrogate in a string, or a member given twice; `*reason` is then a sentence for the
 * client that quotes nothing of the text.
 */
apr_status_t pay_json_parse(const pay_json_t **out, const char **reason, const char *text,
                            apr_size_t len, apr_pool_t *p);

pay_json_type_t pay_json_type(const pay_json_t *json, const char *name);

/* The string member, or NULL when it is absent or not a string. Lives with the document. */
const char *pay_json_string(const pay_json_t *json, const char *name);

/* The exact literal of the number member ("10.50"), or NULL when absent or not a number. */
const char *pay_json_number(const pay_json_t *json, const char *name);

/* 1 when the member is true, 0 when it is false, -1 when it is neither. */
int pay_json_bool(const pay_json_t *json, const char *name);

/* The member that is an object, in `p`, which lives no longer than the document; NULL when it is
 * absent or no object. */
const pay_json_t *pay_json_object(const pay_json_t *json, const char *name, apr_pool_t *p);

/* The text of the member that is an object, as it was given, in the document's pool; NULL when it
 * is absent or no object. */
const char *pay_json_object_text(const pay_json_t *json, const char *name);

/* The object that is the first element of the member, which is an array; NULL: it is none. Its
 * numbers are not told. Otherwise as above. */
const pay_json_t *pay_json_first(const pay_json_t *json, const char *name, apr_pool_t *p);

/* The object as text in `p`, without the member `name`: one text for equal objects, whatever the
 * order and blanks. Numbers are rounded to doubles. NULL: there is no memory. */
const char *pay_json_text_without(const pay_json_t *json, const char *name, apr_pool_t *p);

/* Zeroes what is kept of the member that is an object: its text, and the strings in it. Other
 * objects in that one keep theirs. */
void pay_json_wipe(const pay_json_t *json, const char *name);

/* How many members the top-level object has. */
apr_size_t pay_json_count(const pay_json_t *json);

#endif
