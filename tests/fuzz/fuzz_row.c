/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_checkouts.h"
#include "fuzz_erase.h"
#include "fuzz_goods.h"

#include "base/text/writer.h"
#include "store/event/event.h"
#include "store/payment/charge.h"
#include "store/payment/refund.h"
#include "store/row.h"

#include <errno.h>

/*
 * A stored row: a letter for its table, the length of its key in one byte, key, value. It is
 * decoded, then planted in a real store, which is checked, read and written over it.
 */

#define HEAD_LEN 2 /* letter and length */
#define CHUNKS_MAX 1000
#define ROWS_MAX 100
#define MUCH_LATER (FUZZ_NOW + apr_time_from_sec(APR_INT64_C(1000000000)))

static const struct {
    char letter;
    pay_table_t table;
} tables[] = {
    {'m', PAY_TABLE_META},
    {'a', PAY_TABLE_ACCOUNT},
    {'n', PAY_TABLE_ACCOUNT_NAME},
    {'k', PAY_TABLE_API_KEY},
    {'i', PAY_TABLE_API_KEY_ID},
    {'t', PAY_TABLE_TOKEN},
    {'s', PAY_TABLE_SCOPE},
    {'c', PAY_TABLE_CHARGE},
    {'C', PAY_TABLE_CHARGE_REF},
    {'T', PAY_TABLE_CHARGE_BY_TIME},
    {'r', PAY_TABLE_REFUND},
    {'R', PAY_TABLE_REFUND_REF},
    {'I', PAY_TABLE_REFUND_ID},
    {'b', PAY_TABLE_REFUND_BY_CHARGE},
    {'B', PAY_TABLE_REFUND_REPEAT},
    {'K', PAY_TABLE_IDEMPOTENCY},
    {'D', PAY_TABLE_IDEMPOTENCY_DUE},
    {'S', PAY_TABLE_TOTAL},
    {'d', PAY_TABLE_PENDING_DUE},
    {'e', PAY_TABLE_ENDPOINT},
    {'E', PAY_TABLE_ENDPOINT_DUE},
    {'v', PAY_TABLE_EVENT},
    {'V', PAY_TABLE_EVENT_DUE},
    {'P', PAY_TABLE_EVENT_PARKED},
    {'q', PAY_TABLE_ACQUIRER},
    {'l', PAY_TABLE_LATE_DUE},
    {'h', PAY_TABLE_HELD},
    {'g', PAY_TABLE_GRANT},
    {'G', PAY_TABLE_GRANT_USER},
    {'x', PAY_TABLE_ENCRYPTION_KEY},
    {'A', PAY_TABLE_AUDIT},
    {'o', PAY_TABLE_CHECKOUT},
    {'p', PAY_TABLE_PAGE},
    {'L', PAY_TABLE_LINK},
    {'w', PAY_TABLE_CHECKOUT_SWEEP},
};
#define TABLES (sizeof(tables) / sizeof(tables[0]))
_Static_assert(TABLES == PAY_TABLE_COUNT, "each table has a letter here");

/* A record with every type and width of field. */
typedef struct sample_t {
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    const char *name;
    char code[5];
    unsigned char digest[3];
    const char *note;
} sample_t;

static const pay_row_field_t sample_fields[] = {
    PAY_ROW_FIELD(PAY_ROW_INT, sample_t, one),      PAY_ROW_FIELD(PAY_ROW_INT, sample_t, two),
    PAY_ROW_FIELD(PAY_ROW_INT, sample_t, four),     PAY_ROW_FIELD(PAY_ROW_INT, sample_t, eight),
    PAY_ROW_FIELD(PAY_ROW_STRING, sample_t, name),  PAY_ROW_FIELD(PAY_ROW_TEXT, sample_t, code),
    PAY_ROW_FIELD(PAY_ROW_BYTES, sample_t, digest), PAY_ROW_NULLABLE(sample_t, note),
};
#define SAMPLE_FIELDS (sizeof(sample_fields) / sizeof(sample_fields[0]))

static int same(const pay_bytes_t *one, const pay_bytes_t *other)
{
    return one->len == other->len && !memcmp(one->data, other->data, one->len);
}

