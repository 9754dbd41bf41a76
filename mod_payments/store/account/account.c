/* SPDX-License-Identifier: Apache-2.0 */
#include "store/account/account.h"

#include "base/crypto/crypto.h"
#include "store/keys.h"
#include "store/record/audit.h"
#include "store/record/index.h"
#include "store/record/time.h"
#include "store/record/walk.h"
#include "store/row.h"
#include "store/rows.h"
#include "store/rows_scan.h"

#include <apr_strings.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#define NUMBER_LEN 4

static const pay_row_field_t account_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_INT, pay_account_t, number),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_account_t, name),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_account_t, settings.key_prefix),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_account_t, settings.currency),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_account_t, settings.timezone),
    PAY_ROW_MAX(pay_account_t, mode, PAY_LIVE),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_account_t, created_at),
    PAY_ROW_FIELD(PAY_ROW_INT, pay_account_t, updated_at),
    PAY_ROW_FIELD(PAY_ROW_BYTES, pay_account_t, secret),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_account_t, settings.shop_name),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_account_t, settings.shop_logo),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_account_t, settings.shop_text),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_account_t, settings.return_hosts),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_account_t, settings.fees),
};
#define ACCOUNT_FIELDS (sizeof(account_fields) / sizeof(account_fields[0]))

/* The request of account_create and account_set, and its result. */
typedef struct account_work_t {
    const char *name;
    const pay_account_settings_t *settings;
    const pay_mode_t *mode;
    unsigned char secret[PAY_ACCOUNT_SECRET_LEN]; /* for an account without one */
    pay_account_t *account;
    apr_pool_t *pool;
} account_work_t;

int pay_store_account_by_number(pay_account_t **out, pay_rows_txn_t *txn, apr_uint32_t number,
                                apr_pool_t *p)
{
    pay_account_t *account = apr_pcalloc(p, sizeof(*account));
    pay_store_key_t key;
    pay_bytes_t at, row;
    int rc;

    *out = NULL;
    pay_store_key_start(&key);
    pay_store_key_u32(&key, number);
    at = pay_store_key_val(&key);
    rc = pay_rows_get(&row, txn, PAY_TABLE_ACCOUNT, &at);
    if (rc) {
        return rc;
    }
    rc = pay_row_decode(account, account_fields, ACCOUNT_FIELDS, &row, NULL, p);
    if (rc || account->number != number) {
        return pay_rows_bad(PAY_TABLE_ACCOUNT, &at);
    }
    *out = account;
    return 0;
}

/* The account that a row of the table of names points to. */
static int account_of_name_row(pay_account_t **out, pay_rows_txn_t *txn, const pay_bytes_t *name,
                               const pay_bytes_t *row, apr_pool_t *p)
{
    int rc;

    *out = NULL;
    if (row->len != NUMBER_LEN) {
        return pay_rows_bad(PAY_TABLE_ACCOUNT_NAME, name);
    }
    rc = pay_store_account_by_number(out, txn, pay_store_read_u32(row->data), p);
    return rc == PAY_ROWS_NOTFOUND ? pay_rows_bad(PAY_TABLE_ACCOUNT_NAME, name) : rc;
}

int pay_store_account_by_name(pay_account_t **out, pay_rows_txn_t *txn, const char *name,
                              apr_pool_t *p)
{
    pay_bytes_t key = {strlen(name), name};
    pay_bytes_t row;
    int rc;

    *out = NULL;
    if (pay_account_name_check(name) != APR_SUCCESS) {
        return PAY_ROWS_NOTFOUND;
    }
    rc = pay_rows_get(&row, txn, PAY_TABLE_ACCOUNT_NAME, &key);
    if (rc) {
        return rc;
    }
    return account_of_name_row(out, txn, &key, &row, p);
}

/* ---- the record: indexed by its name, which never changes */

static int name_of(pay_store_entry_t *entry, const pay_store_key_t *at, const void *record)
{
    const pay_account_t *account = record;

    entry->table = PAY_TABLE_ACCOUNT_NAME;
    pay_store_entry_value(entry, at->bytes, at->len);
    return pay_store_key_of(&entry->key, account->name, strlen(account->name)) ? 0 : ENAMETOOLONG;
}

