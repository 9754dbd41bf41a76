/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/options.h"
#include "ctl/range.h"
#include "ctl/refund.h"

#include "base/text/json.h"

#include <string.h>

/* One record of the list. Except for JSON, the members of the text come first, so that they have
 * columns. */
typedef struct record_t {
    pay_refund_t refund;
    const char *text;
} record_t;

static void record_json(pay_writer_t *w, const void *row)
{
    const record_t *record = row;

    pay_writer_raw(w, NULL, record->text); /* the very bytes that the list operation sends */
}

static void record_csv(pay_csv_t *csv, const void *row)
{
    pay_refund_to_csv(csv, &((const record_t *)row)->refund);
}

static const ctl_view_t record_view = {.columns = ctl_refund_columns,
                                       .json = record_json,
                                       .csv_titles = pay_refund_csv_titles,
                                       .csv = record_csv};

/* The end of the JSON object that begins at `text`, or NULL when it has none. */
static char *object_end(char *text)
{
    int depth = 0;
    int quoted = 0;

    for (; *text; text++) {
        if (quoted) {
            if (*text == '\\' && text[1]) {
                text++;
            } else if (*text == '"') {
                quoted = 0;
            }
        } else if (*text == '"') {
            quoted = 1;
        } else if (*text == '{') {
            depth++;
        } else if (*text == '}' && --depth == 0) {
            return text + 1;
        }
    }
    return NULL;
}

static apr_status_t record_print(ctl_list_t *list, const ctl_t *ctl, const char *text,
                                 pay_mode_t mode, apr_pool_t *p)
{
    record_t record = {.text = text};
    const pay_problem_t *problem;
    const pay_json_t *json;
    pay_refund_t *refund;
    const char *reason;
    apr_status_t rv;

    if (!ctl->json) {
        rv = pay_json_parse(&json, &reason, text, strlen(text), p);
        if (rv != APR_SUCCESS) {
            return PAY_STORE_ECORRUPT;
        }
        problem = pay_refund_from_json(&refund, json, mode, p);
        if (problem) {
            return PAY_STORE_ECORRUPT;
        }
        refund->scope.mode = mode; /* not part of what is read back */
        record.refund = *refund;
    }
    ctl_list_row(list, &record);
    return APR_SUCCESS;
}

/* Cuts a chunk, "{...},{...}" with a leading comma or none, into its records. */
static apr_status_t chunk_print(ctl_list_t *list, const ctl_t *ctl, char *text, pay_mode_t mode,
                                apr_pool_t *p)
{
    apr_status_t rv;
    char *end;
    int more;

    for (text += *text == ','; *text; text = end + more) {
        end = object_end(text);
        if (!end) {
            return PAY_STORE_ECORRUPT;
        }
        more = *end == ',';
        *end = '\0';
        rv = record_print(list, ctl, text, mode, p);
        if (rv != APR_SUCCESS) {
            return rv;
        }
    }
    return APR_SUCCESS;
}

static apr_status_t refunds_print(ctl_list_t *list, ctl_t *ctl, const pay_scope_t *scope,
                                  const pay_time_range_t *range)
{
    pay_refund_cursor_t cursor = {{0}, .key_len = 0};
    char *buffer = apr_palloc(ctl->pool, PAY_STORE_CHUNK_SIZE + 1);
    apr_size_t len, count;
    apr_pool_t *chunk;
    apr_status_t rv;

    apr_pool_create(&chunk, ctl->pool);
    while (!cursor.done && !ctl_list_is_full(list)) {
        apr_pool_clear(chunk);
        rv = pay_store_refund_scan(&cursor, &len, &count, ctl->service.store, scope, range, buffer,
                                   PAY_STORE_CHUNK_SIZE);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        buffer[len] = '\0';
        rv = chunk_print(list, ctl, buffer, scope->mode, chunk);
        if (rv != APR_SUCCESS) {
            return rv;
        }
    }
    apr_pool_destroy(chunk);
    return APR_SUCCESS;
}

ctl_exit_t ctl_refund_list(ctl_t *ctl)
{
    pay_time_range_t range;
    pay_account_t *account;
    pay_scope_t scope;
    apr_uint64_t limit;
    ctl_list_t *list;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = ctl_option_limit(&limit, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_scope_find(&scope, &account, ctl);
    if (failed) {
        return failed;
    }
    failed = ctl_range_read(&range, ctl, account);
    if (failed) {
        return failed;
    }
    list = ctl_list_open(ctl, &record_view, limit);
    rv = refunds_print(list, ctl, &scope, &range);
    return ctl_list_end(list, rv, "cannot list the refunds");
}
