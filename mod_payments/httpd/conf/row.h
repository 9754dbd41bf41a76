/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CONF_ROW_H
#define PAY_HTTPD_CONF_ROW_H

/*
 * A directive is one row of pay_conf_directives (directives.c). Its `cmd_data` is a
 * pay_conf_row_t: the members of pay_conf_t that it sets, their defaults, which hosts inherit them,
 * and, if it takes one value of a simple kind, how to parse that value.
 */

#include "httpd/conf/conf.h"

typedef enum pay_conf_kind_t {
    PAY_CONF_OWN = 0,     /* the directive has its own setter, which calls pay_conf_said() */
    PAY_CONF_FLAG,        /* int: the first word is 1, the second 0; case is ignored */
    PAY_CONF_COUNT,       /* int */
    PAY_CONF_BYTES,       /* apr_int64_t: digits, then K, M, G, T or nothing */
    PAY_CONF_WAIT,        /* apr_interval_time_t: 10ms, 2s, 1h */
    PAY_CONF_WAIT_OR_OFF, /* like PAY_CONF_WAIT, or off, which is 0 */
    PAY_CONF_TEXT         /* const char * */
} pay_conf_kind_t;

typedef enum pay_conf_scope_t {
    PAY_CONF_INHERITED = 0, /* a virtual host has the main server's value unless it has its own */
    PAY_CONF_HOST,          /* a virtual host does not inherit it */
    PAY_CONF_GLOBAL         /* refused in a virtual host; each has the main server's value */
} pay_conf_scope_t;

/* A member of pay_conf_t. Members of one directive that are inherited separately differ in `part`.
 */
typedef struct pay_conf_member_t {
    apr_size_t at, size;  /* size 0 ends a list */
    const void *standard; /* its value if no directive sets it; NULL: zeroed */
    int part;             /* 0 to 7 */
} pay_conf_member_t;

typedef struct pay_conf_row_t {
    const pay_conf_member_t *members; /* one if `kind` is not PAY_CONF_OWN */
    pay_conf_scope_t scope;
    pay_conf_kind_t kind;
    const char *want;     /* "1s to 60s" */
    apr_int64_t min, max; /* for a count, bytes or a wait */
    const char *words[2]; /* for a flag */
    /* For a text: returns the value for `arg`, `arg` itself or allocated in `p`; NULL if invalid.
     */
    const char *(*text)(const char *arg, apr_pool_t *p);
} pay_conf_row_t;

/* The setter of all directives whose kind is not PAY_CONF_OWN. */
const char *pay_conf_set_value(cmd_parms *cmd, void *dir, const char *arg);

/* Records that this directive set its members with this `part`: they are no longer inherited. */
void pay_conf_said(const cmd_parms *cmd, int part);

/* Sets all members of all rows to their defaults. */
void pay_conf_defaults(pay_conf_t *out);

/* Sets in *out, a copy of *add, the members that the virtual host inherits from the main server's
 * `base`. */
void pay_conf_inherit(pay_conf_t *out, const pay_conf_t *base, const pay_conf_t *add);

#endif
