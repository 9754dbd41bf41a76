/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_SITE_ANSWER_H
#define PAY_HTTPD_SITE_ANSWER_H

#include "httpd/conf/conf.h"

#include <httpd.h>

typedef struct pay_site_path_t {
    const char *handler; /* the handler's name in r->handler */
    int ignores_key;     /* an Authorization header is neither read nor logged */
    /* Returns the path in `conf`, or NULL. */
    const char *(*path)(const pay_conf_t *conf);
    /* Returns the status of the answer to GET or HEAD; *text is its body, NULL: no body; *type is
     * that of the body. */
    int (*answer)(const char **text, const char **type, request_rec *r);
} pay_site_path_t;

#endif
