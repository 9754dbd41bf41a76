/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "checkout_goods.h"
#include "store/payment/charge.h"

#define SEC(n) apr_time_from_sec(n)
#define MANY 150 /* charges of a scope */
#define ALL_TIME                                                                                   \
    {                                                                                              \
        APR_INT64_MIN, APR_INT64_MAX                                                               \
    }

static const pay_time_range_t always = ALL_TIME;

static pay_charge_t *charge_in(int i, int n)
{
    static const char *const emails[] = {"ada@shop.example", "grace@shop.example", "",
                                         "e@x.example"};
    pay_charge_t *proposal = till_proposal(i, apr_psprintf(unit_pool, "order-%d", n), 100 + n);
    pay_checkout_t *checkout;
    pay_charge_t *charge;
    pay_claim_t claim;

    proposal->email = emails[(n * 7 / 3 + i) % UNIT_ROWS(emails)];
    if (n % 5 == 0) {
        apr_cpystrn(proposal->money.currency, "EUR", sizeof(proposal->money.currency));
    }
    if (n % 6 == 0) { /* an open one */
        proposal->kind = PAY_CHARGE_CHECKOUT;
        proposal->token = "";
        proposal->checkout = checkout = checkout_make(proposal->due_at, unit_pool);
        checkout->acquirer_url = "https://pay.example/1";
    }
    ck_assert_int_eq(pay_store_charge_open(&charge, &claim, till->store, proposal,
                                           n % 3 == 0   ? NULL
                                           : n % 4 == 0 ? till_outcome(PAY_OUTCOME_DECLINED)
                                                        : till_outcome(PAY_OUTCOME_APPROVED),
                                           NULL, unit_pool),
                     APR_SUCCESS);
    return charge;
}

/* The same in each scope, in turn; the clock steps back, and stands still, once. */
static void fill(void)
{
    int i, n;

    for (n = 1; n <= MANY; n++) {
        till_clock += n == 60 ? -SEC(30) : n % 7 == 0 ? 0 : SEC(1);
        for (i = 0; i < TILL_SCOPES; i++) {
            (void)charge_in(i, n);
        }
    }
}

#define STATE(state) (1U << PAY_CHARGE_##state)
#define OPEN (1U << PAY_CHARGE_WORD_OPEN)

static const struct {
    const char *name;
    pay_charge_filter_t filter;
    int none; /* 1: there is no such charge */
} filters[] = {
    {"all", {.range = ALL_TIME}, 0},
    {"one e-mail", {.email = "ada@shop.example", .range = ALL_TIME}, 0},
    {"another e-mail", {.email = "grace@shop.example", .range = ALL_TIME}, 0},
    {"an e-mail of nobody", {.email = "nobody@shop.example", .range = ALL_TIME}, 1},
    {"a state", {.words = STATE(FAILED), .range = ALL_TIME}, 0},
    {"two states", {.words = STATE(FAILED) | STATE(PENDING), .range = ALL_TIME}, 0},
    {"sent to an acquirer", {.words = STATE(PENDING), .range = ALL_TIME}, 0},
    {"an open checkout", {.words = OPEN, .range = ALL_TIME}, 0},
    {"either", {.words = OPEN | STATE(PENDING), .range = ALL_TIME}, 0},
    {"a state of none", {.words = STATE(VOID), .range = ALL_TIME}, 1},
    {"a currency", {.currency = "EUR", .range = ALL_TIME}, 0},
    {"e-mail, state and currency",
     {.email = "ada@shop.example",
      .words = STATE(SUCCESSFUL),
      .currency = "EUR",
      .range = ALL_TIME},
     0},
    {"a time", {.range = {TILL_NOW + SEC(10), TILL_NOW + SEC(20)}}, 0},
    {"until a time", {.range = {APR_INT64_MIN, TILL_NOW + SEC(40)}}, 0},
    {"from a time", {.range = {TILL_NOW + SEC(40), APR_INT64_MAX}}, 0},
    {"a time and an e-mail",
     {.email = "ada@shop.example", .range = {TILL_NOW + SEC(10), TILL_NOW + SEC(40)}},
     0},
    {"before all", {.range = {APR_INT64_MIN, TILL_NOW - 1}}, 1},
    {"a time that ends before it begins", {.range = {TILL_NOW + SEC(9), TILL_NOW + SEC(8)}}, 1},
    {"a reference", {.reference = "order-7", .range = ALL_TIME}, 0},
    {"a reference and its state",
     {.reference = "order-7", .words = STATE(SUCCESSFUL), .range = ALL_TIME},
     0},
    {"a reference of another state",
     {.reference = "order-7", .words = STATE(FAILED), .range = ALL_TIME},
     1},
    {"a reference of another time",
     {.reference = "order-7", .range = {TILL_NOW + SEC(50), APR_INT64_MAX}},
     1},
    {"a reference of another e-mail",
     {.reference = "order-7", .email = "nobody@shop.example", .range = ALL_TIME},
     1},
    {"a reference of none", {.reference = "order", .range = ALL_TIME}, 1},
};

