/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PATH_PATTERN_H
#define PAY_HTTPD_PATH_PATTERN_H

/* The paths in the tables of routes. */

#include <apr_pools.h>

#define PAY_PATH_SEGMENTS_MAX 2 /* variable segments of a path */

/*
 * 1 when `path` has the form of `pattern`, where "*" stands for one segment that is not empty. The
 * variable segments are copied to `segment`, the others of it are NULL.
 */
int pay_path_matches(const char *segment[PAY_PATH_SEGMENTS_MAX], const char *pattern,
                     const char *path, apr_pool_t *p);

#endif