/* Returns 1 if a row has as many fields as are written now: then it must be the same bytes. */
static int is_whole(const pay_bytes_t *row, const pay_bytes_t *written)
{
    return ((const unsigned char *)row->data)[1] == ((const unsigned char *)written->data)[1];
}

static void check_sample(const pay_bytes_t *row, apr_pool_t *p)
{
    sample_t sample, again;
    pay_bytes_t written, twice;
    size_t used;
    int rc;

    memset(&sample, 0, sizeof(sample));
    rc = pay_row_decode(&sample, sample_fields, SAMPLE_FIELDS, row, &used, p);
    CHECK(rc == 0 || rc == PAY_ROWS_BAD);
    CHECK(used <= row->len);
    memset(&again, 0, sizeof(again));
    CHECK((pay_row_decode(&again, sample_fields, SAMPLE_FIELDS, row, NULL, p) == 0)
          == (rc == 0 && used == row->len));
    if (rc) {
        return;
    }
    CHECK(pay_row_encode(&written, sample_fields, SAMPLE_FIELDS, &sample, p) == 0);
    CHECK(!is_whole(row, &written) || !memcmp(written.data, row->data, used));
    CHECK(pay_row_decode(&again, sample_fields, SAMPLE_FIELDS, &written, NULL, p) == 0);
    CHECK(pay_row_encode(&twice, sample_fields, SAMPLE_FIELDS, &again, p) == 0);
    CHECK(same(&written, &twice));
}

/*
 * A charge is written with as few fields as contain all of it, so one with more may be written
 * shorter: then none of the last fields is lost.
 */
static void check_charge_idempotency(const pay_charge_t *charge, const pay_charge_t *again)
{
    CHECK(
        !memcmp(charge->idempotency_key, again->idempotency_key, sizeof(charge->idempotency_key)));
    CHECK(!strcmp(charge->acquirer_reference, again->acquirer_reference));
    CHECK(charge->absent_since == again->absent_since && charge->held == again->held);
    CHECK(charge->late == again->late && !strcmp(charge->late_tag, again->late_tag));
    CHECK(charge->channel == again->channel && charge->spent == again->spent
          && !strcmp(charge->resolution, again->resolution));
}

/* A charge that decodes is written as it was, and can be shown. */
static void check_charge(const pay_bytes_t *key, const pay_bytes_t *row, apr_pool_t *p)
{
    pay_charge_t *charge, *again;
    pay_bytes_t written, twice;
    pay_writer_t *w;
    int rc;

    if (key->len != PAY_STORE_CHARGE_KEY_LEN) {
        return;
    }
    rc = pay_store_charge_decode(&charge, key, row, p);
    CHECK(rc == 0 || rc == PAY_ROWS_BAD);
    CHECK((rc == 0) == (charge != NULL));
    if (rc) {
        return;
    }
    w = pay_writer_make(0, p);
    pay_charge_to_json(w, NULL, charge, PAY_VIEW_SECRET);
    pay_charge_to_json(w, NULL, charge, PAY_VIEW_PUBLIC);
    pay_charge_answer_to_json(w, charge);
    rc = pay_store_charge_encode(&written, charge, p);
    if (rc) {
        CHECK(rc == ENAMETOOLONG);
        return;
    }
    CHECK(!is_whole(row, &written) || same(row, &written));
    CHECK(pay_store_charge_decode(&again, key, &written, p) == 0);
    check_charge_idempotency(charge, again);
    CHECK(pay_store_charge_encode(&twice, again, p) == 0 && same(&written, &twice));
}