static int is_wanted(const pay_charge_t *charge, const pay_charge_filter_t *filter)
{
    const unsigned int word = charge->checkout ? PAY_CHARGE_WORD_OPEN : charge->state;

    return (!filter->email || !strcmp(filter->email, charge->email))
           && (!filter->reference || !strcmp(filter->reference, charge->reference))
           && (!filter->currency || !strcmp(filter->currency, charge->money.currency))
           && (!filter->words || (filter->words >> word & 1))
           && charge->created_at >= filter->range.from && charge->created_at <= filter->range.to;
}

/* Its charges in the list of all, oldest first. */
static apr_array_header_t *wanted(int i, const pay_charge_filter_t *filter)
{
    apr_array_header_t *all, *out = apr_array_make(unit_pool, 16, sizeof(pay_charge_t *));
    int n;

    ck_assert_int_eq(pay_store_charge_list(&all, till->store, &till->scopes[i], &always, NULL,
                                           PAY_STORE_ROWS_MAX, unit_pool),
                     APR_SUCCESS);
    for (n = 0; n < all->nelts; n++) {
        if (is_wanted(APR_ARRAY_IDX(all, n, pay_charge_t *), filter)) {
            APR_ARRAY_PUSH(out, pay_charge_t *) = APR_ARRAY_IDX(all, n, pay_charge_t *);
        }
    }
    return out;
}

static apr_array_header_t *search(pay_charge_cursor_t *cursor, int i,
                                  const pay_charge_filter_t *filter, int limit)
{
    apr_array_header_t *charges;

    ck_assert_int_eq(pay_store_charge_search(&charges, cursor, till->store, &till->scopes[i],
                                             filter, limit, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_le(charges->nelts, limit);
    return charges;
}

/* Parts of every size contain every matching charge once, newest first, and only the scope's. */
static void compare(const char *name, int i, const pay_charge_filter_t *filter, int limit)
{
    apr_array_header_t *want = wanted(i, filter), *page;
    pay_charge_cursor_t cursor = {.seq = 0}, told;
    int n, left = want->nelts;

    while (!cursor.done) {
        page = search(&cursor, i, filter, limit);
        for (n = 0; n < page->nelts; n++) {
            const pay_charge_t *charge = APR_ARRAY_IDX(page, n, pay_charge_t *);

            ck_assert_msg(left > 0, "%s: more than are wanted", name);
            left--;
            ck_assert_msg(charge->seq == APR_ARRAY_IDX(want, left, pay_charge_t *)->seq,
                          "%s by %d: charge %d in place %d", name, limit, (int)charge->seq, left);
            ck_assert_uint_eq(charge->scope.account, till->scopes[i].account);
            ck_assert_int_eq(charge->scope.mode, till->scopes[i].mode);
        }
        ck_assert_msg(page->nelts == limit || cursor.done, "%s by %d: not full", name, limit);
        /* A client's cursor is its position, nothing else. */
        told = (pay_charge_cursor_t){
            .created_at = cursor.created_at, .seq = cursor.seq, .started = 1, .done = cursor.done};
        cursor = told;
    }
    ck_assert_msg(left == 0, "%s by %d: %d are missing", name, limit, left);
    ck_assert_int_eq(search(&cursor, i, filter, limit)->nelts, 0);
}

START_TEST(test_filters)
{
    static const int limits[] = {1, 7, 100, PAY_STORE_ROWS_MAX};
    int i, n, row;

    fill();
    for (row = 0; row < UNIT_ROWS(filters); row++) {
        for (i = 0; i < TILL_SCOPES; i++) {
            ck_assert_msg((wanted(i, &filters[row].filter)->nelts == 0) == filters[row].none, "%s",
                          filters[row].name);
            for (n = 0; n < UNIT_ROWS(limits); n++) {
                compare(filters[row].name, i, &filters[row].filter, limits[n]);
            }
        }
    }
    till_check_clean();
}
END_TEST

/* An account without charges, between two that have some. */
START_TEST(test_empty)
{
    pay_charge_filter_t filter = {.range = ALL_TIME};
    pay_charge_cursor_t cursor;
    int n;

    for (n = 1; n < 5; n++) {
        (void)charge_in(0, n);
        (void)charge_in(1, n);
    }
    for (n = 0; n < 2; n++) {
        memset(&cursor, 0, sizeof(cursor));
        ck_assert_int_eq(search(&cursor, 2, &filter, 10)->nelts, 0);
        ck_assert_int_eq(cursor.done, 1);
        filter.email = "ada@shop.example";
    }
}
END_TEST

/* Charges made while a person pages through come before the first part, and change nothing. */
START_TEST(test_made_meanwhile)
{
    const pay_charge_filter_t filter = {.email = "ada@shop.example", .range = ALL_TIME};
    pay_charge_cursor_t cursor = {.seq = 0};
    apr_array_header_t *want, *page;
    int n;

    fill();
    want = wanted(1, &filter);
    page = search(&cursor, 1, &filter, 5);
    for (n = MANY + 1; n < MANY + 20; n++) {
        (void)charge_in(1, n);
    }
    page = search(&cursor, 1, &filter, PAY_STORE_ROWS_MAX);
    ck_assert_int_eq(page->nelts, want->nelts - 5);
    ck_assert_uint_eq(APR_ARRAY_IDX(page, 0, pay_charge_t *)->seq,
                      APR_ARRAY_IDX(want, want->nelts - 6, pay_charge_t *)->seq);
}
END_TEST

START_TEST(test_withdrawn)
{
    const pay_charge_filter_t filter = {.email = "payer@shop.example", .range = ALL_TIME};
    pay_charge_cursor_t cursor;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)till_open(i, "order-1", 100);
        (void)till_open(i, "order-2", 100);
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(pay_store_charge_withdraw(till->store, &till->scopes[i], 1, unit_pool),
                         APR_SUCCESS);
        memset(&cursor, 0, sizeof(cursor));
        ck_assert_int_eq(search(&cursor, i, &filter, 10)->nelts, 1);
        till_check_clean();
    }
}
END_TEST

