/* SPDX-License-Identifier: Apache-2.0 */
#include "service/outbox/confirmation.h"

#include "base/text/time.h"
#include "service/account/endpoints.h"

#include <apr_strings.h>
#include <string.h>

#define SMTP_TAKEN_FIRST 200
#define SMTP_TAKEN_LAST 299
#define WAIT_MS 100

static const pay_problem_t *find_address(pay_confirmation_way_t *out, const pay_service_t *service,
                                         const pay_account_t *account, apr_pool_t *p)
{
    const pay_scope_t scope = {account->number, PAY_TEST}; /* it is the same in both modes */
    const pay_problem_t *problem;
    pay_endpoint_t *notice;

    problem = pay_endpoint_find(&notice, service, &scope, PAY_ENDPOINT_NOTICE, p);
    if (!problem && (!notice || !notice->enabled || !*notice->address)) {
        out->lacks = "the account has no merchant's address for a code";
    } else if (!problem) {
        out->address = notice->address;
    }
    return problem;
}

const pay_problem_t *pay_confirmation_way(pay_confirmation_way_t *out, const pay_service_t *service,
                                          const pay_account_t *account, apr_pool_t *p)
{
    const pay_problem_t *problem;
    pay_delivery_t *delivery;
    apr_status_t rv;

    memset(out, 0, sizeof(*out));
    problem = find_address(out, service, account, p);
    if (problem || out->lacks) {
        return problem;
    }
    rv = pay_store_delivery_get(&delivery, service->store, p);
    if (rv != APR_SUCCESS && rv != APR_NOTFOUND) {
        return pay_problem_of_store(rv, p);
    }
    if (rv == APR_NOTFOUND || !*delivery->mail_relay) {
        out->lacks = "the server has no mail relay for a code";
        return NULL;
    }
    out->delivery = delivery;
    pay_mail_relay_read(&out->relay, delivery, service->keyring, p);
    out->lacks = out->relay.waits;
    return NULL;
}

static const char *judge(const pay_transfer_t *transfer, apr_pool_t *p)
{
    if (transfer->end != PAY_TRANSFER_ANSWERED) {
        return transfer->error;
    }
    if (transfer->status < SMTP_TAKEN_FIRST || transfer->status > SMTP_TAKEN_LAST) {
        return apr_psprintf(p, "The mail relay answered %d", transfer->status);
    }
    return NULL;
}

static const char *send_now(pay_transfer_t *transfer, apr_pool_t *p)
{
    const apr_int64_t until_ms = pay_time_boot_ms() + 2 * PAY_CONFIRMATION_TOTAL_MS;
    pay_transfers_t *set;

    if (pay_transfers_create(&set, p) != APR_SUCCESS) {
        return "There is no memory to send it";
    }
    pay_transfers_limits(set, PAY_TRANSFER_CONNECT_MS, PAY_CONFIRMATION_TOTAL_MS);
    if (pay_transfer_start(set, transfer) != APR_SUCCESS) {
        return "The message could not be sent as it is";
    }
    while (!pay_transfers_next(set)) {
        if (pay_time_boot_ms() > until_ms) {
            return "The mail relay did not answer in time";
        }
        pay_transfers_run(set, apr_time_from_msec(WAIT_MS));
    }
    return judge(transfer, p);
}

const char *pay_confirmation_send(const pay_confirmation_way_t *way,
                                  const pay_mail_confirmation_t *confirmation,
                                  const pay_account_t *account, apr_pool_t *p)
{
    pay_transfer_t *transfer = apr_pcalloc(p, sizeof(*transfer));
    const char *fault;
    apr_pool_t *own;
    apr_status_t rv;

    rv = pay_mail_make_confirmation(transfer, &fault, confirmation, account, way->address,
                                    way->delivery, p);
    if (rv != APR_SUCCESS) {
        return fault ? fault : "There is nobody to send it to";
    }
    pay_mail_relay_address(transfer, &way->relay);
    rv = apr_pool_create(&own, p);
    if (rv != APR_SUCCESS) {
        return "There is no memory to send it";
    }
    fault = send_now(transfer, own);
    fault = fault ? apr_pstrdup(p, fault) : NULL;
    apr_pool_destroy(own); /* the connection ends here, not with the request */
    return fault;
}
