/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/charge.h"
#include "store/payment/due.h"

#include <apr_escape.h>

/*
 * Every state of a charge against every operation that could change it: the changes are in one
 * table, and everything else leaves the store as it was, byte by byte.
 */

#define AMOUNT 1000
#define PART 400 /* of the refund that some of the charges have */

/* How a charge came to its state. */
typedef enum made_t {
    MADE_PENDING,
    MADE_CHECKOUT,
    MADE_SUCCESSFUL,
    MADE_REFUNDING, /* a part of it is at the acquirer */
    MADE_RETURNING, /* all of it is */
    MADE_PARTLY,    /* a part was refunded */
    MADE_KEPT,      /* a refund was refused, nothing was refunded */
    MADE_TAKEN,     /* a part was refunded, which failed later */
    MADE_REVERSED,
    MADE_FAILED,
    MADE_VOID,
    MADE_ABANDONED,
    MADE_LATE /* successful after it was void */
} made_t;

typedef enum act_t {
    ACT_APPROVE,
    ACT_DECLINE,
    ACT_UNKNOWN,
    ACT_VOID,
    ACT_WITHDRAW,
    ACT_REFUND,
    ACT_REFUND_ALL,
    ACT_PROCESS,
    ACT_REFUSE,
    ACT_UNSURE,
    ACT_FAIL,
    ACT_COUNT
} act_t;

static const char *const act_names[] = {
    [ACT_APPROVE] = "resolve approved",
    [ACT_DECLINE] = "resolve declined",
    [ACT_UNKNOWN] = "resolve unknown",
    [ACT_VOID] = "void",
    [ACT_WITHDRAW] = "withdraw",
    [ACT_REFUND] = "refund open",
    [ACT_REFUND_ALL] = "refund open, all",
    [ACT_PROCESS] = "refund resolve approved",
    [ACT_REFUSE] = "refund resolve declined",
    [ACT_UNSURE] = "refund resolve unknown",
    [ACT_FAIL] = "refund fail",
};
_Static_assert(sizeof(act_names) / sizeof(act_names[0]) == ACT_COUNT, "one name an operation");

/*
 * A column an operation, in the order of act_t:
 *   - refused, nothing written          ! refused, and the contradiction kept in the row
 *   . done, the state stays             s r f v the state that it moves to
 *   x the charge is gone
 */
static const struct {
    const char *name;
    made_t made;
    pay_charge_state_t state;
    const char *want;
} state_cases[] = {
    {"pending", MADE_PENDING, PAY_CHARGE_PENDING, "sf.-x------"},
    {"pending checkout", MADE_CHECKOUT, PAY_CHARGE_PENDING, "sf.vx------"},
    {"successful", MADE_SUCCESSFUL, PAY_CHARGE_SUCCESSFUL, "-!---..----"},
    {"being refunded", MADE_REFUNDING, PAY_CHARGE_SUCCESSFUL, "-!-----...-"},
    {"being returned", MADE_RETURNING, PAY_CHARGE_SUCCESSFUL, "-!-----r..-"},
    {"partly refunded", MADE_PARTLY, PAY_CHARGE_SUCCESSFUL, "-!---..-!-."},
    {"refund refused", MADE_KEPT, PAY_CHARGE_SUCCESSFUL, "-!---..!---"},
    {"refund taken back", MADE_TAKEN, PAY_CHARGE_SUCCESSFUL, "-!---..-!--"},
    {"reversed", MADE_REVERSED, PAY_CHARGE_REVERSED, "-!------!-s"},
    {"failed", MADE_FAILED, PAY_CHARGE_FAILED, "!----------"},
    {"void", MADE_VOID, PAY_CHARGE_VOID, "s----------"},
    {"abandoned", MADE_ABANDONED, PAY_CHARGE_ABANDONED, "s----------"},
    {"paid after void", MADE_LATE, PAY_CHARGE_SUCCESSFUL, "-!---..----"},
};
#define PAIRS (UNIT_ROWS(state_cases) * ACT_COUNT)