/* ---- the bound */

typedef struct plant_t {
    const pay_charge_t *like;
    int count;
} plant_t;

/* Many copies of one charge, each in its indexes. */
static int plant_work(pay_rows_txn_t *txn, void *baton)
{
    const plant_t *plant = baton;
    pay_charge_t charge = *plant->like;
    int n, rc = 0;

    for (n = 0; !rc && n < plant->count; n++) {
        charge.seq++;
        charge.created_at++;
        charge.reference = apr_psprintf(unit_pool, "%s-%d", plant->like->reference, n);
        rc = pay_store_charge_insert(txn, &charge, unit_pool);
    }
    return rc;
}

static const struct {
    const char *name;
    pay_charge_filter_t filter;
    int calls; /* until the oldest, the only matching one, is found */
} bounds[] = {
    /* The oldest is the row after PAY_STORE_LOOKS_MAX others. */
    {"by time", {.currency = "EUR", .range = ALL_TIME}, 2},
    {"by e-mail", {.email = "payer@shop.example", .currency = "EUR", .range = ALL_TIME}, 2},
    /* Marks let one look pass many. */
    {"by an e-mail that the others do not have", {.email = "e@x.example", .range = ALL_TIME}, 1},
};

START_TEST(test_bound)
{
    pay_charge_t *first = till_proposal(1, "first", 100), *like;
    plant_t plant = {.count = PAY_STORE_LOOKS_MAX - 1};
    pay_charge_cursor_t cursor = {.seq = 0};
    apr_array_header_t *page;
    pay_claim_t claim;
    int calls = 0;

    if (_i == 2) {
        first->email = "e@x.example";
    }
    apr_cpystrn(first->money.currency, "EUR", sizeof(first->money.currency));
    ck_assert_int_eq(
        pay_store_charge_open(&first, &claim, till->store, first, NULL, NULL, unit_pool),
        APR_SUCCESS);
    like = till_open(1, "like", 100);
    plant.like = like;
    till_raw(plant_work, &plant);
    do {
        calls++;
        page = search(&cursor, 1, &bounds[_i].filter, 1);
        ck_assert_int_lt(calls, 10);
    } while (page->nelts == 0 && !cursor.done);
    ck_assert_int_eq(page->nelts, 1);
    ck_assert_str_eq(APR_ARRAY_IDX(page, 0, pay_charge_t *)->reference, "first");
    ck_assert_msg(calls == bounds[_i].calls, "%s: %d calls", bounds[_i].name, calls);
}
END_TEST