static int row_of_name(pay_store_key_t *row_key, const pay_bytes_t *key, const pay_bytes_t *value)
{
    (void)key;
    return value->len == NUMBER_LEN && pay_store_key_of(row_key, value->data, value->len);
}

static const pay_store_index_t indexes[] = {
    {.tables = {PAY_TABLE_ACCOUNT_NAME},
     .entry_of = name_of,
     .row_of = row_of_name,
     .rule = PAY_INDEX_UNIQUE,
     .missing = "it is not found by its name",
     .astray = "leads to no account"},
};

static int load(void **record, pay_rows_txn_t *txn, const pay_bytes_t *row_key, apr_pool_t *p)
{
    pay_account_t *account;
    int rc = pay_store_account_by_number(&account, txn, pay_store_read_u32(row_key->data), p);

    *record = account;
    return rc;
}

static const char *label(const void *record, apr_pool_t *p)
{
    return apr_pstrcat(p, "account ", ((const pay_account_t *)record)->name, NULL);
}

const pay_store_record_t pay_store_account_record = {
    .table = PAY_TABLE_ACCOUNT, .indexes = indexes, .index_count = 1, .load = load, .label = label};

/* `before` NULL: a new account; else only its settings have changed. */
static int account_put(pay_rows_txn_t *txn, const pay_account_t *before,
                       const pay_account_t *account, apr_pool_t *p)
{
    pay_store_key_t key;
    pay_bytes_t row;
    int rc;

    rc = pay_row_encode(&row, account_fields, ACCOUNT_FIELDS, account, p);
    if (rc) {
        return rc;
    }
    pay_store_key_start(&key);
    pay_store_key_u32(&key, account->number);
    return pay_store_record_put(txn, &pay_store_account_record, &key, &row, before, account);
}

/* One above the last number: accounts are closed, never deleted, so no number is used twice. */
static int number_next(apr_uint32_t *number, pay_rows_txn_t *txn)
{
    pay_bytes_t key, val;
    int rc;

    *number = 1;
    rc = pay_rows_first(&key, &val, txn, PAY_TABLE_ACCOUNT, NULL, NULL, PAY_ROWS_BEFORE);
    if (rc) {
        return rc == PAY_ROWS_NOTFOUND ? 0 : rc;
    }
    if (key.len != NUMBER_LEN) {
        return pay_rows_bad(PAY_TABLE_ACCOUNT, &key);
    }
    *number = pay_store_read_u32(key.data) + 1;
    return *number ? 0 : ENOSPC; /* 4,294,967,295 accounts */
}

static void setting_change(const char **setting, const char *wanted)
{
    if (wanted) {
        *setting = wanted;
    }
}

/* Members that are NULL stay unchanged. */
static void settings_change(pay_account_settings_t *settings, const pay_account_settings_t *wanted)
{
    setting_change(&settings->key_prefix, wanted->key_prefix);
    setting_change(&settings->currency, wanted->currency);
    setting_change(&settings->timezone, wanted->timezone);
    setting_change(&settings->shop_name, wanted->shop_name);
    setting_change(&settings->shop_logo, wanted->shop_logo);
    setting_change(&settings->shop_text, wanted->shop_text);
    setting_change(&settings->return_hosts, wanted->return_hosts);
    setting_change(&settings->fees, wanted->fees);
}

static int create_work(pay_rows_txn_t *txn, void *baton)
{
    account_work_t *work = baton;
    pay_account_t *account = apr_pcalloc(work->pool, sizeof(*account)), *named;
    int rc;

    work->account = NULL;
    rc = pay_store_account_by_name(&named, txn, work->name, work->pool);
    if (rc != PAY_ROWS_NOTFOUND) {
        return rc ? rc : PAY_ROWS_EXISTS; /* the name is taken */
    }
    rc = number_next(&account->number, txn);
    if (rc) {
        return rc;
    }
    account->name = work->name;
    pay_store_audit_tell(txn->store, account->number, work->name, NULL);
    account->settings = pay_account_settings_builtin;
    settings_change(&account->settings, work->settings);
    account->mode = PAY_TEST;
    memcpy(account->secret, work->secret, sizeof(account->secret));
    account->created_at = pay_store_time_now();
    account->updated_at = account->created_at;
    rc = account_put(txn, NULL, account, work->pool);
    if (rc) {
        return rc == PAY_ROWS_EXISTS ? PAY_ROWS_CORRUPTED : rc;
    }
    return pay_store_account_by_number(&work->account, txn, account->number, work->pool);
}

