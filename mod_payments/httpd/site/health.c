/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/site/health.h"

static const char *path_of(const pay_conf_t *conf)
{
    return conf->health_path;
}

/* The store logs once why it is not well; health requests do not. */
static int answer(const char **text, const char **type, request_rec *r)
{
    const pay_service_t *service = pay_conf_get(r->server)->service;

    *text = NULL;
    *type = NULL;
    if (!service || pay_store_probe(service->store) != APR_SUCCESS) {
        return HTTP_SERVICE_UNAVAILABLE;
    }
    return HTTP_OK;
}

const pay_site_path_t pay_health = {
    .handler = "payments-health",
    .ignores_key = 1,
    .path = path_of,
    .answer = answer,
};
