/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record/text.h"

#include <apr_strings.h>
#include <string.h>

const char *pay_store_text_cut(const char *text, apr_size_t len_max, apr_pool_t *p)
{
    apr_size_t len;

    if (!text) {
        return "";
    }
    len = strlen(text);
    if (len > len_max) {
        len = len_max;
        while (len > 0 && ((unsigned char)text[len] & 0xC0) == 0x80) {
            len--;
        }
    }
    return apr_pstrmemdup(p, text, len);
}
