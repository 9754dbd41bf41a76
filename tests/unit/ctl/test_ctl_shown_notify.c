/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/output.h"

#include "shown.h"
#include "store_script.h"

/* Each column and each line of the output for events, webhooks, mail, links, the audit and the
 * store itself. */

static const pay_charge_t charge = {.scope = {7, PAY_LIVE},
                                    .seq = 11,
                                    .reference = "c-1",
                                    .token = "",
                                    .card = {"123456", "7890", "", "", ""},
                                    .money = {12345, "EUR"},
                                    .email = "ada@example.com",
                                    .first_name = "",
                                    .last_name = "",
                                    .request_ip = "",
                                    .acquirer = "relay",
                                    .key_id = "",
                                    .state = PAY_CHARGE_SUCCESSFUL,
                                    .decided_state = PAY_CHARGE_SUCCESSFUL,
                                    .created_at = SHOWN_AT(1),
                                    .updated_at = SHOWN_AT(2),
                                    .code = "",
                                    .message = "",
                                    .authorization_code = "",
                                    .contradiction = "",
                                    .acquirer_reference = "",
                                    .late_tag = "",
                                    .resolution = ""};

static const pay_refund_t refund = {.id = "id-1",
                                    .refund_reference = "r-1",
                                    .money = {345, "EUR"},
                                    .scope = {7, PAY_LIVE},
                                    .channel = "API",
                                    .state = PAY_REFUND_PROCESSED,
                                    .decided_state = PAY_REFUND_PROCESSED,
                                    .transaction_reference = "c-1",
                                    .created_at = SHOWN_AT(1),
                                    .updated_at = SHOWN_AT(2),
                                    .acquirer = "relay",
                                    .key_id = "",
                                    .tag = "",
                                    .acquirer_reference = "",
                                    .resolution = "",
                                    .acquirer_charge = "",
                                    .asked_digest = ""};

static const pay_event_t event = {.scope = {7, PAY_LIVE},
                                  .endpoint = PAY_ENDPOINT_WEBHOOK,
                                  .charge_seq = 11,
                                  .sequence = 2,
                                  .kind = PAY_EVENT_REFUND,
                                  .state = PAY_REFUND_PROCESSED,
                                  .created_at = SHOWN_AT(1),
                                  .decided = 1,
                                  .failures = 3,
                                  .first_try_at = SHOWN_AT(2),
                                  .due_at = SHOWN_AT(3),
                                  .parked_at = SHOWN_AT(4),
                                  .answered_at = SHOWN_AT(5),
                                  .status = 500,
                                  .error = "busy",
                                  .answer = "later",
                                  .charge = &charge,
                                  .refund = &refund};

/* Notifies the merchant that the other one was given up. */
static const pay_event_t notice = {.scope = {7, PAY_LIVE},
                                   .endpoint = PAY_ENDPOINT_NOTICE,
                                   .charge_seq = 11,
                                   .sequence = 3,
                                   .kind = PAY_EVENT_PARKED,
                                   .state = 500,
                                   .created_at = SHOWN_AT(1),
                                   .error = "",
                                   .answer = "",
                                   .parked = &event};

static const pay_endpoint_t webhook = {.scope = {7, PAY_LIVE},
                                       .kind = PAY_ENDPOINT_WEBHOOK,
                                       .enabled = 1,
                                       .address = "https://shop.example/hook",
                                       .secret = "",
                                       .old_secret = "",
                                       .old_secret_until = SHOWN_AT(1),
                                       .created_at = SHOWN_AT(2),
                                       .updated_at = SHOWN_AT(3),
                                       .failures = PAY_ENDPOINT_FAILURES_MAX,
                                       .failing_since = SHOWN_AT(4),
                                       .due_at = SHOWN_AT(5),
                                       .answered_at = SHOWN_AT(6),
                                       .status = 503,
                                       .error = "busy",
                                       .recipients = ""};

