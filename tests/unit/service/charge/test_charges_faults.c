/* SPDX-License-Identifier: Apache-2.0 */
#include "limited.h"
#include "shop_scripted.h"
#include "watched.h"

static void store_token(const char *text, const char *email, int revoked)
{
    pay_token_t token = {{shop->account->number, PAY_TEST},
                         text,
                         {"555555", "4444", "Mastercard", "NG", "debit"},
                         email,
                         0,
                         0};
    pay_token_t *out;

    ck_assert_int_eq(pay_store_token_create(&out, shop->store, &token, unit_pool), APR_SUCCESS);
    if (revoked) {
        ck_assert_int_eq(pay_store_token_revoke(&out, shop->store, &token.scope, text, unit_pool),
                         APR_SUCCESS);
    }
}

static apr_status_t fault; /* what the failing slots below return */

static apr_status_t look_fails(pay_charge_look_t *out, pay_store_t *store, const pay_scope_t *scope,
                               const char *reference, const char *token, apr_pool_t *p)
{
    (void)store, (void)scope, (void)reference, (void)token, (void)p;
    *out = (pay_charge_look_t){.token_status = APR_NOTFOUND};
    return fault;
}

static apr_status_t token_fails(pay_charge_look_t *out, pay_store_t *store,
                                const pay_scope_t *scope, const char *reference, const char *token,
                                apr_pool_t *p)
{
    const apr_status_t rv = STORE_REAL(charge_look)(out, store, scope, reference, token, p);

    out->token = NULL;
    out->token_status = fault;
    return rv;
}

static apr_status_t open_fails(pay_charge_t **out, pay_claim_t *claim, pay_store_t *store,
                               const pay_charge_t *proposal, const pay_outcome_t *outcome,
                               const pay_idempotency_t *use, apr_pool_t *p)
{
    (void)store, (void)proposal, (void)outcome, (void)use, (void)p;
    *out = NULL;
    *claim = PAY_CLAIM_NEW;
    return fault;
}

static apr_status_t open_late(pay_charge_t **out, pay_claim_t *claim, pay_store_t *store,
                              const pay_charge_t *proposal, const pay_outcome_t *outcome,
                              const pay_idempotency_t *use, apr_pool_t *p)
{
    pay_charge_t late = *proposal;

    late.send_before_ms = pay_time_boot_ms() - 1;
    return STORE_REAL(charge_open)(out, claim, store, &late, outcome, use, p);
}

static apr_status_t resolve_fails(pay_charge_t **out, int *changed, pay_store_t *store,
                                  const pay_scope_t *scope, apr_uint64_t seq,
                                  const pay_outcome_t *outcome, apr_time_t due_at, apr_pool_t *p)
{
    (void)store, (void)scope, (void)seq, (void)outcome, (void)due_at, (void)p;
    *out = NULL;
    *changed = 0;
    return PAY_STORE_EBUSY;
}

static apr_status_t withdraw_fails(pay_store_t *store, const pay_scope_t *scope, apr_uint64_t seq,
                                   apr_pool_t *p)
{
    (void)store, (void)scope, (void)seq, (void)p;
    return PAY_STORE_EDOWN;
}

/* Done, as far as anybody can see, but the store could not report that. */
static apr_status_t withdraw_unknown(pay_store_t *store, const pay_scope_t *scope, apr_uint64_t seq,
                                     apr_pool_t *p)
{
    ck_assert_int_eq(STORE_REAL(charge_withdraw)(store, scope, seq, p), APR_SUCCESS);
    return PAY_STORE_EUNKNOWN;
}

