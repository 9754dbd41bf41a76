/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/page/style.h"

/* Made by the Makefile of the two sheets that the header names. */
static const unsigned char text[] = {
#include "httpd/page/style_text.inc"
};
_Static_assert(sizeof(text) > 1, "the style sheet was not there to be built in");

const char *const pay_page_style_text = (const char *)text;
const apr_size_t pay_page_style_len = sizeof(text);