static const pay_delivery_t delivery = {.trusted_ca = "",
                                        .webhook_allow = "",
                                        .mail_relay = "smtp://mail.example:25",
                                        .mail_login = "",
                                        .mail_from = "shop@shop.example",
                                        .mail_templates = ""};

static const pay_link_t links[] = {
    {.scope = {7, PAY_LIVE},
     .reference = "l-1",
     .page_id = "P1",
     .title = "Tea",
     .description = "A cup",
     .redirect_url = "https://shop.example/back",
     .money = {500, "EUR"},
     .once = 1,
     .expires_at = SHOWN_AT(1),
     .disabled_at = SHOWN_AT(2),
     .created_at = SHOWN_AT(3),
     .paid = 4},
    {.scope = {7, PAY_LIVE},
     .reference = "l-2",
     .page_id = "P2",
     .title = "",
     .description = "",
     .redirect_url = "",
     .money = {0, "EUR"},
     .created_at = SHOWN_AT(3)},
};

static const pay_audit_t entry = {.account = 7,
                                  .seq = 1,
                                  .at = SHOWN_AT(1),
                                  .who = "ada",
                                  .from = "paymentsctl",
                                  .what = "key create",
                                  .subject = "key_1",
                                  .detail = "live"};

static const pay_account_t account = {.number = 7,
                                      .name = "shop",
                                      .settings = {"nc", "EUR", "UTC", "", "", "", "", ""},
                                      .mode = PAY_LIVE};

static const pay_api_key_t keys[] = {
    {.id = "key_1", .scope = {7, PAY_LIVE}, .created_at = SHOWN_AT(1), .account = &account},
    {.id = "key_2", .scope = {7, PAY_LIVE}, .revoked_at = SHOWN_AT(1), .account = &account},
};

static const pay_grant_t grant = {.host = "pay.example",
                                  .user = "ada",
                                  .role = PAY_ROLE_OWNER,
                                  .created_at = SHOWN_AT(3),
                                  .account = &account};

/* ---- the store */

static apr_status_t account_get(pay_account_t **out, pay_store_t *store, const char *name,
                                apr_pool_t *p)
{
    (void)store, (void)name;
    *out = apr_pmemdup(p, &account, sizeof(account));
    return APR_SUCCESS;
}

static apr_status_t account_list(apr_array_header_t **out, pay_store_t *store, apr_pool_t *p)
{
    (void)store;
    *out = apr_array_make(p, 1, sizeof(void *));
    APR_ARRAY_PUSH(*out, const pay_account_t *) = &account;
    return APR_SUCCESS;
}

static apr_status_t key_list(apr_array_header_t **out, pay_store_t *store, const char *name,
                             apr_pool_t *p)
{
    (void)store, (void)name;
    *out = apr_array_make(p, 2, sizeof(void *));
    APR_ARRAY_PUSH(*out, const pay_api_key_t *) = &keys[0];
    APR_ARRAY_PUSH(*out, const pay_api_key_t *) = &keys[1];
    return APR_SUCCESS;
}

static apr_status_t grant_list(apr_array_header_t **out, pay_store_t *store, const char *name,
                               apr_pool_t *p)
{
    (void)store, (void)name;
    *out = apr_array_make(p, 1, sizeof(void *));
    APR_ARRAY_PUSH(*out, const pay_grant_t *) = &grant;
    return APR_SUCCESS;
}

static apr_status_t event_list(apr_array_header_t **out, pay_store_t *store,
                               const pay_scope_t *scope, int parked, const pay_event_t *after,
                               int limit, apr_pool_t *p)
{
    (void)store, (void)scope, (void)limit;
    ck_assert_int_eq(parked, 0);
    *out = apr_array_make(p, 2, sizeof(void *));
    if (!after) {
        APR_ARRAY_PUSH(*out, const pay_event_t *) = &event;
        APR_ARRAY_PUSH(*out, const pay_event_t *) = &notice;
    } else { /* the position of the last one, and nothing else of it */
        ck_assert_int_eq(after->endpoint, PAY_ENDPOINT_NOTICE);
        ck_assert_uint_eq(after->charge_seq, 11);
        ck_assert_uint_eq(after->sequence, 3);
    }
    return APR_SUCCESS;
}

