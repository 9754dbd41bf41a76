/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_OUTBOX_TEMPLATE_H
#define PAY_SERVICE_OUTBOX_TEMPLATE_H

/*
 * Templates of e-mails (docs/notifications.md, "Templates"): {{name}} is the value of that name,
 * {{#name}}...{{/name}} is there when the value is not empty; nothing else is done. Faults are
 * sentences that name the line.
 */

#include <apr_errno.h>
#include <apr_pools.h>

#define PAY_TEMPLATE_FILE_MAX (64 * 1024)    /* bytes of a file */
#define PAY_TEMPLATE_OUTPUT_MAX (256 * 1024) /* bytes of what is made of one */
#define PAY_TEMPLATE_NAME_MAX 32

typedef enum pay_template_form_t {
    PAY_TEMPLATE_TEXT,
    PAY_TEMPLATE_HTML /* values are escaped for text and quoted attributes */
} pay_template_form_t;

typedef struct pay_template_value_t {
    const char *name;
    const char *value; /* control characters, and what is not UTF-8, are dropped */
} pay_template_value_t;

/*
 * Reads a template file: UTF-8 without control characters but tabs, lines ended by LF or CRLF.
 * *fault is set for APR_EGENERAL: what is wrong with its contents. Other codes: it cannot be read.
 */
apr_status_t pay_template_read(const char **out, const char **fault, const char *path,
                               apr_pool_t *p);

/*
 * *out is `text` with its names replaced, lines ended by CRLF; `line` is the number of its first.
 * Returns NULL, or what is wrong with the text: then *out is NULL. In `p`.
 */
const char *pay_template_expand(const char **out, const char *text, int line,
                                pay_template_form_t form, const pay_template_value_t *values,
                                int count, apr_pool_t *p);

#endif
