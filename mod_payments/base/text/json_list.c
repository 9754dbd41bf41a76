/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json_list.h"

#include <apr_strings.h>

void pay_json_list_begin(pay_json_list_t *list, const char *text, apr_size_t len)
{
    list->at = text;
    list->end = text + len;
    list->begun = 0;
    list->ended = 0;
}

/* Returns the next byte that is not blank, and passes it; 0 at the end. */
static char token_next(pay_json_list_t *list)
{
    while (list->at < list->end) {
        char c = *list->at++;

        if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
            return c;
        }
    }
    return 0;
}

/* Returns the end of an object, whose first byte was passed; NULL if it does not end. */
static const char *object_end(const pay_json_list_t *list)
{
    int depth = 1, in_string = 0, escaped = 0;
    const char *at;

    for (at = list->at; at < list->end; at++) {
        if (in_string) {
            if (escaped) {
                escaped = 0;
            } else if (*at == '\\') {
                escaped = 1;
            } else if (*at == '"') {
                in_string = 0;
            }
        } else if (*at == '"') {
            in_string = 1;
        } else if (*at == '{') {
            depth++;
        } else if (*at == '}' && --depth == 0) {
            return at + 1;
        }
    }
    return NULL;
}

static apr_status_t list_end(pay_json_list_t *list)
{
    if (token_next(list)) {
        return APR_EINVAL;
    }
    list->ended = 1;
    return APR_EOF;
}

apr_status_t pay_json_list_next(const pay_json_t **out, pay_json_list_t *list, apr_pool_t *p)
{
    const char *reason;
    const char *start;
    const char *end;
    apr_size_t len;
    int first = !list->begun;
    char c;

    *out = NULL;
    if (list->ended) {
        return APR_EOF;
    }
    c = token_next(list);
    if (first) {
        if (c != '[') {
            return APR_EINVAL;
        }
        list->begun = 1;
        c = token_next(list);
    }
    if (c == ']') {
        return list_end(list);
    }
    if (!first) {
        if (c != ',') {
            return APR_EINVAL;
        }
        c = token_next(list);
    }
    if (c != '{') {
        return APR_EINVAL;
    }
    start = list->at - 1;
    end = object_end(list);
    if (!end) {
        return APR_EINVAL;
    }
    list->at = end;
    len = (apr_size_t)(end - start);
    return pay_json_parse(out, &reason, apr_pstrmemdup(p, start, len), len, p);
}
