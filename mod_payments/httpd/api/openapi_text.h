/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_API_OPENAPI_TEXT_H
#define PAY_HTTPD_API_OPENAPI_TEXT_H

/* The description of the API for programs: docs/openapi.json, byte for byte, built in. */

#include <apr.h>

extern const char *const pay_openapi_text; /* without a NUL */
extern const apr_size_t pay_openapi_len;

#endif