/* Written and read back in a transaction that is never committed. */
static void check_refund_put(const pay_bytes_t *key, const pay_store_refund_t *row, apr_pool_t *p)
{
    const char *text = pay_store_refund_text(&row->refund, p);
    pay_rows_txn_t txn = fuzz_store_begin(0);
    pay_store_refund_t *again;
    int rc;

    rc = pay_store_refund_put(&txn, row, p);
    if (rc) {
        CHECK(rc == ENAMETOOLONG);
    } else {
        CHECK(pay_store_refund_get(&again, &txn, key, p) == 0);
        CHECK(!strcmp(pay_store_refund_text(&again->refund, p), text));
        CHECK(again->refund.seq == row->refund.seq && again->refund.state == row->refund.state);
        CHECK(again->refund.created_at == row->refund.created_at);
        CHECK(again->refund.money.amount_minor == row->refund.money.amount_minor);
        CHECK(!strcmp(again->contradiction, row->contradiction));
        CHECK(!strcmp(again->refund.tag, row->refund.tag));
        CHECK(!strcmp(again->refund.acquirer_reference, row->refund.acquirer_reference));
        CHECK(!strcmp(again->refund.resolution, row->refund.resolution));
        CHECK(again->refund.absent_since == row->refund.absent_since);
        CHECK(again->refund.held == row->refund.held);
        CHECK(again->refund.waiting == row->refund.waiting);
    }
    mdb_txn_abort(txn.native);
}

static void check_refund(const pay_bytes_t *key, const pay_bytes_t *row, apr_pool_t *p)
{
    pay_store_refund_head_t head;
    pay_store_refund_t *peeked, *refund;
    int rc, peek_rc, head_rc;

    head_rc = pay_store_refund_head(&head, key, row);
    peek_rc = pay_store_refund_peek(&peeked, key, row, p);
    rc = pay_store_refund_decode(&refund, key, row, p);
    CHECK((rc == 0) == (refund != NULL) && (peek_rc == 0) == (peeked != NULL));
    CHECK(rc == 0 || rc == PAY_ROWS_BAD);
    CHECK(head_rc == 0 || peek_rc != 0);
    CHECK(peek_rc == 0 || rc != 0);
    if (head_rc == 0) {
        CHECK(head.text.len >= 1 && head.text.len <= PAY_REFUND_TEXT_MAX);
        CHECK(PAY_STORE_REFUND_HEAD_LEN + head.fields.len + head.text.len == row->len);
    }
    if (rc == 0) {
        CHECK(refund->refund.seq == head.seq && peeked->refund.seq == head.seq);
        CHECK(refund->refund.money.amount_minor == peeked->refund.money.amount_minor);
        check_refund_put(key, refund, p);
    }
}

/*
 * The content of `table` at the key after a row was written, in a transaction that is not
 * committed.
 */
static void check_written(pay_rows_txn_t *txn, pay_table_t table, const pay_bytes_t *key,
                          const pay_bytes_t *row)
{
    pay_bytes_t at = *key, written;

    CHECK(pay_rows_get(&written, txn, table, &at) == 0);
    CHECK(!is_whole(row, &written) || same(row, &written));
}

static void check_endpoint(const pay_bytes_t *key, const pay_bytes_t *row, apr_pool_t *p)
{
    pay_endpoint_t *endpoint;
    pay_rows_txn_t txn;
    int rc;

    rc = pay_store_endpoint_decode(&endpoint, key, row, p);
    CHECK(rc == 0 || rc == PAY_ROWS_BAD);
    CHECK((rc == 0) == (endpoint != NULL));
    if (rc) {
        return;
    }
    txn = fuzz_store_begin(0);
    CHECK(pay_store_endpoint_store(&txn, endpoint, p) == 0);
    check_written(&txn, PAY_TABLE_ENDPOINT, key, row);
    mdb_txn_abort(txn.native);
}

/* An event that decodes is written as it was, and can be reported. */
static void check_event(const pay_bytes_t *key, const pay_bytes_t *row, apr_pool_t *p)
{
    pay_event_t *event, place;
    pay_rows_txn_t txn;
    int rc;

    rc = pay_store_event_decode(&event, key, row, p);
    CHECK(rc == 0 || rc == PAY_ROWS_BAD);
    CHECK((rc == 0) == (event != NULL));
    if (rc) {
        return;
    }
    pay_event_members_to_json(pay_writer_make(0, p), event);
    CHECK(pay_event_id_parse(&place, pay_event_id(event, p)) == APR_SUCCESS);
    CHECK(place.endpoint == event->endpoint && place.charge_seq == event->charge_seq);
    CHECK(place.sequence == event->sequence);
    txn = fuzz_store_begin(0);
    CHECK(pay_store_event_store(&txn, event, p) == 0);
    check_written(&txn, PAY_TABLE_EVENT, key, row);
    mdb_txn_abort(txn.native);
}

