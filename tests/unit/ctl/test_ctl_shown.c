/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/output.h"

#include "shown.h"
#include "store_script.h"

/* Each column and each line of the output for accounts, keys, tokens, charges and refunds. */

static const pay_account_t account = {.number = 7,
                                      .name = "shop",
                                      .settings = {"nc", "EUR", "Africa/Lagos", "Ada's",
                                                   "/logo.png", "Thanks", "a.example", "EUR 1%"},
                                      .mode = PAY_LIVE,
                                      .created_at = SHOWN_AT(1),
                                      .updated_at = SHOWN_AT(2)};

static const pay_api_key_t key = {.id = "key_1",
                                  .scope = {7, PAY_LIVE},
                                  .kind = PAY_KEY_PUBLIC,
                                  .created_at = SHOWN_AT(1),
                                  .last_used_at = SHOWN_AT(2),
                                  .revoked_at = SHOWN_AT(3),
                                  .account = &account};

static const pay_token_t token = {.scope = {7, PAY_LIVE},
                                  .token = "tok_1",
                                  .card = {"123456", "7890", "Issuer", "NG", "debit"},
                                  .email = "ada@example.com",
                                  .created_at = SHOWN_AT(1),
                                  .revoked_at = SHOWN_AT(2)};

static const pay_grant_t grant = {.host = "pay.example",
                                  .user = "ada",
                                  .role = PAY_ROLE_OPERATOR,
                                  .created_at = SHOWN_AT(1),
                                  .account = &account};

static const pay_charge_t charge = {.scope = {7, PAY_LIVE},
                                    .seq = 11,
                                    .reference = "c-1",
                                    .token = "tok_1",
                                    .card = {"123456", "7890", "Issuer", "NG", "debit"},
                                    .money = {12345, "EUR"},
                                    .email = "ada@example.com",
                                    .first_name = "Ada",
                                    .last_name = "Love",
                                    .request_ip = "192.0.2.7",
                                    .acquirer = "relay",
                                    .key_id = "key_1",
                                    .state = PAY_CHARGE_SUCCESSFUL,
                                    .decided_state = PAY_CHARGE_SUCCESSFUL,
                                    .created_at = SHOWN_AT(1),
                                    .updated_at = SHOWN_AT(2),
                                    .decided_at = SHOWN_AT(3),
                                    .code = "00",
                                    .message = "Approved",
                                    .authorization_code = "A1",
                                    .contradiction = "declined",
                                    .due_at = SHOWN_AT(4),
                                    .refunded_minor = 345,
                                    .refunds_pending_minor = 67,
                                    .acquirer_reference = "acq-1",
                                    .absent_since = SHOWN_AT(5),
                                    .held = PAY_HELD_LATE,
                                    .late = PAY_LATE_REFUNDING,
                                    .late_tag = "tag-1",
                                    .spent = 1,
                                    .resolution = "asked"};

static const pay_refund_t refund = {.id = "id-1",
                                    .refund_reference = "r-1",
                                    .money = {345, "EUR"},
                                    .scope = {7, PAY_LIVE},
                                    .channel = "API",
                                    .merchant_note = "ours",
                                    .customer_note = "theirs",
                                    .state = PAY_REFUND_PENDING,
                                    .transaction_reference = "c-1",
                                    .created_at = SHOWN_AT(1),
                                    .updated_at = SHOWN_AT(2),
                                    .decided_at = SHOWN_AT(3),
                                    .acquirer = "relay",
                                    .key_id = "key_1",
                                    .due_at = SHOWN_AT(4),
                                    .waiting = 1,
                                    .tag = "tag-2",
                                    .acquirer_reference = "acq-2",
                                    .absent_since = SHOWN_AT(5),
                                    .held = PAY_HELD_OVERDUE,
                                    .resolution = "seen",
                                    .acquirer_charge = "acq-1",
                                    .asked_digest = ""};