static apr_status_t event_get(pay_event_t **out, pay_store_t *store, const pay_scope_t *scope,
                              const pay_event_t *place, apr_pool_t *p)
{
    (void)store, (void)scope;
    *out = apr_pmemdup(p, place->endpoint == PAY_ENDPOINT_NOTICE ? &notice : &event, sizeof(event));
    return APR_SUCCESS;
}

static apr_status_t endpoint_get(pay_endpoint_t **out, pay_store_t *store, const pay_scope_t *scope,
                                 pay_endpoint_kind_t kind, apr_pool_t *p)
{
    (void)store;
    *out = apr_pmemdup(p, &webhook, sizeof(webhook));
    (*out)->scope = *scope;
    (*out)->kind = kind;
    if (kind != PAY_ENDPOINT_WEBHOOK) {
        (*out)->address = kind == PAY_ENDPOINT_NOTICE ? "till@shop.example" : "";
        (*out)->recipients = kind == PAY_ENDPOINT_RECEIPT ? "bob@shop.example @a.example" : "";
    }
    return kind == PAY_ENDPOINT_RECEIPT && scope->mode == PAY_LIVE ? APR_NOTFOUND : APR_SUCCESS;
}

static apr_status_t delivery_get(pay_delivery_t **out, pay_store_t *store, apr_pool_t *p)
{
    (void)store;
    *out = apr_pmemdup(p, &delivery, sizeof(delivery));
    return APR_SUCCESS;
}

static apr_status_t link_get(pay_link_t **out, pay_store_t *store, const pay_scope_t *scope,
                             const char *reference, apr_pool_t *p)
{
    (void)store, (void)scope;
    *out = apr_pmemdup(p, &links[strcmp(reference, "l-2") == 0], sizeof(links[0]));
    return APR_SUCCESS;
}

static apr_status_t link_list(apr_array_header_t **out, pay_store_t *store,
                              const pay_scope_t *scope, const char *after, int limit, apr_pool_t *p)
{
    (void)store, (void)scope, (void)limit;
    *out = apr_array_make(p, 2, sizeof(void *));
    if (!after) {
        APR_ARRAY_PUSH(*out, const pay_link_t *) = &links[0];
        APR_ARRAY_PUSH(*out, const pay_link_t *) = &links[1];
    } else {
        ck_assert_str_eq(after, "l-2");
    }
    return APR_SUCCESS;
}

static apr_status_t audit_list(apr_array_header_t **out, pay_store_t *store, apr_uint32_t number,
                               apr_uint64_t before, int limit, apr_pool_t *p)
{
    (void)store, (void)before, (void)limit;
    ck_assert_uint_eq(number, account.number);
    *out = apr_array_make(p, 1, sizeof(void *));
    APR_ARRAY_PUSH(*out, const pay_audit_t *) = &entry;
    return APR_SUCCESS;
}

static apr_status_t store_stat(pay_store_stat_t *out, pay_store_t *store, apr_pool_t *p)
{
    (void)store, (void)p;
    *out = (pay_store_stat_t){.accounts = 1,
                              .api_keys = 2,
                              .tokens = 3,
                              .charges = 4,
                              .refunds = 5,
                              .held = 6,
                              .idempotency_records = 7,
                              .events = 80,
                              .parked = 90,
                              .pending = 10,
                              .checkouts_open = 11,
                              .map_bytes = 12,
                              .used_bytes = 13,
                              .file_bytes = 14,
                              .disk_free_bytes = 15,
                              .readers = 16,
                              .readers_max = 17,
                              .schema_version = 18};
    return APR_SUCCESS;
}

static apr_status_t event_stat(pay_event_stat_t *out, pay_store_t *store, apr_pool_t *p)
{
    (void)store, (void)p;
    *out = (pay_event_stat_t){.events = 8, .parked = 9};
    return APR_SUCCESS;
}