/* ---- the store over the row */

/*
 * The allowed results of an operation; a row that does not decode only if the check found a fault.
 */
static void allow(apr_status_t rv, apr_size_t faults)
{
    CHECK(rv == APR_SUCCESS || rv == APR_NOTFOUND || (rv == PAY_STORE_ECORRUPT && faults > 0));
}

static void read_accounts(apr_size_t faults, apr_pool_t *p)
{
    pay_account_settings_t *settings;
    apr_array_header_t *list;
    pay_account_t *account;
    pay_api_key_t *key;
    pay_token_t *token;

    allow(pay_store_account_get(&account, fuzz_store.store, "shop", p), faults);
    allow(pay_store_account_list(&list, fuzz_store.store, p), faults);
    allow(pay_store_defaults_get(&settings, fuzz_store.store, "shop", p), faults);
    allow(pay_store_key_find(&key, fuzz_store.store, fuzz_store.digest, p), faults);
    allow(pay_store_key_get(&key, fuzz_store.store, "key_fuzz", p), faults);
    allow(pay_store_key_list(&list, fuzz_store.store, NULL, p), faults);
    allow(pay_store_token_get(&token, fuzz_store.store, &fuzz_store.scope, "tok_fuzz", p), faults);
    allow(pay_store_token_list(&list, fuzz_store.store, &fuzz_store.scope, p), faults);
    allow(fuzz_encryption_read(p), faults);
}

static void read_refunds(apr_size_t faults)
{
    static char buffer[PAY_STORE_CHUNK_SIZE];
    pay_time_range_t range = {APR_INT64_MIN, APR_INT64_MAX};
    pay_refund_cursor_t cursor;
    apr_size_t len, count;
    apr_status_t rv = APR_SUCCESS;
    int chunks = 0;

    memset(&cursor, 0, sizeof(cursor));
    while (!cursor.done && rv == APR_SUCCESS) {
        CHECK(++chunks < CHUNKS_MAX);
        rv = pay_store_refund_scan(&cursor, &len, &count, fuzz_store.store, &fuzz_store.scope,
                                   &range, buffer, sizeof(buffer));
        CHECK(len <= sizeof(buffer));
    }
    allow(rv, faults);
}

static void read_idempotency(apr_size_t faults, apr_pool_t *p)
{
    static const pay_operation_t operations[] = {PAY_OPERATION_CHARGE, PAY_OPERATION_REFUND,
                                                 PAY_OPERATION_VERIFY};
    pay_idempotency_record_t *record;
    size_t i;

    for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
        allow(pay_store_idempotency_find(&record, fuzz_store.store, &fuzz_store.scope,
                                         fuzz_goods_use(operations[i]), p),
              faults);
    }
}

static void show_event(const pay_event_t *event, apr_pool_t *p)
{
    pay_event_members_to_json(pay_writer_make(0, p), event);
    pay_event_body_to_json(pay_writer_make(0, p), event);
}

static void read_events(apr_size_t faults, apr_pool_t *p)
{
    const pay_event_t place = {.endpoint = PAY_ENDPOINT_WEBHOOK, .charge_seq = 1, .sequence = 1};
    pay_delivery_t *delivery;
    pay_endpoint_t *endpoint;
    apr_array_header_t *list;
    pay_event_stat_t stat;
    pay_event_t *event;
    apr_status_t rv;

    allow(pay_store_delivery_get(&delivery, fuzz_store.store, p), faults);
    allow(pay_store_endpoint_get(&endpoint, fuzz_store.store, &fuzz_store.scope,
                                 PAY_ENDPOINT_WEBHOOK, p),
          faults);
    allow(pay_store_endpoint_list(&list, fuzz_store.store, NULL, ROWS_MAX, p), faults);
    allow(pay_store_event_list(&list, fuzz_store.store, &fuzz_store.scope, 0, NULL, ROWS_MAX, p),
          faults);
    allow(pay_store_event_list(&list, fuzz_store.store, &fuzz_store.scope, 1, NULL, ROWS_MAX, p),
          faults);
    allow(pay_store_event_stat(&stat, fuzz_store.store, p), faults);
    CHECK(stat.overdue >= 0);
    rv = pay_store_event_get(&event, fuzz_store.store, &fuzz_store.scope, &place, p);
    allow(rv, faults);
    if (rv == APR_SUCCESS) {
        show_event(event, p);
    }
}