/* History without its optional parts, which waits for nobody. */
static pay_refund_t bare_refund(void)
{
    pay_refund_t bare = refund;

    bare.refund_reference = "r-2";
    bare.money = (pay_money_t){0, ""};
    bare.channel = bare.transaction_reference = NULL;
    bare.acquirer_charge = "";
    bare.state = PAY_REFUND_FAILED;
    bare.held = PAY_HELD_LATE;
    bare.waiting = 0;
    return bare;
}

/* ---- the store */

static apr_array_header_t *one_of(const void *row)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(const void *));

    APR_ARRAY_PUSH(rows, const void *) = row;
    return rows;
}

static apr_status_t account_get(pay_account_t **out, pay_store_t *store, const char *name,
                                apr_pool_t *p)
{
    (void)store, (void)name;
    *out = apr_pmemdup(p, &account, sizeof(account));
    return APR_SUCCESS;
}

static apr_status_t account_set(pay_account_t **out, pay_store_t *store, const char *name,
                                const pay_account_settings_t *settings, const pay_mode_t *mode,
                                apr_pool_t *p)
{
    (void)settings, (void)mode;
    return account_get(out, store, name, p);
}

static apr_status_t account_list(apr_array_header_t **out, pay_store_t *store, apr_pool_t *p)
{
    (void)store, (void)p;
    *out = one_of(&account);
    return APR_SUCCESS;
}

static apr_status_t account_rows(pay_account_rows_t *out, pay_store_t *store, apr_uint32_t number,
                                 apr_pool_t *p)
{
    (void)store, (void)p;
    ck_assert_uint_eq(number, account.number);
    *out = (pay_account_rows_t){{1, 2}, {3, 4}, 5, 6};
    return APR_SUCCESS;
}

static apr_status_t key_list(apr_array_header_t **out, pay_store_t *store, const char *name,
                             apr_pool_t *p)
{
    (void)store, (void)name, (void)p;
    *out = one_of(&key);
    return APR_SUCCESS;
}

static apr_status_t grant_list(apr_array_header_t **out, pay_store_t *store, const char *name,
                               apr_pool_t *p)
{
    (void)store, (void)name, (void)p;
    *out = one_of(&grant);
    return APR_SUCCESS;
}

static apr_status_t token_list(apr_array_header_t **out, pay_store_t *store,
                               const pay_scope_t *scope, apr_pool_t *p)
{
    (void)store, (void)scope, (void)p;
    *out = one_of(&token);
    return APR_SUCCESS;
}

static apr_status_t charge_find(pay_charge_t **out, pay_store_t *store, const pay_scope_t *scope,
                                const char *reference, apr_pool_t *p)
{
    (void)store, (void)scope, (void)reference;
    *out = apr_pmemdup(p, &charge, sizeof(charge));
    return APR_SUCCESS;
}

static apr_status_t charge_list(apr_array_header_t **out, pay_store_t *store,
                                const pay_scope_t *scope, const pay_time_range_t *range,
                                const pay_charge_t *after, int limit, apr_pool_t *p)
{
    (void)store, (void)scope, (void)range, (void)limit, (void)p;
    *out = one_of(&charge);
    (*out)->nelts = after == NULL;
    return APR_SUCCESS;
}

static apr_status_t refund_find(pay_refund_t **out, pay_store_t *store, const pay_scope_t *scope,
                                const char *reference, apr_pool_t *p)
{
    const pay_refund_t bare = bare_refund();

    (void)store, (void)scope;
    *out = apr_pmemdup(p, strcmp(reference, "r-2") == 0 ? &bare : &refund, sizeof(refund));
    return APR_SUCCESS;
}

