/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "checkout_goods.h"
#include "store_options.h"

#include "store/record/rows.h"

#include <apr_escape.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TILL_NUMBERS 1000 /* log lines have lower ones */

till_t *till;
apr_time_t till_clock;
apr_interval_time_t till_steps;
apr_int64_t till_boot;
int till_lines[PAY_LOG_DEBUG + 1];
char till_line[TILL_LINE_MAX];
char till_fault[TILL_LINE_MAX];

static pthread_mutex_t till_sink_mutex = PTHREAD_MUTEX_INITIALIZER;
static int till_numbers[TILL_NUMBERS];
static const char *till_wanted; /* the wanted part of a fault's text */

static apr_time_t till_clock_read(void)
{
    return till_clock;
}

static pay_moment_t till_moment_read(void)
{
    return (pay_moment_t){till_boot, apr_time_as_msec(till_clock - till_steps)};
}

/* 0: a line without one. */
static int number_of(const char *text)
{
    int number = strncmp(text, "PAY", 3) ? 0 : atoi(text + 3);

    return number > 0 && number < TILL_NUMBERS ? number : 0;
}

int till_logged(const char *number)
{
    ck_assert_int_gt(number_of(number), 0);
    return till_numbers[number_of(number)];
}

static void till_sink(void *baton, pay_log_level_t level, apr_status_t status, const char *text)
{
    (void)baton;
    (void)status;
    pthread_mutex_lock(&till_sink_mutex);
    till_lines[level]++;
    till_numbers[number_of(text)]++;
    apr_cpystrn(till_line, text, sizeof(till_line));
    pthread_mutex_unlock(&till_sink_mutex);
}

pay_store_t *till_store(const char *url, apr_pool_t *p)
{
    const pay_store_options_t options = unit_store_options();
    pay_store_t *store;

    return pay_store_open(&store, url, &options, p) == APR_SUCCESS ? store : NULL;
}

void till_reopen(void)
{
    ck_assert_int_eq(apr_pool_create(&till->pool, unit_pool), APR_SUCCESS);
    till->store = till_store(till->url, till->pool);
    ck_assert_ptr_nonnull(till->store);
}

void till_close(void)
{
    apr_pool_destroy(till->pool);
    till->store = NULL;
}

/* In the child: no check of ours may run there except through its exit code. */
static void race_in_child(void *racer, size_t size, void *(*race)(void *racer), int go, int result)
{
    char byte;
    ssize_t got;

    got = read(go, &byte, 1);
    till->store = till_store(till->url, unit_pool);
    if (got != 0 || !till->store) {
        _exit(1);
    }
    (void)race(racer);
    _exit(write(result, racer, size) != (ssize_t)size);
}

void till_race(void *racers, size_t size, int count, void *(*race)(void *racer))
{
    int *results = apr_palloc(unit_pool, (size_t)count * sizeof(int));
    pid_t *children = apr_palloc(unit_pool, (size_t)count * sizeof(pid_t));
    int go[2], result[2], status, r;
    char *racer = racers;

    till_close();
    ck_assert_int_eq(pipe(go), 0);
    for (r = 0; r < count; r++) {
        ck_assert_int_eq(pipe(result), 0);
        children[r] = fork();
        if (children[r] == 0) {
            close(go[1]);
            race_in_child(racer + (size_t)r * size, size, race, go[0], result[1]);
        }
        ck_assert_int_gt(children[r], 0);
        close(result[1]);
        results[r] = result[0];
    }
    close(go[1]); /* all begin now */
    for (r = 0; r < count; r++) {
        ck_assert_int_eq(waitpid(children[r], &status, 0), children[r]);
        ck_assert_int_eq(status, 0);
        ck_assert_int_eq(read(results[r], racer + (size_t)r * size, size), (ssize_t)size);
        close(results[r]);
    }
    close(go[0]);
    till_reopen();
}

static const char *till_key(int i)
{
    pay_api_key_t key = {.scope = till->scopes[i], .kind = PAY_KEY_SECRET};
    pay_api_key_t *made;

    key.id = apr_psprintf(unit_pool, "key_%d", i);
    memset(key.digest, i + 1, sizeof(key.digest));
    ck_assert_int_eq(pay_store_key_create(&made, till->store, &key, unit_pool), APR_SUCCESS);
    return key.id;
}

