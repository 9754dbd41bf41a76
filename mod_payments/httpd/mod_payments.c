/* SPDX-License-Identifier: Apache-2.0 */

/* The module's record, its hooks and its providers; nothing else. */

#include "acquirer/relay/relay.h"
#include "acquirer/simulator.h"
#include "base/crypto/crypto.h"
#include "httpd/api/cors.h"
#include "httpd/api/handler.h"
#include "httpd/call/claim.h"
#include "httpd/call/gate.h"
#include "httpd/call/proxy.h"
#include "httpd/conf/conf.h"
#include "httpd/dashboard/claim.h"
#include "httpd/page/error_filter.h"
#include "httpd/process/acquirers.h"
#include "httpd/process/check.h"
#include "httpd/process/child.h"
#include "httpd/process/fence.h"
#include "httpd/process/inspector.h"
#include "httpd/process/meters.h"
#include "httpd/process/neighbours.h"
#include "httpd/process/prepare.h"
#include "httpd/site/site_path.h"
#include "httpd/site/status.h"

#include <ap_provider.h>
#include <http_config.h>

#if !AP_MODULE_MAGIC_AT_LEAST(20120211, 110)
#error mod_payments needs httpd 2.4.49 or later
#endif

static void register_hooks(apr_pool_t *p)
{
    pay_crypto_keep_at_exit(); /* a child does not wait for its watchdogs' threads */
    ap_register_provider(p, PAYMENTS_ACQUIRER_GROUP, pay_acquirer_simulator.name,
                         PAYMENTS_ACQUIRER_VERSION, &pay_acquirer_simulator);
    ap_register_provider(p, PAYMENTS_ACQUIRER_GROUP, pay_acquirer_relay.name,
                         PAYMENTS_ACQUIRER_VERSION, &pay_acquirer_relay);
    pay_check_register_hooks(p);
    pay_prepare_register_hooks(p);
    pay_child_register_hooks(p);
    pay_inspector_register_hooks(p);
    pay_acquirers_register_hooks(p);
    pay_meters_register_hooks(p);
    pay_fence_register_hooks(p);
    pay_neighbours_register_hooks(p);
    pay_conf_proxy_register_hooks(p);
    pay_claim_register_hooks(p);
    pay_cors_register_hooks(p);
    pay_site_path_register_hooks(p);
    pay_dashboard_claim_register_hooks(p);
    pay_gate_register_hooks(p);
    pay_handler_register_hooks(p);
    pay_error_filter_register_hooks(p);
    pay_status_register_hooks(p);
}

/* Always merged: a virtual host without directives must not share the main server's engine. */
module AP_MODULE_DECLARE_DATA __attribute__((visibility("default"))) payments_module = {
    STANDARD20_MODULE_STUFF,
    NULL,
    NULL,
    pay_conf_create,
    pay_conf_merge,
    pay_conf_directives,
    register_hooks,
    AP_MODULE_FLAG_ALWAYS_MERGE,
};
