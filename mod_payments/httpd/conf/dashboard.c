/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/conf/dashboard.h"

#include "httpd/path/own_path.h"

#include <apr_strings.h>

/* Returns 1 if `path` is `root` or below it. */
static int is_below(const char *path, const char *root)
{
    apr_size_t len = strlen(root);

    return !strncmp(path, root, len) && (path[len] == '\0' || path[len] == '/');
}

const char *pay_conf_dashboard_fault(const pay_conf_t *conf, apr_pool_t *p)
{
    const char *path = conf->dashboard_path;
    const struct {
        const char *directive;
        const char *path;
    } others[] = {
        {"PaymentsHealth", conf->health_path},
        {"PaymentsMetrics", conf->metrics_path},
    };
    apr_size_t i;

    if (!path) {
        return NULL;
    }
    if (pay_own_path(path, conf->base_path)
        || is_below(apr_pstrcat(p, conf->base_path, "/api/v1", NULL), path)
        || is_below(apr_pstrcat(p, conf->base_path, "/payment/page", NULL), path)) {
        return apr_psprintf(p,
                            "PaymentsDashboard: want a path that is neither one of the API's nor "
                            "above one, got '%s': everything there needs a key",
                            path);
    }
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (others[i].path && is_below(others[i].path, path)) {
            return apr_psprintf(p, "%s: want a path outside PaymentsDashboard %s, got '%s'",
                                others[i].directive, path, others[i].path);
        }
    }
    return NULL;
}
