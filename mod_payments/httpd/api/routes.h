/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_API_ROUTES_H
#define PAY_HTTPD_API_ROUTES_H

/* The table of operations: method, path, kind of key, handler. */

#include "httpd/call/call.h"

typedef struct pay_route_t {
    const char *operation; /* its name in counters; never changed */
    const char *path; /* below PaymentsBasePath; "*" stands for one segment that is not empty */
    int method;       /* M_GET (also serves HEAD) or M_POST */
    int public_too;   /* 0: secret keys only, and not for browsers */
    int (*handle)(request_rec *r, const pay_call_t *call);
} pay_route_t;

/*
 * Returns the route for `path` (single slashes, decoded once) and method, and sets `segment` to its
 * variable segments; leaves `segment` alone if there is no route. Returns NULL if none exists;
 * *allow is then NULL for a path without operations, else the Allow header's value. *allow is also
 * set if there is a route.
 */
const pay_route_t *pay_route_find(const char **allow, const char *segment[PAY_PATH_SEGMENTS_MAX],
                                  const char *path, int method, apr_pool_t *p);

/* Returns 1 if an operation has exactly this path, without a variable segment. */
int pay_route_is_written(const char *path);

/* Returns the operation's number, from 1. */
int pay_route_number(const pay_route_t *route);

/* Returns the route of that number; NULL: none exists. */
const pay_route_t *pay_route_at(int number);

/* Returns the name of an operation by number; "none" for 0; NULL for an unknown number. */
const char *pay_route_operation(int number);

#endif
