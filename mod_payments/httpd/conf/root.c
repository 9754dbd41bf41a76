/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/conf/root.h"

#include <http_core.h>

int pay_conf_is_inside(const char *path, const char *dir, apr_size_t len)
{
    return len > 0 && !strncmp(path, dir, len) && (path[len] == '/' || path[len] == '\0');
}

const char *pay_conf_served_by(const server_rec *main_server, const char *path)
{
    const core_server_config *core;
    const server_rec *s;
    apr_size_t len;

    for (s = main_server; s; s = s->next) {
        core = ap_get_core_module_config(s->module_config);
        if (!core || !core->ap_document_root) {
            continue;
        }
        len = strlen(core->ap_document_root);
        while (len > 0 && core->ap_document_root[len - 1] == '/') {
            len--;
        }
        if (pay_conf_is_inside(path, core->ap_document_root, len)) {
            return core->ap_document_root;
        }
    }
    return NULL;
}
