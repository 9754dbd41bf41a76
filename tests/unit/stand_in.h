/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STAND_IN_H
#define STAND_IN_H

/*
 * The functions of httpd that the floor httpd/ uses, for programs that test its decisions without a
 * server: no library has them. Functions do what httpd's do, as far as a test needs them; a
 * function that no test needs ends the program. tests/api tests the two together.
 */

#include "acquirer/mod_payments.h"

#include <httpd.h>
#include <http_config.h>
#include <http_connection.h>
#include <http_core.h>
#include <http_protocol.h>
#include <http_request.h>
#include <mod_auth.h>

#define STAND_IN_LOG_MAX 1000

typedef struct stand_in_t {
    /* The scripted results of httpd and its modules. */
    int is_tls;                           /* of the connection (mod_ssl) */
    const char *client_verify;            /* SSL_CLIENT_VERIFY; NULL: there is no mod_ssl */
    const char *auth_type;                /* AuthType of the place; NULL: absent */
    int satisfies;                        /* SATISFY_ALL, ...; 0: as that */
    int (*access)(request_rec *);         /* the result of Require for a request; NULL: OK */
    int has_no_watchdog;                  /* mod_watchdog is not loaded */
    const payments_acquirer_t *connector; /* the only one; NULL: no module has any */
    apr_status_t (*read_body)(apr_bucket_brigade *bb, apr_off_t size); /* the data of input
                                                                        * filters */
    apr_off_t body_limit;                                              /* LimitRequestBody */
    int daemons, threads; /* of the MPM; 0: not known */
    apr_socket_t *socket; /* of the connection */

    /* What they received. */
    int logged;                 /* so many lines */
    char log[STAND_IN_LOG_MAX]; /* the last of them */
    const char *filter;         /* the last output filter that was added */
    const authz_provider *require;

    /* The last function that was registered for a hook. */
    ap_HOOK_check_config_t *check_config;
    ap_HOOK_fixups_t *fixups;
    ap_HOOK_insert_filter_t *insert_filter;
    ap_HOOK_check_user_id_t *check_authn;
} stand_in_t;

extern stand_in_t stand_in;

#endif
