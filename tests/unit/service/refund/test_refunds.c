/* SPDX-License-Identifier: Apache-2.0 */
#include "service/refund/refunds.h"

#include "base/text/writer.h"
#include "limited.h"
#include "service/charge/charges.h"
#include "shop.h"
#include "watched.h"

static shop_t *shop;
static pay_api_key_t *key;
static pay_caller_t caller;
static int replayed;

/* A shop with charge "order-1" of 10.50 NGN. */
static void set_up(const pay_acquirer_t *acquirer, const char *token)
{
    pay_charge_t *charge;

    shop = shop_open(unit_dir());
    shop->service.acquirer[PAY_TEST] = acquirer;
    key = shop_key(shop, PAY_TEST);
    memset(&script, 0, sizeof(script));
    script.outcome = (pay_outcome_t){.kind = PAY_OUTCOME_APPROVED,
                                     .code = "00",
                                     .message = "Approved",
                                     .authorization_code = ""};
    caller = pay_caller_of_key(key, NULL);
    ck_assert_ptr_null(pay_charge_create(&charge, &replayed, &shop->service, &caller,
                                         shop_request("order-1", token), "", unit_pool));
    script.calls = 0;
}

static const pay_problem_t *refund_noted(pay_refund_t **out, const char *reference,
                                         const char *amount, const char *customer_note,
                                         const char *merchant_note)
{
    const pay_refund_request_t request = {reference, amount, customer_note, merchant_note, "API"};

    return pay_refund_create(out, &replayed, &shop->service, &caller, &request, unit_pool);
}

static const pay_problem_t *refund(pay_refund_t **out, const char *reference, const char *amount)
{
    return refund_noted(out, reference, amount, NULL, NULL);
}

static pay_charge_t *charge_now(void)
{
    pay_charge_t *charge;

    ck_assert_int_eq(
        STORE_REAL(charge_find)(&charge, shop->store, &key->scope, "order-1", unit_pool),
        APR_SUCCESS);
    return charge;
}

START_TEST(test_record)
{
    pay_refund_t *made, *found;

    set_up(&shop_simulator, "tok_test_success");
    ck_assert_ptr_null(refund_noted(&made, "order-1", "4.20", "for you", "for us"));
    ck_assert_int_eq(made->state, PAY_REFUND_PROCESSED);
    ck_assert_int_eq(made->money.amount_minor, 420);
    ck_assert_str_eq(made->money.currency, "NGN");
    ck_assert_str_eq(made->customer_note, "for you");
    ck_assert_str_eq(made->merchant_note, "for us");
    ck_assert_str_eq(made->channel, "API");
    ck_assert_str_eq(made->transaction_reference, "order-1");
    ck_assert_str_eq(made->acquirer, "simulator");
    ck_assert_str_eq(made->key_id, key->id);
    ck_assert_int_eq(strncmp(made->id, "ref_", 4), 0);
    ck_assert_int_eq(strncmp(made->refund_reference, "rfd_", 4), 0);
    ck_assert_str_ne(made->id + 4, made->refund_reference + 4);
    ck_assert_int_eq(charge_now()->refunded_minor, 420);
    ck_assert_int_eq(charge_now()->state, PAY_CHARGE_SUCCESSFUL);

    ck_assert_ptr_null(
        pay_refund_get(&found, &shop->service, &key->scope, made->refund_reference, unit_pool));
    ck_assert_str_eq(found->id, made->id);
    shop_check_problem("by id",
                       pay_refund_get(&found, &shop->service, &key->scope, made->id, unit_pool),
                       404, "N1");
    ck_assert_ptr_null(found);
}
END_TEST