/* The scopes' keys descend while their rows come in turn: nothing may depend on appending. */
void till_set_up(void)
{
    static const char *const names[] = {"early", "late"};
    pay_account_t *accounts[2];
    int i;

    till_clock = TILL_NOW;
    till_steps = 0;
    till_boot = 1;
    pay_time_set_source(till_clock_read);
    pay_moment_set_source(till_moment_read);
    pay_log_set_sink(till_sink, NULL);
    memset(till_lines, 0, sizeof(till_lines));
    memset(till_numbers, 0, sizeof(till_numbers));
    till_line[0] = '\0';
    till = apr_pcalloc(unit_pool, sizeof(*till));
    till->url = apr_pstrcat(unit_pool, "lmdb:", unit_dir(), NULL);
    till_reopen();
    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(pay_store_account_create(&accounts[i], till->store, names[i],
                                                  &pay_account_settings_builtin, unit_pool),
                         APR_SUCCESS);
    }
    till->scopes[0] = (pay_scope_t){accounts[1]->number, PAY_TEST};
    till->scopes[1] = (pay_scope_t){accounts[0]->number, PAY_LIVE};
    till->scopes[2] = (pay_scope_t){accounts[0]->number, PAY_TEST};
    for (i = 0; i < TILL_SCOPES; i++) {
        till->key_ids[i] = till_key(i);
    }
}

void till_tear_down(void)
{
    pay_time_set_source(NULL);
    pay_moment_set_source(NULL);
    pay_log_set_sink(NULL, NULL);
}

pay_charge_t *till_proposal(int i, const char *reference, apr_int64_t amount_minor)
{
    pay_charge_t *charge = apr_palloc(unit_pool, sizeof(*charge));
    const char *request = apr_psprintf(unit_pool, "%s %" APR_INT64_T_FMT, reference, amount_minor);

    pay_charge_init(charge);
    charge->scope = till->scopes[i];
    charge->reference = reference;
    ck_assert_int_eq(pay_sha256(charge->request_digest, request, strlen(request)), APR_SUCCESS);
    charge->token = "tok_test_success";
    apr_cpystrn(charge->card.first6, "555555", sizeof(charge->card.first6));
    apr_cpystrn(charge->card.last4, "4444", sizeof(charge->card.last4));
    charge->money.amount_minor = amount_minor;
    apr_cpystrn(charge->money.currency, "NGN", sizeof(charge->money.currency));
    charge->email = "payer@shop.example";
    charge->first_name = "Ada";
    charge->request_ip = "192.0.2.1";
    charge->acquirer = "simulator";
    charge->key_id = till->key_ids[i];
    charge->due_at = till_clock + apr_time_from_sec(60);
    return charge;
}

