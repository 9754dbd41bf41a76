/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_JSON_LIST_H
#define PAY_BASE_TEXT_JSON_LIST_H

/*
 * Reading a JSON array of objects, one by one: of a long list only one element is in memory twice.
 */

#include "base/text/json.h"

typedef struct pay_json_list_t {
    const char *at;
    const char *end;
    int begun; /* the first bracket was read */
    int ended; /* the last one was, and nothing follows it */
} pay_json_list_t;

/* The text is not copied. */
void pay_json_list_begin(pay_json_list_t *list, const char *text, apr_size_t len);

/*
 * The next object, in `p`. APR_EOF: the array ended before it, and nothing but blanks follows.
 * APR_EINVAL: it is no array, or has an element that is none of pay_json_parse's.
 */
apr_status_t pay_json_list_next(const pay_json_t **out, pay_json_list_t *list, apr_pool_t *p);

#endif
