/* SPDX-License-Identifier: Apache-2.0 */
#include "service/refund/refund_import.h"

#include "service/charge/charges.h"
#include "service/refund/refunds.h"
#include "shop.h"
#include "watched.h"

#include <stdio.h>
#include <unistd.h>

static shop_t *shop;
static pay_scope_t scope;

static void set_up(void)
{
    shop = shop_open(unit_dir());
    scope = (pay_scope_t){shop->account->number, PAY_TEST};
    watch();
}

static const char *file_of(const char *text)
{
    const char *path = apr_pstrcat(unit_pool, unit_dir(), "/refunds", NULL);
    FILE *file = fopen(path, "wb");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, strlen(text), file), strlen(text));
    ck_assert_int_eq(fclose(file), 0);
    return path;
}

static pay_import_result_t import(const char *path, apr_status_t want)
{
    pay_import_result_t result;
    apr_status_t rv;

    rv = pay_refund_import(&result, &shop->service, &scope, path, NULL, NULL, unit_pool);
    ck_assert_msg(rv == want, "status %d, not %d: %s", rv, want, result.fault);
    ck_assert((result.fault != NULL) == (want != APR_SUCCESS));
    return result;
}

/* The list of all refunds, as it is sent. */
static const char *list_all(apr_size_t *count)
{
    pay_time_range_t range = {0, apr_time_from_sec(4000000000)};
    pay_refund_cursor_t cursor;
    const char *all = "";
    char *buffer = apr_palloc(unit_pool, PAY_STORE_CHUNK_SIZE);
    apr_size_t len, records;

    memset(&cursor, 0, sizeof(cursor));
    *count = 0;
    while (!cursor.done) {
        ck_assert_ptr_null(pay_refunds_scan(&cursor, &len, &records, &shop->service, &scope, &range,
                                            buffer, PAY_STORE_CHUNK_SIZE, unit_pool));
        all = apr_pstrcat(unit_pool, all, apr_pstrmemdup(unit_pool, buffer, len), NULL);
        *count += records;
    }
    return all;
}

/* A record of the name's own second; `more` are members, with a comma first. */
static char *record_with(const char *id, const char *reference, const char *more)
{
    return apr_psprintf(unit_pool,
                        "{\"id\":\"%s\",\"refundReference\":\"%s\",\"amount\":\"5.00\","
                        "\"currency\":\"NGN\",\"status\":\"processed\","
                        "\"createdAt\":\"2026-01-02T03:04:05.678Z\"%s}",
                        id, reference, more);
}

static char *record(const char *name)
{
    return record_with(apr_pstrcat(unit_pool, "id_", name, NULL),
                       apr_pstrcat(unit_pool, "re_", name, NULL), "");
}

START_TEST(test_forms)
{
    static const char *const formats[] = {"[%s,\n%s]", "%s\n%s\n"};
    pay_import_result_t result;
    const char *list;
    apr_size_t count;

    set_up();
    result = import(file_of(apr_psprintf(unit_pool, formats[_i], record("a"), record("b"))),
                    APR_SUCCESS);
    ck_assert_uint_eq(result.written, 2);
    ck_assert_uint_eq(result.skipped, 0);
    ck_assert_int_eq(logged("PAY00240: imported 2 refunds for account "), 1);
    list = list_all(&count);
    ck_assert_uint_eq(count, 2);
    ck_assert_ptr_nonnull(strstr(list, "\"id\":\"id_a\""));
    ck_assert_ptr_nonnull(strstr(list, "\"refundReference\":\"re_b\""));
    ck_assert_ptr_nonnull(strstr(list, "\"domain\":\"test\""));

    /* The answer of the list can be imported again, here and elsewhere. */
    result = import(file_of(apr_psprintf(unit_pool, "[%s]", list)), APR_SUCCESS);
    ck_assert_uint_eq(result.written, 0);
    ck_assert_uint_eq(result.skipped, 2);
    set_up();
    result = import(file_of(apr_psprintf(unit_pool, "[%s]", list)), APR_SUCCESS);
    ck_assert_uint_eq(result.written, 2);
    ck_assert_str_eq(list_all(&count), list);
}
END_TEST

