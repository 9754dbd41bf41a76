/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_GOODS_H
#define REQUEST_GOODS_H

/* Bodies of requests, and their faults. */

#include "unit.h"

#include "base/problem.h"
#include "base/text/json.h"

#include <string.h>

#define PAN "4111111111111111"

static inline const pay_json_t *parse(const char *text)
{
    const pay_json_t *json;
    const char *reason;
    apr_status_t rv;

    rv = pay_json_parse(&json, &reason, text, strlen(text), unit_pool);
    ck_assert_msg(rv == APR_SUCCESS, "%s: %s", text, reason);
    return json;
}

/* The fields of a problem in one line, "" without a problem. */
static inline const char *fields_of(const pay_problem_t *problem)
{
    const char *fields = "";
    int i;

    if (!problem) {
        return fields;
    }
    ck_assert_int_eq(problem->error, PAY_ERR_INVALID);
    for (i = 0; i < problem->fields->nelts; i++) {
        const pay_field_error_t *error = &APR_ARRAY_IDX(problem->fields, i, pay_field_error_t);
        ck_assert_msg(!strstr(error->reason, "4111"), "the value is echoed");
        fields = apr_pstrcat(unit_pool, fields, *fields ? " " : "", error->field, NULL);
    }
    return fields;
}

#endif
