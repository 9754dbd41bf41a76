/* SPDX-License-Identifier: Apache-2.0 */
#include "service/refund/refund_import.h"

#include "base/log.h"
#include "base/text/json.h"
#include "base/text/time.h"
#include "model/refund_tag.h"
#include "service/change.h"
#include "service/refund/record_file.h"

#include <apr_lib.h>
#include <apr_strings.h>
#include <string.h>

#define AHEAD_MAX apr_time_from_sec(300) /* of a record's createdAt (docs/operations.md) */
#define PROGRESS_EVERY 1000              /* records */

/*
 * Charges wait while a batch is written, so its size follows the time that the last one took: it
 * shrinks when the disk is slow, or when others wait for the writer lock too.
 */
#define RENEW_MS (20 * 1000) /* well below the time for which an import holds its scope */
#define BATCH_FIRST 250
#define BATCH_MIN 50
#define BATCH_MAX PAY_STORE_ROWS_MAX
#define BATCH_SHORT_MS 4
#define BATCH_LONG_MS 10
#define PAUSE_MS_MAX 50
#define BUSY_TRIES_MAX 30 /* each waits for the writer lock as long as the store's options say */

typedef struct run_t {
    pay_import_result_t *result;
    pay_store_t *store;
    const pay_scope_t *scope;
    pay_record_file_t *file;
    pay_import_progress_t progress;
    void *baton;
    apr_uint64_t total;
    apr_time_t created_at_max;
    apr_pool_t *pool;
} run_t;

typedef struct batch_t {
    apr_array_header_t *refunds; /* of pay_refund_t * */
    apr_array_header_t *lines;   /* of apr_uint64_t, parallel to them */
    apr_uint64_t known;          /* records of refunds that were made here: they are left out */
    apr_pool_t *pool;            /* cleared with each batch */
} batch_t;

static apr_status_t fault_at(const run_t *run, apr_uint64_t line, const char *what)
{
    run->result->fault = apr_psprintf(run->pool, "line %" APR_UINT64_T_FMT ": %s", line, what);
    return APR_EINVAL;
}

/* Returns all fields at fault in one sentence. */
static const char *problem_text(const pay_problem_t *problem, apr_pool_t *p)
{
    const pay_field_error_t *field;
    const char *text = NULL;
    int i;

    for (i = 0; problem->fields && i < problem->fields->nelts; i++) {
        field = &APR_ARRAY_IDX(problem->fields, i, pay_field_error_t);
        text = apr_pstrcat(p, text ? text : "", text ? " " : "", field->field, ": ", field->reason,
                           NULL);
    }
    return text ? text : problem->message;
}