static void show(const pay_transaction_t *transaction, apr_pool_t *p)
{
    if (transaction->charge) {
        pay_verify_answer_to_json(pay_writer_make(0, p), transaction, PAY_VIEW_SECRET, NULL);
        pay_verify_answer_to_json(pay_writer_make(0, p), transaction, PAY_VIEW_PUBLIC, "");
    }
}

static void read_live(apr_size_t faults, apr_pool_t *p)
{
    pay_history_t *history;
    apr_array_header_t *list;
    pay_charge_t *charge;
    pay_refund_t *refund;

    allow(pay_store_charge_find_acquirer(&charge, fuzz_store.store, &fuzz_store.scope,
                                         FUZZ_LIVE_HELD, p),
          faults);
    allow(pay_store_refund_find_acquirer(&refund, fuzz_store.store, &fuzz_store.scope,
                                         FUZZ_LIVE_REFUND, "", p),
          faults);
    allow(pay_store_refund_find_acquirer(&refund, fuzz_store.store, &fuzz_store.scope, "nothing",
                                         FUZZ_LIVE_TAG, p),
          faults);
    allow(pay_store_held_list(&list, fuzz_store.store, NULL, NULL, ROWS_MAX, p), faults);
    allow(pay_store_held_list(&list, fuzz_store.store, &fuzz_store.scope, NULL, ROWS_MAX, p),
          faults);
    allow(pay_store_history_get(&history, fuzz_store.store, &fuzz_store.scope, p), faults);
}

static void read_money(apr_size_t faults, apr_pool_t *p)
{
    const pay_time_range_t range = {APR_INT64_MIN, APR_INT64_MAX};
    apr_array_header_t *list;
    pay_transaction_t transaction;
    pay_charge_t *charge;
    pay_refund_t *refund;
    pay_store_stat_t stat;

    allow(pay_store_charge_find(&charge, fuzz_store.store, &fuzz_store.scope, "known", p), faults);
    allow(pay_store_transaction_find(&transaction, fuzz_store.store, &fuzz_store.scope, "known", p),
          faults);
    show(&transaction, p);
    allow(pay_store_charge_list(&list, fuzz_store.store, &fuzz_store.scope, &range, NULL, ROWS_MAX,
                                p),
          faults);
    allow(pay_store_refund_find(&refund, fuzz_store.store, &fuzz_store.scope, "re_pending", p),
          faults);
    allow(pay_store_refund_find(&refund, fuzz_store.store, &fuzz_store.scope, "kept", p), faults);
    allow(
        pay_store_total_list(&list, fuzz_store.store, &fuzz_store.scope, &range, NULL, ROWS_MAX, p),
        faults);
    allow(pay_store_stat(&stat, fuzz_store.store, p), faults);
    read_idempotency(faults, p);
    read_live(faults, p);
    read_events(faults, p);
    read_refunds(faults);
}

static int budget(void *baton, const pay_endpoint_t *endpoint, int taken)
{
    (void)baton;
    (void)endpoint;
    (void)taken;
    return ROWS_MAX;
}

