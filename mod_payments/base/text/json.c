/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"

#include "base/crypto/crypto.h"

#include <apr_hash.h>
#include <apr_strings.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pay_json_t {
    json_t *root;
    apr_hash_t *literals; /* member name to the text of its number or object */
};

/* The state of a walk through the text. */
typedef struct walk_t {
    int depth;
    int in_string;
    int escaped;
} walk_t;

static void walk(walk_t *at, char c)
{
    if (at->in_string) {
        if (at->escaped) {
            at->escaped = 0;
        } else if (c == '\\') {
            at->escaped = 1;
        } else if (c == '"') {
            at->in_string = 0;
        }
    } else if (c == '"') {
        at->in_string = 1;
    } else if (c == '{' || c == '[') {
        at->depth++;
    } else if (c == '}' || c == ']') {
        at->depth--;
    }
}

/* jansson descends by recursion: text that is too deep is found before jansson gets it. */
static int is_too_deep(const char *text, apr_size_t len)
{
    walk_t at = {0, 0, 0};
    apr_size_t i;

    for (i = 0; i < len; i++) {
        walk(&at, text[i]);
        if (at.depth > PAY_JSON_DEPTH_MAX) {
            return 1;
        }
    }
    return 0;
}

/* Copies the text of an object, whose first byte is `text`, into `p`. */
static const char *object_text(const char *text, const char *end, apr_pool_t *p)
{
    walk_t at = {0, 0, 0};
    const char *c = text;

    do {
        walk(&at, *c++);
    } while (at.depth > 0 && c < end);
    return apr_pstrmemdup(p, text, (apr_size_t)(c - text));
}

static const char *literal_of(const json_t *value, const char *text, const char *end, apr_pool_t *p)
{
    const char *start = text + strspn(text, " \t\r\n");

    if (json_is_real(value)) {
        return apr_pstrmemdup(p, start, strspn(start, "+-.0123456789eE"));
    }
    return json_is_object(value) ? object_text(start, end, p) : NULL;
}

/*
 * Collects the literals of the object's numbers, because jansson only keeps doubles, and the texts
 * of its objects, which contain numbers too. `text` is valid JSON by now, and jansson iterates over
 * members in the order of the text.
 */
static pay_json_t *document_make(json_t *root, const char *text, apr_size_t len, apr_pool_t *p)
{
    pay_json_t *json = apr_palloc(p, sizeof(*json));
    void *member = json_object_iter(root);
    walk_t at = {0, 0, 0};
    apr_size_t i;

    json->root = root;
    json->literals = apr_hash_make(p);
    for (i = 0; i < len && member; i++) {
        walk(&at, text[i]);
        if (at.depth == 1 && !at.in_string && text[i] == ':') {
            apr_hash_set(json->literals, json_object_iter_key(member), APR_HASH_KEY_STRING,
                         literal_of(json_object_iter_value(member), text + i + 1, text + len, p));
            member = json_object_iter_next(root, member);
        }
    }
    return json;
}

static const char *reason_of(const json_error_t *error)
{
    switch (json_error_code(error)) {
    case json_error_duplicate_key:
        return "A member is given twice.";
    case json_error_invalid_utf8:
        return "The text is not valid UTF-8.";
    case json_error_null_character:
    case json_error_null_byte_in_key:
        return "A string holds a NUL character.";
    case json_error_numeric_overflow:
        return "A number is too large.";
    case json_error_premature_end_of_input:
        return "The JSON text ends too early.";
    case json_error_end_of_input_expected:
        return "There is text after the end of the JSON object.";
    case json_error_out_of_memory:
        return "There is not enough memory to read the text.";
    default:
        return "The text is not valid JSON.";
    }
}

static apr_status_t release(void *root)
{
    json_decref(root);
    return APR_SUCCESS;
}