/* Refunds of one charge of 10.50 NGN, one after the other. */
static const struct {
    const char *name;
    const char *token;
    const char *amounts[3]; /* "all", or NULL: no more */
    const char *codes[3];   /* of the problem, "" for none */
    apr_int64_t refunded_minor;
    pay_charge_state_t state;
} series_cases[] = {
    {"all", "tok_test_success", {"all", "all"}, {"", "R3"}, 1050, PAY_CHARGE_REVERSED},
    {"exactly all", "tok_test_success", {"10.50", "0.01"}, {"", "R3"}, 1050, PAY_CHARGE_REVERSED},
    {"part, the rest", "tok_test_success", {"4", "all"}, {"", ""}, 1050, PAY_CHARGE_REVERSED},
    {"part, exactly the rest",
     "tok_test_success",
     {"4", "6.50", "all"},
     {"", "", "R3"},
     1050,
     PAY_CHARGE_REVERSED},
    {"above", "tok_test_success", {"10.51"}, {"R2"}, 0, PAY_CHARGE_SUCCESSFUL},
    {"above the rest", "tok_test_success", {"4", "6.51"}, {"", "R2"}, 400, PAY_CHARGE_SUCCESSFUL},
    {"the same part", "tok_test_success", {"4", "4.00"}, {"", "R5"}, 400, PAY_CHARGE_SUCCESSFUL},
    {"of a declined one", "tok_test_declined", {"all", "1"}, {"R1", "R1"}, 0, PAY_CHARGE_FAILED},
    {"of a pending one", "tok_test_timeout", {"all"}, {"R1"}, 0, PAY_CHARGE_PENDING},
    {"refused", "tok_test_refund_fails", {"4", "4", "all"}, {"", "", ""}, 0, PAY_CHARGE_SUCCESSFUL},
};

START_TEST(test_series)
{
    const char *name = series_cases[_i].name, *amount, *code;
    const pay_problem_t *problem;
    pay_refund_t *made;
    int i;

    set_up(&shop_simulator, series_cases[_i].token);
    for (i = 0; i < 3 && series_cases[_i].amounts[i]; i++) {
        amount = series_cases[_i].amounts[i];
        code = series_cases[_i].codes[i];
        problem = refund(&made, "order-1", strcmp(amount, "all") ? amount : NULL);
        if (*code) {
            shop_check_problem(name, problem, 409, code);
            ck_assert_ptr_null(made);
        } else {
            ck_assert_msg(problem == NULL, "%s: %s", name, problem ? problem->message : "");
        }
    }
    ck_assert_msg(charge_now()->refunded_minor == series_cases[_i].refunded_minor, "%s", name);
    ck_assert_msg(charge_now()->state == series_cases[_i].state, "%s", name);
    ck_assert_int_eq(charge_now()->refunds_pending_minor, 0);
}
END_TEST

START_TEST(test_refused_is_failed)
{
    pay_refund_t *made;

    set_up(&shop_simulator, "tok_test_refund_fails");
    ck_assert_ptr_null(refund(&made, "order-1", NULL));
    ck_assert_int_eq(made->state, PAY_REFUND_FAILED);
    ck_assert_int_eq(made->money.amount_minor, 1050);
}
END_TEST

START_TEST(test_repeated)
{
    const pay_problem_t *problem;
    pay_refund_t *first, *again;

    set_up(&shop_simulator, "tok_test_success");
    ck_assert_ptr_null(refund(&first, "order-1", "1"));
    problem = refund(&again, "order-1", "1.00");
    shop_check_problem("repeated", problem, 409, "R5");
    ck_assert_ptr_nonnull(strstr(problem->message, first->refund_reference));
    ck_assert_ptr_null(refund_noted(&again, "order-1", "1", "another note", NULL));
    shop->service.policy.refund_repeat_window = 0;
    ck_assert_ptr_null(refund(&again, "order-1", "1"));
    ck_assert_int_eq(charge_now()->refunded_minor, 300);
}
END_TEST

static void refund_meanwhile(const payments_charge_t *charge, const payments_refund_t *pending)
{
    const pay_problem_t *problem;
    pay_refund_t *out;

    ck_assert_int_eq(shop_stored(shop, charge->reference)->refunds_pending_minor,
                     pending->amount_minor);
    problem = refund(&out, "order-1", "2");
    shop_check_problem("at the acquirer", problem, 409, "R4");
    ck_assert_int_gt(problem->retry_after, 0);
    shop_check_problem("the same", refund(&out, "order-1", "1"), 409, "R5");
}

START_TEST(test_one_at_a_time)
{
    pay_refund_t *made;

    set_up(&script_acquirer, "tok_test_success");
    script.meanwhile = refund_meanwhile;
    ck_assert_ptr_null(refund(&made, "order-1", "1"));
    ck_assert_int_eq(script.calls, 1);
    script.meanwhile = NULL;
    ck_assert_ptr_null(refund(&made, "order-1", "2"));
    ck_assert_int_eq(charge_now()->refunded_minor, 300);
}
END_TEST

#define X10 "xxxxxxxxxx"
#define X100 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10
#define X500 X100 X100 X100 X100 X100