static apr_status_t epoch_find(pay_epoch_t *out, pay_store_t *store)
{
    (void)store;
    *out = (pay_epoch_t){.number = 1, .held = 1, .began_at = SHOWN_AT(1)};
    return APR_SUCCESS;
}

static apr_status_t epoch_synced(int *wanted, int *synced, apr_time_t *from, pay_store_t *store,
                                 const pay_account_t *of, apr_pool_t *p)
{
    (void)store, (void)of, (void)p;
    *wanted = 1;
    *synced = 0;
    *from = 0;
    return APR_SUCCESS;
}

/* More than are listed. */
static apr_status_t refund_waiting(apr_array_header_t **out, pay_store_t *store,
                                   const pay_scope_t *scope, int limit, apr_pool_t *p)
{
    int i;

    (void)store;
    ck_assert_int_eq(scope->mode, PAY_LIVE);
    *out = apr_array_make(p, limit, sizeof(void *));
    for (i = 0; i < limit; i++) {
        APR_ARRAY_PUSH(*out, const pay_refund_t *) = &refund;
    }
    return APR_SUCCESS;
}

static apr_status_t waiting_count(pay_waiting_t *out, pay_store_t *store, const pay_scope_t *scope,
                                  int limit)
{
    (void)store;
    *out = (pay_waiting_t){.tokens = scope->mode == PAY_LIVE ? limit : 1,
                           .events = scope->mode == PAY_LIVE ? limit - 1 : 2};
    return APR_SUCCESS;
}

static const store_script_t ops = {.account_get = account_get,
                                   .account_list = account_list,
                                   .key_list = key_list,
                                   .grant_list = grant_list,
                                   .event_list = event_list,
                                   .event_get = event_get,
                                   .endpoint_get = endpoint_get,
                                   .delivery_get = delivery_get,
                                   .link_get = link_get,
                                   .link_list = link_list,
                                   .audit_list = audit_list,
                                   .stat = store_stat,
                                   .event_stat = event_stat,
                                   .epoch_find = epoch_find,
                                   .epoch_synced = epoch_synced,
                                   .refund_waiting = refund_waiting,
                                   .waiting_count = waiting_count};

/* ---- the commands */

static ctl_exit_t show_webhook(ctl_t *ctl)
{
    ctl->arg[1] = pay_event_id(&event, unit_pool);
    return ctl_event_show(ctl);
}

static ctl_exit_t show_notice(ctl_t *ctl)
{
    ctl->arg[1] = pay_event_id(&notice, unit_pool);
    return ctl_event_show(ctl);
}

