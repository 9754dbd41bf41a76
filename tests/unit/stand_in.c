/* SPDX-License-Identifier: Apache-2.0 */
#include "stand_in.h"

#include "unit.h"

#include <ap_mpm.h>
#include <apr_escape.h>
#include <apr_lib.h>
#include <apr_thread_proc.h>
#include <ap_provider.h>
#include <errno.h>
#include <http_log.h>
#include <scoreboard.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

stand_in_t stand_in;

/* Its position in the vectors of configurations: core's is the first. */
module AP_MODULE_DECLARE_DATA payments_module = {
    .version = MODULE_MAGIC_NUMBER_MAJOR,
    .minor_version = MODULE_MAGIC_NUMBER_MINOR,
    .module_index = 1,
    .name = "mod_payments.c",
};

/* ---- programs */

/* The first line that the program writes, without its end; NULL: it cannot be run. */
char *ap_get_exec_line(apr_pool_t *p, const char *program, const char *const *words)
{
    apr_procattr_t *attributes;
    char line[100] = "";
    apr_proc_t process;

    ck_assert_ptr_null(words[1]);
    if (apr_procattr_create(&attributes, p) != APR_SUCCESS
        || apr_procattr_io_set(attributes, APR_NO_PIPE, APR_FULL_BLOCK, APR_NO_PIPE) != APR_SUCCESS
        || apr_procattr_cmdtype_set(attributes, APR_PROGRAM) != APR_SUCCESS
        || apr_proc_create(&process, program, words, NULL, attributes, p) != APR_SUCCESS
        || apr_file_gets(line, sizeof(line), process.out) != APR_SUCCESS) {
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return apr_pstrdup(p, line);
}

/* ---- text */

void ap_str_tolower(char *text)
{
    for (; *text; text++) {
        *text = apr_tolower(*text);
    }
}

int ap_unescape_urlencoded(char *query)
{
    switch (apr_unescape_url(query, query, APR_ESCAPE_STRING, NULL, NULL, 1, NULL)) {
    case APR_SUCCESS:
    case APR_NOTFOUND: /* there was nothing to decode */
        return OK;
    case APR_BADCH:
        return HTTP_BAD_REQUEST;
    default:
        return HTTP_NOT_FOUND;
    }
}

/* Words without quotes and backslashes, which httpd reads too. */
char *ap_getword_conf(apr_pool_t *p, const char **line)
{
    const char *start = *line + strspn(*line, " \t");
    const apr_size_t len = strcspn(start, " \t");

    ck_assert_ptr_null(strpbrk(start, "\"'\\"));
    *line = start + len + strspn(start + len, " \t");
    return apr_pstrmemdup(p, start, len);
}

apr_status_t ap_timeout_parameter_parse(const char *text, apr_interval_time_t *timeout,
                                        const char *default_unit)
{
    static const struct {
        const char *start;
        apr_interval_time_t length;
    } units[] = {{"s", apr_time_from_sec(1)},
                 {"h", apr_time_from_sec(3600)},
                 {"ms", apr_time_from_msec(1)},
                 {"mi", apr_time_from_sec(60)}};
    apr_int64_t number;
    char *unit;
    size_t i;

    errno = 0;
    number = apr_strtoi64(text, &unit, 10);
    if (errno) {
        return errno;
    }
    for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        /* Only the first letters count there. */
        if (!strncasecmp(*unit ? unit : default_unit, units[i].start, strlen(units[i].start))) {
            *timeout = (apr_interval_time_t)number * units[i].length;
            return APR_SUCCESS;
        }
    }
    return APR_EGENERAL;
}

/* ---- data of server, connection and request */

const char *ap_check_cmd_context(cmd_parms *cmd, unsigned forbidden)
{
    ck_assert_uint_eq(forbidden, GLOBAL_ONLY);
    return cmd->server->is_virtual ? apr_pstrcat(cmd->pool, cmd->cmd->name,
                                                 " cannot occur within <VirtualHost> section", NULL)
                                   : NULL;
}

apr_status_t ap_mpm_query(int query, int *value)
{
    *value = query == AP_MPMQ_MAX_THREADS ? stand_in.threads : stand_in.daemons;
    return *value > 0 ? APR_SUCCESS : APR_ENOTIMPL;
}

apr_status_t ap_get_brigade(ap_filter_t *filter, apr_bucket_brigade *bb, ap_input_mode_t mode,
                            apr_read_type_e block, apr_off_t size)
{
    (void)filter;
    ck_assert_int_eq(mode, AP_MODE_READBYTES);
    ck_assert_int_eq(block, APR_BLOCK_READ);
    return stand_in.read_body(bb, size);
}