static const struct {
    const char *name;
    const char *reference;
    const char *amount;
    const char *customer_note;
    const char *merchant_note;
    int status;
    const char *fields;
} form_cases[] = {
    {"longest notes", "order-1", "1", X500, X500, 0, ""},
    {"unknown", "order-2", "1", NULL, NULL, 404, ""},
    {"unknown, bad note", "order-2", "1", X500 "x", NULL, 400, "/customer_note"},
    {"unknown, bad amount", "order-2", "nonsense", NULL, NULL, 400, "/amount"},
    {"unknown, decimals that some currency has", "order-2", "1.0005", NULL, NULL, 404, ""},
    {"unknown, decimals that none has", "order-2", "1.00005", NULL, NULL, 400, "/amount"},
    {"control character", "order-1", "1", "a\nb", "a\x7f", 400, "/customer_note/merchant_note"},
    {"malformed reference", "a/b", "1", NULL, NULL, 400, "/reference"},
    {"long reference", X100 "x", "1", NULL, NULL, 400, "/reference"},
    {"decimals", "order-1", "1.005", NULL, NULL, 400, "/amount"},
    {"no number", "order-1", "one", NULL, NULL, 400, "/amount"},
    {"empty amount", "order-1", "", NULL, NULL, 400, "/amount"},
    {"zero", "order-1", "0", NULL, NULL, 400, "/amount"},
    {"negative", "order-1", "-1", NULL, NULL, 400, "/amount"},
    {"beyond the limit", "order-1", "1000000000000", NULL, NULL, 400, "/amount"},
    {"a card number", "order-1", "1", NULL, "5555 5555 5555 4444", 400, "/merchant_note"},
    {"all at once", "order-1", "0", X500 "x", X500 "x", 400, "/amount/customer_note/merchant_note"},
};

START_TEST(test_form)
{
    const char *name = form_cases[_i].name;
    const pay_problem_t *problem;
    pay_refund_t *made;

    set_up(&script_acquirer, "tok_test_success");
    problem = refund_noted(&made, form_cases[_i].reference, form_cases[_i].amount,
                           form_cases[_i].customer_note, form_cases[_i].merchant_note);
    ck_assert_msg(!strcmp(shop_fields(problem), form_cases[_i].fields), "%s: %s", name,
                  shop_fields(problem));
    if (!form_cases[_i].status) {
        ck_assert_msg(problem == NULL, "%s: a problem", name);
        return;
    }
    shop_check_problem(name, problem, form_cases[_i].status,
                       form_cases[_i].status == 404 ? "N1" : "T1");
    if (form_cases[_i].status == 404) {
        ck_assert_str_eq(problem->message,
                         "no record found for transaction with reference order-2");
    }
    ck_assert_msg(script.calls == 0 && charge_now()->refunds_pending_minor == 0, "%s", name);
}
END_TEST

/* ---- faults */

static apr_status_t fault;

static apr_status_t open_fails(pay_refund_t **out, pay_charge_t **charge,
                               pay_refund_verdict_t *verdict, pay_idempotency_record_t **record,
                               pay_store_t *store, const pay_refund_t *proposal,
                               const pay_idempotency_t *use, apr_interval_time_t repeat_window,
                               apr_pool_t *p)
{
    (void)store, (void)proposal, (void)use, (void)repeat_window, (void)p;
    *out = NULL;
    *charge = NULL;
    *verdict = PAY_REFUND_OPENED;
    *record = NULL;
    return fault;
}

static apr_status_t open_late(pay_refund_t **out, pay_charge_t **charge,
                              pay_refund_verdict_t *verdict, pay_idempotency_record_t **record,
                              pay_store_t *store, const pay_refund_t *proposal,
                              const pay_idempotency_t *use, apr_interval_time_t repeat_window,
                              apr_pool_t *p)
{
    pay_refund_t late = *proposal;

    late.send_before_ms = pay_time_boot_ms() - 1;
    return STORE_REAL(refund_open)(out, charge, verdict, record, store, &late, use, repeat_window,
                                   p);
}

static apr_status_t resolve_fails(pay_refund_t **out, int *changed, pay_store_t *store,
                                  const pay_scope_t *scope, const char *refund_reference,
                                  const pay_outcome_t *outcome, apr_time_t due_at, apr_pool_t *p)
{
    (void)store, (void)scope, (void)refund_reference, (void)outcome, (void)due_at, (void)p;
    *out = NULL;
    *changed = 0;
    return PAY_STORE_EDOWN;
}

typedef enum slot_t { SLOT_NONE, SLOT_OPEN, SLOT_OPEN_LATE, SLOT_RESOLVE } slot_t;

