/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_CONF_STORE_H
#define PAY_HTTPD_CONF_STORE_H

/* The directives about the store, one value each (docs/directives.md). */

#include <httpd.h>
#include <http_config.h>

#define PAY_CONF_QUOTA_MAX 999999999
#define PAY_CONF_CHECKOUT_KEEP_MIN apr_time_from_sec(1)
#define PAY_CONF_CHECKOUT_KEEP_MAX apr_time_from_sec(87600 * APR_INT64_C(3600))

const char *pay_conf_set_store(cmd_parms *cmd, void *dir, const char *arg);
const char *pay_conf_set_store_size(cmd_parms *cmd, void *dir, const char *arg);
const char *pay_conf_set_store_reserve(cmd_parms *cmd, void *dir, const char *arg);
const char *pay_conf_set_commit_wait(cmd_parms *cmd, void *dir, const char *arg);
const char *pay_conf_set_commit_batch(cmd_parms *cmd, void *dir, const char *arg);
const char *pay_conf_set_account_quota(cmd_parms *cmd, void *dir, const char *arg);
const char *pay_conf_set_checkout_keep(cmd_parms *cmd, void *dir, const char *arg);

#endif
