/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include <apr_strings.h>

#define HOUR apr_time_from_sec(3600)

static const pay_outcome_t approved = {
    .kind = PAY_OUTCOME_APPROVED, .code = "00", .message = "Approved"};

/* A charge that failed for absence, to be queried once more in an hour. */
static pay_charge_t *absent(int i)
{
    const pay_outcome_t outcome = {.kind = PAY_OUTCOME_DECLINED,
                                   .message = "The charge was not received by the acquirer.",
                                   .late_check_at = TILL_NOW + HOUR};
    pay_charge_t *charge = till_open(i, "order-1", 1000);
    int changed;

    ck_assert_int_eq(pay_store_charge_resolve(&charge, &changed, till->store, &till->scopes[i],
                                              charge->seq, &outcome, 0, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    ck_assert_int_eq(charge->state, PAY_CHARGE_FAILED);
    ck_assert_int_eq(charge->due_at, TILL_NOW + HOUR);
    till_check_clean();
    return charge;
}

static int late(pay_charge_t **out, const pay_charge_t *charge, const pay_late_step_t *step)
{
    int changed;

    ck_assert_int_eq(pay_store_charge_late(out, &changed, till->store, &charge->scope, charge->seq,
                                           step, unit_pool),
                     APR_SUCCESS);
    return changed;
}

/* The rows that are due at `now`. */
static int due(apr_time_t now)
{
    apr_array_header_t *rows;

    ck_assert_int_eq(
        pay_store_due_take(&rows, till->store, now, apr_time_from_sec(60), 16, unit_pool),
        APR_SUCCESS);
    return rows->nelts;
}

/* One that failed for absence is due again, with its lease, as pending ones are. */
START_TEST(test_due_once_more)
{
    pay_store_stat_t stat;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        (void)absent(i);
    }
    ck_assert_int_eq(pay_store_stat(&stat, till->store, unit_pool), APR_SUCCESS);
    ck_assert_uint_eq(stat.pending, 0); /* it is not among pending ones */
    ck_assert_int_eq(due(TILL_NOW + HOUR - 1), 0);
    ck_assert_int_eq(due(TILL_NOW + HOUR), TILL_SCOPES);
    ck_assert_int_eq(due(TILL_NOW + HOUR), 0);
    ck_assert_int_eq(due(TILL_NOW + HOUR + apr_time_from_sec(60)), TILL_SCOPES);
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    pay_late_step_t step;
    int alert;
    const char *contradiction;
} step_cases[] = {
    {"nothing was found, and it is asked again",
     {.from = PAY_LATE_NONE, .to = PAY_LATE_NONE, .due_at = TILL_NOW + 24 * HOUR},
     0,
     ""},
    {"nothing was found, for the last time", {.from = PAY_LATE_NONE, .to = PAY_LATE_NONE}, 0, ""},
    {"found, for a person",
     {.from = PAY_LATE_NONE, .to = PAY_LATE_FOUND, .outcome = &approved, .held = PAY_HELD_LATE},
     1,
     "approved 00: Approved"},
    {"found, and to be refunded",
     {.from = PAY_LATE_NONE,
      .to = PAY_LATE_REFUNDING,
      .tag = "tag-1",
      .outcome = &approved,
      .due_at = TILL_NOW + 2 * HOUR},
     1,
     "approved 00: Approved"},
};

/* State, amounts, totals and reported outcome stay as they were. */
START_TEST(test_step)
{
    const char *name = step_cases[_i].name;
    const pay_late_step_t *step = &step_cases[_i].step;
    pay_charge_t *charge, *out, *stored;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        charge = absent(i);
        ck_assert_msg(late(&out, charge, step), "%s", name);
        stored = till_find(i, "order-1");
        ck_assert_int_eq(stored->state, PAY_CHARGE_FAILED);
        ck_assert_int_eq(stored->decided_state, PAY_CHARGE_FAILED);
        ck_assert_str_eq(stored->message, charge->message);
        ck_assert_msg(stored->due_at == step->due_at, "%s", name);
        ck_assert_msg(stored->late == step->to && stored->held == step->held, "%s", name);
        ck_assert_msg(!strcmp(stored->contradiction, step_cases[_i].contradiction), "%s: %s", name,
                      stored->contradiction);
        ck_assert_str_eq(stored->late_tag, step->tag ? step->tag : "");
        till_check_clean();
    }
    ck_assert_msg(till_lines[PAY_LOG_ALERT] == TILL_SCOPES * step_cases[_i].alert, "%s: %d", name,
                  till_lines[PAY_LOG_ALERT]);
}
END_TEST