pay_charge_t *till_open(int i, const char *reference, apr_int64_t amount_minor)
{
    pay_charge_t *charge;
    pay_claim_t claim;

    ck_assert_int_eq(pay_store_charge_open(&charge, &claim, till->store,
                                           till_proposal(i, reference, amount_minor), NULL, NULL,
                                           unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(claim, PAY_CLAIM_NEW);
    return charge;
}

pay_charge_t *till_checkout(int i, const char *reference, apr_int64_t amount_minor)
{
    pay_charge_t *proposal = till_proposal(i, reference, amount_minor), *charge;
    pay_claim_t claim;

    proposal->kind = PAY_CHARGE_CHECKOUT;
    proposal->token = "";
    proposal->checkout = checkout_make(till_clock + apr_time_from_sec(60), unit_pool);
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(claim, PAY_CLAIM_NEW);
    return charge;
}

pay_idempotency_t *till_use(pay_operation_t operation, const char *key, const char *request)
{
    pay_idempotency_t *use = apr_pcalloc(unit_pool, sizeof(*use));

    use->operation = operation;
    use->key_kind = PAY_KEY_SECRET;
    use->key = key;
    ck_assert_int_eq(pay_sha256(use->digest, request, strlen(request)), APR_SUCCESS);
    return use;
}

void till_idempotency_key(pay_store_key_t *out, int i, const pay_idempotency_t *use)
{
    unsigned char head[2] = {(unsigned char)use->key_kind, (unsigned char)use->operation};
    unsigned char digest[PAY_SHA256_LEN];

    ck_assert_int_eq(pay_sha256(digest, use->key, strlen(use->key)), APR_SUCCESS);
    pay_store_key_of_scope(out, &till->scopes[i]);
    ck_assert(pay_store_key_bytes(out, head, sizeof(head)));
    ck_assert(pay_store_key_bytes(out, digest, sizeof(digest)));
}

pay_idempotency_record_t *till_idempotency(int i, const pay_idempotency_t *use)
{
    pay_idempotency_record_t *record;
    apr_status_t rv;

    rv = pay_store_idempotency_find(&record, till->store, &till->scopes[i], use, unit_pool);
    ck_assert_int_eq(rv, record ? APR_SUCCESS : APR_NOTFOUND);
    return record;
}

const pay_outcome_t *till_outcome(pay_outcome_kind_t kind)
{
    static const pay_outcome_t outcomes[] = {
        [PAY_OUTCOME_UNKNOWN] = {.kind = PAY_OUTCOME_UNKNOWN,
                                 .code = "",
                                 .message = "",
                                 .authorization_code = ""},
        [PAY_OUTCOME_APPROVED] = {.kind = PAY_OUTCOME_APPROVED,
                                  .code = "00",
                                  .message = "Approved",
                                  .authorization_code = "A1B2C3"},
        [PAY_OUTCOME_DECLINED] = {.kind = PAY_OUTCOME_DECLINED,
                                  .code = "05",
                                  .message = "Do not honour",
                                  .authorization_code = ""},
    };

    return &outcomes[kind];
}

int till_resolve(pay_charge_t **out, int i, apr_uint64_t seq, pay_outcome_kind_t kind)
{
    int changed;

    ck_assert_int_eq(pay_store_charge_resolve(out, &changed, till->store, &till->scopes[i], seq,
                                              till_outcome(kind), till_clock + apr_time_from_sec(5),
                                              unit_pool),
                     APR_SUCCESS);
    return changed;
}

pay_charge_t *till_charge(int i, const char *reference, apr_int64_t amount_minor)
{
    pay_charge_t *charge = till_open(i, reference, amount_minor);

    ck_assert_int_eq(till_resolve(&charge, i, charge->seq, PAY_OUTCOME_APPROVED), 1);
    return charge;
}

pay_charge_t *till_find(int i, const char *reference)
{
    pay_charge_t *charge;

    ck_assert_int_eq(
        pay_store_charge_find(&charge, till->store, &till->scopes[i], reference, unit_pool),
        APR_SUCCESS);
    return charge;
}

pay_refund_t *till_refund_proposal(int i, const char *reference, apr_int64_t amount_minor)
{
    pay_refund_t *refund = apr_palloc(unit_pool, sizeof(*refund));

    till->names++;
    pay_refund_init(refund);
    refund->id = apr_psprintf(unit_pool, "ref_%d", till->names);
    refund->refund_reference = apr_psprintf(unit_pool, "rfd_%d", till->names);
    refund->scope = till->scopes[i];
    refund->money.amount_minor = amount_minor;
    apr_cpystrn(refund->money.currency, "NGN", sizeof(refund->money.currency));
    refund->channel = "API";
    refund->transaction_reference = reference;
    refund->acquirer = "simulator";
    refund->key_id = till->key_ids[i];
    refund->due_at = till_clock + apr_time_from_sec(60);
    return refund;
}

pay_refund_t *till_refund(int i, const char *reference, apr_int64_t amount_minor,
                          pay_refund_verdict_t want)
{
    pay_refund_verdict_t verdict;
    pay_refund_t *refund;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;

    ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                           till_refund_proposal(i, reference, amount_minor), NULL,
                                           0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(verdict, want);
    return refund;
}

int till_refund_resolve(pay_refund_t **out, int i, const char *refund_reference,
                        pay_outcome_kind_t kind)
{
    int changed;

    ck_assert_int_eq(pay_store_refund_resolve(out, &changed, till->store, &till->scopes[i],
                                              refund_reference, till_outcome(kind),
                                              till_clock + apr_time_from_sec(5), unit_pool),
                     APR_SUCCESS);
    return changed;
}

pay_refund_t *till_history(int i, int number, apr_time_t created_at, pay_refund_state_t state,
                           const char *reference, apr_int64_t amount_minor)
{
    pay_refund_t *refund = apr_pcalloc(unit_pool, sizeof(*refund));

    refund->id = apr_psprintf(unit_pool, "old_%d", number);
    refund->refund_reference = apr_psprintf(unit_pool, "oldref_%d", number);
    refund->scope = till->scopes[i];
    refund->money.amount_minor = amount_minor;
    apr_cpystrn(refund->money.currency, "NGN", sizeof(refund->money.currency));
    refund->channel = "dashboard";
    refund->state = state;
    refund->transaction_reference = reference;
    refund->created_at = created_at;
    refund->updated_at = created_at;
    return refund;
}

void till_raw(pay_rows_work_t work, void *baton)
{
    ck_assert_int_eq(pay_rows_commit(till->store, pay_turn_all(), 0, work, baton), APR_SUCCESS);
}

typedef struct till_row_t {
    pay_table_t table;
    const pay_store_key_t *key;
    const void *bytes; /* NULL: the row is deleted */
    size_t len;
} till_row_t;

static int till_plant_work(pay_rows_txn_t *txn, void *baton)
{
    const till_row_t *row = baton;
    pay_bytes_t key = pay_store_key_val(row->key);
    pay_bytes_t val = {row->len, row->bytes};

    pay_store_scope_t last;
    pay_scope_t scope;
    int found = 0;

    if (key.len >= PAY_STORE_SCOPE_LEN) {
        pay_store_read_scope(&scope, key.data);
        ck_assert_int_eq(pay_store_scope_find(&found, &last, txn, &scope), 0);
    }
    if (!found && row->bytes) {
        return pay_rows_put(txn, row->table, &key, &val, 0);
    }
    /* The count of rows follows: it is the subject of another test. */
    if (!row->bytes) {
        return pay_store_rows_del(txn, row->table, &key);
    }
    return pay_store_rows_put(txn, row->table, &key, &val, 0);
}

void till_plant(pay_table_t table, const pay_store_key_t *key, const void *bytes, size_t len)
{
    till_row_t row = {table, key, bytes, len};

    till_raw(till_plant_work, &row);
}

void till_cut(pay_bytes_t *row, int fields)
{
    unsigned char *bytes = apr_pmemdup(unit_pool, row->data, row->len);

    row->data = bytes;
    if (bytes[1] > fields) {
        row->len -= (size_t)(bytes[1] - fields) * 8;
        bytes[1] = (unsigned char)fields;
    }
}

/* Chained, each row by table, lengths and bytes, so that rows do not run together. */
static void till_digest_row(unsigned char digest[PAY_SHA256_LEN], int table, const pay_bytes_t *key,
                            const pay_bytes_t *val)
{
    const char *head = apr_psprintf(unit_pool, "%d %" APR_SIZE_T_FMT " %" APR_SIZE_T_FMT " ", table,
                                    key->len, val->len);
    size_t head_len = strlen(head);
    size_t len = PAY_SHA256_LEN + head_len + key->len + val->len;
    unsigned char *bytes = apr_palloc(unit_pool, len), *at = bytes;

    memcpy(at, digest, PAY_SHA256_LEN);
    at += PAY_SHA256_LEN;
    memcpy(at, head, head_len);
    at += head_len;
    memcpy(at, key->data, key->len);
    if (val->len) {
        memcpy(at + key->len, val->data, val->len);
    }
    ck_assert_int_eq(pay_sha256(digest, bytes, len), APR_SUCCESS);
}

const char *till_snapshot(void)
{
    unsigned char digest[PAY_SHA256_LEN] = {0};
    MDB_cursor *cursor;
    pay_bytes_t key, val;
    pay_rows_txn_t txn;
    int table, rc;

    ck_assert_int_eq(pay_rows_begin(&txn, till->store), APR_SUCCESS);
    for (table = 0; table < PAY_TABLE_COUNT; table++) {
        ck_assert_int_eq(mdb_cursor_open(txn.native, pay_lmdb_dbi((pay_table_t)table), &cursor), 0);
        rc = mdb_cursor_get(cursor, pay_lmdb_val(&key), pay_lmdb_val(&val), MDB_FIRST);
        while (rc == 0) {
            till_digest_row(digest, table, &key, &val);
            rc = mdb_cursor_get(cursor, pay_lmdb_val(&key), pay_lmdb_val(&val), MDB_NEXT);
        }
        ck_assert_int_eq(rc, PAY_ROWS_NOTFOUND);
        mdb_cursor_close(cursor);
    }
    pay_rows_end(&txn);
    return apr_pescape_hex(unit_pool, digest, sizeof(digest), 0);
}

static void till_hear(void *baton, const char *text)
{
    (void)baton;
    if (!till_wanted || !strstr(till_fault, till_wanted)) {
        apr_cpystrn(till_fault, text, sizeof(till_fault));
    }
}

int till_faults(const char *wanted)
{
    apr_size_t faults;

    till_wanted = wanted;
    till_fault[0] = '\0';
    ck_assert_int_eq(pay_store_check(&faults, till->store, till_hear, NULL, unit_pool),
                     APR_SUCCESS);
    return (int)faults;
}

void till_check_clean(void)
{
    int faults = till_faults(NULL);

    ck_assert_msg(faults == 0, "%d faults, the last one: %s", faults, till_fault);
}