static const struct {
    const char *name;
    slot_t slot;           /* of the store that fails */
    apr_status_t fault;    /* with this */
    apr_status_t answered; /* by the acquirer */
    int status;            /* 0: a refund in `state` */
    pay_refund_state_t state;
    int calls;
    apr_int64_t pending_minor;
} fault_cases[] = {
    {"well", SLOT_NONE, 0, APR_SUCCESS, 0, PAY_REFUND_PROCESSED, 1, 0},
    {"open: down", SLOT_OPEN, PAY_STORE_EDOWN, APR_SUCCESS, 503, 0, 0, 0},
    {"open: unknown", SLOT_OPEN, PAY_STORE_EUNKNOWN, APR_SUCCESS, 503, 0, 0, 0},
    {"open: gone", SLOT_OPEN, APR_NOTFOUND, APR_SUCCESS, 404, 0, 0, 0},
    {"opened too late", SLOT_OPEN_LATE, 0, APR_SUCCESS, 0, PAY_REFUND_FAILED, 0, 0},
    {"not sent", SLOT_NONE, 0, PAYMENTS_NOT_SENT, 0, PAY_REFUND_FAILED, 1, 0},
    {"acquirer: time-out", SLOT_NONE, 0, APR_TIMEUP, 0, PAY_REFUND_PENDING, 1, 100},
    {"resolve fails", SLOT_RESOLVE, 0, APR_SUCCESS, 0, PAY_REFUND_PENDING, 1, 100},
};

START_TEST(test_fault)
{
    const char *name = fault_cases[_i].name;
    const pay_problem_t *problem;
    const pay_acquirer_t *acquirer = limited(&script_acquirer, 4);
    pay_refund_t *made;

    set_up(acquirer, "tok_test_success");
    watch();
    fault = fault_cases[_i].fault;
    script.status = fault_cases[_i].answered;
    store_script.refund_open = fault_cases[_i].slot == SLOT_OPEN        ? open_fails
                               : fault_cases[_i].slot == SLOT_OPEN_LATE ? open_late
                                                                        : STORE_REAL(refund_open);
    if (fault_cases[_i].slot == SLOT_RESOLVE) {
        store_script.refund_resolve = resolve_fails;
    }
    problem = refund(&made, "order-1", "1");
    if (fault_cases[_i].status) {
        shop_check_problem(name, problem, fault_cases[_i].status,
                           fault_cases[_i].status == 404 ? "N1" : "E2");
        ck_assert_ptr_null(made);
    } else {
        ck_assert_msg(problem == NULL, "%s: %s", name, problem ? problem->message : "");
        ck_assert_msg(made->state == fault_cases[_i].state, "%s: %d", name, made->state);
    }
    ck_assert_msg(script.calls == fault_cases[_i].calls, "%s: %d calls", name, script.calls);
    ck_assert_msg(logged("PAY00210: ") == (fault_cases[_i].slot == SLOT_RESOLVE), "%s", name);
    ck_assert_msg(logged("PAY00211: ") == (fault_cases[_i].slot == SLOT_OPEN_LATE), "%s", name);
    ck_assert_msg(logged("PAY00212: ") == (fault_cases[_i].answered == PAYMENTS_NOT_SENT), "%s",
                  name);
    ck_assert_msg(pay_slots_count(acquirer->slots) == 0, "%s: a slot is kept", name);
    ck_assert_msg(charge_now()->refunds_pending_minor == fault_cases[_i].pending_minor, "%s", name);
}
END_TEST

START_TEST(test_failed_may_be_asked_for_again)
{
    pay_refund_t *made;

    set_up(&script_acquirer, "tok_test_success");
    script.status = PAYMENTS_NOT_SENT;
    ck_assert_ptr_null(refund(&made, "order-1", "1"));
    script.status = APR_SUCCESS;
    ck_assert_ptr_null(refund(&made, "order-1", "1"));
    ck_assert_int_eq(made->state, PAY_REFUND_PROCESSED);
}
END_TEST

