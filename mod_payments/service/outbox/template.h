/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_OUTBOX_TEMPLATE_H
#define PAY_SERVICE_OUTBOX_TEMPLATE_H

/*
 * Templates of e-mails (docs/notifications.md, "Templates"): {{name}} is replaced by the value of
 * that name, {{#name}}...{{/name}} is kept if the value is not empty; there is nothing else. Faults
 * are sentences that name the line.
 */

#include <apr_errno.h>
#include <apr_pools.h>

#define PAY_TEMPLATE_FILE_MAX (64 * 1024)    /* bytes of a file */
#define PAY_TEMPLATE_OUTPUT_MAX (256 * 1024) /* bytes of its expansion */
#define PAY_TEMPLATE_NAME_MAX 32

typedef enum pay_template_form_t {
    PAY_TEMPLATE_TEXT,
    PAY_TEMPLATE_HTML /* values are escaped for text and quoted attributes */
} pay_template_form_t;

typedef struct pay_template_value_t {
    const char *name;
    const char *value; /* control characters and invalid UTF-8 are dropped */
} pay_template_value_t;

/*
 * Reads a template file: UTF-8 without control characters other than tabs, lines ended by LF or
 * CRLF. *fault is set for APR_EGENERAL and says what is wrong with its contents. Other codes: it
 * cannot be read.
 */
apr_status_t pay_template_read(const char **out, const char **fault, const char *path,
                               apr_pool_t *p);

/*
 * Sets *out to `text` with its names replaced and lines ended by CRLF; `line` is the number of its
 * first line. Returns NULL, or what is wrong with the text: *out is then NULL. In `p`.
 */
const char *pay_template_expand(const char **out, const char *text, int line,
                                pay_template_form_t form, const pay_template_value_t *values,
                                int count, apr_pool_t *p);

#endif
