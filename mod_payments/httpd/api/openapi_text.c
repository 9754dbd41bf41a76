/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/api/openapi_text.h"

/* Generated from docs/openapi.json by the Makefile. */
static const unsigned char text[] = {
#include "httpd/api/openapi_text.inc"
};
_Static_assert(sizeof(text) > 1, "the document was not there to be built in");

const char *const pay_openapi_text = (const char *)text;
const apr_size_t pay_openapi_len = sizeof(text);
