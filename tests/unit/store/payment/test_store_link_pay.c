/* SPDX-License-Identifier: Apache-2.0 */
#include "link_goods.h"

#include "store/payment/charge.h"
#include "store/payment/link.h"

#include <pthread.h>

#define RACERS 8
#define ROUNDS 12
#define LINK "shop-1"
#define OLDER_FIELDS 12 /* of a link's row of such a version */
#define ADA "ada@shop.example"
#define BOB "bob@shop.example"
#define CY "cy@shop.example"

static const pay_outcome_t approved = {
    .kind = PAY_OUTCOME_APPROVED, .code = "00", .message = "Approved"};
static const pay_outcome_t declined = {.kind = PAY_OUTCOME_DECLINED, .code = "05", .message = "No"};
static const pay_outcome_t absent = {.kind = PAY_OUTCOME_DECLINED,
                                     .message = "It was not received.",
                                     .late_check_at = TILL_NOW + apr_time_from_sec(3600)};

/* The outcome of the checkout that Ada begins to pay. */
typedef enum fate_t {
    FATE_NONE,
    FATE_PAID,
    FATE_REVERSED,
    FATE_DECLINED,
    FATE_DECLINED_LATE,      /* and its acquirer reports later that it was paid */
    FATE_DECLINED_RETURNING, /* and a refund of that is on its way */
    FATE_ABSENT,             /* and its acquirer is queried again, hours later */
    FATE_CANCELLED,
    FATE_CANCELLED_ASKED, /* and its acquirer is still queried */
    FATE_CANCELLED_PAID,  /* and it reports so */
    FATE_SENT,
    FATE_LATE, /* its time is over, which its row does not say yet */
    FATE_VOID,
    FATE_WITHDRAWN,
    FATE_ROW_LOST
} fate_t;

static apr_status_t try_move(int *changed, const pay_charge_t *charge, pay_checkout_step_t to,
                             const pay_outcome_t *outcome, apr_time_t due_at, apr_pool_t *p)
{
    const pay_checkout_move_t what = {.from = charge->checkout->step,
                                      .to = to,
                                      .now = till_clock,
                                      .outcome = outcome,
                                      .due_at = due_at};
    pay_charge_t *moved;

    return pay_store_checkout_move(&moved, changed, till->store, &charge->scope, charge->seq, &what,
                                   p);
}

