/* SPDX-License-Identifier: Apache-2.0 */

/* Which refund a request repeats, and that at most one is examined to know. */

#include "till.h"

#include "between.h"
#include "store/payment/charge.h"
#include "store/payment/refund.h"
#include "store/record/epoch.h"

#define WINDOW apr_time_from_sec(600)
#define HOUR apr_time_from_sec(3600)
#define HISTORY 20000 /* imported refunds of one charge */
#define OWN 200       /* refunds of it that were made here */
#define CHUNK 1000    /* rows of one import transaction */
#define STEPS_MAX 40  /* look-ups in tables that one request may take */
#define LIVE 1        /* the scope of Live Mode */

/* A request for a part of "order-1" with this note. */
static pay_refund_verdict_t ask(pay_refund_t **out, int i, apr_int64_t amount_minor,
                                const char *note, const pay_idempotency_t *use)
{
    pay_refund_t *proposal = till_refund_proposal(i, "order-1", amount_minor);
    pay_refund_verdict_t verdict;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;

    proposal->customer_note = note;
    ck_assert_int_eq(pay_store_refund_open(out, &charge, &verdict, &record, till->store, proposal,
                                           use, WINDOW, unit_pool),
                     APR_SUCCESS);
    return verdict;
}

/* Opened and decided; its reference. */
static const char *make(int i, apr_int64_t amount_minor, const char *note, pay_outcome_kind_t kind)
{
    pay_refund_t *refund;
    const char *reference;

    ck_assert_int_eq(ask(&refund, i, amount_minor, note, NULL), PAY_REFUND_OPENED);
    reference = refund->refund_reference;
    (void)till_refund_resolve(&refund, i, reference, kind);
    return reference;
}

static void check_repeats(int i, apr_int64_t amount_minor, const char *note, const char *want)
{
    pay_refund_t *refund;

    ck_assert_int_eq(ask(&refund, i, amount_minor, note, NULL), PAY_REFUND_REFUSED_REPEATED);
    ck_assert_str_eq(refund->refund_reference, want);
}

static const struct {
    const char *name;
    apr_interval_time_t passed, step; /* time that passes, and by which the wall clock is set */
    int restarted;                    /* the machine */
    int again;                        /* 1: by then it is a request of its own */
} window_cases[] = {
    {"at once", 0, 0, 0, 0},
    {"at its end", WINDOW, 0, 0, 0},
    {"behind its end", WINDOW + 1000, 0, 0, 1},
    {"the clock set ahead", 0, 365 * 24 * HOUR, 0, 0},
    {"the clock set back", 0, -365 * 24 * HOUR, 0, 0},
    {"set back, and behind its end", WINDOW + 1000, -HOUR, 0, 1},
    {"started again, at once", 0, 0, 1, 0},
    {"started again, behind its end", WINDOW + 1000, 0, 1, 1},
    {"started again, and the clock set back", WINDOW + 1000, -HOUR, 1, 0},
};

/* The window is one of the boot clock's; if that cannot decide, a clock that was set back does not
 * make anything look old. */
START_TEST(test_window)
{
    const char *reference;
    pay_refund_t *refund;

    (void)till_charge(0, "order-1", 1000);
    reference = make(0, 100, "n", PAY_OUTCOME_APPROVED);
    till_clock += window_cases[_i].passed + window_cases[_i].step;
    till_steps += window_cases[_i].step;
    till_boot += window_cases[_i].restarted;
    if (window_cases[_i].again) {
        ck_assert_msg(ask(&refund, 0, 100, "n", NULL) == PAY_REFUND_OPENED, "%s",
                      window_cases[_i].name);
    } else {
        check_repeats(0, 100, "n", reference);
    }
}
END_TEST

static const struct {
    const char *name;
    apr_int64_t part; /* of 1,000, refunded at last */
} complete_cases[] = {
    {"all at once, by its amount", 1000},
    {"what was left", 400},
};

