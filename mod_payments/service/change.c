/* SPDX-License-Identifier: Apache-2.0 */
#include "service/change.h"

#include <apr_strings.h>
#include <assert.h>

/*
 * A change that ends something or decides about money is never refused for lack of room in the
 * audit; changes that viewers and anonymous visitors can cause leave room for those of others.
 */
static const struct {
    const char *name;
    pay_audit_bound_t bound;
} words[] = {
    [PAY_CHANGE_ACCOUNT_CREATE] = {"account create", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_ACCOUNT_SET] = {"account set", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_ACCOUNT_LIVE] = {"account mode", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_ACCOUNT_TEST] = {"account mode", PAY_AUDIT_UNBOUNDED},
    [PAY_CHANGE_ACCOUNT_GRANT] = {"account grant", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_ACCOUNT_REVOKE] = {"account revoke", PAY_AUDIT_UNBOUNDED},
    [PAY_CHANGE_ACCOUNT_RESET] = {"account reset", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_KEY_CREATE] = {"key create", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_KEY_IMPORT] = {"key import", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_KEY_REVOKE] = {"key revoke", PAY_AUDIT_UNBOUNDED},
    [PAY_CHANGE_KEY_ROTATE] = {"key rotate", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_TOKEN_CREATE] = {"token create", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_TOKEN_REVOKE] = {"token revoke", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_CHARGE_RESOLVE] = {"charge resolve", PAY_AUDIT_UNBOUNDED},
    [PAY_CHANGE_REFUND_CREATE] = {"refund create", PAY_AUDIT_UNBOUNDED},
    [PAY_CHANGE_REFUND_IMPORT] = {"refund import", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_REFUND_LINK] = {"refund link", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_REFUND_RESOLVE] = {"refund resolve", PAY_AUDIT_UNBOUNDED},
    [PAY_CHANGE_REFUND_SYNC] = {"refund sync", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_LINK_CREATE] = {"link create", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_LINK_DISABLE] = {"link disable", PAY_AUDIT_UNBOUNDED},
    [PAY_CHANGE_PAYER_ERASE] = {"payer erase", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_WEBHOOK_SET] = {"webhook set", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_WEBHOOK_OFF] = {"webhook set", PAY_AUDIT_UNBOUNDED},
    [PAY_CHANGE_WEBHOOK_RENEW] = {"webhook secret rotate", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_WEBHOOK_TEST] = {"webhook test", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_EVENT_RETRY] = {"event retry", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_EVENT_DROP] = {"event drop", PAY_AUDIT_UNBOUNDED},
    [PAY_CHANGE_MAIL_SET] = {"mail set", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_MAIL_TEST] = {"mail test", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_ENCRYPTION_CREATE] = {"encryption-key create", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_ENCRYPTION_RENEW] = {"encryption-key renew", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_STORE_CONFIRM] = {"store confirm", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_STORE_RESEAL] = {"store rotate-master-key", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_FAILURE_LIFT] = {"failure limit lift", PAY_AUDIT_OF_CHANGE},
    [PAY_CHANGE_FAILURE_LIMIT] = {"failure limit", PAY_AUDIT_OF_NOTICE},
    [PAY_CHANGE_EXPORT_CHARGES] = {"export charges", PAY_AUDIT_OF_NOTICE},
    [PAY_CHANGE_EXPORT_REFUNDS] = {"export refunds", PAY_AUDIT_OF_NOTICE},
    [PAY_CHANGE_REFUSED] = {"refused", PAY_AUDIT_OF_NOTICE},
};
_Static_assert(sizeof(words) / sizeof(words[0]) == PAY_CHANGE_COUNT, "words for each");

const char *pay_change_name(pay_change_t change)
{
    return words[change].name;
}

apr_status_t pay_change_begin(pay_store_t **out, const pay_service_t *service, pay_change_t change,
                              apr_uint32_t account, const char *subject, const char *detail,
                              apr_pool_t *p)
{
    const pay_actor_t *actor = service->actor;
    pay_audit_t *entry;

    *out = service->store;
    if (!actor) {
        return APR_SUCCESS;
    }
    entry = apr_pcalloc(p, sizeof(*entry));
    entry->account = account;
    entry->who = actor->who;
    entry->from = actor->from;
    entry->what = words[change].name;
    entry->subject = subject;
    entry->detail = detail;
    entry->bound = actor->has_quota ? words[change].bound : PAY_AUDIT_UNBOUNDED;
    return pay_store_audited(out, service->store, entry, p);
}

apr_status_t pay_change_begin_in(pay_store_t **out, const pay_service_t *service,
                                 pay_change_t change, const pay_scope_t *scope, const char *subject,
                                 const char *text, apr_pool_t *p)
{
    const char *detail = apr_pstrcat(p, pay_mode_name(scope->mode), *text ? ": " : "", text, NULL);

    return pay_change_begin(out, service, change, scope->account, subject, detail, p);
}

apr_status_t pay_change_note(const pay_service_t *service, pay_change_t change,
                             apr_uint32_t account, const char *subject, const char *detail,
                             apr_pool_t *p)
{
    pay_store_t *store;
    apr_status_t rv;

    assert(service->actor);
    rv = pay_change_begin(&store, service, change, account, subject, detail, p);
    return rv == APR_SUCCESS ? pay_store_audit_note(store) : rv;
}
