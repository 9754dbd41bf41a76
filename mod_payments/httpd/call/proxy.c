/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/proxy.h"

#include "httpd/call/claim.h"
#include "httpd/conf/conf.h"
#include "httpd/path/own_path.h"

#include <apr_strings.h>
#include <http_config.h>
#include <http_connection.h>
#include <http_protocol.h>
#include <http_request.h>

#define NO_PROXY "no-proxy" /* in a request's environment: mod_proxy leaves it alone */
#define NOTE "payments-no-proxy"
#define PROXY "proxy:" /* the beginning of file names that mod_proxy serves */
#define SAMPLES 8

/* Set while the configuration is checked, in the parent, which has one thread: hooks then answer as
 * mod_proxy would without us. */
static int checking;

/* ---- the check */

/* Makes a request as if just read; for no hook except the one that is called. */
static request_rec *made_up(server_rec *s, const char *path, apr_pool_t *p)
{
    conn_rec *c = apr_pcalloc(p, sizeof(*c));
    apr_sockaddr_t *address = NULL;
    request_rec *r;

    if (apr_sockaddr_info_get(&address, "127.0.0.1", APR_INET, 0, 0, p) != APR_SUCCESS) {
        return NULL;
    }
    c->pool = p;
    c->base_server = s;
    c->notes = apr_table_make(p, 1);
    c->conn_config = ap_create_conn_config(p);
    c->bucket_alloc = apr_bucket_alloc_create(p);
    c->client_addr = c->local_addr = address;
    c->client_ip = c->local_ip = (char *)"127.0.0.1";
    r = ap_create_request(c);
    r->method = "GET";
    r->method_number = M_GET;
    r->protocol = (char *)"HTTP/1.1";
    r->proto_num = HTTP_VERSION(1, 1);
    r->hostname = s->server_hostname;
    r->the_request = apr_pstrcat(r->pool, "GET ", path, " HTTP/1.1", NULL);
    r->unparsed_uri = r->uri = r->parsed_uri.path = apr_pstrdup(r->pool, path);
    return r;
}

/* Returns where mod_proxy would pass this path to before any other module; NULL if it would not. */
static const char *passed_to(server_rec *s, const char *path, apr_pool_t *p)
{
    request_rec *r = made_up(s, path, p);

    if (!r || ap_location_walk(r) != OK || ap_run_pre_translate_name(r) == DECLINED || !r->filename
        || strncmp(r->filename, PROXY, sizeof(PROXY) - 1) != 0) {
        return NULL;
    }
    return r->filename + sizeof(PROXY) - 1;
}

/* Writes one path of each kind; returns their number. */
static int samples(const char *out[SAMPLES], const pay_conf_t *conf, apr_pool_t *p)
{
    int count = 0;

    out[count++] = apr_pstrcat(p, conf->base_path, "/api/v1/refund/R", NULL);
    out[count++] = apr_pstrcat(p, conf->base_path, "/api/v1", NULL);
    out[count++] = apr_pstrcat(p, conf->base_path, PAY_OWN_PATH_ORDERS "/create", NULL);
    out[count++] = apr_pstrcat(p, conf->base_path, PAY_OWN_PATH_PAGES "P", NULL);
    if (conf->dashboard_path) {
        out[count++] = apr_pstrcat(p, conf->dashboard_path, "/", NULL);
        out[count++] = conf->dashboard_path;
    }
    if (conf->metrics_path) {
        out[count++] = conf->metrics_path;
    }
    if (conf->health_path) {
        out[count++] = conf->health_path;
    }
    return count;
}

const char *pay_conf_proxy_fault(server_rec *s, apr_pool_t *p)
{
    const char *path[SAMPLES], *target = NULL;
    int count = samples(path, pay_conf_get(s), p);
    int i;

    if (!ap_find_linked_module("mod_proxy.c")) {
        return NULL;
    }
    checking = 1;
    for (i = 0; i < count && !target; i++) {
        target = passed_to(s, path[i], p);
    }
    checking = 0;
    return target ? apr_psprintf(p,
                                 "ProxyPass: want no mapping=encoded and no mapping=servlet over "
                                 "the paths of PaymentsEngine, got one in %s that passes %s to %s, "
                                 "with the keys of its callers",
                                 s->server_hostname ? s->server_hostname : "the main server",
                                 path[i - 1], target)
                  : NULL;
}

/* ---- while the server runs */

/* Returns 1 if the URL is ours as far as can be seen before it is decoded. */
static int is_ours(request_rec *r)
{
    const pay_conf_t *conf = pay_conf_get(r->server);
    const char *const own[] = {conf->dashboard_path, conf->metrics_path, conf->health_path};
    apr_size_t i, len;
    char *path;

    if (!conf->engine || !r->uri || r->proxyreq) {
        return 0;
    }
    path = apr_pstrdup(r->pool, r->uri);
    ap_normalize_path(path, AP_NORMALIZE_NOT_ABOVE_ROOT | AP_NORMALIZE_DECODE_UNRESERVED
                                | AP_NORMALIZE_MERGE_SLASHES);
    for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        len = own[i] ? strlen(own[i]) : 0;
        if (own[i] && !strncmp(path, own[i], len) && (path[len] == '\0' || path[len] == '/')) {
            return 1;
        }
    }
    return pay_claim_is_ours(r);
}

static int pre_translate_name(request_rec *r)
{
    if (!checking && is_ours(r) && !apr_table_get(r->subprocess_env, NO_PROXY)) {
        apr_table_setn(r->subprocess_env, NO_PROXY, "1");
        apr_table_setn(r->notes, NOTE, "1");
    }
    return DECLINED;
}

/* From here on our URLs are claimed ahead of mod_proxy, and the rest is the site's. */
static int translate_name(request_rec *r)
{
    if (apr_table_get(r->notes, NOTE)) {
        apr_table_unset(r->subprocess_env, NO_PROXY);
        apr_table_unset(r->notes, NOTE);
    }
    return DECLINED;
}

void pay_conf_proxy_register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_hook_pre_translate_name(pre_translate_name, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_translate_name(translate_name, NULL, NULL, APR_HOOK_REALLY_FIRST);
}