static apr_status_t refund_page(apr_array_header_t **out, pay_page_cursor_t *cursor,
                                pay_store_t *store, const pay_scope_t *scope,
                                const pay_time_range_t *range, int limit, apr_pool_t *p)
{
    pay_refund_t *rows[2];

    (void)range, (void)limit;
    cursor->done = 1;
    *out = apr_array_make(p, 2, sizeof(pay_refund_t *));
    (void)refund_find(&rows[0], store, scope, "r-1", p);
    (void)refund_find(&rows[1], store, scope, "r-2", p);
    APR_ARRAY_PUSH(*out, pay_refund_t *) = rows[0];
    APR_ARRAY_PUSH(*out, pay_refund_t *) = rows[1];
    return APR_SUCCESS;
}

static apr_status_t refund_link(pay_refund_t **out, pay_charge_t **of, pay_refund_link_t *verdict,
                                pay_store_t *store, const pay_scope_t *scope, const char *reference,
                                int change, apr_pool_t *p)
{
    const int fits = strcmp(reference, "r-1") == 0;

    ck_assert_int_eq(change, 0);
    *of = NULL;
    *verdict = fits ? PAY_REFUND_LINKED : PAY_REFUND_LINK_DIFFERENT;
    (void)refund_find(out, store, scope, reference, p);
    return fits ? charge_find(of, store, scope, "c-1", p) : APR_SUCCESS;
}

static apr_status_t held_list(apr_array_header_t **out, pay_store_t *store,
                              const pay_scope_t *scope, const pay_due_t *after, int limit,
                              apr_pool_t *p)
{
    pay_refund_t *rows[2];

    (void)limit;
    *out = apr_array_make(p, 3, sizeof(pay_due_t));
    if (after || scope->mode != PAY_LIVE) {
        return APR_SUCCESS;
    }
    (void)refund_find(&rows[0], store, scope, "r-1", p);
    (void)refund_find(&rows[1], store, scope, "r-2", p);
    APR_ARRAY_PUSH(*out, pay_due_t) = (pay_due_t){.charge = &charge};
    APR_ARRAY_PUSH(*out, pay_due_t) = (pay_due_t){.charge = &charge, .refund = rows[0]};
    APR_ARRAY_PUSH(*out, pay_due_t) = (pay_due_t){.refund = rows[1]};
    return APR_SUCCESS;
}

static apr_status_t history_ask(pay_history_t **out, pay_store_t *store, const pay_scope_t *scope,
                                apr_time_t from, apr_time_t to, apr_pool_t *p)
{
    const pay_history_t history = {.scope = *scope,
                                   .asked = 1,
                                   .from = SHOWN_AT(1),
                                   .to = SHOWN_AT(2),
                                   .seen = 4,
                                   .added = 3,
                                   .changed = 2,
                                   .refused = 1,
                                   .error = ""};

    (void)store, (void)from, (void)to;
    *out = apr_pmemdup(p, &history, sizeof(history));
    return APR_SUCCESS;
}

static const store_script_t ops = {.account_get = account_get,
                                   .account_set = account_set,
                                   .account_list = account_list,
                                   .account_rows = account_rows,
                                   .key_list = key_list,
                                   .grant_list = grant_list,
                                   .token_list = token_list,
                                   .charge_find = charge_find,
                                   .charge_list = charge_list,
                                   .refund_find = refund_find,
                                   .refund_page = refund_page,
                                   .refund_link = refund_link,
                                   .held_list = held_list,
                                   .history_ask = history_ask};

/* ---- the commands */

static ctl_exit_t sync_without_waiting(ctl_t *ctl)
{
    ctl->option[CTL_OPTION_FROM] = "2001-09-09";
    ctl->option[CTL_OPTION_TO] = "2001-09-10";
    ctl->option[CTL_OPTION_NO_WAIT] = "";
    return ctl_refund_sync(ctl);
}