static const shown_row_t rows[] = {
    {"events", ctl_event_list, "table", "live", NULL,
     "ID|EVENT|TO|STANDING|TRIES|NEXT TRY|LAST ANSWER\n"
     "evt_01000000000000000b00000002f13f170403c1034d|refund processed|webhook|parked|3"
     "|2001-09-09T01:46:43.000Z|500: busy\n"
     "evt_03000000000000000b00000003dd53eb5245f5e584|event parked|notice|behind|0|-|-\n",
     CTL_OK},
    {"events in JSON", ctl_event_list, "json", "live", NULL,
     "[\n"
     "{\"id\":\"evt_01000000000000000b00000002f13f170403c1034d\",\"notify\":\"refund\","
     "\"notifyType\":\"processed\",\"to\":\"webhook\",\"domain\":\"live\",\"transaction\":11,"
     "\"sequence\":2,\"standing\":\"parked\",\"createdAt\":\"2001-09-09T01:46:41.000Z\","
     "\"tries\":3,\"firstTryAt\":\"2001-09-09T01:46:42.000Z\","
     "\"dueAt\":\"2001-09-09T01:46:43.000Z\",\"parkedAt\":\"2001-09-09T01:46:44.000Z\","
     "\"answeredAt\":\"2001-09-09T01:46:45.000Z\",\"status\":500,\"error\":\"busy\","
     "\"answer\":\"later\"},\n"
     "{\"id\":\"evt_03000000000000000b00000003dd53eb5245f5e584\",\"notify\":\"event\","
     "\"notifyType\":\"parked\",\"to\":\"notice\",\"domain\":\"live\",\"transaction\":11,"
     "\"sequence\":3,\"standing\":\"behind\",\"createdAt\":\"2001-09-09T01:46:41.000Z\","
     "\"tries\":0,\"firstTryAt\":null,\"dueAt\":null,\"parkedAt\":null,\"answeredAt\":null,"
     "\"status\":0,\"error\":\"\",\"answer\":\"\"}\n"
     "]\n",
     CTL_OK},
    {"events as CSV", ctl_event_list, "csv", "live", NULL,
     "id,notify,notifyType,to,domain,transaction,sequence,standing,createdAt,tries,"
     "firstTryAt,dueAt,parkedAt,answeredAt,status,error,answer\r\n"
     "evt_01000000000000000b00000002f13f170403c1034d,refund,processed,webhook,live,11,"
     "2,parked,2001-09-09T01:46:41.000Z,3,2001-09-09T01:46:42.000Z,"
     "2001-09-09T01:46:43.000Z,2001-09-09T01:46:44.000Z,2001-09-09T01:46:45.000Z,500,"
     "busy,later\r\n"
     "evt_03000000000000000b00000003dd53eb5245f5e584,event,parked,notice,live,11,3,"
     "behind,2001-09-09T01:46:41.000Z,0,,,,,0,,\r\n",
     CTL_OK},
    {"an event", show_webhook, "table", "live", NULL,
     "FIELD|VALUE\n"
     "id|evt_01000000000000000b00000002f13f170403c1034d\n"
     "event|refund processed\n"
     "to|webhook\n"
     "charge|c-1\n"
     "refund|r-1\n"
     "gives up|-\n"
     "sequence|2\n"
     "standing|parked\n"
     "created|2001-09-09T01:46:41.000Z\n"
     "tries|3\n"
     "first try|2001-09-09T01:46:42.000Z\n"
     "next try|2001-09-09T01:46:43.000Z\n"
     "parked|2001-09-09T01:46:44.000Z\n"
     "last try|2001-09-09T01:46:45.000Z\n"
     "last answer|500: busy\n"
     "its body|later\n"
     "body sent|{\"notify\":\"refund\",\"notifyType\":\"processed\",\"sequence\":2,"
     "\"data\":{\"id\":\"id-1\",\"refundReference\":\"r-1\",\"amount\":\"3.45\",\"currency\":"
     "\"EUR\","
     "\"domain\":\"live\",\"channel\":\"API\",\"merchantNote\":null,\"customerNote\":null,"
     "\"status\":\"processed\",\"transactionReference\":\"c-1\","
     "\"createdAt\":\"2001-09-09T01:46:41.000Z\","
     "\"updatedAt\":\"2001-09-09T01:46:41.000Z\"}}\n",
     CTL_OK},
    {"an event in JSON", show_webhook, "json", "live", NULL,
     "...,\"reference\":\"c-1\",\"refundReference\":\"r-1\",\"body\":{\"notify\":\"refund\","
     "\"notifyType\":\"processed\",\"sequence\":2,\"data\":{\"id\":\"id-1\","
     "\"refundReference\":\"r-1\",\"amount\":\"3.45\",\"currency\":\"EUR\",\"domain\":\"live\","
     "\"channel\":\"API\",\"merchantNote\":null,\"customerNote\":null,\"status\":\"processed\","
     "\"transactionReference\":\"c-1\",\"createdAt\":\"2001-09-09T01:46:41.000Z\","
     "\"updatedAt\":\"2001-09-09T01:46:41.000Z\"}}}\n",
     CTL_OK},
    {"an e-mail", show_notice, "table", "live", NULL,
     "FIELD|VALUE\n"
     "id|evt_03000000000000000b00000003dd53eb5245f5e584\n"
     "event|event parked\n"
     "to|notice\n"
     "charge|-\n"
     "refund|-\n"
     "gives up|evt_01000000000000000b00000002f13f170403c1034d\n"
     "sequence|3\n"
     "standing|behind\n"
     "created|2001-09-09T01:46:41.000Z\n"
     "tries|0\n"
     "first try|-\n"
     "next try|-\n"
     "parked|-\n"
     "last try|-\n"
     "last answer|-\n"
     "its body|-\n"
     "body sent|-\n",
     CTL_OK},
    {"an e-mail in JSON", show_notice, "json", "live", NULL,
     "...,\"reference\":null,\"refundReference\":null,\"body\":null}\n", CTL_OK},
    {"a webhook", ctl_webhook_show, "table", "live", NULL,
     "FIELD|VALUE\n"
     "account|shop\n"
     "mode|live\n"
     "URL|https://shop.example/hook\n"
     "switched|on\n"
     "old secret signs until|2001-09-09T01:46:41.000Z\n"
     "failing|yes\n"
     "failures in a row|5\n"
     "failing since|2001-09-09T01:46:44.000Z\n"
     "next delivery|2001-09-09T01:46:45.000Z\n"
     "last try|2001-09-09T01:46:46.000Z\n"
     "last answer|503: busy\n"
     "created|2001-09-09T01:46:42.000Z\n"
     "updated|2001-09-09T01:46:43.000Z\n",
     CTL_OK},
    {"a webhook in JSON", ctl_webhook_show, "json", "live", NULL,
     "{\"account\":\"shop\",\"mode\":\"live\",\"url\":\"https://shop.example/hook\","
     "\"enabled\":true,\"secret\":null,\"oldSecretUntil\":\"2001-09-09T01:46:41.000Z\","
     "\"failing\":true,\"failures\":5,\"failingSince\":\"2001-09-09T01:46:44.000Z\","
     "\"dueAt\":\"2001-09-09T01:46:45.000Z\",\"answeredAt\":\"2001-09-09T01:46:46.000Z\","
     "\"status\":503,\"error\":\"busy\",\"createdAt\":\"2001-09-09T01:46:42.000Z\","
     "\"updatedAt\":\"2001-09-09T01:46:43.000Z\"}\n",
     CTL_OK},
    {"mail", ctl_mail_show, "table", NULL, NULL,
     "FIELD|VALUE\n"
     "account|shop\n"
     "merchant address|till@shop.example\n"
     "receipts|on\n"
     "test recipients|bob@shop.example @a.example\n"
     "mail relay|smtp://mail.example:25\n"
     "sender|shop@shop.example\n"
     "notices, test mode|failing, 5 in a row; last answer 503: busy\n"
     "notices, live mode|failing, 5 in a row; last answer 503: busy\n"
     "receipts, test mode|failing, 5 in a row; last answer 503: busy\n",
     CTL_OK},
    {"mail in JSON", ctl_mail_show, "json", NULL, NULL,
     "{\"account\":\"shop\",\"merchantAddress\":\"till@shop.example\",\"receipts\":true,"
     "\"testRecipients\":[\"bob@shop.example\",\"@a.example\"],"
     "\"relay\":\"smtp://mail.example:25\",\"sender\":\"shop@shop.example\","
     "\"deliveries\":[{\"kind\":\"notice\",\"mode\":\"test\",\"enabled\":true,\"failing\":true,"
     "\"failures\":5,\"failingSince\":\"2001-09-09T01:46:44.000Z\","
     "\"dueAt\":\"2001-09-09T01:46:45.000Z\",\"answeredAt\":\"2001-09-09T01:46:46.000Z\","
     "\"status\":503,\"error\":\"busy\"},{\"kind\":\"notice\",\"mode\":\"live\",\"enabled\":true,"
     "\"failing\":true,\"failures\":5,\"failingSince\":\"2001-09-09T01:46:44.000Z\","
     "\"dueAt\":\"2001-09-09T01:46:45.000Z\",\"answeredAt\":\"2001-09-09T01:46:46.000Z\","
     "\"status\":503,\"error\":\"busy\"},{\"kind\":\"receipt\",\"mode\":\"test\",\"enabled\":true,"
     "\"failing\":true,\"failures\":5,\"failingSince\":\"2001-09-09T01:46:44.000Z\","
     "\"dueAt\":\"2001-09-09T01:46:45.000Z\",\"answeredAt\":\"2001-09-09T01:46:46.000Z\","
     "\"status\":503,\"error\":\"busy\"}]}\n",
     CTL_OK},
    {"links", ctl_link_list, "table", "live", NULL,
     "REFERENCE|STATE|AMOUNT|CURRENCY|PAID|EXPIRES|CREATED\n"
     "l-1|used|5.00|EUR|4|2001-09-09T01:46:41.000Z|2001-09-09T01:46:43.000Z\n"
     "l-2|active|open|EUR|0|-|2001-09-09T01:46:43.000Z\n",
     CTL_OK},
    {"links as CSV", ctl_link_list, "csv", "live", NULL,
     "reference,title,description,amount,currency,reusable,expiresAt,disabledAt,"
     "createdAt,paid,url,state\r\n"
     "l-1,Tea,A cup,5.00,EUR,false,2001-09-09T01:46:41.000Z,2001-09-09T01:46:42.000Z,"
     "2001-09-09T01:46:43.000Z,4,/payment/page/P1,used\r\n"
     "l-2,,,,EUR,true,,,2001-09-09T01:46:43.000Z,0,/payment/page/P2,active\r\n",
     CTL_OK},
    {"a link", ctl_link_show, "table", "live", "l-1",
     "FIELD|VALUE\n"
     "reference|l-1\n"
     "state|used\n"
     "page|/payment/page/P1\n"
     "amount|5.00\n"
     "currency|EUR\n"
     "title|Tea\n"
     "description|A cup\n"
     "paid by|one payer, once\n"
     "paid|4\n"
     "payers return to|https://shop.example/back\n"
     "expires|2001-09-09T01:46:41.000Z\n"
     "disabled|2001-09-09T01:46:42.000Z\n"
     "created|2001-09-09T01:46:43.000Z\n",
     CTL_OK},
    {"an open link", ctl_link_show, "table", "live", "l-2",
     "FIELD|VALUE\n"
     "reference|l-2\n"
     "state|active\n"
     "page|/payment/page/P2\n"
     "amount|open\n"
     "currency|EUR\n"
     "title|-\n"
     "description|-\n"
     "paid by|any number of payers\n"
     "paid|0\n"
     "payers return to|-\n"
     "expires|-\n"
     "disabled|-\n"
     "created|2001-09-09T01:46:43.000Z\n",
     CTL_OK},
    {"the audit", ctl_audit_list, "table", NULL, NULL,
     "WHEN|ACCOUNT|WHO|FROM|WHAT|SUBJECT|DETAIL\n"
     "2001-09-09T01:46:41.000Z|shop|ada|paymentsctl|key create|key_1|live\n",
     CTL_OK},
    {"the audit as CSV", ctl_audit_list, "csv", NULL, NULL,
     "account,at,who,from,what,subject,detail\r\n"
     "shop,2001-09-09T01:46:41.000Z,ada,paymentsctl,key create,key_1,live\r\n",
     CTL_OK},
    {"the audit in JSON", ctl_audit_list, "json", NULL, NULL,
     "[\n"
     "{\"account\":\"shop\",\"at\":\"2001-09-09T01:46:41.000Z\",\"who\":\"ada\","
     "\"from\":\"paymentsctl\",\"what\":\"key create\",\"subject\":\"key_1\","
     "\"detail\":\"live\"}\n"
     "]\n",
     CTL_OK},
    {"what is stored", ctl_store_stat, "table", NULL, NULL,
     "WHAT|VALUE\n"
     "schema version|18\n"
     "accounts|1\n"
     "keys|2\n"
     "tokens|3\n"
     "charges|4\n"
     "refunds|5\n"
     "pending at an acquirer|10\n"
     "checkouts not paid yet|11\n"
     "waiting for a person|6\n"
     "Idempotency-Keys kept|7\n"
     "events not delivered|8\n"
     "of these parked|9\n"
     "bytes of the map|12\n"
     "bytes used of it|13\n"
     "bytes of the file|14\n"
     "bytes free on the disk|15\n"
     "readers|16\n"
     "readers at most|17\n",
     CTL_OK},
    {"what is stored in JSON", ctl_store_stat, "json", NULL, NULL,
     "{\"schemaVersion\":18,\"accounts\":1,\"keys\":2,\"tokens\":3,\"charges\":4,\"refunds\":5,"
     "\"pending\":10,\"checkoutsOpen\":11,\"held\":6,\"kept\":7,\"events\":8,\"parked\":9,"
     "\"mapBytes\":12,\"usedBytes\":13,\"fileBytes\":14,\"diskFreeBytes\":15,\"readers\":16,"
     "\"readersMax\":17}\n",
     CTL_OK},
    {"what a copy brings back", ctl_store_confirm, "table", NULL, NULL,
     "...shop|live|refund that waits|r-1|2001-09-09T01:46:41.000Z\n"
     "shop|live|refunds that wait|more than are listed|-\n"
     "shop|live|secret key that works|key_1|2001-09-09T01:46:41.000Z\n"
     "shop|-|grant of owner|ada on pay.example|2001-09-09T01:46:43.000Z\n"
     "shop|test|card tokens|1|-\n"
     "shop|test|events not delivered|2|-\n"
     "shop|live|card tokens|100000 or more|-\n"
     "shop|live|events not delivered|99999|-\n",
     CTL_OK},
    {"what a copy brings back in JSON", ctl_store_confirm, "json", NULL, NULL,
     "...{\"account\":\"shop\",\"mode\":\"live\",\"what\":\"refunds\",\"which\":\"more than are "
     "listed\","
     "\"since\":null},\n"
     "{\"account\":\"shop\",\"mode\":\"live\",\"what\":\"key\",\"which\":\"key_1\",\"since\":"
     "\"2001-09-09T01:46:41.000Z\"},\n"
     "{\"account\":\"shop\",\"mode\":null,\"what\":\"grant\",\"which\":\"ada on "
     "pay.example\",\"since\":\"2001-09-09T01:46:43.000Z\"},\n"
     "{\"account\":\"shop\",\"mode\":\"test\",\"what\":\"tokens\",\"which\":\"1\",\"since\":null},"
     "\n"
     "{\"account\":\"shop\",\"mode\":\"test\",\"what\":\"events\",\"which\":\"2\",\"since\":null},"
     "\n"
     "{\"account\":\"shop\",\"mode\":\"live\",\"what\":\"tokens\",\"which\":\"100000 or "
     "more\",\"since\":null},\n"
     "{\"account\":\"shop\",\"mode\":\"live\",\"what\":\"events\",\"which\":\"99999\",\"since\":"
     "null}\n]\n",
     CTL_OK},
};

START_TEST(test_shown)
{

    store_script = ops;
    shown_check(&rows[_i], STORE_NONE);
}
END_TEST

/* Only so many of the waiting refunds are listed, followed by a line that says so. */
START_TEST(test_what_a_copy_brings_back_has_an_end)
{
    ctl_t ctl = {.service.store = STORE_NONE, .pool = unit_pool};
    const char *output;
    int before, lines = 0;

    store_script = ops;
    output = output_open(&before);
    ck_assert_int_eq(ctl_store_confirm(&ctl), CTL_OK);
    output = shown_squeeze(output_read(output, before));
    ck_assert_ptr_nonnull(strstr(output,
                                 "ACCOUNT|MODE|WHAT|WHICH|SINCE\n"
                                 "shop|live|refunds of the acquirer|not fetched since|-\n"));
    while ((output = strstr(output, "refund that waits")) != NULL) {
        output++;
        lines++;
    }
    ck_assert_int_eq(lines, PAY_STORE_ROWS_MAX - 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_what_a_copy_brings_back_has_an_end);
    tcase_add_loop_test(tcase, test_shown, 0, UNIT_ROWS(rows));
}

UNIT_PROGRAM(add)
