/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_GRANT_H
#define PAY_MODEL_GRANT_H

/*
 * A permission to use the dashboard: for a user of one virtual host, as authenticated by the site
 * there, and one account. The same name on another host is another person. Pure.
 */

#include "model/account.h"

#define PAY_GRANT_HOST_MAX 253 /* bytes of a host's name in DNS */
#define PAY_GRANT_USER_MAX 255 /* bytes */
#define PAY_GRANTS_MAX 1000    /* of one account, and of one user of one host */

/* Each role includes the rights of those before it. */
typedef enum pay_role_t {
    PAY_ROLE_VIEWER = 1,
    PAY_ROLE_OPERATOR,
    PAY_ROLE_OWNER,
} pay_role_t;
#define PAY_ROLE_LAST PAY_ROLE_OWNER

typedef struct pay_grant_t {
    const char *host; /* as pay_grant_host makes it */
    const char *user;
    pay_role_t role;
    apr_time_t created_at;
    apr_time_t updated_at;
    const pay_account_t *account; /* filled in by the store on reading; never NULL there */
} pay_grant_t;

const char *pay_role_name(pay_role_t role); /* "viewer", "operator", "owner" */
apr_status_t pay_role_parse(pay_role_t *out, const char *text);

/*
 * Makes the normal form of a host's name, by which grants are found, from a name in a request or
 * from a person: lower case, without the port, the final dot and the brackets of an IPv6 address.
 * APR_EINVAL unless the result is 1 to PAY_GRANT_HOST_MAX of a-z, 0-9, '.', '-', '_' and, in an
 * address, ':'.
 */
apr_status_t pay_grant_host(const char **out, const char *text, apr_pool_t *p);

/* APR_EINVAL unless 1 to PAY_GRANT_USER_MAX bytes of UTF-8 without control characters. */
apr_status_t pay_grant_user_check(const char *user);

/* Writes {"account","user","host","role","grantedAt","updatedAt"}. */
void pay_grant_to_json(struct pay_writer_t *w, const char *name, const pay_grant_t *grant);

#endif