apr_status_t pay_store_account_create(pay_account_t **out, pay_store_t *store, const char *name,
                                      const pay_account_settings_t *settings, apr_pool_t *p)
{
    account_work_t work = {.name = name, .settings = settings, .pool = p};
    apr_status_t rv;

    *out = NULL;
    if (pay_account_name_check(name) != APR_SUCCESS) {
        return APR_EINVAL;
    }
    rv = pay_random_bytes(work.secret, sizeof(work.secret));
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_rows_commit(store, pay_turn_store(), 1, create_work, &work);
    if (rv == APR_SUCCESS) {
        *out = work.account;
    }
    return rv;
}

apr_status_t pay_store_account_get(pay_account_t **out, pay_store_t *store, const char *name,
                                   apr_pool_t *p)
{
    apr_status_t rv;
    pay_rows_txn_t txn;

    *out = NULL;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_rows_status(pay_store_account_by_name(out, &txn, name, p));
    pay_rows_end(&txn);
    return rv;
}

/* The name of a setting in the audit; long texts are not repeated. */
static const struct {
    const char *name;
    size_t offset; /* of the text */
    int is_short;
} told[] = {
    {"key prefix", offsetof(pay_account_settings_t, key_prefix), 1},
    {"currency", offsetof(pay_account_settings_t, currency), 1},
    {"time zone", offsetof(pay_account_settings_t, timezone), 1},
    {"shop name", offsetof(pay_account_settings_t, shop_name), 0},
    {"shop logo", offsetof(pay_account_settings_t, shop_logo), 0},
    {"shop text", offsetof(pay_account_settings_t, shop_text), 0},
    {"return hosts", offsetof(pay_account_settings_t, return_hosts), 0},
    {"fees", offsetof(pay_account_settings_t, fees), 1},
};

static const char *text_at(const pay_account_t *account, size_t offset)
{
    const char *text;

    memcpy(&text, (const char *)&account->settings + offset, sizeof(text));
    return text;
}

/* Describes the changes since `before`; "" without any. */
static const char *changes(const pay_account_t *before, const pay_account_t *account, apr_pool_t *p)
{
    const char *text = "", *from, *to;
    size_t i;

    for (i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
        from = text_at(before, told[i].offset);
        to = text_at(account, told[i].offset);
        if (strcmp(from, to) != 0) {
            text = apr_pstrcat(p, text, *text ? ", " : "", told[i].name, NULL);
            text = told[i].is_short ? apr_pstrcat(p, text, " ", from, " -> ", to, NULL) : text;
        }
    }
    if (before->mode != account->mode) {
        text = apr_pstrcat(p, text, *text ? ", " : "", pay_mode_name(before->mode), " -> ",
                           pay_mode_name(account->mode), NULL);
    }
    return text;
}

static int set_work(pay_rows_txn_t *txn, void *baton)
{
    static const unsigned char none[PAY_ACCOUNT_SECRET_LEN];
    account_work_t *work = baton;
    const pay_account_settings_t *settings = work->settings;
    pay_account_t *account, before;
    const char *text;
    int rc;

    work->account = NULL;
    rc = pay_store_account_by_name(&account, txn, work->name, work->pool);
    if (rc) {
        return rc;
    }
    before = *account;
    if (settings) {
        settings_change(&account->settings, settings);
    }
    if (work->mode) {
        account->mode = *work->mode;
    }
    text = changes(&before, account, work->pool);
    if (!memcmp(account->secret, none, sizeof(none))) { /* created by a build without one */
        memcpy(account->secret, work->secret, sizeof(account->secret));
    } else if (!*text) {
        work->account = account;
        return PAY_ROWS_SILENT;
    }
    pay_store_audit_tell(txn->store, account->number, account->name, text);
    account->updated_at = pay_store_time_now();
    rc = account_put(txn, account, account, work->pool);
    if (rc) {
        return rc;
    }
    return pay_store_account_by_number(&work->account, txn, account->number, work->pool);
}