static void move(const pay_charge_t *charge, pay_checkout_step_t to, const pay_outcome_t *outcome,
                 apr_time_t due_at)
{
    int changed;

    ck_assert_int_eq(try_move(&changed, charge, to, outcome, due_at, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
}

static void resolve(const pay_charge_t *charge, const pay_outcome_t *outcome)
{
    pay_charge_t *resolved;
    int changed;

    ck_assert_int_eq(pay_store_charge_resolve(&resolved, &changed, till->store, &charge->scope,
                                              charge->seq, outcome, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
}

static void lose(const pay_charge_t *charge)
{
    pay_store_key_t key;

    pay_store_key_of_scope(&key, &charge->scope);
    pay_store_key_u64(&key, charge->seq);
    till_plant(PAY_TABLE_CHECKOUT, &key, NULL, 0);
}

static void give_back(int i, const pay_charge_t *charge)
{
    pay_refund_t *refund =
        till_refund(i, charge->reference, charge->money.amount_minor, PAY_REFUND_OPENED);

    ck_assert_int_eq(
        till_refund_resolve(&refund, i, refund->refund_reference, PAY_OUTCOME_APPROVED), 1);
}

/* A person must decide about the money, or it is being refunded. */
static void find_late(const pay_charge_t *charge, pay_late_t to)
{
    const int returning = to == PAY_LATE_REFUNDING;
    const pay_late_step_t found = {.from = PAY_LATE_NONE,
                                   .to = to,
                                   .outcome = till_outcome(PAY_OUTCOME_APPROVED),
                                   .tag = returning ? "tag" : NULL,
                                   .due_at = returning ? till_clock + 1 : 0,
                                   .held = returning ? PAY_NOT_HELD : PAY_HELD_LATE};
    pay_charge_t *late;
    int changed;

    ck_assert_int_eq(pay_store_charge_late(&late, &changed, till->store, &charge->scope,
                                           charge->seq, &found, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
}

static void meet(fate_t fate, int i, const pay_charge_t *charge)
{
    pay_charge_t *voided;
    pay_idempotency_record_t *record;
    int done;

    switch (fate) {
    case FATE_NONE:
        return;
    case FATE_PAID:
    case FATE_REVERSED:
        move(charge, PAY_CHECKOUT_SENT, &approved, 0);
        if (fate == FATE_REVERSED) {
            give_back(i, charge);
        }
        return;
    case FATE_DECLINED:
    case FATE_DECLINED_LATE:
    case FATE_DECLINED_RETURNING:
        move(charge, PAY_CHECKOUT_SENT, &declined, 0);
        if (fate != FATE_DECLINED) {
            find_late(charge, fate == FATE_DECLINED_LATE ? PAY_LATE_FOUND : PAY_LATE_REFUNDING);
        }
        return;
    case FATE_ABSENT:
        move(charge, PAY_CHECKOUT_SENT, &absent, 0);
        return;
    case FATE_CANCELLED:
        move(charge, PAY_CHECKOUT_CANCELLED, NULL, 0);
        return;
    case FATE_CANCELLED_ASKED:
    case FATE_CANCELLED_PAID:
        move(charge, PAY_CHECKOUT_CANCELLED, NULL, till_clock + 1);
        if (fate == FATE_CANCELLED_PAID) {
            resolve(charge, &approved);
        }
        return;
    case FATE_SENT:
        move(charge, PAY_CHECKOUT_SENT, NULL, till_clock + 1);
        return;
    case FATE_LATE:
        till_clock += apr_time_from_sec(60);
        return;
    case FATE_VOID:
        ck_assert_int_eq(pay_store_charge_void(&voided, &done, &record, till->store, &charge->scope,
                                               charge->reference, NULL, unit_pool),
                         APR_SUCCESS);
        ck_assert_int_eq(done, 1);
        return;
    case FATE_WITHDRAWN:
        ck_assert_int_eq(
            pay_store_charge_withdraw(till->store, &charge->scope, charge->seq, unit_pool),
            APR_SUCCESS);
        return;
    case FATE_ROW_LOST:
        lose(charge);
        return;
    }
}

static const struct {
    const char *name;
    int once;
    fate_t fate;
    const char *second; /* the next payer */
    pay_claim_t want;
    apr_uint64_t paid; /* then */
} cases[] = {
    {"another payer while it is being paid", 1, FATE_NONE, BOB, PAY_CLAIM_LINK_BUSY, 0},
    {"the same payer goes on", 1, FATE_NONE, ADA, PAY_CLAIM_LINK_AGAIN, 0},
    {"the same payer waits", 1, FATE_SENT, ADA, PAY_CLAIM_LINK_AGAIN, 0},
    {"another while the first waits", 1, FATE_SENT, BOB, PAY_CLAIM_LINK_BUSY, 0},
    {"the same payer, too late", 1, FATE_LATE, ADA, PAY_CLAIM_LINK_BUSY, 0},
    {"another one, too late", 1, FATE_LATE, BOB, PAY_CLAIM_LINK_BUSY, 0},
    {"paid", 1, FATE_PAID, BOB, PAY_CLAIM_LINK_USED, 1},
    {"paid, by the same", 1, FATE_PAID, ADA, PAY_CLAIM_LINK_USED, 1},
    {"paid and given back", 1, FATE_REVERSED, BOB, PAY_CLAIM_LINK_USED, 1},
    {"declined", 1, FATE_DECLINED, ADA, PAY_CLAIM_NEW, 0},
    {"declined, and paid all the same", 1, FATE_DECLINED_LATE, BOB, PAY_CLAIM_LINK_BUSY, 0},
    {"declined, paid, on its way back", 1, FATE_DECLINED_RETURNING, BOB, PAY_CLAIM_LINK_BUSY, 0},
    {"not received, and asked about", 1, FATE_ABSENT, ADA, PAY_CLAIM_LINK_BUSY, 0},
    {"cancelled", 1, FATE_CANCELLED, BOB, PAY_CLAIM_NEW, 0},
    {"cancelled, and asked about", 1, FATE_CANCELLED_ASKED, BOB, PAY_CLAIM_LINK_BUSY, 0},
    {"cancelled, and paid all the same", 1, FATE_CANCELLED_PAID, BOB, PAY_CLAIM_LINK_USED, 1},
    {"withdrawn", 1, FATE_WITHDRAWN, BOB, PAY_CLAIM_NEW, 0},
    {"nobody knows whose it is", 1, FATE_ROW_LOST, ADA, PAY_CLAIM_LINK_BUSY, 0},
    {"for many", 0, FATE_NONE, BOB, PAY_CLAIM_NEW, 0},
    {"for many, paid", 0, FATE_PAID, ADA, PAY_CLAIM_NEW, 1},
    {"for many, cancelled and paid", 0, FATE_CANCELLED_PAID, ADA, PAY_CLAIM_NEW, 1},
};

START_TEST(test_second)
{
    const int i = _i % TILL_SCOPES;
    pay_charge_t *first, *second;
    int other, faults = cases[_i].fate == FATE_ROW_LOST;

    for (other = 0; other < TILL_SCOPES; other++) {
        link_make(other, LINK, cases[_i].once);
    }
    first = link_begin(i, LINK, ADA);
    ck_assert_uint_eq(link_get(i, LINK)->last_seq, first->seq);
    meet(cases[_i].fate, i, first);
    ck_assert_msg(link_open(&second, i, LINK, cases[_i].second, unit_pool) == cases[_i].want, "%s",
                  cases[_i].name);
    if (cases[_i].want == PAY_CLAIM_LINK_AGAIN) {
        ck_assert_str_eq(second->reference, first->reference);
    } else if (cases[_i].want == PAY_CLAIM_NEW) {
        ck_assert_uint_gt(second->seq, first->seq);
        ck_assert_uint_eq(link_get(i, LINK)->last_seq, second->seq);
    } else {
        ck_assert_ptr_null(second);
    }
    for (other = 0; other < TILL_SCOPES; other++) {
        ck_assert_uint_eq(link_get(other, LINK)->paid, other == i ? cases[_i].paid : 0);
        ck_assert_int_eq(link_get(other, LINK)->last_seq == 0, other != i);
    }
    ck_assert_int_eq(till_faults("its checkout is lost") > 0, faults);
}
END_TEST

/* ---- a checkout that is not the last one */

/* The outcome of Ada's, after Bob had his turn; and Cy's result then. */
static const struct {
    const char *name;
    fate_t fate; /* of Ada's, before Bob comes */
    int found;   /* and then its acquirer reports that it was paid */
    fate_t last; /* of Bob's */
    pay_claim_t want;
    apr_uint64_t holding;
} among[] = {
    {"both declined", FATE_DECLINED, 0, FATE_DECLINED, PAY_CLAIM_NEW, 0},
    {"the first is found paid", FATE_DECLINED, 1, FATE_DECLINED, PAY_CLAIM_LINK_BUSY, 1},
    {"the first is found paid, the last withdrawn", FATE_DECLINED, 1, FATE_WITHDRAWN,
     PAY_CLAIM_LINK_BUSY, 1},
    {"the first is found paid, the last cancelled", FATE_DECLINED, 1, FATE_CANCELLED,
     PAY_CLAIM_LINK_BUSY, 1},
    {"the first is found paid, the last is open", FATE_DECLINED, 1, FATE_NONE, PAY_CLAIM_LINK_BUSY,
     2},
    {"the first is found paid, the last too", FATE_DECLINED, 1, FATE_DECLINED_LATE,
     PAY_CLAIM_LINK_BUSY, 2},
    {"the first was cancelled, the last is paid", FATE_CANCELLED, 0, FATE_PAID, PAY_CLAIM_LINK_USED,
     0},
};

/* As a version without counts left it. */
static void forget_count(int i, pay_link_t *link)
{
    pay_store_key_t key;
    pay_bytes_t row;

    link->holding = 0;
    link->counted = 0;
    ck_assert_int_eq(pay_store_link_key(&key, &till->scopes[i], LINK), 1);
    ck_assert_int_eq(pay_store_link_encode(&row, link, unit_pool), 0);
    till_cut(&row, OLDER_FIELDS);
    till_plant(PAY_TABLE_LINK, &key, row.data, row.len);
}

START_TEST(test_among)
{
    const int row = _i / 2, older = _i % 2, i = row % TILL_SCOPES;
    pay_charge_t *first, *second, *third;

    link_make(i, LINK, 1);
    link_make(i, "other", 1);
    (void)link_begin(i, "other", ADA);
    first = link_begin(i, LINK, ADA);
    meet(among[row].fate, i, first);
    second = link_begin(i, LINK, BOB);
    (void)till_charge(i, "between", 500);
    if (among[row].found) {
        find_late(first, PAY_LATE_FOUND);
    }
    meet(among[row].last, i, second);
    if (older) {
        forget_count(i, link_get(i, LINK));
    }
    /* The payer of the last one has the same result. */
    ck_assert_msg(link_open(&third, i, LINK, _i % 3 ? CY : BOB, unit_pool) == among[row].want, "%s",
                  among[row].name);
    ck_assert_uint_eq(link_get(i, LINK)->holding,
                      among[row].holding + (among[row].want == PAY_CLAIM_NEW));
    ck_assert_int_eq(link_get(i, LINK)->counted, !older || among[row].want != PAY_CLAIM_LINK_USED);
    ck_assert_uint_eq(link_get(i, "other")->holding, 1);
    till_check_clean();
}
END_TEST

/* Rows of another link's checkouts, from one after the first to that of the sequence at `baton`. */
static int crowd_work(pay_rows_txn_t *txn, void *baton)
{
    const apr_uint64_t last = *(const apr_uint64_t *)baton;
    const MDB_dbi table = pay_lmdb_dbi(PAY_TABLE_CHECKOUT);
    pay_store_key_t first, key;
    pay_bytes_t name, row;
    apr_uint64_t seq;
    int rc;

    pay_store_charge_key(&first, &till->scopes[0], 1);
    name = pay_store_key_val(&first);
    rc = mdb_get(txn->native, table, pay_lmdb_val(&name), pay_lmdb_val(&row));
    row.data = rc ? NULL : apr_pmemdup(unit_pool, row.data, row.len);
    for (seq = 2; !rc && seq <= last; seq++) {
        pay_store_charge_key(&key, &till->scopes[0], seq);
        name = pay_store_key_val(&key);
        rc = mdb_put(txn->native, table, pay_lmdb_val(&name), pay_lmdb_val(&row), 0);
    }
    return rc;
}

/* One more than it may examine in its turn: nobody pays one that may be paid already. */
START_TEST(test_too_many_to_count)
{
    apr_uint64_t last = PAY_STORE_LINK_LOOKS_MAX + _i;
    pay_charge_t *charge;
    pay_link_t *link;

    link_make(0, "other", 0);
    link_make(0, LINK, 1);
    ck_assert_uint_eq(link_begin(0, "other", ADA)->seq, 1);
    till_raw(crowd_work, &last);
    link = link_get(0, LINK);
    link->last_seq = last;
    forget_count(0, link);
    ck_assert_int_eq(link_open(&charge, 0, LINK, BOB, unit_pool),
                     _i ? PAY_CLAIM_LINK_BUSY : PAY_CLAIM_NEW);
    ck_assert_int_eq(till_logged("PAY00730"), _i);
    ck_assert_int_eq(link_get(0, LINK)->counted, !_i);
}
END_TEST

/* When a person has decided, the link is free. */
START_TEST(test_seen_to)
{
    const pay_late_step_t seen = {
        .from = PAY_LATE_FOUND, .to = PAY_LATE_FOUND, .resolution = "given back"};
    pay_charge_t *first, *late, *charge;
    int changed;

    link_make(0, LINK, 1);
    first = link_begin(0, LINK, ADA);
    meet(FATE_DECLINED, 0, first);
    meet(FATE_DECLINED, 0, link_begin(0, LINK, BOB));
    find_late(first, PAY_LATE_FOUND);
    ck_assert_int_eq(link_open(&charge, 0, LINK, CY, unit_pool), PAY_CLAIM_LINK_BUSY);
    ck_assert_int_eq(pay_store_charge_late(&late, &changed, till->store, &first->scope, first->seq,
                                           &seen, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    ck_assert_int_eq(link_open(&charge, 0, LINK, CY, unit_pool), PAY_CLAIM_NEW);
    till_check_clean();
}
END_TEST

/*
 * Voided by the shop: free at once in Test Mode; in Live Mode, after the last query of the
 * acquirer.
 */
START_TEST(test_void)
{
    pay_charge_t *second, *first;
    pay_outcome_t unknown = {.kind = PAY_OUTCOME_UNKNOWN, .held = PAY_HELD_DIFFERENT};
    const int live = till->scopes[_i].mode == PAY_LIVE;

    link_make(_i, LINK, 1);
    first = link_begin(_i, LINK, ADA);
    meet(FATE_VOID, _i, first);
    ck_assert_int_eq(link_open(&second, _i, LINK, BOB, unit_pool),
                     live ? PAY_CLAIM_LINK_BUSY : PAY_CLAIM_NEW);
    if (live) {
        resolve(first, &unknown); /* no more queries, except to a person */
        ck_assert_int_eq(link_open(&second, _i, LINK, BOB, unit_pool), PAY_CLAIM_LINK_BUSY);
        unknown.held = PAY_NOT_HELD;
        unknown.resolution = "seen";
        resolve(first, &unknown);
        ck_assert_int_eq(link_open(&second, _i, LINK, BOB, unit_pool), PAY_CLAIM_NEW);
    }
    till_check_clean();
}
END_TEST

/* An open link: a payer who wants to pay another amount has to give up the first one. */
START_TEST(test_another_amount)
{
    pay_link_t proposal = link_proposal(0, LINK, 1);
    pay_charge_t *first, *charge, *other;
    pay_checkout_t *checkout;
    pay_claim_t claim;

    proposal.money.amount_minor = 0;
    link_make_of(&proposal);
    first = link_begin(0, LINK, ADA);
    other = till_proposal(0, "of-another-amount", LINK_AMOUNT_MINOR + 1);
    checkout = checkout_make(till_clock + apr_time_from_sec(60), unit_pool);
    checkout->link = LINK;
    other->kind = PAY_CHARGE_CHECKOUT;
    other->token = "";
    other->email = ADA;
    other->checkout = checkout;
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, other, NULL, NULL, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(claim, PAY_CLAIM_LINK_BUSY);
    meet(FATE_CANCELLED, 0, first);
    ck_assert_int_eq(
        pay_store_charge_open(&charge, &claim, till->store, other, NULL, NULL, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(claim, PAY_CLAIM_NEW);
    till_check_clean();
}
END_TEST

/* ---- links that nobody can pay */

START_TEST(test_closed)
{
    pay_link_t proposal = link_proposal(0, LINK, _i), *link;
    pay_charge_t *charge;
    const char *before;
    int changed;

    proposal.expires_at = till_clock + apr_time_from_sec(10);
    link_make_of(&proposal);
    link_make(1, "elsewhere", 0);
    ck_assert_int_eq(link_open(&charge, 0, "elsewhere", ADA, unit_pool), PAY_CLAIM_LINK_UNKNOWN);
    ck_assert_ptr_null(charge);
    till_clock += apr_time_from_sec(10);
    before = till_snapshot();
    ck_assert_int_eq(link_open(&charge, 0, LINK, ADA, unit_pool), PAY_CLAIM_LINK_EXPIRED);
    ck_assert_ptr_null(charge);
    ck_assert_str_eq(till_snapshot(), before);
    ck_assert_int_eq(
        pay_store_link_disable(&link, &changed, till->store, &till->scopes[0], LINK, unit_pool),
        APR_SUCCESS);
    ck_assert_int_eq(link_open(&charge, 0, LINK, ADA, unit_pool), PAY_CLAIM_LINK_DISABLED);
    till_check_clean();
}
END_TEST

/* Earlier checkouts can be paid. */
START_TEST(test_disabled_meanwhile)
{
    pay_charge_t *first;
    pay_link_t *link;
    int changed;

    link_make(0, LINK, 1);
    first = link_begin(0, LINK, ADA);
    ck_assert_int_eq(
        pay_store_link_disable(&link, &changed, till->store, &till->scopes[0], LINK, unit_pool),
        APR_SUCCESS);
    meet(FATE_PAID, 0, first);
    ck_assert_uint_eq(link_get(0, LINK)->paid, 1);
    ck_assert_int_eq(pay_link_state(link_get(0, LINK), till_clock), PAY_LINK_USED);
    till_check_clean();
}
END_TEST

/* The money does not depend on the link's row. */
START_TEST(test_paid_without_its_link)
{
    pay_charge_t *first;
    pay_store_key_t key;

    link_make(0, LINK, 1);
    first = link_begin(0, LINK, ADA);
    ck_assert_int_eq(pay_store_link_key(&key, &till->scopes[0], LINK), 1);
    till_plant(PAY_TABLE_LINK, &key, _i ? "x" : NULL, 1);
    meet(FATE_PAID, 0, first);
    ck_assert_int_eq(till_find(0, first->reference)->state, PAY_CHARGE_SUCCESSFUL);
}
END_TEST

/* ---- many payers at once */

static int paid;

typedef struct racer_t {
    pay_charge_t *proposals[ROUNDS];
    apr_status_t rv; /* an assertion in its thread would jump across stacks */
} racer_t;

/* It is not queried any more. */
static apr_status_t let_go(const pay_charge_t *charge, apr_pool_t *p)
{
    const pay_outcome_t over = {.kind = PAY_OUTCOME_UNKNOWN, .held = PAY_NOT_HELD};
    pay_charge_t *resolved;
    int changed;

    return pay_store_charge_resolve(&resolved, &changed, till->store, &charge->scope, charge->seq,
                                    &over, 0, p);
}

/* Begins to pay, and pays or gives up, in turn. */
static apr_status_t one_round(int round, const pay_charge_t *proposal, apr_pool_t *p)
{
    pay_charge_t *charge;
    pay_claim_t claim;
    apr_status_t rv;
    int changed;

    rv = pay_store_charge_open(&charge, &claim, till->store, proposal, NULL, NULL, p);
    if (rv != APR_SUCCESS || (claim != PAY_CLAIM_NEW && claim != PAY_CLAIM_LINK_AGAIN)) {
        return rv;
    }
    if (round < 3) {
        return try_move(&changed, charge, PAY_CHECKOUT_CANCELLED, NULL, 0, p);
    }
    if (round < 6) { /* queried for a while, then it is free */
        rv = try_move(&changed, charge, PAY_CHECKOUT_CANCELLED, NULL, till_clock + 1, p);
        return rv != APR_SUCCESS ? rv : let_go(charge, p);
    }
    rv = try_move(&changed, charge, PAY_CHECKOUT_SENT, &approved, 0, p);
    if (rv == APR_SUCCESS && changed) {
        (void)__atomic_add_fetch(&paid, 1, __ATOMIC_SEQ_CST);
    }
    return rv;
}

static void *race(void *baton)
{
    racer_t *racer = baton;
    apr_pool_t *p;
    int round;

    racer->rv = apr_pool_create(&p, NULL);
    for (round = 0; round < ROUNDS && racer->rv == APR_SUCCESS; round++) {
        racer->rv = one_round(round, racer->proposals[round], p);
    }
    apr_pool_destroy(p);
    return NULL;
}

/* Two payers, each in four windows. */
static void prepare(racer_t *racer, int number)
{
    pay_checkout_t *checkout;
    int round;

    for (round = 0; round < ROUNDS; round++) {
        pay_charge_t *proposal = till_proposal(
            0, apr_psprintf(unit_pool, "race-%d-%d", number, round), LINK_AMOUNT_MINOR);

        checkout = checkout_make(till_clock + apr_time_from_sec(60), unit_pool);
        checkout->link = LINK;
        proposal->kind = PAY_CHARGE_CHECKOUT;
        proposal->token = "";
        proposal->email = number % 2 ? ADA : BOB;
        proposal->checkout = checkout;
        racer->proposals[round] = proposal;
    }
}

START_TEST(test_race)
{
    racer_t racers[RACERS];
    pthread_t threads[RACERS];
    int i;

    link_make(0, LINK, 1);
    paid = 0;
    for (i = 0; i < RACERS; i++) {
        prepare(&racers[i], i);
    }
    for (i = 0; i < RACERS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (i = 0; i < RACERS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_int_eq(racers[i].rv, APR_SUCCESS);
    }
    ck_assert_int_eq(paid, 1);
    ck_assert_uint_eq(link_get(0, LINK)->paid, 1);
    ck_assert_uint_eq(link_get(0, LINK)->holding, 0);
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_second, 0, UNIT_ROWS(cases));
    tcase_add_loop_test(tcase, test_among, 0, 2 * UNIT_ROWS(among));
    tcase_add_loop_test(tcase, test_too_many_to_count, 0, 2);
    tcase_add_test(tcase, test_seen_to);
    tcase_add_loop_test(tcase, test_void, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_another_amount);
    tcase_add_loop_test(tcase, test_closed, 0, 2);
    tcase_add_test(tcase, test_disabled_meanwhile);
    tcase_add_loop_test(tcase, test_paid_without_its_link, 0, 2);
    tcase_add_test(tcase, test_race);
}

UNIT_PROGRAM(add)
