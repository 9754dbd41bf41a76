/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/call/gate_require.h"

#include "httpd/call/call.h"

#include <ap_provider.h>
#include <apr_strings.h>
#include <http_config.h>
#include <http_request.h>
#include <mod_auth.h>

typedef struct rule_t {
    unsigned kinds; /* bit for each pay_key_kind_t; 0: any */
    unsigned modes;
} rule_t;

static authz_status check_authorization(request_rec *r, const char *line, const void *parsed)
{
    const pay_call_t *call = pay_call_get(r);
    const rule_t *rule = parsed;

    (void)line;
    if (call && call->cors_preflight && (!rule->kinds || rule->kinds & (1u << PAY_KEY_PUBLIC))) {
        return AUTHZ_GRANTED; /* browsers send no key with a preflight; the call itself has one */
    }
    if (!r->user) {
        return AUTHZ_DENIED_NO_USER; /* makes core run the authentication hooks */
    }
    if (!call || !call->key) {
        return AUTHZ_DENIED;
    }
    if (rule->kinds && !(rule->kinds & (1u << call->key->kind))) {
        return AUTHZ_DENIED;
    }
    if (rule->modes && !(rule->modes & (1u << call->key->scope.mode))) {
        return AUTHZ_DENIED;
    }
    return AUTHZ_GRANTED;
}

static const char *parse_require_line(cmd_parms *cmd, const char *line, const void **parsed)
{
    rule_t *rule = apr_pcalloc(cmd->pool, sizeof(*rule));
    const char *rest = line;
    pay_key_kind_t kind;
    pay_mode_t mode;
    char *word;

    while (*(word = ap_getword_conf(cmd->temp_pool, &rest))) {
        if (pay_key_kind_parse(&kind, word) == APR_SUCCESS) {
            rule->kinds |= 1u << kind;
        } else if (pay_mode_parse(&mode, word) == APR_SUCCESS) {
            rule->modes |= 1u << mode;
        } else {
            break;
        }
    }
    if (*word || (!rule->kinds && !rule->modes)) {
        return apr_psprintf(
            cmd->pool, "Require payments-key: want secret, public, test or live, got '%s'", word);
    }
    *parsed = rule;
    return NULL;
}

static const authz_provider provider = {
    .check_authorization = check_authorization,
    .parse_require_line = parse_require_line,
};

void pay_gate_require_register(apr_pool_t *p)
{
    ap_register_auth_provider(p, AUTHZ_PROVIDER_GROUP, "payments-key", AUTHZ_PROVIDER_VERSION,
                              &provider, AP_AUTH_INTERNAL_PER_CONF);
}
