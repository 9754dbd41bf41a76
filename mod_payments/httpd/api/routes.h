/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_API_ROUTES_H
#define PAY_HTTPD_API_ROUTES_H

/* The table of operations: method, path, kind of key, handler. */

#include "httpd/call/call.h"

typedef struct pay_route_t {
    const char *operation; /* its name in counters; never changed */
    const char *path; /* below PaymentsBasePath; "*" stands for one segment that is not empty */
    int method;       /* M_GET serves HEAD too, or M_POST */
    int public_too;   /* 0: secret keys only, and no browser either */
    int (*handle)(request_rec *r, const pay_call_t *call);
} pay_route_t;

/*
 * The route for `path` (single slashes, decoded once) and method, its variable segments put into
 * `segment`, which is left alone otherwise. NULL: none; then *allow is NULL for a path that no
 * operation has, else the Allow header's value. *allow is set beside a route as well.
 */
const pay_route_t *pay_route_find(const char **allow, const char *segment[PAY_PATH_SEGMENTS_MAX],
                                  const char *path, int method, apr_pool_t *p);

/* 1 when an operation has just this path, without a variable segment. */
int pay_route_is_written(const char *path);

/* The operation's number, from 1. */
int pay_route_number(const pay_route_t *route);

/* The name of an operation by number; 0: "none". NULL: there is none of that number. */
const char *pay_route_operation(int number);

#endif