START_TEST(test_nothing_to_do)
{
    pay_import_result_t result;
    apr_size_t count;

    set_up();
    result = import(file_of("[]"), APR_SUCCESS);
    ck_assert_uint_eq(result.written + result.skipped, 0);
    (void)list_all(&count);
    ck_assert_uint_eq(count, 0);
}
END_TEST

#define GOOD                                                                                       \
    "{\"id\":\"id_1\",\"refundReference\":\"re_1\",\"createdAt\":\"2026-01-02T03:04:05Z\"}\n"

static const struct {
    const char *name;
    const char *text;
    const char *want; /* the fault begins with */
} fault_cases[] = {
    {"empty", "", "line 1: The file is empty."},
    {"not JSON", "hello", "line 1: The file is neither"},
    {"text after the array", "[]\n\n[]", "line 3: There is text after the array."},
    {"cut off", "[" GOOD, "line 2: A comma"},
    {"malformed object", GOOD "{\"id\" 1}\n", "line 2: "},
    {"twice the same member", GOOD "{\"id\":\"a\",\"id\":\"b\"}\n", "line 2: "},
    {"members missing", GOOD GOOD "{}\n", "line 3: /id: "},
    {"several faults", "[{\"id\":1,\"refundReference\":2}]", "line 1: /id: "},
    {"another mode",
     "{\"id\":\"i\",\"refundReference\":\"r\",\"createdAt\":\"2026-01-02T03:04:05Z\","
     "\"domain\":\"live\"}",
     "line 1: /domain: "},
    {"from the future",
     GOOD "{\"id\":\"i\",\"refundReference\":\"r\",\"createdAt\":\"2027-01-15T08:05:00.001Z\"}",
     "line 2: /createdAt: "},
    {"same id, other content",
     GOOD "\n{\"id\":\"id_1\",\"refundReference\":\"re_2\",\"createdAt\":\"2026-01-02T03:04:05Z\"}",
     "line 3: The id or refundReference is known"},
    {"same reference, other id",
     GOOD "{\"id\":\"id_2\",\"refundReference\":\"re_1\",\"createdAt\":\"2026-01-02T03:04:05Z\"}",
     "line 2: The id or refundReference is known"},
};

START_TEST(test_fault)
{
    const char *name = fault_cases[_i].name, *want = fault_cases[_i].want;
    pay_import_result_t result;
    apr_size_t count;

    shop_clock_set(apr_time_from_sec(1800000000)); /* 2027-01-15T08:00:00Z */
    set_up();
    result = import(file_of(fault_cases[_i].text), APR_EINVAL);
    ck_assert_msg(!strncmp(result.fault, want, strlen(want)), "%s: %s", name, result.fault);
    ck_assert_uint_eq(result.written + result.skipped, 0);
    (void)list_all(&count);
    ck_assert_msg(count == 0, "%s: something was written", name);
    result = import(file_of(GOOD), APR_SUCCESS);
    ck_assert_msg(result.written == 1, "%s: leftovers", name);
}
END_TEST

START_TEST(test_all_faults_of_a_line)
{
    pay_import_result_t result;

    set_up();
    result = import(file_of("[{\"id\":1,\"refundReference\":\"r\",\"amount\":5}]"), APR_EINVAL);
    ck_assert_ptr_nonnull(strstr(result.fault, "/id: "));
    ck_assert_ptr_nonnull(strstr(result.fault, " /amount: "));
    ck_assert_ptr_nonnull(strstr(result.fault, " /createdAt: "));
    ck_assert_ptr_null(strstr(result.fault, "/refundReference"));
}
END_TEST

/* Lines around the edges of batches; the faulty one is the last. */
static const struct {
    const char *name;
    int records;
    int twin; /* the last record has the id of this one and other content, 0: none */
} batch_cases[] = {
    {"one batch", 250, 0},          {"one more", 251, 0},
    {"several batches", 3000, 0},   {"twin in the batch", 250, 249},
    {"twin in the first", 3000, 1}, {"twin across an edge", 251, 250},
};