/* Reconciliation was faster: the client gets the outcome that it stored. */
static apr_status_t withdraw_late(pay_store_t *store, const pay_scope_t *scope, apr_uint64_t seq,
                                  apr_pool_t *p)
{
    pay_charge_t *charge;
    int changed;

    ck_assert_int_eq(
        STORE_REAL(charge_resolve)(&charge, &changed, store, scope, seq, &approved, 0, p),
        APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    return STORE_REAL(charge_withdraw)(store, scope, seq, p);
}

typedef enum slot_t {
    SLOT_NONE,
    SLOT_LOOK,
    SLOT_TOKEN,
    SLOT_OPEN,
    SLOT_OPEN_LATE,
    SLOT_WITHDRAW,
    SLOT_WITHDRAW_UNKNOWN,
    SLOT_WITHDRAW_LATE,
    SLOT_RESOLVE
} slot_t;

static const struct {
    const char *name;
    slot_t slot;           /* of the store that fails */
    apr_status_t fault;    /* with this */
    apr_status_t answered; /* by the acquirer */
    int status;            /* 0: pending, 1: successful */
    const char *code;
    int calls;
    int known; /* 1: the reference is taken afterwards */
} fault_cases[] = {
    {"well", SLOT_NONE, 0, APR_SUCCESS, 1, "", 1, 1},
    {"look: down", SLOT_LOOK, PAY_STORE_EDOWN, APR_SUCCESS, 503, "E2", 0, 0},
    {"look: corrupt", SLOT_LOOK, PAY_STORE_ECORRUPT, APR_SUCCESS, 500, "E1", 0, 0},
    {"token: down", SLOT_TOKEN, PAY_STORE_EDOWN, APR_SUCCESS, 503, "E2", 0, 0},
    {"open: down", SLOT_OPEN, PAY_STORE_EDOWN, APR_SUCCESS, 503, "E2", 0, 0},
    {"open: busy", SLOT_OPEN, PAY_STORE_EBUSY, APR_SUCCESS, 503, "E2", 0, 0},
    {"open: full", SLOT_OPEN, PAY_STORE_EFULL, APR_SUCCESS, 503, "E2", 0, 0},
    {"open: schema", SLOT_OPEN, PAY_STORE_ESCHEMA, APR_SUCCESS, 503, "E2", 0, 0},
    {"open: unknown", SLOT_OPEN, PAY_STORE_EUNKNOWN, APR_SUCCESS, 503, "E2", 0, 0},
    {"opened too late", SLOT_OPEN_LATE, 0, APR_SUCCESS, 503, "E2", 0, 0},
    {"not sent", SLOT_NONE, 0, PAYMENTS_NOT_SENT, 503, "E2", 1, 0},
    {"not sent nor taken back", SLOT_WITHDRAW, 0, PAYMENTS_NOT_SENT, 0, "", 1, 1},
    {"not sent, and gone", SLOT_WITHDRAW_UNKNOWN, 0, PAYMENTS_NOT_SENT, 503, "E2", 1, 0},
    {"not sent but decided", SLOT_WITHDRAW_LATE, 0, PAYMENTS_NOT_SENT, 1, "", 1, 1},
    {"acquirer: time-out", SLOT_NONE, 0, APR_TIMEUP, 0, "", 1, 1},
    {"acquirer: reset", SLOT_NONE, 0, APR_ECONNRESET, 0, "", 1, 1},
    {"resolve fails", SLOT_RESOLVE, 0, APR_SUCCESS, 0, "", 1, 1},
};

static void break_slot(slot_t slot)
{
    switch (slot) {
    case SLOT_NONE:
        break;
    case SLOT_LOOK:
        store_script.charge_look = look_fails;
        break;
    case SLOT_TOKEN:
        store_script.charge_look = token_fails;
        break;
    case SLOT_OPEN:
        store_script.charge_open = open_fails;
        break;
    case SLOT_OPEN_LATE:
        store_script.charge_open = open_late;
        break;
    case SLOT_WITHDRAW:
        store_script.charge_withdraw = withdraw_fails;
        break;
    case SLOT_WITHDRAW_UNKNOWN:
        store_script.charge_withdraw = withdraw_unknown;
        break;
    case SLOT_WITHDRAW_LATE:
        store_script.charge_withdraw = withdraw_late;
        break;
    case SLOT_RESOLVE:
        store_script.charge_resolve = resolve_fails;
        break;
    }
}

START_TEST(test_fault)
{
    const pay_acquirer_t *acquirer = limited(&script_acquirer, 4);
    const char *name = fault_cases[_i].name;
    const pay_problem_t *problem;
    pay_charge_t *charge, *found;
    apr_status_t rv;
    int replayed;

    set_up_scripted();
    watch();
    store_token("tok_abc", "payer@shop.example", 0);
    shop->service.acquirer[PAY_TEST] = acquirer;
    fault = fault_cases[_i].fault;
    script.status = fault_cases[_i].answered;
    break_slot(fault_cases[_i].slot);
    problem = create(&charge, &replayed, shop_request("order-1", "tok_abc"));
    ck_assert_msg(logged("PAY00201: ") == (fault_cases[_i].slot == SLOT_RESOLVE), "%s", name);
    if (fault_cases[_i].status > 1) {
        shop_check_problem(name, problem, fault_cases[_i].status, fault_cases[_i].code);
        ck_assert_msg(fault_cases[_i].status == 500 || problem->retry_after > 0, "%s", name);
        ck_assert_ptr_null(charge);
    } else {
        ck_assert_msg(problem == NULL, "%s: a problem", name);
        ck_assert_int_eq(charge->state,
                         fault_cases[_i].status ? PAY_CHARGE_SUCCESSFUL : PAY_CHARGE_PENDING);
    }
    ck_assert_msg(script.calls == fault_cases[_i].calls, "%s: %d calls", name, script.calls);
    ck_assert_msg(pay_slots_count(acquirer->slots) == 0, "%s: a place is kept", name);
    rv = STORE_REAL(charge_find)(&found, shop->store, &key->scope, "order-1", unit_pool);
    ck_assert_msg((rv == APR_SUCCESS) == fault_cases[_i].known, "%s: find %d", name, rv);
}
END_TEST

START_TEST(test_not_sent_frees_the_reference)
{
    const pay_charge_request_t *request = shop_request("order-1", "tok_test_success");
    pay_charge_t *charge;
    int replayed;

    set_up_scripted();
    script.status = PAYMENTS_NOT_SENT;
    shop_check_problem("not sent", create(&charge, &replayed, request), 503, "E2");
    script.status = APR_SUCCESS;
    ck_assert_ptr_null(create(&charge, &replayed, request));
    ck_assert_int_eq(charge->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_int_eq(replayed, 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_fault, 0, UNIT_ROWS(fault_cases));
    tcase_add_test(tcase, test_not_sent_frees_the_reference);
}

UNIT_PROGRAM(add)
