/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/path/own_path.h"

#include "httpd/path/refused.h"

#include <apr.h>
#include <string.h>

#define API_ROOT "/api/v1"

/* Returns 1 if it is `root` or below it. */
static int is_below(const char *root, const char *path)
{
    const apr_size_t len = strlen(root);

    return !strncmp(path, root, len) && (path[len] == '/' || path[len] == '\0');
}

int pay_own_path_is_order(const char *path)
{
    return is_below(PAY_OWN_PATH_ORDERS, path);
}

int pay_own_path_is_page(const char *path)
{
    const apr_size_t len = sizeof(PAY_OWN_PATH_PAGES) - 1;

    return !strncmp(path, PAY_OWN_PATH_PAGES, len) && path[len] != '\0' && !strchr(path + len, '/');
}

const char *pay_own_path(const char *path, const char *base)
{
    apr_size_t len = strlen(base);

    if (strncmp(path, base, len) != 0) {
        return NULL;
    }
    path += len;
    if (is_below(API_ROOT, path) || pay_own_path_is_order(path) || pay_refused_is_elsewhere(path)
        || pay_own_path_is_page(path)) {
        return path;
    }
    return NULL;
}