/* Any result is allowed, but nothing may end the process, and each take comes to an end. */
static void write_events(apr_pool_t *p)
{
    const pay_event_t place = {.endpoint = PAY_ENDPOINT_WEBHOOK, .charge_seq = 1, .sequence = 1};
    apr_array_header_t *taken, *results;
    pay_event_t *event;
    int i;

    (void)pay_store_event_retry(&event, fuzz_store.store, &fuzz_store.scope, &place, p);
    if (pay_store_event_take(&taken, fuzz_store.store, PAY_STORE_LEASES_MAX, budget, NULL, p)
            == APR_SUCCESS
        && taken->nelts > 0) {
        results = apr_array_make(p, taken->nelts, sizeof(pay_event_result_t));
        for (i = 0; i < taken->nelts; i++) {
            const pay_event_t *one = APR_ARRAY_IDX(taken, i, pay_taken_t).event;

            show_event(one, p);
            APR_ARRAY_PUSH(results, pay_event_result_t) = (pay_event_result_t){
                .event = one, .end = (pay_event_end_t)(i % 4), .error = "no", .answer = ""};
        }
        (void)pay_store_event_finish(fuzz_store.store, results, p);
    }
    (void)pay_store_event_test(&event, fuzz_store.store, &fuzz_store.scope, PAY_ENDPOINT_WEBHOOK,
                               p);
    (void)pay_store_event_drop(&event, fuzz_store.store, &fuzz_store.scope, &place, p);
}

/* Any result is allowed, but nothing may end the process. */
static void write_live(apr_pool_t *p)
{
    const pay_outcome_t approved = {
        .kind = PAY_OUTCOME_APPROVED, .code = "00", .message = "Approved"};
    const pay_late_step_t refunding = {.from = PAY_LATE_FOUND,
                                       .to = PAY_LATE_REFUNDING,
                                       .tag = FUZZ_LIVE_TAG,
                                       .sent_at = FUZZ_NOW,
                                       .due_at = FUZZ_NOW};
    const pay_worker_t worker = {.pid = 1};
    pay_charge_t *charge;
    pay_refund_t *refund;
    int changed;

    if (pay_store_charge_find_acquirer(&charge, fuzz_store.store, &fuzz_store.scope, FUZZ_LIVE_LATE,
                                       p)
        == APR_SUCCESS) {
        (void)pay_store_charge_late(&charge, &changed, fuzz_store.store, &fuzz_store.scope,
                                    charge->seq, &refunding, p);
    }
    if (pay_store_charge_find(&charge, fuzz_store.store, &fuzz_store.scope, "live-held", p)
        == APR_SUCCESS) {
        (void)pay_store_charge_withdraw(fuzz_store.store, &fuzz_store.scope, charge->seq, p);
    }
    (void)pay_store_refund_claim(&refund, &changed, fuzz_store.store, &fuzz_store.scope, "re_live",
                                 &worker, 1, 2, FUZZ_NOW, p);
    (void)pay_store_refund_resolve(&refund, &changed, fuzz_store.store, &fuzz_store.scope,
                                   "re_live", &approved, FUZZ_NOW, p);
    (void)pay_store_refund_fail(&refund, &changed, fuzz_store.store, &fuzz_store.scope, "re_live",
                                p);
    (void)pay_store_refund_late(&refund, &changed, fuzz_store.store, &fuzz_store.scope, "re_live",
                                &approved, FUZZ_NOW, PAY_HELD_LATE, "seen", p);
    fuzz_live_ask(p);
}

/* Any result is allowed, but nothing may end the process. */
static void write_money(apr_pool_t *p)
{
    const pay_outcome_t outcome = {.kind = PAY_OUTCOME_APPROVED,
                                   .code = "00",
                                   .message = "Approved",
                                   .authorization_code = "A1B2C3"};
    apr_array_header_t *list;
    pay_charge_t *charge;
    pay_refund_t *refund;
    pay_idempotency_record_t *record;
    int changed;

    (void)pay_store_due_take(&list, fuzz_store.store, FUZZ_NOW + apr_time_from_sec(3600),
                             apr_time_from_sec(60), ROWS_MAX, p);
    (void)pay_store_refund_resolve(&refund, &changed, fuzz_store.store, &fuzz_store.scope,
                                   "re_pending", &outcome, FUZZ_NOW, p);
    (void)fuzz_goods_refund(&refund, "re_rest", "known", 0, NULL, p);
    (void)pay_store_refund_fail(&refund, &changed, fuzz_store.store, &fuzz_store.scope,
                                "re_pending", p);
    if (pay_store_charge_find(&charge, fuzz_store.store, &fuzz_store.scope, "pending", p)
        == APR_SUCCESS) {
        (void)pay_store_charge_resolve(&charge, &changed, fuzz_store.store, &fuzz_store.scope,
                                       charge->seq, &outcome, FUZZ_NOW, p);
    }
    (void)pay_store_charge_void(&charge, &changed, &record, fuzz_store.store, &fuzz_store.scope,
                                "checkout", fuzz_goods_use(PAY_OPERATION_VOID), p);
    (void)pay_store_idempotency_expire(&changed, fuzz_store.store, MUCH_LATER, ROWS_MAX, p);
}