apr_off_t ap_get_limit_req_body(const request_rec *r)
{
    (void)r;
    return stand_in.body_limit;
}

apr_socket_t *ap_get_conn_socket(conn_rec *c)
{
    (void)c;
    return stand_in.socket;
}

int ap_map_http_request_error(apr_status_t rv, int status)
{
    switch (rv) {
    case AP_FILTER_ERROR:
        return AP_FILTER_ERROR;
    case APR_ENOSPC:
        return HTTP_REQUEST_ENTITY_TOO_LARGE;
    case APR_TIMEUP:
        return HTTP_REQUEST_TIME_OUT;
    default:
        return status;
    }
}

int ap_ssl_conn_is_ssl(conn_rec *c)
{
    (void)c;
    return stand_in.is_tls;
}

const char *ap_ssl_var_lookup(apr_pool_t *p, server_rec *s, conn_rec *c, request_rec *r,
                              const char *name)
{
    (void)p;
    (void)s;
    (void)c;
    (void)r;
    ck_assert_str_eq(name, "SSL_CLIENT_VERIFY");
    return stand_in.client_verify;
}

const char *ap_auth_type(request_rec *r)
{
    (void)r;
    return stand_in.auth_type;
}

int ap_satisfies(request_rec *r)
{
    (void)r;
    return stand_in.satisfies;
}

int ap_run_access_checker_ex(request_rec *r)
{
    return stand_in.access ? stand_in.access(r) : OK;
}

/* UseCanonicalName Off. */
const char *ap_get_server_name(request_rec *r)
{
    return r->hostname ? r->hostname : r->server->server_hostname;
}

/* A request that named no port of its own came to the scheme's. */
char *ap_construct_url(apr_pool_t *p, const char *uri, request_rec *r)
{
    const char *scheme = stand_in.is_tls ? "https" : "http";
    const apr_port_t usual = stand_in.is_tls ? 443 : 80;
    const apr_port_t port = r->parsed_uri.port_str ? r->parsed_uri.port : usual;

    if (port == usual) {
        return apr_pstrcat(p, scheme, "://", ap_get_server_name(r), uri, NULL);
    }
    return apr_psprintf(p, "%s://%s:%u%s", scheme, ap_get_server_name(r), port, uri);
}

module *ap_find_linked_module(const char *name)
{
    static module watchdog;

    return !strcmp(name, "mod_watchdog.c") && !stand_in.has_no_watchdog ? &watchdog : NULL;
}

void *ap_lookup_provider(const char *group, const char *name, const char *version)
{
    ck_assert_str_eq(group, PAYMENTS_ACQUIRER_GROUP);
    ck_assert_str_eq(version, PAYMENTS_ACQUIRER_VERSION);
    return stand_in.connector && !strcmp(name, stand_in.connector->name)
               ? (void *)stand_in.connector
               : NULL;
}

/* Its name, after that of one whose module is gone. */
apr_array_header_t *ap_list_provider_names(apr_pool_t *p, const char *group, const char *version)
{
    apr_array_header_t *names = apr_array_make(p, 2, sizeof(ap_list_provider_names_t));

    ck_assert_str_eq(group, PAYMENTS_ACQUIRER_GROUP);
    ck_assert_str_eq(version, PAYMENTS_ACQUIRER_VERSION);
    APR_ARRAY_PUSH(names, ap_list_provider_names_t).provider_name = "gone";
    if (stand_in.connector) {
        APR_ARRAY_PUSH(names, ap_list_provider_names_t).provider_name = stand_in.connector->name;
    }
    return names;
}

int ap_run_generate_log_id(const conn_rec *c, const request_rec *r, const char **id)
{
    (void)c;
    (void)r;
    (void)id;
    return DECLINED;
}

int ap_update_child_status(ap_sb_handle_t *sbh, int status, request_rec *r)
{
    (void)sbh;
    (void)status;
    (void)r;
    return 0;
}

/* For as long as the test runs. */
void *ap_retained_data_create(const char *key, apr_size_t size)
{
    void *data = apr_pcalloc(unit_pool, size);

    ck_assert_int_eq(apr_pool_userdata_set(data, key, apr_pool_cleanup_null, unit_pool),
                     APR_SUCCESS);
    return data;
}

void *ap_retained_data_get(const char *key)
{
    void *data;

    ck_assert_int_eq(apr_pool_userdata_get(&data, key, unit_pool), APR_SUCCESS);
    return data;
}

/* ---- the log */

