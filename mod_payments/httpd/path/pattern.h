/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PATH_PATTERN_H
#define PAY_HTTPD_PATH_PATTERN_H

/* The paths in the tables of routes. */

#include <apr_pools.h>

#define PAY_PATH_SEGMENTS_MAX 2 /* variable segments of a path */

/*
 * Returns 1 if `path` has the form of `pattern`, in which "*" stands for one segment that is not
 * empty. Copies the variable segments to `segment`, and sets the rest of it to NULL.
 */
int pay_path_matches(const char *segment[PAY_PATH_SEGMENTS_MAX], const char *pattern,
                     const char *path, apr_pool_t *p);

#endif