static const char *lines_of(int records, int twin)
{
    char **texts = apr_palloc(unit_pool, sizeof(char *) * ((apr_size_t)records + 1));
    apr_size_t size = 1;
    char *text, *at;
    int i;

    for (i = 1; i <= records; i++) {
        texts[i] = record(apr_itoa(unit_pool, i));
    }
    if (twin) {
        texts[records] = record_with(apr_psprintf(unit_pool, "id_%d", twin), "re_twin", "");
    }
    for (i = 1; i <= records; i++) {
        size += strlen(texts[i]) + 1;
    }
    text = apr_palloc(unit_pool, size);
    for (at = text, i = 1; i <= records; i++) {
        at = apr_cpystrn(at, texts[i], strlen(texts[i]) + 1);
        *at++ = '\n';
    }
    *at = '\0';
    return text;
}

START_TEST(test_batches)
{
    int records = batch_cases[_i].records, twin = batch_cases[_i].twin;
    const char *name = batch_cases[_i].name, *want;
    pay_import_result_t result;
    apr_size_t count;

    set_up();
    result = import(file_of(lines_of(records, twin)), twin ? APR_EINVAL : APR_SUCCESS);
    (void)list_all(&count);
    if (twin) {
        want = apr_psprintf(unit_pool, "line %d: The id", records);
        ck_assert_msg(!strncmp(result.fault, want, strlen(want)), "%s: %s", name, result.fault);
        ck_assert_msg(count == 0, "%s: %d are visible", name, (int)count);
    } else {
        ck_assert_msg(result.written == (apr_uint64_t)records, "%s", name);
        ck_assert_msg(count == (apr_size_t)records, "%s: %d", name, (int)count);
    }
}
END_TEST

static const pay_problem_t *charge_create(pay_charge_t **out, const pay_api_key_t *key,
                                          const char *reference, const char *token)
{
    const pay_caller_t caller = pay_caller_of_key(key, NULL);
    int replayed;

    return pay_charge_create(out, &replayed, &shop->service, &caller,
                             shop_request(reference, token), "", unit_pool);
}

