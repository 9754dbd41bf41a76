/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/pay_dashboard_files.h"

#include "base/pay_log.h"
#include "httpd/pay_conf.h"
#include "httpd/pay_dashboard_reply.h"

#include <apr_buckets.h>
#include <apr_file_io.h>
#include <apr_strings.h>
#include <http_log.h>
#include <http_protocol.h>
#include <util_filter.h>

APLOG_USE_MODULE(payments);

#define INDEX "/index.html"
#define ASSETS "/assets"

typedef struct page_t {
    const char *path; /* "/index.html", "/assets/app.js" */
    const char *type;
    const char *text;
    apr_size_t len;
} page_t;

/* Files of other names are not served. */
static const struct {
    const char *suffix;
    const char *type;
} types[] = {
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".mjs", "text/javascript; charset=utf-8"},
    {".svg", "image/svg+xml"},
    {".png", "image/png"},
    {".ico", "image/vnd.microsoft.icon"},
    {".woff2", "font/woff2"},
    {".json", "application/json; charset=utf-8"},
};

static const char *type_of(const char *name)
{
    const char *suffix = strrchr(name, '.');
    apr_size_t i;

    for (i = 0; suffix && i < sizeof(types) / sizeof(types[0]); i++) {
        if (!strcmp(suffix, types[i].suffix)) {
            return types[i].type;
        }
    }
    return NULL;
}

/* A plain name: an editor's leftovers and hidden files are none. */
static int is_page_name(const char *name)
{
    apr_size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789._-");

    return len > 0 && len <= PAY_DASHBOARD_NAME_MAX && name[len] == '\0' && name[0] != '.'
           && type_of(name);
}

static apr_status_t read_page(page_t *page, const char *file, apr_pool_t *p, apr_pool_t *ptemp)
{
    apr_finfo_t info;
    apr_file_t *opened;
    apr_status_t rv;
    char *text;

    rv = apr_file_open(&opened, file, APR_READ | APR_BINARY, APR_OS_DEFAULT, ptemp);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = apr_file_info_get(&info, APR_FINFO_TYPE | APR_FINFO_SIZE, opened);
    if (rv == APR_SUCCESS && info.filetype != APR_REG) {
        rv = APR_EINVAL;
    } else if (rv == APR_SUCCESS && info.size > PAY_DASHBOARD_FILE_MAX) {
        rv = APR_ENOSPC;
    }
    if (rv == APR_SUCCESS && info.size > 0) {
        page->len = (apr_size_t)info.size;
        text = apr_palloc(p, page->len);
        rv = apr_file_read_full(opened, text, page->len, NULL);
        page->text = text;
    }
    apr_file_close(opened);
    return rv;
}

static void tell(const server_rec *s, apr_status_t rv, const char *file)
{
    ap_log_error(APLOG_MARK, APLOG_ERR, rv, s,
                 PAYLOGNO(00541) "PaymentsDashboard: %s cannot be read as a page (a regular file "
                                 "of at most %d bytes): install mod_payments again, or name the "
                                 "directory of its pages by PaymentsDashboardFiles",
                 file, PAY_DASHBOARD_FILE_MAX);
}

/* Adds the pages of one directory, which is `below` ("" or "/assets") the one of the directive. */
static void read_directory(apr_array_header_t *pages, const server_rec *s, const char *root,
                           const char *below, apr_pool_t *ptemp)
{
    const char *directory = apr_pstrcat(ptemp, root, below, NULL);
    apr_pool_t *p = pages->pool;
    apr_finfo_t info;
    const char *file;
    apr_status_t rv;
    apr_dir_t *dir;
    page_t page;

    rv = apr_dir_open(&dir, directory, ptemp);
    if (rv != APR_SUCCESS) {
        tell(s, rv, directory);
        return;
    }
    while (apr_dir_read(&info, APR_FINFO_NAME, dir) == APR_SUCCESS) {
        if (!is_page_name(info.name)) {
            continue;
        }
        file = apr_pstrcat(ptemp, directory, "/", info.name, NULL);
        if (pages->nelts == PAY_DASHBOARD_FILES_MAX) {
            tell(s, APR_ENOSPC, file);
            break;
        }
        memset(&page, 0, sizeof(page));
        page.path = apr_pstrcat(p, below, "/", info.name, NULL);
        page.type = type_of(info.name);
        page.text = "";
        rv = read_page(&page, file, p, ptemp);
        if (rv != APR_SUCCESS) {
            tell(s, rv, file);
            continue;
        }
        APR_ARRAY_PUSH(pages, page_t) = page;
    }
    apr_dir_close(dir);
}