static const shown_row_t rows[] = {
    {"accounts", ctl_account_list, "table", NULL, NULL,
     "NAME|NUMBER|MODE|KEY PREFIX|CURRENCY|TIMEZONE|CREATED\n"
     "shop|7|live|nc|EUR|Africa/Lagos|2001-09-09T01:46:41.000Z\n",
     CTL_OK},
    {"an account", ctl_account_show, "table", NULL, NULL,
     "FIELD|VALUE\n"
     "name|shop\n"
     "number|7\n"
     "mode|live\n"
     "key prefix|nc\n"
     "currency|EUR\n"
     "timezone|Africa/Lagos\n"
     "fees|EUR 1%\n"
     "created|2001-09-09T01:46:41.000Z\n"
     "rows, test|1\n"
     "rows, live|2\n"
     "audit entries|5\n"
     "unpaid of visitors, test|3\n"
     "unpaid of visitors, live|4\n"
     "quota|6\n",
     CTL_OK},
    {"an account in JSON", ctl_account_show, "json", NULL, NULL,
     "...\"rows\":{\"test\":1,\"live\":2,\"audit\":5},\"unpaidOfVisitors\":{\"test\":3,\"live\":4},"
     "\"quota\":6}\n",
     CTL_OK},
    {"keys", ctl_key_list, "table", NULL, NULL,
     "ID|ACCOUNT|MODE|KIND|CREATED|LAST USED|REVOKED\n"
     "key_1|shop|live|public|2001-09-09T01:46:41.000Z|2001-09-09T01:46:42.000Z|2001-09"
     "-09T01:46:43.000Z\n",
     CTL_OK},
    {"grants", ctl_account_grants, "table", NULL, NULL,
     "ACCOUNT|USER|HOST|ROLE|GRANTED\n"
     "shop|ada|pay.example|operator|2001-09-09T01:46:41.000Z\n",
     CTL_OK},
    {"tokens", ctl_token_list, "table", "live", NULL,
     "TOKEN|MODE|CARD|ISSUER|EMAIL|CREATED|REVOKED\n"
     "tok_1|live|7890|Issuer|ada@example.com|2001-09-09T01:46:41.000Z|2001-09-09T01:46"
     ":42.000Z\n",
     CTL_OK},
    {"charges", ctl_charge_list, "table", "live", NULL,
     "ID|REFERENCE|STATUS|AMOUNT|REFUNDED|CURRENCY|CARD|CREATED\n"
     "11|c-1|successful|123.45|123.45|EUR|7890|2001-09-09T01:46:41.000Z\n",
     CTL_OK},
    {"a charge", ctl_charge_show, "table", "live", "c-1",
     "FIELD|VALUE\n"
     "id|11\n"
     "reference|c-1\n"
     "status|successful\n"
     "waits for a person|late: it failed here, but the acquirer carried it out\n"
     "amount|123.45\n"
     "refunded|123.45\n"
     "refunds pending|0.67\n"
     "currency|EUR\n"
     "answer code|00\n"
     "answer|Approved\n"
     "authorization|A1\n"
     "decided because|asked\n"
     "contradicted by|declined\n"
     "acquirer|relay\n"
     "its reference|acq-1\n"
     "absent there since|2001-09-09T01:46:45.000Z\n"
     "late approval|refunding\n"
     "its refund's tag|tag-1\n"
     "reversed elsewhere|yes\n"
     "card issuer|Issuer\n"
     "card ends in|7890\n"
     "email|ada@example.com\n"
     "first name|Ada\n"
     "last name|Love\n"
     "address|192.0.2.7\n"
     "key|key_1\n"
     "created|2001-09-09T01:46:41.000Z\n"
     "decided|2001-09-09T01:46:43.000Z\n"
     "updated|2001-09-09T01:46:42.000Z\n"
     "next question|2001-09-09T01:46:44.000Z\n",
     CTL_OK},
    {"a charge in JSON", ctl_charge_show, "json", "live", "c-1",
     "...\"held\":\"late\",\"resolution\":\"asked\",\"contradiction\":\"declined\","
     "\"acquirer\":\"relay\",\"acquirerReference\":\"acq-1\","
     "\"absentSince\":\"2001-09-09T01:46:45.000Z\",\"late\":\"refunding\",\"lateTag\":\"tag-1\","
     "\"spent\":true,\"nextQuestionAt\":\"2001-09-09T01:46:44.000Z\"}\n",
     CTL_OK},
    {"a refund", ctl_refund_show, "table", "live", "r-1",
     "FIELD|VALUE\n"
     "id|id-1\n"
     "refund|r-1\n"
     "charge|c-1\n"
     "status|pending\n"
     "waits for a person|overdue: pending for longer than PaymentsPendingAlert\n"
     "sent to the acquirer|not yet\n"
     "amount|3.45\n"
     "currency|EUR\n"
     "decided because|seen\n"
     "acquirer|relay\n"
     "its reference|acq-2\n"
     "tag of ours|tag-2\n"
     "absent there since|2001-09-09T01:46:45.000Z\n"
     "channel|API\n"
     "customer note|theirs\n"
     "merchant note|ours\n"
     "key|key_1\n"
     "created|2001-09-09T01:46:41.000Z\n"
     "decided|2001-09-09T01:46:43.000Z\n"
     "updated|2001-09-09T01:46:42.000Z\n"
     "next question|2001-09-09T01:46:44.000Z\n",
     CTL_OK},
    {"a refund of which little is known", ctl_refund_show, "table", "live", "r-2",
     "FIELD|VALUE\n"
     "id|id-1\n"
     "refund|r-2\n"
     "charge|-\n"
     "status|failed\n"
     "waits for a person|late: it failed here, but the acquirer carried it out\n"
     "sent to the acquirer|yes\n"
     "amount|-\n"
     "currency|-\n"
     "decided because|seen\n"
     "acquirer|relay\n"
     "its reference|acq-2\n"
     "tag of ours|tag-2\n"
     "absent there since|2001-09-09T01:46:45.000Z\n"
     "channel|-\n"
     "customer note|theirs\n"
     "merchant note|ours\n"
     "key|key_1\n"
     "created|2001-09-09T01:46:41.000Z\n"
     "decided|2001-09-09T01:46:43.000Z\n"
     "updated|2001-09-09T01:46:42.000Z\n"
     "next question|2001-09-09T01:46:44.000Z\n",
     CTL_OK},
    {"a refund in JSON", ctl_refund_show, "json", "live", "r-1",
     "...\"held\":\"overdue\",\"waiting\":true,\"resolution\":\"seen\",\"acquirer\":\"relay\","
     "\"acquirerReference\":\"acq-2\",\"tag\":\"tag-2\","
     "\"absentSince\":\"2001-09-09T01:46:45.000Z\","
     "\"nextQuestionAt\":\"2001-09-09T01:46:44.000Z\"}\n",
     CTL_OK},
    {"refunds to link", ctl_refund_link, "table", "live", NULL,
     "REFUND|ACQUIRER'S CHARGE|STATUS|AMOUNT|CURRENCY|CHARGE|VERDICT|CREATED\n"
     "r-1|acq-1|pending|3.45|EUR|c-1|can be linked|2001-09-09T01:46:41.000Z\n"
     "r-2|-|failed|-|-|-|does not fit its charge|2001-09-09T01:46:41.000Z\n",
     CTL_OK},
    {"refunds to link in JSON", ctl_refund_link, "json", "live", NULL,
     "[\n"
     "{\"refundReference\":\"r-1\",\"acquirerCharge\":\"acq-1\",\"status\":\"pending\","
     "\"amount\":\"3.45\",\"currency\":\"EUR\",\"charge\":\"c-1\",\"verdict\":\"can be linked\","
     "\"createdAt\":\"2001-09-09T01:46:41.000Z\"},\n"
     "{\"refundReference\":\"r-2\",\"acquirerCharge\":null,\"status\":\"failed\",\"amount\":null,"
     "\"currency\":null,\"charge\":null,\"verdict\":\"does not fit its charge\","
     "\"createdAt\":\"2001-09-09T01:46:41.000Z\"}\n"
     "]\n",
     CTL_OK},
    {"what is held", ctl_held_list, "table", "live", NULL,
     "KIND|REFERENCE|ACCOUNT|MODE|AMOUNT|CURRENCY|WHY|SINCE\n"
     "charge|c-1|shop|live|123.45|EUR|late|2001-09-09T01:46:43.000Z\n"
     "refund|r-1|shop|live|3.45|EUR|overdue|2001-09-09T01:46:41.000Z\n"
     "refund|r-2|shop|live|-|-|late|2001-09-09T01:46:43.000Z\n",
     CTL_OK},
    {"what is held in JSON", ctl_held_list, "json", "live", NULL,
     "[\n"
     "{\"kind\":\"charge\",\"reference\":\"c-1\",\"account\":\"shop\",\"mode\":\"live\","
     "\"status\":\"successful\",\"amount\":\"123.45\",\"currency\":\"EUR\",\"why\":\"late\","
     "\"since\":\"2001-09-09T01:46:43.000Z\",\"acquirer\":\"relay\","
     "\"acquirerReference\":\"acq-1\",\"transactionReference\":\"c-1\","
     "\"paymentStatus\":\"successful\"},\n"
     "{\"kind\":\"refund\",\"reference\":\"r-1\",\"account\":\"shop\",\"mode\":\"live\","
     "\"status\":\"pending\",\"amount\":\"3.45\",\"currency\":\"EUR\",\"why\":\"overdue\","
     "\"since\":\"2001-09-09T01:46:41.000Z\",\"acquirer\":\"relay\","
     "\"acquirerReference\":\"acq-2\",\"transactionReference\":\"c-1\","
     "\"paymentStatus\":\"pending\"},\n"
     "{\"kind\":\"refund\",\"reference\":\"r-2\",\"account\":\"shop\",\"mode\":\"live\","
     "\"status\":\"failed\",\"amount\":null,\"currency\":null,\"why\":\"late\","
     "\"since\":\"2001-09-09T01:46:43.000Z\",\"acquirer\":\"relay\","
     "\"acquirerReference\":\"acq-2\",\"transactionReference\":null,"
     "\"paymentStatus\":\"failed\"}\n"
     "]\n",
     CTL_OK},
    {"what is held as CSV", ctl_held_list, "csv", "live", NULL,
     "kind,reference,account,mode,status,amount,currency,why,since,acquirer,"
     "acquirerReference,transactionReference,paymentStatus\r\n"
     "charge,c-1,shop,live,successful,123.45,EUR,late,2001-09-09T01:46:43.000Z,relay,"
     "acq-1,c-1,successful\r\n"
     "refund,r-1,shop,live,pending,3.45,EUR,overdue,2001-09-09T01:46:41.000Z,relay,"
     "acq-2,c-1,pending\r\n"
     "refund,r-2,shop,live,failed,,,late,2001-09-09T01:46:43.000Z,relay,acq-2,,failed\r\n",
     CTL_OK},
    {"a range that is asked for", sync_without_waiting, "table", "live", NULL, "asked for\n",
     CTL_OK},
    {"a range that is asked for in JSON", sync_without_waiting, "json", "live", NULL,
     "{\"from\":\"2001-09-09T01:46:41.000Z\",\"to\":\"2001-09-09T01:46:42.000Z\",\"done\":false,"
     "\"seen\":4,\"new\":3,\"changed\":2,\"refused\":1}\n",
     CTL_OK},
};

START_TEST(test_shown)
{

    store_script = ops;
    shown_check(&rows[_i], STORE_NONE);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_shown, 0, UNIT_ROWS(rows));
}

UNIT_PROGRAM(add)