apr_status_t pay_json_parse(const pay_json_t **out, const char **reason, const char *text,
                            apr_size_t len, apr_pool_t *p)
{
    json_error_t error;
    json_t *root;

    *out = NULL;
    *reason = NULL;
    if (is_too_deep(text, len)) {
        *reason =
            apr_psprintf(p, "Objects and arrays are nested deeper than %d.", PAY_JSON_DEPTH_MAX);
        return APR_EINVAL;
    }
    /* As reals, integers of any length are accepted here; the reader judges their values. */
    root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL | JSON_DECODE_ANY,
                      &error);
    if (!root) {
        *reason = reason_of(&error);
        return json_error_code(&error) == json_error_out_of_memory ? APR_ENOMEM : APR_EINVAL;
    }
    apr_pool_cleanup_register(p, root, release, apr_pool_cleanup_null);
    if (!json_is_object(root)) {
        *reason = "The JSON text is not an object.";
        return APR_EINVAL;
    }
    *out = document_make(root, text, len, p);
    return APR_SUCCESS;
}

pay_json_type_t pay_json_type(const pay_json_t *json, const char *name)
{
    const json_t *value = json_object_get(json->root, name);

    if (!value) {
        return PAY_JSON_ABSENT;
    }
    switch (json_typeof(value)) {
    case JSON_NULL:
        return PAY_JSON_NULL;
    case JSON_STRING:
        return PAY_JSON_STRING;
    case JSON_REAL:
        return PAY_JSON_NUMBER;
    default:
        return PAY_JSON_OTHER;
    }
}

const char *pay_json_string(const pay_json_t *json, const char *name)
{
    return json_string_value(json_object_get(json->root, name));
}

const char *pay_json_number(const pay_json_t *json, const char *name)
{
    if (!json_is_real(json_object_get(json->root, name))) {
        return NULL;
    }
    return apr_hash_get(json->literals, name, APR_HASH_KEY_STRING);
}

int pay_json_bool(const pay_json_t *json, const char *name)
{
    const json_t *value = json_object_get(json->root, name);

    return json_is_boolean(value) ? json_is_true(value) : -1;
}

const pay_json_t *pay_json_object(const pay_json_t *json, const char *name, apr_pool_t *p)
{
    json_t *value = json_object_get(json->root, name);
    const char *text;

    if (!json_is_object(value)) {
        return NULL;
    }
    text = apr_hash_get(json->literals, name, APR_HASH_KEY_STRING);
    return document_make(value, text, strlen(text), p);
}

const char *pay_json_object_text(const pay_json_t *json, const char *name)
{
    if (!json_is_object(json_object_get(json->root, name))) {
        return NULL;
    }
    return apr_hash_get(json->literals, name, APR_HASH_KEY_STRING);
}

const pay_json_t *pay_json_first(const pay_json_t *json, const char *name, apr_pool_t *p)
{
    json_t *value = json_array_get(json_object_get(json->root, name), 0);

    return json_is_object(value) ? document_make(value, "", 0, p) : NULL;
}

const char *pay_json_text_without(const pay_json_t *json, const char *name, apr_pool_t *p)
{
    json_t *rest = json_copy(json->root);
    const char *copy = NULL;
    char *text;

    (void)json_object_del(rest, name); /* which may be absent */
    text = json_dumps(rest, JSON_COMPACT | JSON_SORT_KEYS);
    if (text) {
        copy = apr_pstrdup(p, text);
        free(text);
    }
    json_decref(rest);
    return copy;
}

/* Strings that were read before become empty. */
void pay_json_wipe(const pay_json_t *json, const char *name)
{
    json_t *object = json_object_get(json->root, name);
    char *text = apr_hash_get(json->literals, name, APR_HASH_KEY_STRING);
    const char *key;
    json_t *value;

    if (!json_is_object(object)) {
        return;
    }
    if (text) {
        pay_wipe(text, strlen(text));
    }
    json_object_foreach(object, key, value)
    {
        if (json_is_string(value)) {
            pay_wipe((void *)(uintptr_t)json_string_value(value), json_string_length(value));
        }
    }
}

apr_size_t pay_json_count(const pay_json_t *json)
{
    return json_object_size(json->root);
}