/* ---- damage */

typedef enum spoil_t {
    SPOIL_CHARGE, /* the target of the entry is gone */
    SPOIL_KEY,    /* a key of a wrong length */
    SPOIL_TIME,   /* an entry at another time than its charge */
    SPOIL_VALUE,  /* no mark */
    SPOIL_MARK    /* another one: a missing hint, which the check reports */
} spoil_t;

static const struct {
    const char *name;
    spoil_t how;
    apr_status_t all, email;
    const char *fault;
} spoils[] = {
    {"the charge is gone", SPOIL_CHARGE, PAY_STORE_ECORRUPT, PAY_STORE_ECORRUPT,
     "leads to no charge"},
    {"a key is short", SPOIL_KEY, PAY_STORE_ECORRUPT, PAY_STORE_ECORRUPT, "leads to no charge"},
    {"a time is another", SPOIL_TIME, PAY_STORE_ECORRUPT, PAY_STORE_ECORRUPT,
     "leads to no charge of that time"},
    {"a mark is short", SPOIL_VALUE, PAY_STORE_ECORRUPT, PAY_STORE_ECORRUPT, "leads to no charge"},
    {"a mark is another", SPOIL_MARK, APR_SUCCESS, APR_SUCCESS, "its mark is of another e-mail"},
};

static void spoil(spoil_t how, const pay_charge_t *charge)
{
    const apr_time_t when = charge->created_at + (how == SPOIL_TIME || how == SPOIL_KEY);
    unsigned char value[PAY_STORE_CHARGE_MARK_LEN] = {0x9f, 0x19, 0xde, 0xcf}; /* payer@... */
    pay_store_key_t key;

    if (how == SPOIL_CHARGE) {
        pay_store_charge_key(&key, &charge->scope, charge->seq);
        till_plant(PAY_TABLE_CHARGE, &key, NULL, 0);
        return;
    }
    pay_store_charge_time_key(&key, &charge->scope, when, charge->seq);
    key.len -= how == SPOIL_KEY;
    value[0] ^= how == SPOIL_MARK;
    till_plant(PAY_TABLE_CHARGE_BY_TIME, &key, value, sizeof(value) - (how == SPOIL_VALUE));
}

START_TEST(test_spoiled)
{
    pay_charge_filter_t filter = {.range = ALL_TIME};
    pay_charge_cursor_t cursor = {.seq = 0};
    apr_array_header_t *page;
    apr_status_t rv;

    spoil(spoils[_i].how, till_open(1, "order-1", 100));
    rv = pay_store_charge_search(&page, &cursor, till->store, &till->scopes[1], &filter, 10,
                                 unit_pool);
    ck_assert_msg(rv == spoils[_i].all, "%s: all %d", spoils[_i].name, rv);
    memset(&cursor, 0, sizeof(cursor));
    filter.email = "payer@shop.example";
    rv = pay_store_charge_search(&page, &cursor, till->store, &till->scopes[1], &filter, 10,
                                 unit_pool);
    ck_assert_msg(rv == spoils[_i].email, "%s: by e-mail %d", spoils[_i].name, rv);
    ck_assert_int_eq(page->nelts, 0);
    ck_assert_int_gt(till_faults(spoils[_i].fault), 0);
    ck_assert_msg(strstr(till_fault, spoils[_i].fault) != NULL, "%s: %s", spoils[_i].name,
                  till_fault);
    memset(&cursor, 0, sizeof(cursor));
    ck_assert_int_eq(search(&cursor, 2, &filter, 10)->nelts, 0); /* the others contain nothing of
                                                                  * it */
}
END_TEST

START_TEST(test_mark)
{
    apr_uint32_t mark;

    ck_assert_int_eq(pay_store_charge_mark(&mark, ""), APR_SUCCESS);
    ck_assert_uint_eq(mark, 0);
    /* printf ada@example.com | sha256sum */
    ck_assert_int_eq(pay_store_charge_mark(&mark, "ada@example.com"), APR_SUCCESS);
    ck_assert_uint_eq(mark, 0xb5fc85e5);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_filters);
    tcase_add_test(tcase, test_empty);
    tcase_add_test(tcase, test_made_meanwhile);
    tcase_add_test(tcase, test_withdrawn);
    tcase_add_loop_test(tcase, test_bound, 0, UNIT_ROWS(bounds));
    tcase_add_test(tcase, test_mark);
    tcase_add_loop_test(tcase, test_spoiled, 0, UNIT_ROWS(spoils));
}

UNIT_PROGRAM(add)
