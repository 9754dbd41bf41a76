/* SPDX-License-Identifier: Apache-2.0 */
#ifndef REQUEST_H
#define REQUEST_H

/* Requests, servers and directives as the floor httpd/ sees them, without a server. */

#include "httpd/call/call.h"
#include "httpd/conf/conf.h"
#include "stand_in.h"
#include "unit.h"

#include <http_log.h>
#include <string.h>

#define REQUEST_HOST "shop.example"
#define REQUEST_CLIENT "203.0.113.7"
#define REQUEST_MODULES 2 /* core, and this one */

/* ---- servers */

static inline server_rec *request_server(void)
{
    server_rec *s = apr_pcalloc(unit_pool, sizeof(*s));
    void **configs = apr_pcalloc(unit_pool, REQUEST_MODULES * sizeof(void *));

    configs[0] = apr_pcalloc(unit_pool, sizeof(core_server_config));
    configs[1] = pay_conf_create(unit_pool, s);
    s->module_config = (struct ap_conf_vector_t *)configs;
    s->server_hostname = (char *)REQUEST_HOST;
    s->defn_name = "test.conf";
    s->log.level = APLOG_INFO;
    return s;
}

/* A virtual host after the others of `main_server`, as httpd makes them. */
static inline server_rec *request_host(server_rec *main_server)
{
    server_rec *s = request_server();

    s->is_virtual = 1;
    while (main_server->next) {
        main_server = main_server->next;
    }
    main_server->next = s;
    return s;
}

/*
 * Returns the fault of a line of the configuration of `s`; NULL if it has none, and applies it.
 */
static inline const char *request_directive(server_rec *s, const char *name, const char *args)
{
    const command_rec *command = pay_conf_directives;
    char *words[16];
    cmd_parms cmd = {.pool = unit_pool, .temp_pool = unit_pool, .server = s};
    const char *fault = NULL;
    char *rest = apr_pstrdup(unit_pool, args);
    char *word;
    int count = 0, i;

    while (command->name && strcasecmp(command->name, name) != 0) {
        command++;
    }
    ck_assert_msg(command->name != NULL, "%s", name);
    cmd.cmd = command;
    if (command->args_how == RAW_ARGS) {
        return command->func.raw_args(&cmd, NULL, args);
    }
    if (command->args_how == TAKE1) {
        return command->func.take1(&cmd, NULL, args);
    }
    for (word = apr_strtok(rest, " ", &rest); word; word = apr_strtok(NULL, " ", &rest)) {
        ck_assert_int_lt(count, 15);
        words[count++] = word;
    }
    ck_assert_int_gt(count, 0);
    words[count] = NULL;
    switch (command->args_how) {
    case TAKE12:
        ck_assert_int_le(count, 2);
        return command->func.take2(&cmd, NULL, words[0], words[1]);
    case TAKE123:
        ck_assert_int_le(count, 3);
        return command->func.take3(&cmd, NULL, words[0], words[1], count > 2 ? words[2] : NULL);
    case TAKE_ARGV:
        return command->func.take_argv(&cmd, NULL, count, words);
    default:
        ck_assert_int_eq(command->args_how, ITERATE);
    }
    for (i = 0; i < count && !fault; i++) {
        fault = command->func.take1(&cmd, NULL, words[i]);
    }
    return fault;
}

/* A valid line. */
static inline void request_set(server_rec *s, const char *name, const char *args)
{
    const char *fault = request_directive(s, name, args);

    ck_assert_msg(!fault, "%s %s: %s", name, args, fault);
}

/* ---- requests */

static inline apr_sockaddr_t *request_address(const char *text)
{
    apr_sockaddr_t *address;

    ck_assert_int_eq(apr_sockaddr_info_get(&address, text, APR_UNSPEC, 4000, 0, unit_pool),
                     APR_SUCCESS);
    return address;
}

/* Sets the peer of the connection, and the client. */
static inline void request_come_from(request_rec *r, const char *client)
{
    r->connection->client_addr = request_address(client);
    r->useragent_addr = r->connection->client_addr;
}

/* GET / of `s` from REQUEST_CLIENT to 192.0.2.1, without TLS and headers. */
static inline request_rec *request_make(server_rec *s)
{
    request_rec *r = apr_pcalloc(unit_pool, sizeof(*r));
    conn_rec *c = apr_pcalloc(unit_pool, sizeof(*c));

    c->pool = unit_pool;
    c->base_server = s;
    c->local_addr = request_address("192.0.2.1");
    r->pool = unit_pool;
    r->connection = c;
    r->server = s;
    r->log_id = "test";
    r->method = "GET";
    r->method_number = M_GET;
    r->protocol = (char *)"HTTP/1.1";
    r->uri = (char *)"/";
    r->headers_in = apr_table_make(unit_pool, 4);
    r->headers_out = apr_table_make(unit_pool, 4);
    r->err_headers_out = apr_table_make(unit_pool, 4);
    r->subprocess_env = apr_table_make(unit_pool, 4);
    r->notes = apr_table_make(unit_pool, 4);
    r->request_config = apr_pcalloc(unit_pool, REQUEST_MODULES * sizeof(void *));
    request_come_from(r, REQUEST_CLIENT);
    return r;
}

/* As httpd reads it: the name of the server in the request, and its port. */
static inline void request_host_header(request_rec *r, const char *value)
{
    char *host, *scope;

    if (apr_parse_addr_port(&host, &scope, &r->parsed_uri.port, value, r->pool) == APR_SUCCESS) {
        r->hostname = host;
        r->parsed_uri.port_str = r->parsed_uri.port ? apr_itoa(r->pool, r->parsed_uri.port) : NULL;
    }
}

/* Headers as "Name: value" lines, separated by line feeds; NULL: none. */
static inline void request_headers(request_rec *r, const char *lines)
{
    char *rest = apr_pstrdup(r->pool, lines ? lines : "");
    char *line, *colon;

    for (line = apr_strtok(rest, "\n", &rest); line; line = apr_strtok(NULL, "\n", &rest)) {
        colon = strstr(line, ": ");
        ck_assert_ptr_nonnull(colon);
        *colon = '\0';
        apr_table_add(r->headers_in, line, colon + 2);
        if (!strcmp(line, "Host")) {
            request_host_header(r, colon + 2);
        }
    }
}

#endif
