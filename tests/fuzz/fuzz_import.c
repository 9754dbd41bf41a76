/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz_goods.h"

#include "service/refund/record_file.h"
#include "service/refund/refund_import.h"

/*
 * A file of refund records, imported into a real store where "known" is a charge and "kept" a
 * record of an earlier import.
 */

#define BEGIN_OF_LIST 0
#define END_OF_LIST apr_time_from_sec(4000000000)
#define CHUNKS_MAX 10000

static void write_input(const void *data, size_t size)
{
    FILE *file = fopen(fuzz_store.file, "wb");

    CHECK(file && fwrite(data, 1, size, file) == size);
    CHECK(fclose(file) == 0);
}

/* Each object lies in the file, NUL-terminated, in order, and the splitter ends. */
static void check_records(size_t size, apr_pool_t *p)
{
    pay_record_file_t *file;
    pay_record_t record;
    apr_uint64_t line = 1;
    size_t total = 0;
    apr_status_t rv;

    CHECK(pay_record_file_open(&file, fuzz_store.file, p) == APR_SUCCESS);
    rv = pay_record_file_next(&record, file);
    while (rv == APR_SUCCESS) {
        CHECK(record.len >= 2 && record.len <= PAY_RECORD_MAX && record.text[record.len] == '\0');
        CHECK(record.text[0] == '{' && strchr("}]", record.text[record.len - 1]));
        CHECK(record.line >= line);
        line = record.line;
        total += record.len;
        CHECK(total <= size);
        rv = pay_record_file_next(&record, file);
    }
    CHECK(rv == APR_EOF || rv == APR_EINVAL);
    CHECK((rv == APR_EINVAL) == (pay_record_file_fault(file) != NULL));
}

/* All records as a JSON array. */
static const char *list_all(apr_size_t *count, apr_pool_t *p)
{
    pay_time_range_t range = {BEGIN_OF_LIST, END_OF_LIST};
    static char buffer[PAY_STORE_CHUNK_SIZE];
    pay_refund_cursor_t cursor;
    const char *all = "[";
    apr_size_t len, records;
    int chunks = 0;

    memset(&cursor, 0, sizeof(cursor));
    *count = 0;
    while (!cursor.done) {
        CHECK(++chunks < CHUNKS_MAX);
        CHECK(pay_store_refund_scan(&cursor, &len, &records, fuzz_store.store, &fuzz_store.scope,
                                    &range, buffer, sizeof(buffer))
              == APR_SUCCESS);
        all = apr_pstrcat(p, all, apr_pstrmemdup(p, buffer, len), NULL);
        *count += records;
    }
    return apr_pstrcat(p, all, "]", NULL);
}

static apr_status_t import(pay_import_result_t *result, apr_pool_t *p)
{
    const pay_service_t service = {.store = fuzz_store.store};
    apr_status_t rv;

    rv = pay_refund_import(result, &service, &fuzz_store.scope, fuzz_store.file, NULL, NULL, p);
    CHECK((rv == APR_SUCCESS) == (result->fault == NULL));
    return rv;
}

static void tell(void *baton, const char *text)
{
    (void)baton;
    fprintf(stderr, "store check: %s\n", text);
}

static void check_store(apr_pool_t *p)
{
    apr_size_t faults;

    CHECK(pay_store_check(&faults, fuzz_store.store, tell, NULL, p) == APR_SUCCESS);
    CHECK(faults == 0);
}

/* Known records are skipped: the same file again, and the list of everything that is there. */
static void check_again(apr_uint64_t records, apr_size_t listed, const char *list, apr_pool_t *p)
{
    pay_import_result_t result;
    apr_size_t count;

    CHECK(import(&result, p) == APR_SUCCESS);
    CHECK(result.written == 0 && result.skipped == records);
    write_input(list, strlen(list));
    CHECK(import(&result, p) == APR_SUCCESS);
    CHECK(result.written == 0 && result.skipped == listed);
    CHECK(!strcmp(list_all(&count, p), list) && count == listed);
}

static void run(const uint8_t *data, size_t size, apr_pool_t *p)
{
    pay_import_result_t result;
    apr_size_t before, after;
    const char *list, *list_before;
    pay_charge_t *charge_before, *charge;
    apr_status_t rv;

    fuzz_goods_ready();
    write_input(data, size);
    check_records(size, p);
    list_before = list_all(&before, p);
    CHECK(pay_store_charge_find(&charge_before, fuzz_store.store, &fuzz_store.scope, "known", p)
          == APR_SUCCESS);
    rv = import(&result, p);
    list = list_all(&after, p);
    check_store(p);
    if (rv == APR_SUCCESS) {
        CHECK(after == before + result.written);
        check_again(result.written + result.skipped, after, list, p);
        return;
    }
    /* A file at fault leaves nothing. */
    CHECK(rv == APR_EINVAL || rv == APR_EEXIST);
    CHECK(after == before && !strcmp(list, list_before));
    CHECK(pay_store_charge_find(&charge, fuzz_store.store, &fuzz_store.scope, "known", p)
          == APR_SUCCESS);
    CHECK(charge->refunded_minor == charge_before->refunded_minor);
    CHECK(charge->refunds_pending_minor == charge_before->refunds_pending_minor);
    CHECK(charge->state == charge_before->state);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_run(run, data, size);
}