static void hear(void *baton, const char *text)
{
    CHECK(text && *text);
    ++*(apr_size_t *)baton;
}

/* Returns 0 if LMDB does not accept such a key. */
static int plant(pay_table_t table, const pay_bytes_t *key, const pay_bytes_t *row)
{
    pay_bytes_t at = *key, val = *row;
    pay_rows_txn_t txn = fuzz_store_begin(0);
    int rc;

    rc = pay_rows_put(&txn, table, &at, &val, 0);
    CHECK(rc == 0 || rc == MDB_BAD_VALSIZE);
    CHECK(mdb_txn_commit(txn.native) == 0);
    return rc == 0;
}

static void check_planted(pay_table_t table, apr_pool_t *p)
{
    apr_size_t faults, told = 0;

    CHECK(pay_store_check(&faults, fuzz_store.store, hear, &told, p) == APR_SUCCESS);
    CHECK(faults == told);
    if (table == PAY_TABLE_META) {
        faults++; /* its rows are judged where they are used, not by the check */
    }
    read_accounts(faults, p);
    read_money(faults, p);
    fuzz_grants_read(faults, p);
    fuzz_erase_search(faults, p);
    fuzz_grants_write(p);
    fuzz_encryption_write(p);
    fuzz_audit_write(faults, p);
    write_events(p);
    write_live(p);
    write_money(p);
    fuzz_links_use(faults, p);
    fuzz_checkouts_use(faults, p);
    fuzz_erase_all(p);
}

static void run(const uint8_t *data, size_t size, apr_pool_t *p)
{
    pay_bytes_t key, row, written;
    size_t i;

    if (size < HEAD_LEN) {
        return;
    }
    fuzz_goods_ready();
    key.len = data[1] < size - HEAD_LEN ? data[1] : size - HEAD_LEN;
    key.data = fuzz_copy(data + HEAD_LEN, key.len);
    row.len = size - HEAD_LEN - key.len;
    row.data = fuzz_copy(data + HEAD_LEN + key.len, row.len);
    check_sample(&row, p);
    fuzz_links_decode(&key, &row, p);
    for (i = 0; i < TABLES && tables[i].letter != (char)data[0]; i++) {
    }
    if (i == TABLES) {
        return;
    }
    if (tables[i].table == PAY_TABLE_CHARGE) {
        check_charge(&key, &row, p);
    } else if (tables[i].table == PAY_TABLE_REFUND) {
        check_refund(&key, &row, p);
    } else if (tables[i].table == PAY_TABLE_ENDPOINT) {
        check_endpoint(&key, &row, p);
    } else if (tables[i].table == PAY_TABLE_EVENT) {
        check_event(&key, &row, p);
    } else if (tables[i].table == PAY_TABLE_GRANT) {
        fuzz_grants_decode(&key, &row, p);
    } else if (tables[i].table == PAY_TABLE_ENCRYPTION_KEY) {
        CHECK(!fuzz_encryption_decode(&written, &key, &row, p) || !is_whole(&row, &written)
              || same(&row, &written));
    } else if (tables[i].table == PAY_TABLE_CHECKOUT) {
        CHECK(!fuzz_checkouts_decode(&written, &key, &row, p) || !is_whole(&row, &written)
              || same(&row, &written));
    } else if (tables[i].table == PAY_TABLE_AUDIT) {
        fuzz_audit_decode(&key, &row, p);
    }
    if (plant(tables[i].table, &key, &row)) {
        check_planted(tables[i].table, p);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_run(run, data, size);
}
