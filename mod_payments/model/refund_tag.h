/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_REFUND_TAG_H
#define PAY_MODEL_REFUND_TAG_H

/*
 * The tag by which a refund made here is found in an acquirer's books: PAY_TAG_LEN characters of
 * a-z0-9 at the end of the merchant's note there, as "[payments:TAG]" (docs/live-mode.md). Pure.
 */

#include <apr_pools.h>

/* Returns the note (NULL: no note) followed by the tag, cut to PAY_NOTE_MAX characters. */
const char *pay_refund_tag_join(const char *note, const char *tag, apr_pool_t *p);

/*
 * Removes the tag from the end of *note and returns it; if there is no tag, returns "" and leaves
 * *note alone.
 */
const char *pay_refund_tag_split(const char **note, apr_pool_t *p);

#endif