/* The retry of the refund that completed the charge is a repetition, not a new request (R3). */
START_TEST(test_of_the_one_that_completed_the_charge)
{
    const char *name = complete_cases[_i].name, *reference;
    apr_int64_t part = complete_cases[_i].part;
    pay_refund_t *refund;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        if (part < 1000) {
            (void)make(i, 1000 - part, "n", PAY_OUTCOME_APPROVED);
        }
        reference = make(i, part, "n", PAY_OUTCOME_APPROVED);
        ck_assert_int_eq(till_find(i, "order-1")->state, PAY_CHARGE_REVERSED);
        check_repeats(i, part, "n", reference);
        ck_assert_msg(ask(&refund, i, part, "other", NULL) == PAY_REFUND_REFUSED_FULL, "%s", name);
        ck_assert_msg(ask(&refund, i, part - 1, "n", NULL) == PAY_REFUND_REFUSED_FULL, "%s", name);
        ck_assert_msg(ask(&refund, i, 0, "n", NULL) == PAY_REFUND_REFUSED_FULL, "%s", name);
        ck_assert_msg(ask(&refund, i, part, "n", till_use(PAY_OPERATION_PARTIAL_REFUND, "k", "r"))
                          == PAY_REFUND_REFUSED_FULL,
                      "%s", name);
    }
    till_clock += WINDOW + 1000;
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_msg(ask(&refund, i, part, "n", NULL) == PAY_REFUND_REFUSED_FULL, "%s", name);
    }
    till_check_clean();
}
END_TEST

/* A clock that went back, and forward again, hides no recent refund. */
START_TEST(test_clock_steps_back)
{
    const char *first[TILL_SCOPES], *second[TILL_SCOPES];
    pay_refund_t *refund;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-1", 1000);
        first[i] = make(i, 100, "n", PAY_OUTCOME_APPROVED);
    }
    till_clock -= HOUR;
    for (i = 0; i < TILL_SCOPES; i++) {
        second[i] = make(i, 200, "n", PAY_OUTCOME_APPROVED);
        check_repeats(i, 200, "n", second[i]);
        check_repeats(i, 100, "n", first[i]);
        ck_assert(till_find(i, "order-1")->updated_at == TILL_NOW); /* it never goes back */
    }
    till_clock += HOUR + apr_time_from_sec(5);
    for (i = 0; i < TILL_SCOPES; i++) {
        check_repeats(i, 100, "n", first[i]);
        ck_assert_int_eq(ask(&refund, i, 200, "n", NULL), PAY_REFUND_OPENED); /* long ago */
        ck_assert(till_find(i, "order-1")->updated_at == till_clock);
    }
    till_check_clean();
}
END_TEST

/* ---- a store that was put back */

static int put_back_work(pay_rows_txn_t *txn, void *baton)
{
    const int *confirmed = baton;
    pay_epoch_t epoch;
    int rc;
    rc = pay_store_epoch_load(&epoch, txn);
    epoch.held = !*confirmed;
    if (!*confirmed) {
        epoch.number = 7;
        epoch.began_at = till_clock;
        epoch.began = pay_moment_now();
    }
    return rc ? rc : pay_store_epoch_store(txn, &epoch);
}

