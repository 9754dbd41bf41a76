/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "base/text/time.h"
#include "model/charge.h"

#include <string.h>
#include <unistd.h>

#define N10 "abcdefghij"
#define N100 N10 N10 N10 N10 N10 N10 N10 N10 N10 N10

#define P PAY_CHARGE_PENDING
#define S PAY_CHARGE_SUCCESSFUL
#define F PAY_CHARGE_FAILED
#define R PAY_CHARGE_REVERSED
#define V PAY_CHARGE_VOID
#define A PAY_CHARGE_ABANDONED

/* Every pair of states; a row is the state before, a column the state after. */
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
    const char *status = pay_charge_status_name(state_cases[_i].from);

    ck_assert_int_eq(state_cases[_i].from, _i); /* so that columns are states too */
    ck_assert_str_eq(pay_charge_state_name(state_cases[_i].from), state_cases[_i].name);
    ck_assert_str_eq(status, _i == V || _i == A ? "failed" : state_cases[_i].name);
}
END_TEST

START_TEST(test_states_outside)
{
    ck_assert_int_eq(pay_charge_may_become(P, PAY_CHARGE_STATE_COUNT), 0);
    ck_assert_int_eq(pay_charge_may_become(PAY_CHARGE_STATE_COUNT, S), 0);
    ck_assert_int_eq(pay_charge_may_become((pay_charge_state_t)-1, S), 0);
    ck_assert_str_eq(pay_charge_state_name(PAY_CHARGE_STATE_COUNT), "unknown");
    ck_assert_str_eq(pay_charge_status_name(PAY_CHARGE_STATE_COUNT), "pending");
}
END_TEST

#define READ_AT APR_TIME_C(1800000000000000)