START_TEST(test_refused_by_the_service)
{
    const pay_refund_request_t request = {"order-1", "1", NULL, NULL, "API"};
    const pay_acquirer_t *acquirer = limited(&script_acquirer, 1);
    const pay_problem_t *problem;
    pay_refund_t *made;
    int slot;

    set_up(&script_acquirer, "tok_test_success");
    caller.scope.mode = PAY_LIVE;
    problem = pay_refund_create(&made, &replayed, &shop->service, &caller, &request, unit_pool);
    shop_check_problem("live, Test Mode", problem, 403, "B02");
    caller.scope.mode = PAY_TEST;
    shop->service.acquirer[PAY_TEST] = &shop_simulator;
    shop_check_problem("charged elsewhere", refund(&made, "order-1", "1"), 503, "E2");
    shop->service.acquirer[PAY_TEST] = NULL;
    shop_check_problem("no acquirer", refund(&made, "order-1", "1"), 403, "B02");
    shop->service.acquirer[PAY_TEST] = acquirer;
    slot = pay_slots_take(acquirer->slots, 0);
    shop_check_problem("no place", refund(&made, "order-1", "1"), 503, "E2");
    ck_assert_int_eq(charge_now()->refunds_pending_minor, 0);
    pay_slots_give(acquirer->slots, slot);
    ck_assert_ptr_null(refund(&made, "order-1", "1"));
    ck_assert_int_eq(script.calls, 1);
}
END_TEST

/* "order-1" again, in Live Mode, through an acquirer with one place. */
static pay_acquirer_t *set_up_live(void)
{
    pay_acquirer_t *acquirer = apr_pmemdup(unit_pool, &script_tokens_acquirer, sizeof(*acquirer));
    pay_account_settings_t none = {.key_prefix = NULL};
    pay_mode_t mode = PAY_LIVE;
    pay_account_t *account;
    pay_charge_t *charge;

    set_up(&script_acquirer, "tok_test_success");
    acquirer->slots = slots_of(1);
    shop->service.acquirer[PAY_LIVE] = acquirer;
    ck_assert_int_eq(pay_store_account_set(&account, shop->store, "demo", &none, &mode, unit_pool),
                     APR_SUCCESS);
    key = shop_key(shop, PAY_LIVE);
    caller = pay_caller_of_key(key, NULL);
    ck_assert_ptr_null(pay_charge_create(&charge, &replayed, &shop->service, &caller,
                                         shop_request("order-1", "card_9"), "", unit_pool));
    script.calls = 0;
    return acquirer;
}

/* Each has a tag of its own before it is sent, and releases its place at the acquirer. */
START_TEST(test_live)
{
    const pay_acquirer_t *acquirer = set_up_live();
    pay_refund_t *one, *two;

    ck_assert_ptr_null(refund(&one, "order-1", "1"));
    ck_assert_int_eq(one->state, PAY_REFUND_PROCESSED);
    ck_assert_uint_eq(strlen(one->tag), PAY_TAG_LEN);
    ck_assert_int_eq(pay_slots_count(acquirer->slots), 0);
    script.status = PAYMENTS_NOT_SENT;
    ck_assert_ptr_null(refund(&two, "order-1", "2"));
    ck_assert_int_eq(two->state, PAY_REFUND_FAILED);
    ck_assert_uint_eq(strlen(two->tag), PAY_TAG_LEN);
    ck_assert_str_ne(one->tag, two->tag);
    ck_assert_int_eq(pay_slots_count(acquirer->slots), 0);
    ck_assert_int_eq(script.calls, 2);
}
END_TEST

/* The tool sends nothing: the refund waits for the server, which finds it at once. */
START_TEST(test_deferred)
{
    pay_refund_t *made;

    (void)set_up_live();
    shop->service.deferred = 1;
    shop->service.acquirer[PAY_LIVE] = NULL;
    ck_assert_ptr_null(refund(&made, "order-1", "1"));
    ck_assert_int_eq(made->state, PAY_REFUND_PENDING);
    ck_assert_int_eq(made->waiting, 1);
    ck_assert_int_le(made->due_at, pay_time_now());
    ck_assert_int_eq((int)made->worker.pid, 0);
    ck_assert_uint_eq(strlen(made->tag), PAY_TAG_LEN);
    ck_assert_int_eq(charge_now()->refunds_pending_minor, 100);
    ck_assert_int_eq(script.calls, 0);
}
END_TEST