static void import_one(apr_time_t created_at)
{
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(pay_refund_t *));
    pay_import_t import;
    int at;

    APR_ARRAY_PUSH(rows, pay_refund_t *) =
        till_history(LIVE, 1, created_at, PAY_REFUND_PROCESSED, "order-1", 100);
    ck_assert_int_eq(pay_store_import_begin(&import, till->store, &till->scopes[LIVE], unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_rows(&import, &at, till->store, rows, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_finish(&import, till->store, unit_pool), APR_SUCCESS);
}

static const struct {
    const char *name;
    apr_interval_time_t held;         /* from the restore to the confirmation */
    apr_interval_time_t passed, step; /* since, as in window_cases */
    int restarted;
    int earlier; /* 1: an earlier version confirmed it, and noted no moment */
    int again;
    apr_interval_time_t age; /* of the fetched one, as its acquirer reports, at the restore */
} fetched_cases[] = {
    {"at once", 0, 0, 0, 0, 0, 0, HOUR},
    {"held over a weekend", 60 * HOUR, 23 * HOUR, 0, 0, 0, 0, HOUR},
    {"a day after that", 60 * HOUR, 24 * HOUR, 0, 0, 0, 1, HOUR},
    {"the clock set ahead", 60 * HOUR, HOUR, 365 * 24 * HOUR, 0, 0, 0, HOUR},
    {"the clock set back", 60 * HOUR, HOUR, -365 * 24 * HOUR, 0, 0, 0, HOUR},
    {"a day after, the clock set back", 60 * HOUR, 24 * HOUR, -24 * HOUR, 0, 0, 1, HOUR},
    {"started again", 60 * HOUR, 23 * HOUR, 0, 1, 0, 0, HOUR},
    {"started again, a day after", 60 * HOUR, 24 * HOUR, 0, 1, 0, 1, HOUR},
    {"an earlier version", 12 * HOUR, 11 * HOUR, 0, 0, 1, 0, HOUR},
    {"an earlier version, a day after the restore", 12 * HOUR, 12 * HOUR, 0, 0, 1, 1, HOUR},
    {"a clock that was a year ahead ever since", 0, 0, 0, 0, 0, 0, 365 * 24 * HOUR},
};

/* An equal fetched one stands for the request that is made again, for a day from when it can be
 * made again. */
START_TEST(test_fetched)
{
    const char *name = fetched_cases[_i].name;
    pay_refund_verdict_t verdict;
    const pay_account_t *unsynced;
    int confirmed = 0, was_held;
    pay_refund_t *refund;

    (void)till_charge(LIVE, "order-1", 1000);
    till_raw(put_back_work, &confirmed);
    import_one(TILL_NOW - fetched_cases[_i].age);
    ck_assert_int_eq(ask(&refund, LIVE, 100, "n", NULL), PAY_REFUND_REFUSED_HELD);
    till_clock += fetched_cases[_i].held;
    confirmed = 1;
    if (fetched_cases[_i].earlier) {
        till_raw(put_back_work, &confirmed);
    } else {
        ck_assert_int_eq(pay_store_epoch_confirm(&was_held, &unsynced, till->store, 1, unit_pool),
                         APR_SUCCESS);
        ck_assert_int_eq(was_held, 1);
    }
    till_clock += fetched_cases[_i].passed + fetched_cases[_i].step;
    till_steps += fetched_cases[_i].step;
    till_boot += fetched_cases[_i].restarted;
    ck_assert_int_eq(ask(&refund, LIVE, 99, "n", till_use(PAY_OPERATION_PARTIAL_REFUND, "o", "r")),
                     PAY_REFUND_OPENED);
    (void)till_refund_resolve(&refund, LIVE, refund->refund_reference, PAY_OUTCOME_APPROVED);
    verdict = ask(&refund, LIVE, 100, "n", till_use(PAY_OPERATION_PARTIAL_REFUND, "k", "r"));
    ck_assert_msg(verdict
                      == (fetched_cases[_i].again ? PAY_REFUND_OPENED : PAY_REFUND_REFUSED_FETCHED),
                  "%s: %d", name, verdict);
}
END_TEST

static int entries(pay_rows_txn_t *txn, void *baton)
{
    MDB_stat stat;
    int rc;

    rc = mdb_stat(txn->native, pay_lmdb_dbi(PAY_TABLE_REFUND_REPEAT), &stat);
    *(size_t *)baton = stat.ms_entries;
    return rc;
}

static void check_entries(size_t want)
{
    size_t count = 0;

    till_raw(entries, &count);
    ck_assert_uint_eq(count, want);
    till_check_clean();
}

/* One that failed, at once or later, moved nothing: a new request is opened. */
START_TEST(test_failed_ones_are_forgotten)
{
    pay_refund_t *refund;
    const char *earlier, *late;
    int changed;

    (void)till_charge(_i, "order-1", 1000);
    (void)make(_i, 100, "n", PAY_OUTCOME_DECLINED);
    check_entries(0);
    earlier = make(_i, 100, "n", PAY_OUTCOME_APPROVED);
    ck_assert_int_eq(ask(&refund, _i, 100, "n", till_use(PAY_OPERATION_PARTIAL_REFUND, "k", "r")),
                     PAY_REFUND_OPENED);
    late = refund->refund_reference;
    check_entries(2); /* a pending one has its own */
    (void)till_refund_resolve(&refund, _i, late, PAY_OUTCOME_APPROVED);
    check_repeats(_i, 100, "n", late);
    ck_assert_int_eq(
        pay_store_refund_fail(&refund, &changed, till->store, &till->scopes[_i], late, unit_pool),
        APR_SUCCESS);
    check_repeats(_i, 100, "n", earlier);
    ck_assert_int_eq(pay_store_refund_fail(&refund, &changed, till->store, &till->scopes[_i],
                                           earlier, unit_pool),
                     APR_SUCCESS);
    check_entries(0);
    ck_assert_int_eq(ask(&refund, _i, 100, "n", NULL), PAY_REFUND_OPENED);
}
END_TEST

/* No note is not the empty note, and neither is taken for the other. */
START_TEST(test_notes_apart)
{
    static const char *const notes[] = {NULL, "", "n"};
    pay_refund_t *refund, *proposal;
    pay_refund_verdict_t verdict;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;
    size_t c, m;

    (void)till_charge(_i, "order-1", 1000);
    for (c = 0; c < UNIT_ROWS(notes); c++) {
        for (m = 0; m < UNIT_ROWS(notes); m++) {
            proposal = till_refund_proposal(_i, "order-1", 10);
            proposal->customer_note = notes[c];
            proposal->merchant_note = notes[m];
            ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                                   proposal, NULL, WINDOW, unit_pool),
                             APR_SUCCESS);
            ck_assert_int_eq(verdict, PAY_REFUND_OPENED);
            (void)till_refund_resolve(&refund, _i, refund->refund_reference, PAY_OUTCOME_APPROVED);
        }
    }
    check_entries(UNIT_ROWS(notes) * UNIT_ROWS(notes));
}
END_TEST