static void log_line(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

static void log_line(const char *format, va_list args)
{
    (void)vsnprintf(stand_in.log, sizeof(stand_in.log), format, args);
    stand_in.logged++;
}

void ap_log_error_(const char *file, int line, int index, int level, apr_status_t status,
                   const server_rec *s, const char *format, ...)
{
    va_list args;

    (void)file;
    (void)line;
    (void)index;
    (void)level;
    (void)status;
    (void)s;
    va_start(args, format);
    log_line(format, args);
    va_end(args);
}

void ap_log_rerror_(const char *file, int line, int index, int level, apr_status_t status,
                    const request_rec *r, const char *format, ...)
{
    va_list args;

    (void)file;
    (void)line;
    (void)index;
    (void)level;
    (void)status;
    (void)r;
    va_start(args, format);
    log_line(format, args);
    va_end(args);
}

/* ---- registrations */

#define HOOK(name, type)                                                                           \
    void ap_hook_##name(type *function, const char *const *before, const char *const *behind,      \
                        int order)                                                                 \
    {                                                                                              \
        (void)before;                                                                              \
        (void)behind;                                                                              \
        (void)order;                                                                               \
        stand_in.name = function;                                                                  \
    }

HOOK(check_config, ap_HOOK_check_config_t)
HOOK(fixups, ap_HOOK_fixups_t)
HOOK(insert_filter, ap_HOOK_insert_filter_t)

void ap_hook_check_authn(ap_HOOK_check_user_id_t *function, const char *const *before,
                         const char *const *behind, int order, int type)
{
    (void)before;
    (void)behind;
    (void)order;
    (void)type;
    stand_in.check_authn = function;
}

/* Not stored: no test runs them. */
void ap_hook_note_auth_failure(ap_HOOK_note_auth_failure_t *function, const char *const *before,
                               const char *const *behind, int order)
{
    (void)function;
    (void)before;
    (void)behind;
    (void)order;
}

void ap_hook_insert_error_filter(ap_HOOK_insert_error_filter_t *function, const char *const *before,
                                 const char *const *behind, int order)
{
    (void)function;
    (void)before;
    (void)behind;
    (void)order;
}

apr_status_t ap_register_auth_provider(apr_pool_t *p, const char *group, const char *name,
                                       const char *version, const void *provider, int type)
{
    (void)p;
    (void)name;
    (void)version;
    (void)type;
    ck_assert_str_eq(group, AUTHZ_PROVIDER_GROUP);
    stand_in.require = provider;
    return APR_SUCCESS;
}

ap_filter_rec_t *ap_register_output_filter(const char *name, ap_out_filter_func function,
                                           ap_init_filter_func init, ap_filter_type type)
{
    static ap_filter_rec_t filter;

    (void)init;
    (void)type;
    filter.name = name;
    filter.filter_func.out_func = function;
    return &filter;
}

ap_filter_t *ap_add_output_filter(const char *name, void *ctx, request_rec *r, conn_rec *c)
{
    (void)ctx;
    (void)r;
    (void)c;
    stand_in.filter = name;
    return NULL;
}

/* ---- what no test needs: linked, never called; by its name alone, whatever its type */

static void missing(const char *name) __attribute__((noreturn));

static void missing(const char *name)
{
    fprintf(stderr, "stand_in.c has no %s()\n", name);
    abort();
}

#define NO(name)                                                                                   \
    void no_##name(void) __asm__(#name);                                                           \
    void no_##name(void)                                                                           \
    {                                                                                              \
        missing(#name);                                                                            \
    }

NO(ap_add_output_filter_handle)
NO(ap_bucket_error_create)
NO(ap_close_listeners)
NO(ap_create_conn_config)
NO(ap_create_request)
NO(ap_custom_response)
NO(ap_filter_flush)
NO(ap_hook_check_access)
NO(ap_hook_child_init)
NO(ap_hook_child_status)
NO(ap_hook_child_stopping)
NO(ap_hook_handler)
NO(ap_hook_header_parser)
NO(ap_hook_log_transaction)
NO(ap_hook_map_to_storage)
NO(ap_hook_monitor)
NO(ap_hook_post_config)
NO(ap_hook_post_read_request)
NO(ap_hook_pre_translate_name)
NO(ap_hook_translate_name)
NO(ap_hook_type_checker)
NO(ap_index_of_response)
NO(ap_location_walk)
NO(ap_no2slash)
NO(ap_normalize_path)
NO(ap_pass_brigade)
NO(ap_register_provider)
NO(ap_remove_output_filter)
NO(ap_rprintf)
NO(ap_run_check_user_id)
NO(ap_run_drop_privileges)
NO(ap_run_pre_translate_name)
NO(ap_rwrite)
NO(ap_set_content_length)
NO(ap_set_content_type)
NO(ap_state_query)
