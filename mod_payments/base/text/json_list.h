/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_JSON_LIST_H
#define PAY_BASE_TEXT_JSON_LIST_H

/* Reads a JSON array of objects one by one: only one element of a long list is in memory twice. */

#include "base/text/json.h"

typedef struct pay_json_list_t {
    const char *at;
    const char *end;
    int begun; /* the first bracket was read */
    int ended; /* the last bracket was read, and nothing follows it */
} pay_json_list_t;

/* Does not copy the text. */
void pay_json_list_begin(pay_json_list_t *list, const char *text, apr_size_t len);

/*
 * Reads the next object into `p`. APR_EOF: the array has ended, and only blanks follow. APR_EINVAL:
 * it is not an array, or an element is not an object that pay_json_parse accepts.
 */
apr_status_t pay_json_list_next(const pay_json_t **out, pay_json_list_t *list, apr_pool_t *p);

#endif
