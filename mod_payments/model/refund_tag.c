/* SPDX-License-Identifier: Apache-2.0 */
#include "model/refund_tag.h"

#include "model/outcome.h"
#include "model/refund.h"

#include <apr_strings.h>
#include <string.h>

#define TAG_OPEN "[payments:"
#define TAG_OPEN_LEN (sizeof(TAG_OPEN) - 1)
#define TAG_LEN (TAG_OPEN_LEN + PAY_TAG_LEN + 1)
#define TAG_CHARS "abcdefghijklmnopqrstuvwxyz0123456789"

/* Returns the bytes of the first `count` characters of UTF-8 text. */
static apr_size_t characters_len(const char *text, apr_size_t count)
{
    const char *at = text;

    for (; *at && count > 0; count--) {
        do {
            at++;
        } while (((unsigned char)*at & 0xc0) == 0x80);
    }
    return (apr_size_t)(at - text);
}

const char *pay_refund_tag_join(const char *note, const char *tag, apr_pool_t *p)
{
    const char *end = apr_pstrcat(p, TAG_OPEN, tag, "]", NULL);

    if (!note || !*note) {
        return end;
    }
    return apr_pstrcat(
        p, apr_pstrmemdup(p, note, characters_len(note, PAY_NOTE_MAX - strlen(end) - 1)), " ", end,
        NULL);
}

const char *pay_refund_tag_split(const char **note, apr_pool_t *p)
{
    const apr_size_t len = strlen(*note);
    const char *tag;

    if (len < TAG_LEN) {
        return "";
    }
    tag = *note + len - TAG_LEN;
    if (strncmp(tag, TAG_OPEN, TAG_OPEN_LEN) != 0
        || strspn(tag + TAG_OPEN_LEN, TAG_CHARS) != PAY_TAG_LEN || (*note)[len - 1] != ']'
        || (tag > *note && tag[-1] != ' ')) {
        return "";
    }
    *note = tag > *note ? apr_pstrmemdup(p, *note, (apr_size_t)(tag - *note) - 1) : "";
    return apr_pstrmemdup(p, tag + TAG_OPEN_LEN, PAY_TAG_LEN);
}
