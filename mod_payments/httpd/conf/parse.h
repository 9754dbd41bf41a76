/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CONF_PARSE_H
#define PAY_HTTPD_CONF_PARSE_H

/* Parsers for values of directives (docs/directives.md). APR_EINVAL if the text is malformed. */

#include <apr_time.h>
#include <httpd.h>
#include <http_config.h>

#define PAY_CONF_HOST_LEN_MAX 253 /* of a DNS name */
#define PAY_CONF_PATH_LEN_MAX 1000
#define PAY_CONF_SITE_PATH_LEN_MAX 255

/* Returns the sentence about a wrong value. */
const char *pay_conf_wrong(const cmd_parms *cmd, const char *want, const char *got);

/* The first word is 1, the second 0; case is ignored. */
apr_status_t pay_conf_parse_flag(int *out, const char *text, const char *const words[2]);

/* Bytes: digits, then K, M, G, T or nothing. */
apr_status_t pay_conf_parse_size(apr_int64_t *out, const char *text, apr_int64_t min,
                                 apr_int64_t max);

/* A whole number: up to nine digits. */
apr_status_t pay_conf_parse_count(int *out, const char *text, int min, int max);

apr_status_t pay_conf_parse_wait(apr_interval_time_t *out, const char *text,
                                 apr_interval_time_t min, apr_interval_time_t max);

/* Returns 1 for "" or a path: segments of unreserved characters (RFC 3986 2.3), not "." or "..". */
int pay_conf_is_path(const char *path);

/* Returns 1 for an absolute path below the root directory that is short enough to be reported. */
int pay_conf_is_absolute(const char *path);

/* A web origin as browsers serialise it (RFC 6454 6.2), in upper or lower case; *out is lower
 * case. */
apr_status_t pay_conf_parse_origin(const char **out, const char *text, apr_pool_t *p);

#endif
