/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"
#include "base/net/network.h"
#include "base/text/time.h"
#include "service/outbox/outbox_parts.h"

#include <apr_strings.h>
#include <string.h>

#define SETTINGS_MS (60 * 1000)

static const pay_delivery_t delivery_default = {0, "", "", "", "", "", ""};

pay_outbox_settings_t *pay_outbox_settings_hold(pay_outbox_settings_t *settings)
{
    settings->users++;
    return settings;
}

void pay_outbox_settings_drop(pay_outbox_settings_t *settings)
{
    settings->users--;
    if (settings->users == 0) {
        apr_pool_destroy(settings->pool);
    }
}

static void read_allowed(pay_outbox_settings_t *settings)
{
    apr_array_header_t *allowed;
    const char *word;
    apr_status_t rv;

    rv = pay_network_list(&allowed, &word, settings->delivery->webhook_allow, settings->pool);
    if (rv == APR_SUCCESS) {
        settings->allowed = allowed;
        return;
    }
    pay_log(PAY_LOG_ERR, rv,
            PAYLOGNO(00260) "PaymentsWebhookAllow: %s is not a network; no network is allowed",
            word ? word : "a word");
}

apr_status_t pay_outbox_settings_refresh(pay_outbox_t *outbox)
{
    const apr_int64_t now_ms = pay_time_boot_ms();
    pay_outbox_settings_t *settings;
    pay_delivery_t *delivery;
    apr_pool_t *pool;
    apr_status_t rv;

    if (outbox->settings && now_ms < outbox->settings_due_ms) {
        return APR_SUCCESS;
    }
    rv = apr_pool_create(&pool, outbox->pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_store_delivery_get(&delivery, outbox->store, pool);
    if (rv != APR_SUCCESS && rv != APR_NOTFOUND) {
        apr_pool_destroy(pool);
        return outbox->settings ? APR_SUCCESS : rv;
    }
    settings = apr_pcalloc(pool, sizeof(*settings));
    settings->pool = pool;
    settings->delivery = rv == APR_SUCCESS ? delivery : &delivery_default;
    settings->ca_file = *settings->delivery->trusted_ca ? settings->delivery->trusted_ca : NULL;
    read_allowed(settings);
    pay_mail_relay_read(&settings->mail, settings->delivery, outbox->keyring, pool);
    if (outbox->settings) {
        pay_outbox_settings_drop(outbox->settings);
    }
    outbox->settings = pay_outbox_settings_hold(settings);
    outbox->settings_due_ms = now_ms + SETTINGS_MS;
    return APR_SUCCESS;
}

/* The store finds accounts by name. */
static apr_status_t read_accounts(pay_outbox_t *outbox, pay_outbox_settings_t *settings)
{
    apr_array_header_t *list;
    pay_account_t *account;
    apr_status_t rv;
    int i;

    settings->accounts = NULL;
    if (settings->accounts_pool) {
        apr_pool_clear(settings->accounts_pool);
    } else {
        apr_pool_create(&settings->accounts_pool, settings->pool);
    }
    rv = pay_store_account_list(&list, outbox->store, settings->accounts_pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    settings->accounts = apr_hash_make(settings->accounts_pool);
    for (i = 0; i < list->nelts; i++) {
        account = APR_ARRAY_IDX(list, i, pay_account_t *);
        apr_hash_set(settings->accounts, &account->number, sizeof(account->number), account);
    }
    return APR_SUCCESS;
}

apr_status_t pay_outbox_account(const pay_account_t **out, pay_outbox_t *outbox,
                                pay_outbox_settings_t *settings, apr_uint32_t number)
{
    apr_status_t rv = APR_SUCCESS;

    *out = NULL;
    if (settings->accounts) {
        *out = apr_hash_get(settings->accounts, &number, sizeof(number));
    }
    /* An unknown one may have been made since. */
    if (!*out) {
        rv = read_accounts(outbox, settings);
        if (rv == APR_SUCCESS) {
            *out = apr_hash_get(settings->accounts, &number, sizeof(number));
        }
    }
    return rv == APR_SUCCESS && !*out ? APR_NOTFOUND : rv;
}