static const struct {
    const char *name;
    pay_charge_state_t state;
    int worker; /* 1: this process, 0: nobody, -1: this pid with another start, 2: other boot */
    apr_int64_t wait_ms; /* from now */
    int until_s;         /* by the store's clock, from when it was read; 0: not known */
    int want;
} flight_cases[] = {
    {"at work", P, 1, 60000, 0, 1},
    {"at work, the wall clock jumped", P, 1, 60000, -3600, 1},
    {"time is over", P, 1, 0, 60, 0},
    {"time is long over", P, 1, -60000, 60, 0},
    {"nobody", P, 0, 60000, 60, 0},
    {"the pid is another process now", P, -1, 60000, 60, 0},
    {"another boot, earlier version", P, 2, 60000, 0, 0},
    {"another boot", P, 2, -60000, 60, 1},
    {"another boot, in its grace", P, 2, -60000, -29, 1},
    {"another boot, time is over", P, 2, 60000, -30, 0},
    {"another boot, decided", S, 2, 60000, 60, 0},
    {"decided", S, 1, 60000, 60, 0},
    {"failed", F, 1, 60000, 60, 0},
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
    charge.read_at = READ_AT;
    if (flight_cases[_i].until_s) {
        charge.wait_until_at = READ_AT + apr_time_from_sec(flight_cases[_i].until_s);
    }
    ck_assert_msg(pay_charge_in_flight(&charge) == flight_cases[_i].want, "%s",
                  flight_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *text;
    apr_status_t want;
} reference_cases[] = {
    {"one character", "r", APR_SUCCESS},
    {"first and last of the set", "!~", APR_SUCCESS},
    {"dots and percent signs inside", "a.b%2F..c", APR_SUCCESS},
    {"three dots", "...", APR_SUCCESS},
    {"longest", N100, APR_SUCCESS},
    {"one longer", N100 "k", APR_EINVAL},
    {"empty", "", APR_EINVAL},
    {"dot", ".", APR_EINVAL},
    {"two dots", "..", APR_EINVAL},
    {"an API key", "pay_testsk_abcdefghijklmnopqrstuvwxyz0123456789abcdefghijkl", APR_EINVAL},
    {"another prefix's API key", "nc_livepk_abcdefghijklmnop", APR_EINVAL},
    {"like a key, but of another kind", "pay_testxk_abcdefghijklmnop", APR_SUCCESS},
    {"slash", "a/b", APR_EINVAL},
    {"backslash", "a\\b", APR_EINVAL},
    {"question mark", "a?b", APR_EINVAL},
    {"number sign", "a#b", APR_EINVAL},
    {"blank", "a b", APR_EINVAL},
    {"DEL", "a\x7f", APR_EINVAL},
    {"newline", "a\n", APR_EINVAL},
    {"beyond ASCII", "\xc3\xa9", APR_EINVAL},
};

START_TEST(test_reference)
{
    ck_assert_msg(pay_reference_check(reference_cases[_i].text) == reference_cases[_i].want, "%s",
                  reference_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    size_t offset;
} string_rows[] = {
    {"reference", offsetof(pay_charge_t, reference)},
    {"token", offsetof(pay_charge_t, token)},
    {"card.issuer", offsetof(pay_charge_t, card.issuer)},
    {"card.country", offsetof(pay_charge_t, card.country)},
    {"card.type", offsetof(pay_charge_t, card.type)},
    {"email", offsetof(pay_charge_t, email)},
    {"first_name", offsetof(pay_charge_t, first_name)},
    {"last_name", offsetof(pay_charge_t, last_name)},
    {"request_ip", offsetof(pay_charge_t, request_ip)},
    {"acquirer", offsetof(pay_charge_t, acquirer)},
    {"key_id", offsetof(pay_charge_t, key_id)},
    {"code", offsetof(pay_charge_t, code)},
    {"message", offsetof(pay_charge_t, message)},
    {"authorization_code", offsetof(pay_charge_t, authorization_code)},
    {"contradiction", offsetof(pay_charge_t, contradiction)},
    {"acquirer_reference", offsetof(pay_charge_t, acquirer_reference)},
    {"late_tag", offsetof(pay_charge_t, late_tag)},
    {"resolution", offsetof(pay_charge_t, resolution)},
};

START_TEST(test_new_strings)
{
    const char *text;
    pay_charge_t charge;

    memset(&charge, 0xFF, sizeof(charge));
    pay_charge_init(&charge);
    memcpy(&text, (const char *)&charge + string_rows[_i].offset, sizeof(text));
    ck_assert_msg(text && !*text, "%s", string_rows[_i].name);
}
END_TEST

START_TEST(test_new_numbers)
{
    pay_charge_t charge;
    size_t i;

    memset(&charge, 0xFF, sizeof(charge));
    pay_charge_init(&charge);
    ck_assert_int_eq(charge.state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(charge.decided_state, PAY_CHARGE_PENDING);
    ck_assert_int_eq(charge.answer_version, PAY_CHARGE_ANSWER_VERSION);
    ck_assert_str_eq(charge.money.currency, "");
    ck_assert(charge.money.amount_minor == 0 && charge.seq == 0 && charge.due_at == 0);
    ck_assert(charge.worker.pid == 0 && charge.opened.ms == 0 && charge.fee_minor == 0);
    ck_assert_ptr_null(charge.checkout);
    for (i = 0; i < sizeof(charge.idempotency_key); i++) {
        ck_assert_uint_eq(charge.idempotency_key[i], 0);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_new_strings, 0, UNIT_ROWS(string_rows));
    tcase_add_test(tcase, test_new_numbers);
    tcase_add_loop_test(tcase, test_reference, 0, UNIT_ROWS(reference_cases));
    tcase_add_loop_test(tcase, test_move, 0, PAY_CHARGE_STATE_COUNT * PAY_CHARGE_STATE_COUNT);
    tcase_add_loop_test(tcase, test_states, 0, UNIT_ROWS(state_cases));
    tcase_add_test(tcase, test_states_outside);
    tcase_add_loop_test(tcase, test_in_flight, 0, UNIT_ROWS(flight_cases));
}

UNIT_PROGRAM(add)