/* The tried pair: a state, and an operation, in scope `i`. */
typedef struct pair_t {
    made_t made;
    act_t act;
    int i;
    const char *refund; /* reference of its refund */
    apr_int64_t part;   /* the amount of that */
    const char *name;
} pair_t;

static int abandon_work(pay_rows_txn_t *txn, void *baton)
{
    pay_charge_t *charge;
    int rc;

    rc = pay_store_charge_get_ref(&charge, txn, baton, "order-1", unit_pool);
    ck_assert_int_eq(rc, 0);
    ck_assert_int_eq(pay_store_charge_become(charge, PAY_CHARGE_ABANDONED), 1);
    charge->due_at = 0;
    return pay_store_charge_put(txn, charge, unit_pool);
}

static void make_void(int i)
{
    pay_charge_t *charge;
    pay_idempotency_record_t *record;
    int voided;

    ck_assert_int_eq(pay_store_charge_void(&charge, &voided, &record, till->store, &till->scopes[i],
                                           "order-1", NULL, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(voided, 1);
}

/* The checkout and its outcome. */
static void make_checkout(pair_t *pair)
{
    pay_charge_t *charge = till_checkout(pair->i, "order-1", AMOUNT);

    if (pair->made == MADE_ABANDONED) {
        till_raw(abandon_work, &till->scopes[pair->i]);
    }
    if (pair->made == MADE_VOID || pair->made == MADE_LATE) {
        make_void(pair->i);
    }
    if (pair->made == MADE_LATE) {
        ck_assert_int_eq(till_resolve(&charge, pair->i, charge->seq, PAY_OUTCOME_APPROVED), 1);
    }
}

/* A successful charge and the refund that it has. */
static void make_refunded(pair_t *pair)
{
    int all = pair->made == MADE_RETURNING || pair->made == MADE_REVERSED;
    pay_refund_t *refund;
    int changed;

    (void)till_charge(pair->i, "order-1", AMOUNT);
    if (pair->made == MADE_SUCCESSFUL) {
        return;
    }
    pair->part = all ? AMOUNT : PART;
    refund = till_refund(pair->i, "order-1", pair->part, PAY_REFUND_OPENED);
    pair->refund = refund->refund_reference;
    if (pair->made == MADE_REFUNDING || pair->made == MADE_RETURNING) {
        return;
    }
    ck_assert_int_eq(
        till_refund_resolve(&refund, pair->i, pair->refund,
                            pair->made == MADE_KEPT ? PAY_OUTCOME_DECLINED : PAY_OUTCOME_APPROVED),
        1);
    if (pair->made == MADE_TAKEN) {
        ck_assert_int_eq(pay_store_refund_fail(&refund, &changed, till->store,
                                               &till->scopes[pair->i], pair->refund, unit_pool),
                         APR_SUCCESS);
        ck_assert_int_eq(changed, 1);
    }
}

static void make(pair_t *pair)
{
    pay_charge_t *charge;

    pair->refund = "rfd_none";
    pair->part = 0;
    switch (pair->made) {
    case MADE_PENDING:
        (void)till_open(pair->i, "order-1", AMOUNT);
        return;
    case MADE_FAILED:
        charge = till_open(pair->i, "order-1", AMOUNT);
        ck_assert_int_eq(till_resolve(&charge, pair->i, charge->seq, PAY_OUTCOME_DECLINED), 1);
        return;
    case MADE_CHECKOUT:
    case MADE_VOID:
    case MADE_ABANDONED:
    case MADE_LATE:
        make_checkout(pair);
        return;
    default:
        make_refunded(pair);
    }
}

static int act_refund_open(const pair_t *pair, apr_int64_t amount_minor)
{
    pay_refund_verdict_t verdict;
    pay_refund_t *refund;
    pay_charge_t *charge;
    pay_idempotency_record_t *record;

    ck_assert_int_eq(pay_store_refund_open(&refund, &charge, &verdict, &record, till->store,
                                           till_refund_proposal(pair->i, "order-1", amount_minor),
                                           NULL, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_msg((refund != NULL) == (verdict == PAY_REFUND_OPENED), "%s", pair->name);
    return verdict == PAY_REFUND_OPENED;
}

/* On the refund; one that the charge does not have is not found. */
static int act_refund(const pair_t *pair)
{
    static const pay_outcome_kind_t kinds[] = {[ACT_PROCESS] = PAY_OUTCOME_APPROVED,
                                               [ACT_REFUSE] = PAY_OUTCOME_DECLINED,
                                               [ACT_UNSURE] = PAY_OUTCOME_UNKNOWN};
    const pay_scope_t *scope = &till->scopes[pair->i];
    pay_refund_t *refund;
    apr_status_t rv;
    int changed;

    if (pair->act == ACT_FAIL) {
        rv = pay_store_refund_fail(&refund, &changed, till->store, scope, pair->refund, unit_pool);
    } else {
        rv = pay_store_refund_resolve(&refund, &changed, till->store, scope, pair->refund,
                                      till_outcome(kinds[pair->act]),
                                      till_clock + apr_time_from_sec(5), unit_pool);
    }
    ck_assert_msg(rv == (pair->part ? APR_SUCCESS : APR_NOTFOUND), "%s: %d", pair->name, rv);
    return changed;
}

/* Returns whether the operation reports a change. */
static int act(const pair_t *pair)
{
    const pay_scope_t *scope = &till->scopes[pair->i];
    pay_charge_t *charge = till_find(pair->i, "order-1");
    pay_idempotency_record_t *record;
    apr_status_t rv;
    int voided;

    switch (pair->act) {
    case ACT_APPROVE:
        return till_resolve(&charge, pair->i, charge->seq, PAY_OUTCOME_APPROVED);
    case ACT_DECLINE:
        return till_resolve(&charge, pair->i, charge->seq, PAY_OUTCOME_DECLINED);
    case ACT_UNKNOWN:
        return till_resolve(&charge, pair->i, charge->seq, PAY_OUTCOME_UNKNOWN);
    case ACT_VOID:
        rv = pay_store_charge_void(&charge, &voided, &record, till->store, scope, "order-1", NULL,
                                   unit_pool);
        ck_assert_int_eq(rv, APR_SUCCESS);
        return voided;
    case ACT_WITHDRAW:
        rv = pay_store_charge_withdraw(till->store, scope, charge->seq, unit_pool);
        ck_assert_msg(rv == APR_SUCCESS || rv == APR_EINVAL, "%s: %d", pair->name, rv);
        return rv == APR_SUCCESS;
    case ACT_REFUND:
        return act_refund_open(pair, 1);
    case ACT_REFUND_ALL:
        return act_refund_open(pair, 0);
    default:
        return act_refund(pair);
    }
}

/* The row's bytes, except for the contradiction. */
static const char *bytes_of(const pay_charge_t *charge)
{
    pay_charge_t copy = *charge;
    pay_bytes_t row;

    copy.contradiction = "";
    ck_assert_int_eq(pay_store_charge_encode(&row, &copy, unit_pool), 0);
    return apr_pescape_hex(unit_pool, row.data, row.len, 0);
}

/* The operation changed the amounts as the table says. */
static void check_amounts(const pair_t *pair, const pay_charge_t *was, const pay_charge_t *is)
{
    apr_int64_t refunded = was->refunded_minor, pending = was->refunds_pending_minor;

    switch (pair->act) {
    case ACT_REFUND:
        pending += 1;
        break;
    case ACT_REFUND_ALL:
        pending += AMOUNT - refunded;
        break;
    case ACT_PROCESS:
        refunded += pair->part;
        pending -= pair->part;
        break;
    case ACT_REFUSE:
        pending -= pair->part;
        break;
    case ACT_FAIL:
        refunded -= pair->part;
        break;
    default:
        break;
    }
    ck_assert_msg(is->refunded_minor == refunded, "%s: refunded %" APR_INT64_T_FMT, pair->name,
                  is->refunded_minor);
    ck_assert_msg(is->refunds_pending_minor == pending, "%s: pending %" APR_INT64_T_FMT, pair->name,
                  is->refunds_pending_minor);
}

static pay_charge_state_t state_of(char want, pay_charge_state_t was)
{
    switch (want) {
    case 's':
        return PAY_CHARGE_SUCCESSFUL;
    case 'r':
        return PAY_CHARGE_REVERSED;
    case 'f':
        return PAY_CHARGE_FAILED;
    case 'v':
        return PAY_CHARGE_VOID;
    default:
        return was;
    }
}

static void check_done(const pair_t *pair, char want, const pay_charge_t *was)
{
    pay_charge_t *is;
    apr_status_t rv;

    rv = pay_store_charge_find(&is, till->store, &till->scopes[pair->i], "order-1", unit_pool);
    ck_assert_msg(rv == (want == 'x' ? APR_NOTFOUND : APR_SUCCESS), "%s: %d", pair->name, rv);
    if (want == 'x') {
        return;
    }
    ck_assert_msg(is->state == state_of(want, was->state), "%s: it is %s", pair->name,
                  pay_charge_state_name(is->state));
    if (want != '.' && is->state != was->state) {
        ck_assert_msg(pay_charge_may_become(was->state, is->state), "%s", pair->name);
    }
    ck_assert_msg(
        is->updated_at
            == (pair->act == ACT_UNKNOWN || pair->act == ACT_UNSURE ? was->updated_at : till_clock),
        "%s: updatedAt", pair->name);
    check_amounts(pair, was, is);
}

START_TEST(test_pair)
{
    char want = state_cases[_i / ACT_COUNT].want[_i % ACT_COUNT];
    pair_t pair = {state_cases[_i / ACT_COUNT].made, (act_t)(_i % ACT_COUNT), 0, NULL, 0, NULL};
    const char *others[TILL_SCOPES], *before;
    pay_charge_t *was;
    int i, done;

    ck_assert_uint_eq(strlen(state_cases[_i / ACT_COUNT].want), ACT_COUNT);
    pair.name =
        apr_pstrcat(unit_pool, state_cases[_i / ACT_COUNT].name, ": ", act_names[pair.act], NULL);
    for (i = TILL_SCOPES - 1; i >= 0; i--) { /* the last one, scope 0's, is the subject */
        pair.i = i;
        make(&pair);
        others[i] = bytes_of(till_find(i, "order-1"));
    }
    memset(till_lines, 0, sizeof(till_lines));
    till_clock += apr_time_from_sec(1);
    was = till_find(0, "order-1");
    ck_assert_msg(was->state == state_cases[_i / ACT_COUNT].state, "%s: made", pair.name);
    before = till_snapshot();
    done = act(&pair);
    ck_assert_msg(done == (want != '-' && want != '!'), "%s: it says %d", pair.name, done);
    if (done) {
        check_done(&pair, want, was);
    } else {
        ck_assert_msg(strcmp(bytes_of(till_find(0, "order-1")), others[0]) == 0, "%s", pair.name);
    }
    ck_assert_msg((strcmp(till_snapshot(), before) == 0) == (want == '-'), "%s: what is written",
                  pair.name);
    for (i = 1; i < TILL_SCOPES; i++) {
        ck_assert_str_eq(bytes_of(till_find(i, "order-1")), others[i]);
    }
    ck_assert_msg(till_lines[PAY_LOG_ALERT] == (want == '!'), "%s: alerts", pair.name);
    ck_assert_msg(till_lines[PAY_LOG_WARNING] == (done && pair.act == ACT_FAIL), "%s: warnings",
                  pair.name);
    till_check_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_pair, 0, PAIRS);
}

UNIT_PROGRAM(add)