/* Charges whose numbers are neighbours, and the table's first and last entries, are kept apart. */
START_TEST(test_other_charges)
{
    pay_refund_t *refund;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_charge(i, "order-0", 1000);
        (void)till_charge(i, "order-1", 1000);
        (void)till_charge(i, "order-2", 1000);
        refund = till_refund(i, i % 2 ? "order-0" : "order-2", 100, PAY_REFUND_OPENED);
        ck_assert_ptr_nonnull(refund);
        ck_assert_int_eq(ask(&refund, i, 100, refund->customer_note, NULL), PAY_REFUND_OPENED);
    }
    check_entries((size_t)(2 * TILL_SCOPES));
}
END_TEST

/* Imported history is never a repetition, and none of it is examined. */
static void import_history(void)
{
    pay_import_t import;
    apr_array_header_t *rows;
    apr_pool_t *p;
    int n, at;

    ck_assert_int_eq(pay_store_import_begin(&import, till->store, &till->scopes[0], unit_pool),
                     APR_SUCCESS);
    for (n = 0; n < HISTORY;) {
        ck_assert_int_eq(apr_pool_create(&p, unit_pool), APR_SUCCESS);
        rows = apr_array_make(p, CHUNK, sizeof(pay_refund_t *));
        do {
            n++;
            APR_ARRAY_PUSH(rows, pay_refund_t *) =
                till_history(0, n, TILL_NOW - 1000 * n, PAY_REFUND_PROCESSED, "order-1", 1);
        } while (n % CHUNK != 0);
        ck_assert_int_eq(pay_store_import_rows(&import, &at, till->store, rows, p), APR_SUCCESS);
        apr_pool_destroy(p);
    }
    ck_assert_int_eq(pay_store_import_finish(&import, till->store, unit_pool), APR_SUCCESS);
}

static int steps_of(pay_refund_verdict_t want, apr_int64_t amount_minor, const char *note)
{
    pay_refund_t *refund;

    between_looks = 0;
    ck_assert_int_eq(ask(&refund, 0, amount_minor, note, NULL), want);
    return between_looks;
}

START_TEST(test_cost_does_not_grow)
{
    int opened, repeated, busy, above, n;
    pay_refund_t *refund;

    (void)till_charge(0, "order-1", 10 * (HISTORY + OWN));
    opened = steps_of(PAY_REFUND_OPENED, 3, "first");
    repeated = steps_of(PAY_REFUND_REFUSED_REPEATED, 3, "first");
    busy = steps_of(PAY_REFUND_REFUSED_BUSY, 1, "n");
    above = steps_of(PAY_REFUND_REFUSED_ABOVE, 20 * (HISTORY + OWN), "n");
    ck_assert_int_gt(repeated, 0);
    ck_assert_int_le(opened, STEPS_MAX);
    (void)till_refund_resolve(&refund, 0, "rfd_1", PAY_OUTCOME_APPROVED);
    import_history();
    for (n = 0; n < OWN; n++) { /* alike, as keys allow */
        ck_assert_int_eq(
            ask(&refund, 0, 1, "n",
                till_use(PAY_OPERATION_PARTIAL_REFUND, apr_psprintf(unit_pool, "key-%d", n), "r")),
            PAY_REFUND_OPENED);
        (void)till_refund_resolve(&refund, 0, refund->refund_reference, PAY_OUTCOME_APPROVED);
    }
    ck_assert_int_eq(steps_of(PAY_REFUND_REFUSED_REPEATED, 3, "first"), repeated);
    ck_assert_int_eq(steps_of(PAY_REFUND_REFUSED_REPEATED, 1, "n"), repeated);
    ck_assert_int_eq(steps_of(PAY_REFUND_REFUSED_ABOVE, 20 * (HISTORY + OWN), "n"), above);
    ck_assert_int_le(steps_of(PAY_REFUND_OPENED, 4, "last"), opened);
    ck_assert_int_eq(steps_of(PAY_REFUND_REFUSED_BUSY, 2, "n"), busy);
}
END_TEST