apr_status_t pay_store_account_set(pay_account_t **out, pay_store_t *store, const char *name,
                                   const pay_account_settings_t *settings, const pay_mode_t *mode,
                                   apr_pool_t *p)
{
    account_work_t work = {.name = name, .settings = settings, .mode = mode, .pool = p};
    apr_status_t rv;

    *out = NULL;
    rv = pay_random_bytes(work.secret, sizeof(work.secret));
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_rows_commit(store, pay_turn_store(), 0, set_work, &work);
    if (rv == APR_SUCCESS) {
        *out = work.account;
    }
    return rv;
}

typedef struct account_list_t {
    apr_array_header_t *accounts;
} account_list_t;

static int list_visit(void *baton, pay_rows_txn_t *txn, const pay_bytes_t *key,
                      const pay_bytes_t *val)
{
    account_list_t *list = baton;
    pay_account_t *account;
    int rc;

    rc = account_of_name_row(&account, txn, key, val, list->accounts->pool);
    if (!rc) {
        APR_ARRAY_PUSH(list->accounts, pay_account_t *) = account;
    }
    return rc;
}

apr_status_t pay_store_account_list(apr_array_header_t **out, pay_store_t *store, apr_pool_t *p)
{
    account_list_t list = {.accounts = apr_array_make(p, 8, sizeof(pay_account_t *))};
    apr_status_t rv;

    *out = NULL;
    rv = pay_store_walk(store, PAY_TABLE_ACCOUNT_NAME, NULL, list_visit, &list);
    if (rv == APR_SUCCESS) {
        *out = list.accounts;
    }
    return rv;
}

/* ---- the defaults of new accounts */

/* Rows "defaults/<account name>" of the table meta. */
static const char defaults_prefix[] = "defaults/";

static const pay_row_field_t settings_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_account_settings_t, key_prefix),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_account_settings_t, currency),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_account_settings_t, timezone),
};
#define SETTINGS_FIELDS (sizeof(settings_fields) / sizeof(settings_fields[0]))

typedef struct defaults_work_t {
    pay_store_key_t key;
    pay_bytes_t row;
} defaults_work_t;

/* Returns 0 if no account can have that name. */
static int defaults_key(pay_store_key_t *key, const char *name)
{
    pay_store_key_start(key);
    if (*name && pay_account_name_check(name) != APR_SUCCESS) {
        return 0;
    }
    return pay_store_key_bytes(key, defaults_prefix, sizeof(defaults_prefix) - 1)
           && pay_store_key_bytes(key, name, strlen(name));
}

static int defaults_put_work(pay_rows_txn_t *txn, void *baton)
{
    defaults_work_t *work = baton;
    pay_bytes_t key = pay_store_key_val(&work->key);
    pay_bytes_t row = work->row;

    return pay_rows_put(txn, PAY_TABLE_META, &key, &row, 0);
}

static int defaults_read(pay_bytes_t *row, pay_rows_txn_t *txn, const char *name,
                         pay_store_key_t *key)
{
    pay_bytes_t at;

    if (!defaults_key(key, name)) {
        return PAY_ROWS_NOTFOUND;
    }
    at = pay_store_key_val(key);
    return pay_rows_get(row, txn, PAY_TABLE_META, &at);
}

/* Returns 1 if the store holds exactly these already: each start of a server sets them again. */
static int defaults_are(pay_store_t *db, const char *name, const pay_bytes_t *wanted)
{
    pay_store_key_t key;
    pay_bytes_t row;
    pay_rows_txn_t txn;
    int same;

    if (pay_rows_begin(&txn, db) != APR_SUCCESS) {
        return 0;
    }
    same = defaults_read(&row, &txn, name, &key) == 0 && row.len == wanted->len
           && memcmp(row.data, wanted->data, row.len) == 0;
    pay_rows_end(&txn);
    return same;
}

apr_status_t pay_store_defaults_put(pay_store_t *store, const char *name,
                                    const pay_account_settings_t *settings, apr_pool_t *p)
{
    defaults_work_t work;
    int rc;

    if (!defaults_key(&work.key, name)) {
        return APR_EINVAL;
    }
    if (!settings->key_prefix || !settings->currency || !settings->timezone) {
        return APR_EINVAL;
    }
    rc = pay_row_encode(&work.row, settings_fields, SETTINGS_FIELDS, settings, p);
    if (rc) {
        return pay_rows_status(rc);
    }
    if (defaults_are(store, name, &work.row)) {
        return APR_SUCCESS;
    }
    return pay_rows_commit(store, pay_turn_store(), 0, defaults_put_work, &work);
}

