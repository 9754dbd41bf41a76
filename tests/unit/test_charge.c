/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/pay_time.h"
#include "model/pay_charge.h"

#include <string.h>
#include <unistd.h>

#define P PAY_CHARGE_PENDING
#define S PAY_CHARGE_SUCCESSFUL
#define F PAY_CHARGE_FAILED
#define R PAY_CHARGE_REVERSED
#define V PAY_CHARGE_VOID
#define A PAY_CHARGE_ABANDONED

/* Every pair of states; a row is where it comes from, a column where it goes to. */
static const struct {
    const char *name;
    pay_charge_state_t from;
    int to[PAY_CHARGE_STATE_COUNT];
} state_cases[] = {
    /*                P  S  F  R  V  A */
    {"pending", P, {0, 1, 1, 0, 1, 1}}, {"successful", S, {0, 0, 0, 1, 0, 0}},
    {"failed", F, {0, 0, 0, 0, 0, 0}},  {"reversed", R, {0, 1, 0, 0, 0, 0}},
    {"void", V, {0, 1, 0, 0, 0, 0}},    {"abandoned", A, {0, 1, 0, 0, 0, 0}},
};
_Static_assert(sizeof(state_cases) / sizeof(state_cases[0]) == PAY_CHARGE_STATE_COUNT, "all");

/* One run a pair. */
START_TEST(test_move)
{
    int from = _i / PAY_CHARGE_STATE_COUNT, to = _i % PAY_CHARGE_STATE_COUNT;
    int want = state_cases[from].to[to];
    int may = pay_charge_may_become(state_cases[from].from, state_cases[to].from);

    ck_assert_msg(may == want, "%s to %s is %s", state_cases[from].name, state_cases[to].name,
                  want ? "legal" : "illegal");
}
END_TEST

START_TEST(test_states)
{
    pay_charge_state_t state;

    ck_assert_int_eq(state_cases[_i].from, _i); /* so that columns are states too */
    ck_assert_str_eq(pay_charge_state_name(state_cases[_i].from), state_cases[_i].name);
    ck_assert_int_eq(pay_charge_state_parse(&state, state_cases[_i].name), APR_SUCCESS);
    ck_assert_int_eq(state, state_cases[_i].from);
}
END_TEST

START_TEST(test_states_outside)
{
    pay_charge_state_t state = S;

    ck_assert_int_eq(pay_charge_may_become(P, PAY_CHARGE_STATE_COUNT), 0);
    ck_assert_int_eq(pay_charge_may_become(PAY_CHARGE_STATE_COUNT, S), 0);
    ck_assert_int_eq(pay_charge_may_become((pay_charge_state_t)-1, S), 0);
    ck_assert_str_eq(pay_charge_state_name(PAY_CHARGE_STATE_COUNT), "unknown");
    ck_assert_int_eq(pay_charge_state_parse(&state, "unknown"), APR_EINVAL);
    ck_assert_int_eq(state, P);
    ck_assert_int_eq(pay_charge_state_parse(&state, "Successful"), APR_EINVAL);
    ck_assert_int_eq(pay_charge_state_parse(&state, ""), APR_EINVAL);
}
END_TEST

static const struct {
    const char *name;
    pay_charge_state_t state;
    int worker; /* 1: this process, 0: nobody, -1: this pid with another start, 2: other boot */
    apr_int64_t wait_ms; /* from now */
    int want;
} flight_cases[] = {
    {"at work", P, 1, 60000, 1},
    {"time is over", P, 1, 0, 0},
    {"time is long over", P, 1, -60000, 0},
    {"nobody", P, 0, 60000, 0},
    {"the pid is another process now", P, -1, 60000, 0},
    {"another boot", P, 2, 60000, 0},
    {"decided", S, 1, 60000, 0},
    {"failed", F, 1, 60000, 0},
};

START_TEST(test_in_flight)
{
    pay_charge_t charge = {.state = flight_cases[_i].state};

    if (flight_cases[_i].worker) {
        charge.worker = pay_worker_self();
    }
    if (flight_cases[_i].worker < 0) {
        charge.worker.start_ticks--;
    }
    if (flight_cases[_i].worker > 1) {
        charge.worker.boot_id ^= 1;
    }
    charge.wait_until_ms = pay_time_boot_ms() + flight_cases[_i].wait_ms;
    ck_assert_msg(pay_charge_in_flight(&charge) == flight_cases[_i].want, "%s",
                  flight_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    pay_charge_state_t state;
    apr_int64_t amount_minor, refunded_minor, pending_minor, want_minor;
} refundable_cases[] = {
    {"untouched", S, 1000, 0, 0, 1000},
    {"processed and pending ones", S, 1000, 300, 200, 500},
    {"one minor unit is left", S, 1000, 999, 0, 1},
    {"nothing is left", S, 1000, 600, 400, 0},
    {"imported history refunded more", S, 1000, 1500, 0, 0},
    {"imported history refunded all there is", S, 1, APR_INT64_MAX, APR_INT64_MAX, 0},
    {"pending", P, 1000, 0, 0, 0},
    {"failed", F, 1000, 0, 0, 0},
    {"reversed", R, 1000, 500, 0, 0},
    {"void", V, 1000, 0, 0, 0},
    {"abandoned", A, 1000, 0, 0, 0},
};

START_TEST(test_refundable)
{
    pay_charge_t charge = {.state = refundable_cases[_i].state,
                           .money = {refundable_cases[_i].amount_minor, "NGN"},
                           .refunded_minor = refundable_cases[_i].refunded_minor,
                           .refunds_pending_minor = refundable_cases[_i].pending_minor};

    ck_assert_msg(pay_charge_refundable_minor(&charge) == refundable_cases[_i].want_minor, "%s",
                  refundable_cases[_i].name);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_move, 0, PAY_CHARGE_STATE_COUNT * PAY_CHARGE_STATE_COUNT);
    tcase_add_loop_test(tcase, test_states, 0, UNIT_ROWS(state_cases));
    tcase_add_test(tcase, test_states_outside);
    tcase_add_loop_test(tcase, test_in_flight, 0, UNIT_ROWS(flight_cases));
    tcase_add_loop_test(tcase, test_refundable, 0, UNIT_ROWS(refundable_cases));
}

int main(void)
{
    return unit_run("charge", add);
}