START_TEST(test_known_charge)
{
    pay_api_key_t *key;
    pay_charge_t *charge;

    set_up();
    key = shop_key(shop, PAY_TEST);
    ck_assert_ptr_null(charge_create(&charge, key, "order-1", "tok_test_success"));
    import(file_of(record_with("i", "r", ",\"transactionReference\":\"order-1\"")), APR_SUCCESS);
    ck_assert_int_eq(pay_store_charge_find(&charge, shop->store, &scope, "order-1", unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(charge->refunded_minor, 500);
}
END_TEST

/* ---- the books of an acquirer */

static const struct {
    const char *name;
    const char *reference, *note, *charge; /* NULL: those that the refund or charge has there */
    int written;
    apr_int64_t refunded_minor; /* of the charge, afterwards */
} book_cases[] = {
    {"ours, by the acquirer's name", NULL, "", NULL, 0, 100},
    {"ours, by its tag", "up-9", NULL, NULL, 0, 100},
    {"ours, of a charge by another name", NULL, "", "elsewhere", 0, 100},
    {"made elsewhere", "up-9", "", NULL, 1, 600},
    {"made elsewhere, under a tag of nobody's", "up-9", "[payments:0123456789abcdefghijklmn]", NULL,
     1, 600},
    {"of a charge that is not ours", "up-9", "", "elsewhere", 1, 100},
};

/* A refund by a person there, of a charge that failed here, is not a refund of ours: no total has
 * the charge. */
START_TEST(test_given_back_late)
{
    const pay_mode_t live = PAY_LIVE;
    pay_import_result_t result;
    pay_account_t *account;
    pay_charge_t *charge;

    set_up();
    ck_assert_int_eq(pay_store_account_set(&account, shop->store, "demo", NULL, &live, unit_pool),
                     APR_SUCCESS);
    shop->service.acquirer[PAY_LIVE] = &script_tokens_acquirer;
    scope.mode = PAY_LIVE;
    memset(&script, 0, sizeof(script));
    script.outcome = (pay_outcome_t){.kind = _i ? PAY_OUTCOME_APPROVED : PAY_OUTCOME_DECLINED};
    ck_assert_ptr_null(charge_create(&charge, shop_key(shop, PAY_LIVE), "order-1", "tok"));
    result = import(file_of(record_with("i", "up-9",
                                        apr_psprintf(unit_pool, ",\"transactionReference\":\"%s\"",
                                                     charge->acquirer_reference))),
                    APR_SUCCESS);
    ck_assert_uint_eq(result.written, _i ? 1 : 0);
    ck_assert_uint_eq(result.skipped, _i ? 0 : 1);
    ck_assert_int_eq(pay_store_charge_find(&charge, shop->store, &scope, "order-1", unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(charge->refunded_minor, _i ? 500 : 0);
}
END_TEST

/* An export of its upstream: refunds made here are not listed twice, others count here. */
START_TEST(test_books)
{
    const char *name = book_cases[_i].name, *note = book_cases[_i].note;
    pay_refund_request_t request = {.reference = "order-1", .amount = "1.00", .channel = "API"};
    const pay_mode_t live = PAY_LIVE;
    pay_import_result_t result;
    pay_charge_t *charge;
    pay_refund_t *refund;
    pay_caller_t caller;
    pay_account_t *account;
    int replayed;

    set_up();
    ck_assert_int_eq(pay_store_account_set(&account, shop->store, "demo", NULL, &live, unit_pool),
                     APR_SUCCESS);
    shop->service.acquirer[PAY_LIVE] = &script_tokens_acquirer;
    scope.mode = PAY_LIVE;
    memset(&script, 0, sizeof(script));
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_APPROVED, .acquirer_reference = "up-1"};
    caller = pay_caller_of_key(shop_key(shop, PAY_LIVE), NULL);
    ck_assert_ptr_null(charge_create(&charge, shop_key(shop, PAY_LIVE), "order-1", "card_9"));
    ck_assert_ptr_null(
        pay_refund_create(&refund, &replayed, &shop->service, &caller, &request, unit_pool));
    if (!note) {
        note = apr_psprintf(unit_pool, "late [payments:%s]", refund->tag);
    }
    result = import(
        file_of(record_with(
            "i", book_cases[_i].reference ? book_cases[_i].reference : "up-1",
            apr_psprintf(
                unit_pool, ",\"merchantNote\":\"%s\",\"transactionReference\":\"%s\"", note,
                book_cases[_i].charge ? book_cases[_i].charge : charge->acquirer_reference))),
        APR_SUCCESS);
    ck_assert_msg(result.written == (apr_uint64_t)book_cases[_i].written
                      && result.skipped == 1 - result.written,
                  "%s: %d written", name, (int)result.written);
    ck_assert_int_eq(pay_store_charge_find(&charge, shop->store, &scope, "order-1", unit_pool),
                     APR_SUCCESS);
    ck_assert_msg(charge->refunded_minor == book_cases[_i].refunded_minor, "%s: %d", name,
                  (int)charge->refunded_minor);
}
END_TEST

/* ---- faults of the store and of the file */

static int busy_left, charged, abort_tries;
static const char *changing_path;

static apr_status_t rows_busy(pay_import_t *out, int *at, pay_store_t *store,
                              const apr_array_header_t *refunds, apr_pool_t *p)
{
    *at = 0;
    if (busy_left > 0) {
        busy_left--;
        return PAY_STORE_EBUSY;
    }
    return STORE_REAL(import_rows)(out, at, store, refunds, p);
}

/* A charge is made between any two batches. */
static apr_status_t rows_beside_charges(pay_import_t *out, int *at, pay_store_t *store,
                                        const apr_array_header_t *refunds, apr_pool_t *p)
{
    const char *reference = apr_psprintf(unit_pool, "order-%d", ++charged);
    pay_api_key_t *key = shop_key(shop, PAY_TEST);
    pay_charge_t *charge;

    ck_assert_ptr_null(charge_create(&charge, key, reference, "tok_test_success"));
    return STORE_REAL(import_rows)(out, at, store, refunds, p);
}

/* The first batch goes in, the others do not. */
static apr_status_t rows_once(pay_import_t *out, int *at, pay_store_t *store,
                              const apr_array_header_t *refunds, apr_pool_t *p)
{
    *at = 0;
    return out->written ? PAY_STORE_EFULL : STORE_REAL(import_rows)(out, at, store, refunds, p);
}

static apr_status_t finish_fails(pay_import_t *import_run, pay_store_t *store, apr_pool_t *p)
{
    (void)import_run, (void)store, (void)p;
    return PAY_STORE_EFULL;
}

static apr_status_t abort_busy(pay_import_t *import_run, pay_store_t *store, apr_pool_t *p)
{
    if (abort_tries++ < 2) {
        return PAY_STORE_EBUSY;
    }
    return STORE_REAL(import_abort)(import_run, store, p);
}

static apr_status_t abort_fails(pay_import_t *import_run, pay_store_t *store, apr_pool_t *p)
{
    (void)import_run, (void)store, (void)p;
    abort_tries++;
    return PAY_STORE_EDOWN;
}

static apr_status_t begin_busy(pay_import_t *out, pay_store_t *store, const pay_scope_t *where,
                               apr_pool_t *p)
{
    (void)store, (void)where, (void)p;
    memset(out, 0, sizeof(*out));
    return APR_EBUSY;
}

static apr_status_t begin_and_cut(pay_import_t *out, pay_store_t *store, const pay_scope_t *where,
                                  apr_pool_t *p)
{
    ck_assert_int_eq(truncate(changing_path, (off_t)strlen(record("1")) + 1), 0);
    return STORE_REAL(import_begin)(out, store, where, p);
}

static void fail_on_fault(void *baton, const char *text)
{
    ck_abort_msg("%s: %s", (const char *)baton, text);
}

static void check_charge(const char *name, apr_int64_t refunded)
{
    pay_charge_t *charge;
    apr_size_t faults;

    ck_assert_int_eq(pay_store_charge_find(&charge, shop->store, &scope, "order-1", unit_pool),
                     APR_SUCCESS);
    ck_assert_msg(charge->refunded_minor == refunded, "%s: refunded %d", name,
                  (int)charge->refunded_minor);
    ck_assert_msg(charge->state == (refunded == 1050 ? PAY_CHARGE_REVERSED : PAY_CHARGE_SUCCESSFUL),
                  "%s: state %d", name, charge->state);
    ck_assert_int_eq(pay_store_check(&faults, shop->store, fail_on_fault, (void *)name, unit_pool),
                     APR_SUCCESS);
    ck_assert_uint_eq(faults, 0);
}

/* The first batch refunds all of order-1; then something fails. */
static const struct {
    const char *name;
    int twin; /* of the last line, 0: none */
    __typeof__(rows_once) *rows;
    __typeof__(finish_fails) *finish, *abort;
    apr_status_t want;
    const char *want_fault;
    int want_tries;
    apr_int64_t want_refunded;
} take_back_cases[] = {
    {"the second batch conflicts", 2, NULL, NULL, NULL, APR_EINVAL, "line 401: The id or", 0, 0},
    {"the store is full", 0, rows_once, NULL, NULL, PAY_STORE_EFULL, "", 0, 0},
    {"the end fails", 0, NULL, finish_fails, NULL, PAY_STORE_EFULL, "", 0, 0},
    {"no writer lock to take it back", 2, NULL, NULL, abort_busy, APR_EINVAL, "line 401: The id or",
     3, 0},
    {"not taken back", 2, NULL, NULL, abort_fails, APR_EINVAL, "line 401: The id or", 1, 1050},
};

START_TEST(test_failure_is_taken_back)
{
    const char *name = take_back_cases[_i].name, *want = take_back_cases[_i].want_fault;
    pay_import_result_t result;
    pay_api_key_t *key;
    pay_charge_t *charge;
    const char *text;

    set_up();
    abort_tries = 0;
    key = shop_key(shop, PAY_TEST);
    ck_assert_ptr_null(charge_create(&charge, key, "order-1", "tok_test_success"));
    text = "{\"id\":\"all\",\"refundReference\":\"all\",\"amount\":\"10.50\",\"currency\":\"NGN\","
           "\"createdAt\":\"2026-01-02T03:04:05Z\",\"transactionReference\":\"order-1\"}\n";
    text = apr_pstrcat(unit_pool, text, lines_of(400, take_back_cases[_i].twin), NULL);
    store_script.import_rows = take_back_cases[_i].rows ?: STORE_REAL(import_rows);
    store_script.import_finish = take_back_cases[_i].finish ?: STORE_REAL(import_finish);
    store_script.import_abort = take_back_cases[_i].abort ?: STORE_REAL(import_abort);
    result = import(file_of(text), take_back_cases[_i].want);
    ck_assert_msg(!strncmp(result.fault, want, strlen(want)), "%s: %s", name, result.fault);
    ck_assert_uint_eq(result.written, 0);
    ck_assert_int_eq(abort_tries, take_back_cases[_i].want_tries);
    ck_assert_msg(logged("PAY00241: ") == (take_back_cases[_i].abort == abort_fails), "%s", name);
    check_charge(name, take_back_cases[_i].want_refunded);
    /* Anything that is left is removed by the next one; "all" is not there any more. */
    store_script = (store_script_t){0};
    ck_assert_uint_eq(import(file_of(record("all")), APR_SUCCESS).written, 1);
    check_charge(name, 0);
}
END_TEST

static const struct {
    const char *name;
    int busy;
    apr_status_t want;
} busy_cases[] = {
    {"for a while", 29, APR_SUCCESS},
    {"for too long", 30, PAY_STORE_EBUSY},
};

START_TEST(test_busy)
{
    pay_import_result_t result;

    set_up();
    busy_left = busy_cases[_i].busy;
    store_script.import_rows = rows_busy;
    result = import(file_of(record("a")), busy_cases[_i].want);
    ck_assert_msg(result.written == (busy_cases[_i].want == APR_SUCCESS), "%s",
                  busy_cases[_i].name);
}
END_TEST

START_TEST(test_beside_charges)
{
    apr_size_t count;

    set_up();
    store_script.import_rows = rows_beside_charges;
    ck_assert_uint_eq(import(file_of(lines_of(3000, 0)), APR_SUCCESS).written, 3000);
    ck_assert_int_gt(charged, 2);
    (void)list_all(&count);
    ck_assert_uint_eq(count, 3000);
}
END_TEST

START_TEST(test_another_is_running)
{
    set_up();
    store_script.import_begin = begin_busy;
    ck_assert_str_eq(import(file_of(record("a")), APR_EBUSY).fault,
                     "Another import for this account and mode is running.");
}
END_TEST

START_TEST(test_file_changes)
{
    apr_size_t count;

    set_up();
    changing_path = file_of(lines_of(3, 0));
    store_script.import_begin = begin_and_cut;
    ck_assert_str_eq(import(changing_path, APR_EINVAL).fault,
                     "The file was changed while it was imported.");
    (void)list_all(&count);
    ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(test_no_file)
{
    pay_import_result_t result;
    apr_status_t rv;

    set_up();
    rv = pay_refund_import(&result, &shop->service, &scope, "/nonexistent/refunds.json", NULL, NULL,
                           unit_pool);
    ck_assert(APR_STATUS_IS_ENOENT(rv));
    ck_assert_ptr_nonnull(result.fault);
    ck_assert_str_eq(import(unit_dir(), APR_EINVAL).fault, "This is not a regular file.");
}
END_TEST

static void count_progress(void *baton, int pass, apr_uint64_t done, apr_uint64_t total)
{
    apr_uint64_t *last = baton;

    ck_assert(done >= last[pass]);
    ck_assert_uint_eq(total, pass == 1 ? 0 : 3000);
    last[pass] = done;
}

START_TEST(test_progress)
{
    apr_uint64_t last[3] = {0, 0, 0};
    pay_import_result_t result;

    set_up();
    ck_assert_int_eq(pay_refund_import(&result, &shop->service, &scope, file_of(lines_of(3000, 0)),
                                       count_progress, last, unit_pool),
                     APR_SUCCESS);
    ck_assert_uint_eq(last[1], 3000);
    ck_assert_uint_eq(last[2], 3000);
}
END_TEST

static int empty_batches;

static apr_status_t rows_counted(pay_import_t *run, int *at, pay_store_t *store,
                                 const apr_array_header_t *refunds, apr_pool_t *p)
{
    empty_batches += refunds->nelts == 0;
    return STORE_REAL(import_rows)(run, at, store, refunds, p);
}

static void pass_time(void *baton, int pass, apr_uint64_t done, apr_uint64_t total)
{
    (void)done, (void)total;
    if (pass == 2) {
        unit_boot_pass(*(const int *)baton);
    }
}

/* Another machine takes an import that writes nothing for long for an abandoned one: with a
 * thousand known records in a row it shows now and then that it goes on. */
START_TEST(test_nothing_new_for_long)
{
    const pay_mode_t live = PAY_LIVE;
    apr_array_header_t *all = apr_array_make(unit_pool, 1, sizeof(const char *));
    const char *more;
    pay_import_result_t result;
    pay_account_t *account;
    pay_charge_t *charge;
    int i, step_ms = _i ? 30 * 1000 : 0;

    set_up();
    unit_boot_stop(1000);
    ck_assert_int_eq(pay_store_account_set(&account, shop->store, "demo", NULL, &live, unit_pool),
                     APR_SUCCESS);
    shop->service.acquirer[PAY_LIVE] = &script_tokens_acquirer;
    scope.mode = PAY_LIVE;
    memset(&script, 0, sizeof(script));
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_DECLINED};
    ck_assert_ptr_null(charge_create(&charge, shop_key(shop, PAY_LIVE), "order-1", "tok"));
    more = apr_psprintf(unit_pool, ",\"transactionReference\":\"%s\"", charge->acquirer_reference);
    for (i = 0; i < 3 * PAY_STORE_ROWS_MAX; i++) {
        APR_ARRAY_PUSH(all, const char *) =
            record_with(apr_psprintf(unit_pool, "i%d", i), apr_psprintf(unit_pool, "r%d", i), more);
    }
    empty_batches = 0;
    store_script.import_rows = rows_counted;
    ck_assert_int_eq(pay_refund_import(&result, &shop->service, &scope,
                                       file_of(apr_array_pstrcat(unit_pool, all, '\n')), pass_time,
                                       &step_ms, unit_pool),
                     APR_SUCCESS);
    ck_assert(result.written == 0 && result.skipped == 3 * PAY_STORE_ROWS_MAX);
    ck_assert_int_eq(empty_batches > 1, _i);
    ck_assert_int_eq(empty_batches == 0, !_i);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_nothing_new_for_long, 0, 2);
    tcase_add_loop_test(tcase, test_forms, 0, 2);
    tcase_add_test(tcase, test_nothing_to_do);
    tcase_add_loop_test(tcase, test_fault, 0, UNIT_ROWS(fault_cases));
    tcase_add_test(tcase, test_all_faults_of_a_line);
    tcase_add_loop_test(tcase, test_batches, 0, UNIT_ROWS(batch_cases));
    tcase_add_test(tcase, test_known_charge);
    tcase_add_loop_test(tcase, test_given_back_late, 0, 2);
    tcase_add_loop_test(tcase, test_books, 0, UNIT_ROWS(book_cases));
    tcase_add_loop_test(tcase, test_failure_is_taken_back, 0, UNIT_ROWS(take_back_cases));
    tcase_add_loop_test(tcase, test_busy, 0, UNIT_ROWS(busy_cases));
    tcase_add_test(tcase, test_beside_charges);
    tcase_add_test(tcase, test_another_is_running);
    tcase_add_test(tcase, test_file_changes);
    tcase_add_test(tcase, test_no_file);
    tcase_add_test(tcase, test_progress);
}

UNIT_PROGRAM(add)
