/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/path/pattern.h"

#include <apr_strings.h>
#include <string.h>

int pay_path_matches(const char *segment[PAY_PATH_SEGMENTS_MAX], const char *pattern,
                     const char *path, apr_pool_t *p)
{
    apr_size_t len;
    int count = 0;

    memset(segment, 0, PAY_PATH_SEGMENTS_MAX * sizeof(*segment));
    while (*pattern) {
        if (*pattern != '*') {
            if (*pattern++ != *path++) {
                return 0;
            }
            continue;
        }
        len = strcspn(path, "/");
        if (len == 0 || count == PAY_PATH_SEGMENTS_MAX) {
            return 0;
        }
        segment[count++] = apr_pstrmemdup(p, path, len);
        path += len;
        pattern++;
    }
    return *path == '\0';
}