static apr_status_t read_refund(pay_refund_t **out, apr_uint64_t *line, const run_t *run,
                                apr_pool_t *p)
{
    const pay_problem_t *problem;
    const pay_json_t *json;
    pay_record_t record;
    const char *reason;
    apr_status_t rv;

    *out = NULL;
    rv = pay_record_file_next(&record, run->file);
    *line = record.line;
    if (rv == APR_EINVAL) {
        run->result->fault = pay_record_file_fault(run->file);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_json_parse(&json, &reason, record.text, record.len, p);
    if (rv == APR_EINVAL) {
        return fault_at(run, record.line, reason);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    problem = pay_refund_from_json(out, json, run->scope->mode, p);
    if (problem) {
        return fault_at(run, record.line, problem_text(problem, p));
    }
    if ((*out)->created_at > run->created_at_max) {
        return fault_at(run, record.line,
                        "/createdAt: The time is more than 5 minutes ahead of this machine's.");
    }
    (*out)->scope = *run->scope;
    return APR_SUCCESS;
}

/* Pass 1: reads and judges the whole file, and counts its records. */
static apr_status_t judge(run_t *run)
{
    pay_refund_t *refund;
    apr_uint64_t line;
    apr_status_t rv;
    apr_pool_t *p;

    apr_pool_create(&p, run->pool);
    rv = read_refund(&refund, &line, run, p);
    while (rv == APR_SUCCESS) {
        run->total++;
        if (run->progress && run->total % PROGRESS_EVERY == 0) {
            run->progress(run->baton, 1, run->total, 0);
        }
        apr_pool_clear(p);
        rv = read_refund(&refund, &line, run, p);
    }
    apr_pool_destroy(p);
    return rv == APR_EOF ? APR_SUCCESS : rv;
}

/*
 * An acquirer's books contain the refunds that were made here, too, under its own names. *known is
 * 1 for one of those. The record's name of its charge is the acquirer's text, and stays so until
 * the store finds a charge of that name.
 */
static apr_status_t recognise(int *known, pay_refund_t *refund, const run_t *run, apr_pool_t *p)
{
    const char *note = refund->merchant_note ? refund->merchant_note : "";
    const char *tag = pay_refund_tag_split(&note, p);
    pay_charge_t *charge;
    pay_refund_t *ours;
    apr_status_t rv;

    *known = 0;
    if (run->scope->mode != PAY_LIVE) {
        return APR_SUCCESS; /* nothing leaves Test Mode */
    }
    rv = pay_store_refund_find_acquirer(&ours, run->store, run->scope, refund->refund_reference,
                                        tag, p);
    if (rv == APR_SUCCESS) {
        *known = 1;
    }
    if (rv != APR_NOTFOUND || !refund->transaction_reference) {
        return rv == APR_NOTFOUND ? APR_SUCCESS : rv;
    }
    refund->acquirer_charge = refund->transaction_reference;
    rv =
        pay_store_charge_find_acquirer(&charge, run->store, run->scope, refund->acquirer_charge, p);
    if (rv == APR_SUCCESS) {
        /* A late approval was refunded: neither is in any total. */
        *known = charge->state == PAY_CHARGE_FAILED;
    }
    return rv == APR_NOTFOUND ? APR_SUCCESS : rv;
}

/* Reads up to `size` records; APR_EOF if the file ended, with the last records in the batch. */
static apr_status_t fill(batch_t *batch, int size, const run_t *run)
{
    pay_refund_t *refund;
    apr_uint64_t line;
    apr_status_t rv = APR_SUCCESS;
    int known = 0;

    batch->known = 0;
    apr_pool_clear(batch->pool);
    batch->refunds = apr_array_make(batch->pool, size, sizeof(pay_refund_t *));
    batch->lines = apr_array_make(batch->pool, size, sizeof(apr_uint64_t));
    while (rv == APR_SUCCESS && batch->refunds->nelts < size && batch->known < BATCH_MAX) {
        rv = read_refund(&refund, &line, run, batch->pool);
        if (rv == APR_SUCCESS) {
            rv = recognise(&known, refund, run, batch->pool);
        }
        if (rv == APR_SUCCESS && known) {
            batch->known++;
        } else if (rv == APR_SUCCESS) {
            APR_ARRAY_PUSH(batch->refunds, pay_refund_t *) = refund;
            APR_ARRAY_PUSH(batch->lines, apr_uint64_t) = line;
        }
    }
    return rv;
}

static apr_status_t write_batch(pay_import_t *import, const batch_t *batch, const run_t *run)
{
    int tries = 0, at = 0;
    apr_status_t rv;

    /* Without the writer lock nothing was done, so it may be tried again. */
    do {
        rv = pay_store_import_rows(import, &at, run->store, batch->refunds, batch->pool);
    } while (rv == PAY_STORE_EBUSY && ++tries < BUSY_TRIES_MAX);
    if ((rv != APR_EEXIST && rv != APR_EINVAL) || at < 0 || at >= batch->lines->nelts) {
        return rv;
    }
    return fault_at(run, APR_ARRAY_IDX(batch->lines, at, apr_uint64_t),
                    rv == APR_EEXIST ? "The id or refundReference is known with different "
                                       "content."
                                     : "The store cannot hold this record.");
}

static int next_size(int size, int alone, apr_int64_t took_ms)
{
    if (alone || took_ms <= BATCH_SHORT_MS) {
        size *= 2;
    } else if (took_ms > BATCH_LONG_MS) {
        size /= 2;
    }
    if (size < BATCH_MIN) {
        return BATCH_MIN;
    }
    return size < BATCH_MAX ? size : BATCH_MAX;
}

/*
 * If charges are made meanwhile, whose commits are many and short, LMDB's lock would change hands
 * after each one of them and make the next of them wait for a whole batch: a pause lets all waiting
 * ones go first. `seen` is the store's state at the last look. Returns 1 if nobody was waiting.
 */
static int make_way(pay_store_stat_t *seen, apr_int64_t took_ms, const run_t *run, apr_pool_t *p)
{
    pay_store_stat_t now;
    apr_status_t rv;
    int alone;

    rv = pay_store_stat(&now, run->store, p);
    if (rv != APR_SUCCESS) {
        return 0; /* whatever it is, the next batch meets it too */
    }
    alone = now.charges == seen->charges && now.pending == seen->pending
            && now.checkouts_open == seen->checkouts_open;
    if (!alone) {
        apr_sleep(apr_time_from_msec(took_ms < PAUSE_MS_MAX ? took_ms : PAUSE_MS_MAX));
    }
    *seen = now;
    return alone;
}

/* Pass 2: reads the file again and writes. */
static apr_status_t write_all(pay_import_t *import, const run_t *run)
{
    batch_t batch = {.refunds = NULL};
    pay_store_stat_t seen = {0};
    apr_status_t filled = APR_SUCCESS, rv;
    apr_uint64_t done = 0;
    apr_int64_t began_ms, took_ms, wrote_ms = pay_time_boot_ms();
    int size = BATCH_FIRST;

    apr_pool_create(&batch.pool, run->pool);
    while (filled == APR_SUCCESS) {
        filled = fill(&batch, size, run);
        if (filled != APR_SUCCESS && filled != APR_EOF) {
            return filled;
        }
        began_ms = pay_time_boot_ms();
        if (batch.refunds->nelts || began_ms - wrote_ms > RENEW_MS) { /* others see its progress */
            wrote_ms = began_ms;
            rv = write_batch(import, &batch, run);
            if (rv != APR_SUCCESS) {
                return rv;
            }
            took_ms = pay_time_boot_ms() - began_ms;
            size = next_size(size, make_way(&seen, took_ms, run, batch.pool), took_ms);
            done += (apr_uint64_t)batch.refunds->nelts;
        }
        done += batch.known;
        run->result->skipped += batch.known;
        if (run->progress) {
            run->progress(run->baton, 2, done, run->total);
        }
    }
    apr_pool_destroy(batch.pool);
    if (done != run->total) {
        run->result->fault = "The file was changed while it was imported.";
        return APR_EINVAL;
    }
    return APR_SUCCESS;
}

/* Charges that the failed import counted on get their amounts back now, not with the next one. */
static void take_back(pay_import_t *import, const run_t *run)
{
    int tries = 0;
    apr_status_t rv;

    do {
        rv = pay_store_import_abort(import, run->store, run->pool);
    } while (rv == PAY_STORE_EBUSY && ++tries < BUSY_TRIES_MAX);
    if (rv != APR_SUCCESS) {
        pay_log(PAY_LOG_ERR, rv,
                PAYLOGNO(00241) "the failed import of refunds for account %u could not be undone: "
                                "the next import removes what it left",
                (unsigned int)run->scope->account);
    }
}

static apr_status_t import_file(const run_t *run)
{
    pay_import_t import;
    apr_status_t rv;

    rv = pay_record_file_rewind(run->file);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_store_import_begin(&import, run->store, run->scope, run->pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    import.by_acquirer = run->scope->mode == PAY_LIVE;
    rv = write_all(&import, run);
    if (rv == APR_SUCCESS) {
        rv = pay_store_import_finish(&import, run->store, run->pool);
    }
    if (rv != APR_SUCCESS) {
        take_back(&import, run);
        run->result->skipped = 0;
        return rv;
    }
    run->result->written = import.written;
    run->result->skipped += import.skipped;
    run->result->unlinked = import.unlinked;
    pay_log(PAY_LOG_NOTICE, APR_SUCCESS,
            PAYLOGNO(00240) "imported %" APR_UINT64_T_FMT " refunds for account %u, skipped "
                            "%" APR_UINT64_T_FMT,
            import.written, (unsigned int)run->scope->account, run->result->skipped);
    return APR_SUCCESS;
}

/* Describes a failure that is not one of the file's content. */
static const char *failure_text(apr_status_t rv, apr_pool_t *p)
{
    const char *text = pay_store_status_text(rv);
    char buffer[120];

    if (rv == APR_EBUSY) {
        return "Another import for this account and mode is running.";
    }
    if (text) {
        return text;
    }
    return apr_pstrdup(p, apr_strerror(rv, buffer, sizeof(buffer)));
}

apr_status_t pay_refund_import(pay_import_result_t *out, const pay_service_t *service,
                               const pay_scope_t *scope, const char *path,
                               pay_import_progress_t progress, void *baton, apr_pool_t *p)
{
    run_t run = {out, NULL, scope, NULL, progress, baton, 0, pay_time_now() + AHEAD_MAX, p};
    apr_status_t rv;

    out->written = 0;
    out->skipped = 0;
    out->unlinked = 0;
    out->fault = NULL;
    rv = pay_change_begin_in(&run.store, service, PAY_CHANGE_REFUND_IMPORT, scope,
                             apr_filepath_name_get(path), "", p);
    if (rv == APR_SUCCESS) {
        rv = pay_record_file_open(&run.file, path, p);
    }
    if (rv == APR_EINVAL) {
        out->fault = "This is not a regular file.";
    }
    if (rv == APR_SUCCESS) {
        rv = judge(&run);
    }
    if (rv == APR_SUCCESS) {
        rv = import_file(&run);
    }
    if (rv != APR_SUCCESS && !out->fault) {
        out->fault = failure_text(rv, p);
    }
    return rv;
}

/* ---- an acquirer's books */

const pay_problem_t *pay_refund_attach(pay_refund_t **out, pay_charge_t **charge,
                                       pay_refund_link_t *verdict, const pay_service_t *service,
                                       const pay_scope_t *scope, const char *reference, int change,
                                       apr_pool_t *p)
{
    pay_store_t *store = service->store;
    apr_status_t rv = APR_SUCCESS;

    *out = NULL;
    *charge = NULL;
    *verdict = PAY_REFUND_LINK_NONE;
    if (change) {
        rv = pay_change_begin_in(&store, service, PAY_CHANGE_REFUND_LINK, scope, reference, "", p);
    }
    if (rv == APR_SUCCESS) {
        rv = pay_store_refund_link(out, charge, verdict, store, scope, reference, change, p);
    }
    if (rv == APR_SUCCESS) {
        return NULL;
    }
    return rv == APR_NOTFOUND ? pay_problem_of_reference(reference, p)
                              : pay_problem_of_store(rv, p);
}

const pay_problem_t *pay_refunds_ask(pay_history_t **out, const pay_service_t *service,
                                     const pay_scope_t *scope, const pay_time_range_t *range,
                                     const char *said, apr_pool_t *p)
{
    pay_store_t *store;
    apr_status_t rv;

    *out = NULL;
    rv = pay_change_begin_in(&store, service, PAY_CHANGE_REFUND_SYNC, scope, said, "", p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_history_ask(out, store, scope, range->from, range->to, p);
    }
    if (APR_STATUS_IS_EBUSY(rv)) {
        return pay_problem_makef(PAY_ERR_IN_PROGRESS, p,
                                 "The server is to fetch another range already.");
    }
    return rv == APR_SUCCESS ? NULL : pay_problem_of_store(rv, p);
}