static const page_t *find(const apr_array_header_t *pages, const char *path)
{
    const page_t *page;
    int i;

    for (i = 0; pages && i < pages->nelts; i++) {
        page = &APR_ARRAY_IDX(pages, i, page_t);
        if (!strcmp(page->path, path)) {
            return page;
        }
    }
    return NULL;
}

static const char *directory_of(const pay_conf_t *conf)
{
    return conf->dashboard_files ? conf->dashboard_files : PAYMENTS_DASHBOARD_DIR;
}

/* What an earlier host has read of the same directory; NULL: none has. */
static const apr_array_header_t *known(const server_rec *first, const server_rec *s)
{
    const pay_conf_t *conf;

    for (; first != s; first = first->next) {
        conf = pay_conf_get(first);
        if (conf->dashboard_pages && !strcmp(directory_of(conf), directory_of(pay_conf_get(s)))) {
            return conf->dashboard_pages;
        }
    }
    return NULL;
}

void pay_dashboard_files_load(server_rec *main_server, apr_pool_t *pconf)
{
    apr_array_header_t *pages;
    apr_pool_t *ptemp;
    pay_conf_t *conf;
    server_rec *s;

    for (s = main_server; s; s = s->next) {
        conf = pay_conf_get(s);
        if (!conf->engine || !conf->dashboard_path) {
            continue;
        }
        conf->dashboard_pages = known(main_server, s);
        if (conf->dashboard_pages) {
            continue;
        }
        pages = apr_array_make(pconf, 32, sizeof(page_t));
        apr_pool_create(&ptemp, pconf);
        read_directory(pages, s, directory_of(conf), "", ptemp);
        read_directory(pages, s, directory_of(conf), ASSETS, ptemp);
        apr_pool_destroy(ptemp);
        conf->dashboard_pages = pages;
    }
}

static int send_page(request_rec *r, const page_t *page)
{
    apr_bucket_brigade *bb;
    int rc;

    rc = pay_dashboard_begin(r, HTTP_OK, page->type);
    if (rc != OK) {
        return rc;
    }
    ap_set_content_length(r, (apr_off_t)page->len);
    if (r->header_only) {
        return OK;
    }
    bb = apr_brigade_create(r->pool, r->connection->bucket_alloc);
    if (page->len > 0) {
        APR_BRIGADE_INSERT_TAIL(
            bb, apr_bucket_immortal_create(page->text, page->len, bb->bucket_alloc));
    }
    ap_pass_brigade(r->output_filters, bb);
    return OK;
}

int pay_dashboard_files_serve(request_rec *r, const pay_dashboard_t *dashboard)
{
    const apr_array_header_t *pages = pay_conf_get(r->server)->dashboard_pages;
    const int is_index = !strcmp(dashboard->path, "/");
    const page_t *page = find(pages, is_index ? INDEX : dashboard->path);
    const pay_problem_t *problem;

    if (r->method_number != M_GET) {
        apr_table_setn(r->headers_out, "Allow", "GET, HEAD");
        problem = pay_problem_makef(PAY_ERR_METHOD, r->pool, "A page is read by GET or HEAD only.");
    } else if (page) {
        return send_page(r, page);
    } else if (is_index) {
        problem = pay_problem_makef(PAY_ERR_STORE_UNAVAILABLE, r->pool,
                                    "The dashboard's pages are not installed. The server's error "
                                    "log says where they were looked for.");
    } else {
        problem = pay_problem_makef(PAY_ERR_PATH_UNKNOWN, r->pool, "There is no such page.");
    }
    return pay_dashboard_problem(r, dashboard, problem);
}
