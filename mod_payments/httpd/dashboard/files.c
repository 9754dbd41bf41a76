/* SPDX-License-Identifier: Apache-2.0 */
#include <httpd.h>

#include "httpd/dashboard/files.h"

#include "base/crypto/trusted_path.h"
#include "base/log.h"
#include "httpd/conf/conf.h"
#include "httpd/dashboard/reply.h"

#include <apr_buckets.h>
#include <apr_strings.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <http_log.h>
#include <http_protocol.h>
#include <unistd.h>
#include <unixd.h>
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

/* Files with other suffixes are not served. */
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

/* Returns 1 for a plain name, not for an editor's leftovers and hidden files. */
static int is_page_name(const char *name)
{
    apr_size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789._-");

    return len > 0 && len <= PAY_DASHBOARD_NAME_MAX && name[len] == '\0' && name[0] != '.'
           && type_of(name);
}

/* The directory that is being read, and the destination of its files. */
typedef struct reading_t {
    apr_array_header_t *pages;
    const server_rec *s;
    const char *directory; /* as in the directive */
    apr_pool_t *ptemp;
    pay_guest_t guest; /* the user who must not be able to change it */
} reading_t;

static void tell(const reading_t *reading, apr_status_t rv, const char *name, const char *fault)
{
    ap_log_error(APLOG_MARK, APLOG_ERR, rv, reading->s,
                 PAYLOGNO(00541) "PaymentsDashboard: %s%s cannot be read as a page%s%s: install "
                                 "mod_payments again, or set PaymentsDashboardFiles to the "
                                 "directory of its pages",
                 reading->directory, name, fault ? ": it " : "", fault ? fault : "");
}

/* Root reads it, and everybody may then fetch it: no link may publish another file. */
static const char *page_fault(const struct stat *info, const reading_t *reading)
{
    if (!S_ISREG(info->st_mode)) {
        return "is not a regular file";
    }
    if (info->st_nlink != 1) {
        return "has another name elsewhere (a hard link): put a copy of the file there";
    }
    if (info->st_size > PAY_DASHBOARD_FILE_MAX) {
        return apr_psprintf(reading->ptemp, "is larger than %d bytes", PAY_DASHBOARD_FILE_MAX);
    }
    return pay_trusted_path_fault(info, &reading->guest, reading->ptemp);
}

/* Reads up to page->len bytes: a file that becomes shorter meanwhile is not served. */
static apr_status_t fill_page(page_t *page, int fd, apr_pool_t *p)
{
    char *text = apr_palloc(p, page->len + 1);
    apr_size_t len = 0;
    ssize_t got = 1;

    while (len < page->len && got != 0) {
        got = read(fd, text + len, page->len - len);
        if (got < 0 && errno != EINTR) {
            return errno;
        }
        len += got > 0 ? (apr_size_t)got : 0;
    }
    page->text = text;
    return len == page->len ? APR_SUCCESS : APR_EOF;
}

/* Returns 0 if it is left out, which is logged. */
static int read_page(page_t *page, const reading_t *reading, int dir_fd, const char *name)
{
    /* A FIFO must not make the server wait. */
    const int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    const char *fault = NULL;
    struct stat info;
    apr_status_t rv = APR_SUCCESS;
    int fd;

    fd = openat(dir_fd, name, flags);
    if (fd < 0) {
        rv = errno;
        fault = rv == ELOOP ? "is a symbolic link: put a copy of the file there" : NULL;
    } else if (fstat(fd, &info) != 0) {
        rv = errno;
    } else {
        fault = page_fault(&info, reading);
    }
    if (rv == APR_SUCCESS && !fault) {
        page->len = (apr_size_t)info.st_size;
        rv = fill_page(page, fd, reading->pages->pool);
    }
    if (fd >= 0) {
        close(fd);
    }
    if (rv != APR_SUCCESS || fault) {
        tell(reading, rv, page->path, fault);
        return 0;
    }
    return 1;
}

/* Adds the files of the directory `dir_fd`, which is `below` ("" or "/assets") the directive's. */
static void read_directory(const reading_t *reading, int dir_fd, const char *below)
{
    apr_pool_t *p = reading->pages->pool;
    const struct dirent *entry;
    DIR *dir = fdopendir(dir_fd);
    page_t page;

    if (!dir) {
        tell(reading, errno, below, NULL);
        close(dir_fd);
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        if (!is_page_name(entry->d_name)) {
            continue;
        }
        memset(&page, 0, sizeof(page));
        page.path = apr_pstrcat(p, below, "/", entry->d_name, NULL);
        page.type = type_of(entry->d_name);
        if (reading->pages->nelts == PAY_DASHBOARD_FILES_MAX) {
            tell(reading, APR_ENOSPC, page.path, NULL);
            break;
        }
        if (read_page(&page, reading, dirfd(dir), entry->d_name)) {
            APR_ARRAY_PUSH(reading->pages, page_t) = page;
        }
    }
    closedir(dir);
}

/* The directory of the directive may be reached by links that nobody else can change, no others. */
static void read_root(const reading_t *reading)
{
    struct stat info;
    const char *reason;
    int root, fd;

    if (pay_trusted_path_open(&root, &info, &reason, "the directory", reading->directory,
                              &reading->guest, reading->ptemp)
        != APR_SUCCESS) {
        ap_log_error(
            APLOG_MARK, APLOG_ERR, 0, reading->s,
            PAYLOGNO(00664) "PaymentsDashboard has no pages: %s. Install mod_payments again, or "
                            "set PaymentsDashboardFiles to the directory of its pages",
            reason);
        return;
    }
    fd = openat(root, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        tell(reading, errno, "", NULL);
    } else {
        read_directory(reading, fd, "");
    }
    fd = openat(root, &ASSETS[1], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) != 0) {
        tell(reading, errno, ASSETS, errno == ENOTDIR ? "is not a directory, or is a link" : NULL);
    } else if (pay_trusted_path_fault(&info, &reading->guest, reading->ptemp)) {
        tell(reading, 0, ASSETS, pay_trusted_path_fault(&info, &reading->guest, reading->ptemp));
        close(fd);
    } else {
        read_directory(reading, fd, ASSETS);
    }
    close(root);
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

/* Returns the files that an earlier host has read from the same directory; NULL if none has. */
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
    reading_t reading = {.guest = {ap_unixd_config.user_id, ap_unixd_config.group_id}};
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
        reading.pages = apr_array_make(pconf, 32, sizeof(page_t));
        reading.s = s;
        reading.directory = directory_of(conf);
        apr_pool_create(&reading.ptemp, pconf);
        read_root(&reading);
        apr_pool_destroy(reading.ptemp);
        conf->dashboard_pages = reading.pages;
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
        problem =
            pay_problem_makef(PAY_ERR_METHOD, r->pool, "Pages can be read by GET or HEAD only.");
    } else if (page) {
        return send_page(r, page);
    } else if (is_index) {
        problem = pay_problem_makef(PAY_ERR_STORE_UNAVAILABLE, r->pool,
                                    "The dashboard's pages are not installed. The server's error "
                                    "log names the directory.");
    } else {
        problem = pay_problem_makef(PAY_ERR_PATH_UNKNOWN, r->pool, "There is no such page.");
    }
    return pay_dashboard_problem(r, dashboard, problem);
}