/* Changes a row's value of newest behind the store's back. */
START_TEST(test_damaged)
{
    pay_store_key_t key, nowhere;
    pay_refund_t *refund, *found;
    const char *reference;
    int changed;

    (void)till_charge(_i, "order-1", 1000);
    reference = make(_i, 100, "n", PAY_OUTCOME_APPROVED);
    ck_assert_int_eq(
        pay_store_refund_find(&found, till->store, &till->scopes[_i], reference, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(pay_store_refund_repeat_key(&key, found), 0);
    pay_store_refund_key(&nowhere, &till->scopes[_i], TILL_NOW, 99);
    till_plant(PAY_TABLE_REFUND_REPEAT, &key, nowhere.bytes, nowhere.len);
    ck_assert_int_eq(till_faults("no refund that could be repeated"), 2);
    ck_assert_ptr_nonnull(strstr(till_fault, "refund_repeat"));
    till_plant(PAY_TABLE_REFUND_REPEAT, &key, NULL, 0);
    ck_assert_int_eq(till_faults("table refund_repeat does not lead to it"), 1);
    /* Its outcome is still stored. */
    ck_assert_int_eq(pay_store_refund_fail(&refund, &changed, till->store, &till->scopes[_i],
                                           reference, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    till_check_clean();
    /* An entry that outlived its refund refuses nothing. */
    pay_store_refund_key(&nowhere, &till->scopes[_i], found->created_at, found->seq);
    till_plant(PAY_TABLE_REFUND_REPEAT, &key, nowhere.bytes, nowhere.len);
    ck_assert_int_eq(till_faults("no refund that could be repeated"), 1);
    ck_assert_int_eq(ask(&refund, _i, 100, "n", NULL), PAY_REFUND_OPENED);
}
END_TEST

START_TEST(test_entry_that_leads_nowhere)
{
    pay_store_key_t key, nowhere;
    pay_refund_verdict_t verdict;
    pay_refund_t *refund;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;
    apr_status_t rv;

    (void)till_charge(_i, "order-1", 1000);
    refund = till_refund(_i, "order-1", 100, PAY_REFUND_OPENED);
    ck_assert_int_eq(pay_store_refund_repeat_key(&key, refund), 0);
    pay_store_refund_key(&nowhere, &till->scopes[_i], TILL_NOW, 99);
    till_plant(PAY_TABLE_REFUND_REPEAT, &key, nowhere.bytes, nowhere.len);
    memset(till_lines, 0, sizeof(till_lines));
    rv = pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                               till_refund_proposal(_i, "order-1", 100), NULL, WINDOW, unit_pool);
    ck_assert_int_eq(rv, PAY_STORE_ECORRUPT);
    ck_assert_int_eq(till_lines[PAY_LOG_ERR], 1);
    ck_assert_ptr_nonnull(strstr(till_line, "refund_repeat"));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_window, 0, UNIT_ROWS(window_cases));
    tcase_add_loop_test(tcase, test_of_the_one_that_completed_the_charge, 0,
                        UNIT_ROWS(complete_cases));
    tcase_add_test(tcase, test_clock_steps_back);
    tcase_add_loop_test(tcase, test_fetched, 0, UNIT_ROWS(fetched_cases));
    tcase_add_loop_test(tcase, test_failed_ones_are_forgotten, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_notes_apart, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_other_charges);
    tcase_add_test(tcase, test_cost_does_not_grow);
    tcase_add_loop_test(tcase, test_damaged, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_entry_that_leads_nowhere, 0, TILL_SCOPES);
}

UNIT_PROGRAM(add)
