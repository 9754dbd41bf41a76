/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CALL_CALL_H
#define PAY_HTTPD_CALL_CALL_H

/*
 * One call of a client: the data that the stages of a request hand on. Lives in the request's pool
 * and belongs to the thread that handles the request.
 */

#include "httpd/path/pattern.h"
#include "service/service.h"

#include <httpd.h>

struct pay_json_t;
struct pay_site_path_t;
struct pay_dashboard_t;

typedef struct pay_call_t {
    /* pay_claim: the path below PaymentsBasePath with single slashes; NULL: the URL is not ours */
    const char *path;
    int read;        /* pay_claim: it passed post_read_request as a URL that looks like ours */
    int shows_error; /* pay_claim: an internal redirect to an ErrorDocument; the error's status */

    int is_page; /* pay_claim: a hosted payment page, which is not a call (httpd/page/page.h) */

    const char *url_key; /* pay_key_hide: the text of a secret key in the URL; else NULL */

    /* pay_site_path: the path of the site that it names; `path` is NULL */
    const struct pay_site_path_t *site_path;

    /* pay_dashboard_claim: NULL: not for the dashboard; otherwise `path` is NULL */
    struct pay_dashboard_t *dashboard;

    /* pay_cors */
    int cors_varies;            /* answers of this path depend on Origin */
    const char *cors_origin;    /* an allowed origin, for an operation that it may call; else
                                 * NULL */
    const char *cors_preflight; /* a preflight to answer: the allowed methods; else NULL */

    /* pay_gate: once `judged`, exactly one of key and problem is set */
    int judged;
    int given; /* there were credentials */
    const pay_api_key_t *key;
    const pay_problem_t *problem;
    pay_service_t *service; /* never NULL if there is a key */
    const char *public_key; /* the text of a public key; "" for a secret one */

    /* pay_handler */
    int operation; /* the route's number; 0: not found, or not yet looked up */
    const char *segment[PAY_PATH_SEGMENTS_MAX];
    const char *media_type;        /* of the answer; NULL: nothing acceptable, or not judged yet */
    const struct pay_json_t *body; /* POST: never NULL in an operation */
    const char *idempotency_key;   /* POST: NULL if not given */

    /* pay_body */
    int body_done; /* there is nothing more to read */
    int answered;  /* a filter has sent an answer of its own: the handler returns AP_FILTER_ERROR */
} pay_call_t;

/* Returns the call of `r`, or NULL. */
pay_call_t *pay_call_get(const request_rec *r);

/* Returns the call of `r`; makes it if none exists yet. */
pay_call_t *pay_call_make(request_rec *r);

/* Returns 1 if this module handles `r`. */
int pay_call_is_claimed(const request_rec *r);

/* Returns the request's id, as in answers and as %L in logs. Never NULL. */
const char *pay_call_request_id(request_rec *r);

#endif
