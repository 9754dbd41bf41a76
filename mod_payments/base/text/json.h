/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_JSON_H
#define PAY_BASE_TEXT_JSON_H

/*
 * Reads JSON objects from clients (RFC 8259), over jansson. A document belongs to one thread at a
 * time and lives as long as the pool that it was parsed into.
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
 * or lone surrogate in a string, or a repeated member; `*reason` is then a sentence for the client
 * that quotes nothing of the text.
 */
apr_status_t pay_json_parse(const pay_json_t **out, const char **reason, const char *text,
                            apr_size_t len, apr_pool_t *p);

pay_json_type_t pay_json_type(const pay_json_t *json, const char *name);

/* Returns the string member; NULL if it is absent or not a string. Lives with the document. */
const char *pay_json_string(const pay_json_t *json, const char *name);

/*
 * Returns the exact literal of the number member ("10.50"); NULL if it is absent or not a number.
 */
const char *pay_json_number(const pay_json_t *json, const char *name);

/* Returns 1 if the member is true, 0 if it is false, -1 if it is neither. */
int pay_json_bool(const pay_json_t *json, const char *name);

/* Returns the member that is an object, in `p`, which must not outlive the document; NULL if it is
 * absent or not an object. */
const pay_json_t *pay_json_object(const pay_json_t *json, const char *name, apr_pool_t *p);

/* Returns the text of the member that is an object, as received, in the document's pool; NULL if it
 * is absent or not an object. */
const char *pay_json_object_text(const pay_json_t *json, const char *name);

/* Returns the object that is the first element of the array member; NULL if it is not an array of
 * this kind. Number literals are not available. Otherwise as above. */
const pay_json_t *pay_json_first(const pay_json_t *json, const char *name, apr_pool_t *p);

/* Returns the object as text in `p`, without the member `name`: equal objects give equal text,
 * whatever the order and blanks. Numbers are rounded to doubles. NULL if memory runs out. */
const char *pay_json_text_without(const pay_json_t *json, const char *name, apr_pool_t *p);

/* Zeroes the member that is an object: its text, and its strings. Objects inside of it keep
 * theirs. */
void pay_json_wipe(const pay_json_t *json, const char *name);

/* Returns the number of members of the top-level object. */
apr_size_t pay_json_count(const pay_json_t *json);

#endif