/* Of two that found it, the second one does nothing. */
START_TEST(test_compare_and_set)
{
    const pay_late_step_t found = {.from = PAY_LATE_NONE,
                                   .to = PAY_LATE_REFUNDING,
                                   .tag = "tag-1",
                                   .outcome = &approved,
                                   .due_at = TILL_NOW + HOUR};
    pay_late_step_t again = found;
    pay_charge_t *charge = absent(0), *out;
    const char *before;

    again.tag = "tag-2";
    ck_assert_int_eq(late(&out, charge, &found), 1);
    before = till_snapshot();
    ck_assert_int_eq(late(&out, charge, &again), 0);
    ck_assert_str_eq(out->late_tag, "tag-1");
    ck_assert_str_eq(till_snapshot(), before);
    ck_assert_int_eq(till_lines[PAY_LOG_ALERT], 1);
}
END_TEST

/* The path of one that is refunded, and of one that a person closes. */
START_TEST(test_ends)
{
    const pay_late_step_t sent = {.from = PAY_LATE_NONE,
                                  .to = PAY_LATE_REFUNDING,
                                  .tag = "tag-1",
                                  .outcome = &approved,
                                  .due_at = TILL_NOW + HOUR};
    const pay_late_step_t refunded = {.from = PAY_LATE_REFUNDING, .to = PAY_LATE_REFUNDED};
    const pay_late_step_t lost = {
        .from = PAY_LATE_REFUNDING, .to = PAY_LATE_FOUND, .held = PAY_HELD_LATE};
    const pay_late_step_t closed = {
        .from = PAY_LATE_FOUND, .to = PAY_LATE_FOUND, .resolution = "refunded by hand"};
    pay_charge_t *charge = absent(0), *out;

    ck_assert_int_eq(late(&out, charge, &sent), 1);
    if (_i) {
        ck_assert_int_eq(late(&out, charge, &refunded), 1);
    } else {
        ck_assert_int_eq(late(&out, charge, &lost), 1);
        ck_assert_int_eq(out->held, PAY_HELD_LATE);
        ck_assert_int_eq(late(&out, charge, &closed), 1);
        ck_assert_str_eq(out->resolution, "refunded by hand");
    }
    ck_assert_int_eq(out->held, PAY_NOT_HELD);
    ck_assert_str_eq(out->late_tag, "tag-1");
    ck_assert_int_eq(due(TILL_NOW + 1000 * HOUR), 0);
    ck_assert_int_eq(till_lines[PAY_LOG_ALERT], 1);
    till_check_clean();
}
END_TEST

static const struct {
    const char *name;
    pay_outcome_kind_t kind; /* UNKNOWN: it is pending */
} other_states[] = {
    {"pending", PAY_OUTCOME_UNKNOWN},
    {"successful", PAY_OUTCOME_APPROVED},
};

START_TEST(test_not_failed)
{
    const pay_late_step_t step = {
        .from = PAY_LATE_NONE, .to = PAY_LATE_FOUND, .outcome = &approved, .held = PAY_HELD_LATE};
    pay_charge_t *charge = till_open(0, "order-1", 1000), *out;
    const char *before;

    if (other_states[_i].kind != PAY_OUTCOME_UNKNOWN) {
        ck_assert_int_eq(till_resolve(&out, 0, charge->seq, other_states[_i].kind), 1);
    }
    before = till_snapshot();
    ck_assert_int_eq(late(&out, charge, &step), 0);
    ck_assert_str_eq(till_snapshot(), before);
    ck_assert_int_eq(
        pay_store_charge_late(&out, &(int){0}, till->store, &till->scopes[1], 1, &step, unit_pool),
        APR_NOTFOUND);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_due_once_more);
    tcase_add_loop_test(tcase, test_step, 0, UNIT_ROWS(step_cases));
    tcase_add_test(tcase, test_compare_and_set);
    tcase_add_loop_test(tcase, test_ends, 0, 2);
    tcase_add_loop_test(tcase, test_not_failed, 0, UNIT_ROWS(other_states));
}

UNIT_PROGRAM(add)
