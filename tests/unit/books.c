/* SPDX-License-Identifier: Apache-2.0 */
#include "books.h"

static apr_status_t books_list(void *context, apr_time_t from, apr_time_t to,
                               payments_record_fn *found, void *baton, apr_interval_time_t timeout,
                               apr_pool_t *p)
{
    books_t *books = context;
    payments_record_t record;
    apr_status_t rv;
    int i;

    (void)p;
    ck_assert_int_gt(timeout, 0);
    ck_assert_int_le(from, to);
    ck_assert_int_le(to - from, apr_time_from_sec(7 * 24 * 3600));
    ck_assert_int_lt(books->calls, BOOKS_CALLS_MAX);
    books->from[books->calls] = from;
    books->to[books->calls++] = to;
    if (books->failures != 0) {
        books->failures -= books->failures > 0;
        return books->status;
    }
    for (i = 0; i < books->count; i++) {
        /* A time that is not reported is in every range. */
        if (books->records[i].created_at == 0
            || (books->records[i].created_at >= from && books->records[i].created_at <= to)) {
            record = books->records[i];
            record.created_at += record.created_at ? books->ahead : 0;
            rv = found(baton, &record);
            if (rv != APR_SUCCESS) {
                return rv;
            }
        }
    }
    if (books->meanwhile) {
        books->meanwhile();
    }
    return APR_SUCCESS;
}

static const payments_acquirer_t books_connector = {.struct_size = sizeof(payments_acquirer_t),
                                                    .abi = PAYMENTS_ACQUIRER_ABI,
                                                    .name = "books",
                                                    .refund_list = books_list};

books_t *books_make(void)
{
    books_t *books = apr_pcalloc(unit_pool, sizeof(*books));

    books->records = apr_pcalloc(unit_pool, BOOKS_RECORDS_MAX * sizeof(*books->records));
    books->status = APR_EGENERAL;
    return books;
}

pay_acquirer_t *books_acquirer(books_t *books)
{
    pay_acquirer_t *acquirer = apr_pcalloc(unit_pool, sizeof(*acquirer));

    acquirer->connector = &books_connector;
    acquirer->context = books;
    acquirer->name = "books@acquirer.example";
    acquirer->timeout = apr_time_from_sec(20);
    return acquirer;
}

payments_record_t *books_add(books_t *books, const char *name, const char *status)
{
    payments_record_t *record;

    ck_assert_int_lt(books->count, BOOKS_RECORDS_MAX);
    record = &books->records[books->count++];
    record->struct_size = sizeof(*record);
    record->id = apr_pstrcat(unit_pool, "id_", name, NULL);
    record->reference = apr_pstrcat(unit_pool, "up_", name, NULL);
    record->tag = "";
    record->amount = "5.00";
    record->currency = "NGN";
    record->channel = "dashboard";
    record->status = status;
    record->transaction_reference = "";
    record->created_at = till_clock - apr_time_from_sec(3600);
    record->updated_at = record->created_at;
    return record;
}

const char *books_reference(const char *reference)
{
    return apr_pstrcat(unit_pool, "hmac-of-", reference, NULL);
}

pay_charge_t *books_open(const char *reference, apr_int64_t amount_minor)
{
    pay_charge_t *proposal = till_proposal(BOOKS_SCOPE, reference, amount_minor), *charge;
    pay_claim_t claim;

    proposal->acquirer = "books@acquirer.example";
    proposal->acquirer_reference = books_reference(reference);
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(claim, PAY_CLAIM_NEW);
    return charge;
}

pay_charge_t *books_charge(const char *reference, apr_int64_t amount_minor)
{
    pay_charge_t *charge = books_open(reference, amount_minor);

    ck_assert_int_eq(till_resolve(&charge, BOOKS_SCOPE, charge->seq, PAY_OUTCOME_APPROVED), 1);
    return charge;
}

pay_refund_t *books_refund(const char *reference, apr_int64_t amount_minor, const char *tag)
{
    pay_refund_t *proposal = till_refund_proposal(BOOKS_SCOPE, reference, amount_minor), *refund;
    pay_refund_verdict_t verdict;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;

    proposal->acquirer = "books@acquirer.example";
    proposal->tag = tag;
    ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                           proposal, NULL, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(verdict, PAY_REFUND_OPENED);
    return refund;
}

pay_refund_t *books_find(const char *refund_reference)
{
    pay_refund_t *refund;

    ck_assert_int_eq(pay_store_refund_find(&refund, till->store, &till->scopes[BOOKS_SCOPE],
                                           refund_reference, unit_pool),
                     APR_SUCCESS);
    return refund;
}

int books_listed(void)
{
    const pay_time_range_t all = {0, till_clock + apr_time_from_sec(3600)};
    char *buffer = apr_palloc(unit_pool, PAY_STORE_CHUNK_SIZE);
    pay_refund_cursor_t cursor;
    apr_size_t len, count;
    int listed = 0;

    memset(&cursor, 0, sizeof(cursor));
    while (!cursor.done) {
        ck_assert_int_eq(pay_store_refund_scan(&cursor, &len, &count, till->store,
                                               &till->scopes[BOOKS_SCOPE], &all, buffer,
                                               PAY_STORE_CHUNK_SIZE),
                         APR_SUCCESS);
        listed += (int)count;
    }
    return listed;
}

pay_service_t *books_service(const char *account, const pay_acquirer_t *acquirer)
{
    apr_array_header_t *acquirers = apr_array_make(unit_pool, 1, sizeof(const pay_acquirer_t *));
    pay_service_t *service = apr_pcalloc(unit_pool, sizeof(*service));

    APR_ARRAY_PUSH(acquirers, const pay_acquirer_t *) = acquirer;
    service->store = till->store;
    service->account_name = account;
    service->acquirers = acquirers;
    service->policy.refund_sync = BOOKS_INTERVAL;
    return service;
}

int books_step(pay_history_sync_t *sync)
{
    int worked;

    ck_assert_int_eq(pay_history_sync_step(&worked, sync, till_clock, unit_pool), APR_SUCCESS);
    return worked;
}

int books_steps(pay_history_sync_t *sync)
{
    int count = 0;

    while (books_step(sync)) {
        count++;
        ck_assert_int_lt(count, BOOKS_CALLS_MAX);
    }
    return count;
}

void books_far_done(const pay_scope_t *scope)
{
    pay_history_t *history = books_row(scope);

    history->far_at = till_clock + apr_time_from_sec(24 * 3600);
    ck_assert_int_eq(pay_store_history_put(till->store, history, unit_pool), APR_SUCCESS);
}

pay_history_t *books_row(const pay_scope_t *scope)
{
    pay_history_t *history;

    ck_assert_int_eq(pay_store_history_get(&history, till->store, scope, unit_pool), APR_SUCCESS);
    return history;
}

void books_ask(const pay_scope_t *scope, apr_time_t from, apr_time_t to)
{
    pay_history_t *history;

    ck_assert_int_eq(pay_store_history_ask(&history, till->store, scope, from, to, unit_pool),
                     APR_SUCCESS);
}

void books_check_call(const books_t *books, int call, apr_time_t from, apr_time_t to)
{
    ck_assert_int_lt(call, books->calls);
    ck_assert_msg(books->from[call] == from && books->to[call] == to,
                  "call %d: %" APR_TIME_T_FMT " to %" APR_TIME_T_FMT, call,
                  books->from[call] - till_clock, books->to[call] - till_clock);
}