/* Reconciliation settles it and the acquirer reverses it while its first caller waits. */
static void decide_and_take_back(const payments_charge_t *charge, const payments_refund_t *pending)
{
    pay_refund_t *out;
    int changed;

    (void)charge;
    ck_assert_int_eq(STORE_REAL(refund_resolve)(&out, &changed, shop->store, &key->scope,
                                                pending->reference, &script.outcome, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_refund_fail(&out, &changed, shop->store, &key->scope,
                                           pending->reference, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
}

/* The first answer is the one that replays get: that of the decision. */
START_TEST(test_taken_back_meanwhile)
{
    pay_writer_t *first = pay_writer_make(64, unit_pool), *again = pay_writer_make(64, unit_pool);
    pay_refund_t *made;

    set_up(&script_acquirer, "tok_test_success");
    caller.idempotency_key = "k-1";
    script.meanwhile = decide_and_take_back;
    ck_assert_ptr_null(refund(&made, "order-1", "4.20"));
    ck_assert_int_eq(replayed, 0);
    ck_assert_int_eq(made->state, PAY_REFUND_FAILED);
    pay_refund_answer_to_json(first, made);
    ck_assert_ptr_nonnull(strstr(first->text, "\"status\":\"processed\""));
    ck_assert_ptr_null(refund(&made, "order-1", "4.20"));
    ck_assert_int_eq(replayed, 1);
    pay_refund_answer_to_json(again, made);
    ck_assert_str_eq(again->text, first->text);
}
END_TEST

START_TEST(test_scan)
{
    static char buffer[PAY_STORE_CHUNK_SIZE];
    pay_time_range_t range = {0, 0};
    pay_refund_cursor_t cursor = {{0}, 0, 0, 0, 0, 0};
    pay_refund_t *made;
    apr_size_t len, count;

    set_up(&shop_simulator, "tok_test_success");
    ck_assert_ptr_null(refund(&made, "order-1", "1"));
    range.to = made->created_at;
    ck_assert_ptr_null(pay_refunds_scan(&cursor, &len, &count, &shop->service, &key->scope, &range,
                                        buffer, sizeof(buffer), unit_pool));
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(cursor.done, 1);
    ck_assert_ptr_nonnull(strstr(apr_pstrmemdup(unit_pool, buffer, len), made->refund_reference));
}
END_TEST

static apr_status_t find_fails(pay_refund_t **out, pay_store_t *store, const pay_scope_t *scope,
                               const char *refund_reference, apr_pool_t *p)
{
    (void)store, (void)scope, (void)refund_reference, (void)p;
    *out = NULL;
    return PAY_STORE_EDOWN;
}

static apr_status_t scan_fails(pay_refund_cursor_t *cursor, apr_size_t *len, apr_size_t *count,
                               pay_store_t *store, const pay_scope_t *scope,
                               const pay_time_range_t *range, char *buffer, apr_size_t size)
{
    (void)cursor, (void)len, (void)count, (void)store;
    (void)scope, (void)range, (void)buffer, (void)size;
    return PAY_STORE_EDOWN;
}

START_TEST(test_nothing_is_read)
{
    const pay_time_range_t all = {0, APR_INT64_MAX};
    pay_refund_cursor_t cursor = {{0}, 0, 0, 0, 0, 0};
    const pay_problem_t *problems[2];
    pay_refund_t *refund;
    apr_size_t len, count;
    char buffer[1];
    int i;

    set_up(&shop_simulator, "tok_test_success");
    store_script.refund_find = find_fails;
    store_script.refund_scan = scan_fails;
    problems[0] = pay_refund_get(&refund, &shop->service, &key->scope, "r1", unit_pool);
    problems[1] = pay_refunds_scan(&cursor, &len, &count, &shop->service, &key->scope, &all, buffer,
                                   sizeof(buffer), unit_pool);
    for (i = 0; i < 2; i++) {
        ck_assert_ptr_nonnull(problems[i]);
        ck_assert_int_eq(problems[i]->status, 503);
        ck_assert_int_eq(problems[i]->cause, PAY_STORE_EDOWN);
    }
    ck_assert_ptr_null(refund);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_record);
    tcase_add_loop_test(tcase, test_series, 0, UNIT_ROWS(series_cases));
    tcase_add_test(tcase, test_refused_is_failed);
    tcase_add_test(tcase, test_repeated);
    tcase_add_test(tcase, test_one_at_a_time);
    tcase_add_loop_test(tcase, test_form, 0, UNIT_ROWS(form_cases));
    tcase_add_loop_test(tcase, test_fault, 0, UNIT_ROWS(fault_cases));
    tcase_add_test(tcase, test_failed_may_be_asked_for_again);
    tcase_add_test(tcase, test_refused_by_the_service);
    tcase_add_test(tcase, test_live);
    tcase_add_test(tcase, test_deferred);
    tcase_add_test(tcase, test_taken_back_meanwhile);
    tcase_add_test(tcase, test_scan);
    tcase_add_test(tcase, test_nothing_is_read);
}

UNIT_PROGRAM(add)