static int settings_decode(pay_account_settings_t *out, const pay_bytes_t *row,
                           const pay_store_key_t *key, apr_pool_t *p)
{
    pay_bytes_t at = pay_store_key_val(key);
    int rc;

    rc = pay_row_decode(out, settings_fields, SETTINGS_FIELDS, row, NULL, p);
    if (rc) {
        return pay_rows_bad(PAY_TABLE_META, &at);
    }
    return 0;
}

apr_status_t pay_store_defaults_get(pay_account_settings_t **out, pay_store_t *store,
                                    const char *name, apr_pool_t *p)
{
    pay_account_settings_t *settings = apr_palloc(p, sizeof(*settings));
    pay_store_key_t key;
    apr_status_t rv;
    pay_bytes_t row;
    pay_rows_txn_t txn;
    int rc;

    *out = NULL;
    *settings = pay_account_settings_builtin;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = defaults_read(&row, &txn, name, &key);
    if (rc == PAY_ROWS_NOTFOUND && *name) {
        rc = defaults_read(&row, &txn, "", &key);
    }
    if (!rc) {
        rc = settings_decode(settings, &row, &key, p);
    }
    pay_rows_end(&txn);
    if (rc && rc != PAY_ROWS_NOTFOUND) {
        return pay_rows_status(rc);
    }
    *out = settings;
    return APR_SUCCESS;
}

/* ---- how the server delivers */

/* One row of the table meta. */
static const char delivery_name[] = "delivery";

static const pay_row_field_t delivery_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_INT, pay_delivery_t, webhook_insecure),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_delivery_t, trusted_ca),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_delivery_t, webhook_allow),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_delivery_t, mail_relay),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_delivery_t, mail_login),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_delivery_t, mail_from),
    PAY_ROW_FIELD(PAY_ROW_STRING, pay_delivery_t, mail_templates),
};
#define DELIVERY_FIELDS (sizeof(delivery_fields) / sizeof(delivery_fields[0]))

static int has_strings(const pay_delivery_t *delivery)
{
    return delivery->trusted_ca && delivery->webhook_allow && delivery->mail_relay
           && delivery->mail_login && delivery->mail_from && delivery->mail_templates;
}

static int delivery_put_work(pay_rows_txn_t *txn, void *baton)
{
    pay_bytes_t key = {sizeof(delivery_name) - 1, delivery_name};
    pay_bytes_t row = *(const pay_bytes_t *)baton;

    return pay_rows_put(txn, PAY_TABLE_META, &key, &row, 0);
}

apr_status_t pay_store_delivery_put(pay_store_t *store, const pay_delivery_t *delivery,
                                    apr_pool_t *p)
{
    pay_bytes_t row;
    int rc;

    if (!has_strings(delivery)) {
        return APR_EINVAL;
    }
    rc = pay_row_encode(&row, delivery_fields, DELIVERY_FIELDS, delivery, p);
    if (rc) {
        return pay_rows_status(rc);
    }
    return pay_rows_commit(pay_rows_base(store), pay_turn_store(), 0, delivery_put_work, &row);
}

apr_status_t pay_store_delivery_get(pay_delivery_t **out, pay_store_t *store, apr_pool_t *p)
{
    pay_bytes_t key = {sizeof(delivery_name) - 1, delivery_name};
    pay_delivery_t *delivery = apr_pcalloc(p, sizeof(*delivery));
    apr_status_t rv;
    pay_bytes_t row;
    pay_rows_txn_t txn;
    int rc;

    *out = NULL;
    rv = pay_rows_begin(&txn, store);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rc = pay_rows_get(&row, &txn, PAY_TABLE_META, &key);
    if (!rc) {
        rc = pay_row_decode(delivery, delivery_fields, DELIVERY_FIELDS, &row, NULL, p);
        if (rc) {
            rc = pay_rows_bad(PAY_TABLE_META, &key);
        }
    }
    pay_rows_end(&txn);
    if (rc) {
        return pay_rows_status(rc);
    }
    *out = delivery;
    return APR_SUCCESS;
}
