/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_OUTBOX_TEMPLATE_H
#define PAY_SERVICE_OUTBOX_TEMPLATE_H

/*
 * Templates of e-mails (docs/notifications.md, "Templates"): {{name}} is the value of that name,
 * {{#name}}...{{/name}} is there when the value is not empty, {{>name}} is the text of another
 * file; nothing else is done. Faults are sentences that name the line.
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

/* The files that a template may include. */
typedef struct pay_template_parts_t {
    /*
     * Reads the part `name`: 1 to PAY_TEMPLATE_NAME_MAX of a-z, 0-9 and "_", so it cannot leave a
     * directory. Sets *file to what faults call it. Returns NULL, or what is wrong. In `p`.
     */
    const char *(*read)(const char **text, const char **file, void *baton, const char *name,
                        apr_pool_t *p);
    void *baton;
} pay_template_parts_t;

/*
 * Reads a template file: UTF-8 without control characters other than tabs, lines ended by LF or
 * CRLF. *fault is set for APR_EGENERAL and says what is wrong with its contents. Other codes: it
 * cannot be read.
 */
apr_status_t pay_template_read(const char **out, const char **fault, const char *path,
                               apr_pool_t *p);

/*
 * *out is `text` with its names replaced, lines ended by CRLF; `line` is the number of its first.
 * A part is expanded as the text is, with sections of its own, and includes no other part; `parts`
 * NULL: nor does the text. Returns NULL, or what is wrong with the text: then *out is NULL. In `p`.
 */
const char *pay_template_expand(const char **out, const char *text, int line,
                                pay_template_form_t form, const pay_template_value_t *values,
                                int count, const pay_template_parts_t *parts, apr_pool_t *p);

#endif
