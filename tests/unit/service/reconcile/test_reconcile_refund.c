/* SPDX-License-Identifier: Apache-2.0 */
#include "limited.h"
#include "reconcile_rows.h"

#include <sys/wait.h>

/* A refund of order-1 that waits to be sent, and is due. */
static void set_up(const char *dir)
{
    shop_set_up(dir);
    shop->service.policy.late_after = SECOND;
    acquirer.slots = slots_of(1);
}

static void waiting_refund(void)
{
    shop_charge(shop, &live, "order-1");
    refund_open("order-1", "rfd_1", 1);
    shop_clock_set(NOW + MINUTE);
    script.absent_tag = "rfd_1";
    script.absent = 1;
}

static char says;

/* Before it is sent the row says that it may have been, and by which worker. */
static void called(const payments_charge_t *charge, const payments_refund_t *refund)
{
    const pay_refund_t *row = refund_of("rfd_1");

    ck_assert_int_eq(row->waiting, 0);
    ck_assert_int_eq(row->worker.pid, getpid());
    ck_assert_int_gt(row->wait_until_ms, row->send_before_ms);
    ck_assert_int_gt(row->due_at, shop_clock + SCRIPT_TIMEOUT);
    ck_assert_str_eq(refund->tag, row->tag);
    ck_assert_str_eq(refund->amount, "1.00");
    ck_assert_str_eq(charge->amount, "10.50");
    ck_assert_int_eq(pay_slots_count(acquirer.slots), 1);
    if (says == 'N') {
        script.status = PAYMENTS_NOT_SENT;
    } else {
        script_say(says);
    }
}

static const struct {
    const char *name;
    char says;
    pay_refund_state_t state;
    int settled;
    int due; /* seconds; 0: no more */
    apr_int64_t refunded_minor, pending_minor;
} sent[] = {
    {"processed", '+', PAY_REFUND_PROCESSED, 1, 0, 100, 0},
    {"refused", '-', PAY_REFUND_FAILED, 1, 0, 0, 0},
    {"not known", 'U', PAY_REFUND_PENDING, 0, 1, 0, 100},
    {"failed on the way", 'T', PAY_REFUND_PENDING, 0, 1, 0, 100},
    {"pending", 'P', PAY_REFUND_PENDING, 0, 1, 0, 100},
    {"absence of what was sent just now means nothing", 'A', PAY_REFUND_PENDING, 0, 1, 0, 100},
    {"not sent", 'N', PAY_REFUND_FAILED, 1, 0, 0, 0},
};

START_TEST(test_sent)
{
    const char *name = sent[_i].name;
    const pay_refund_t *refund;

    set_up(unit_dir());
    waiting_refund();
    says = sent[_i].says;
    script.meanwhile = called;
    ck_assert_msg(step() == sent[_i].settled, "%s", name);
    script.meanwhile = NULL;
    refund = refund_of("rfd_1");
    ck_assert_msg(refund->state == sent[_i].state, "%s: %d", name, refund->state);
    ck_assert_msg(refund->due_at == (sent[_i].due ? shop_clock + sent[_i].due * SECOND : 0), "%s",
                  name);
    ck_assert_int_eq(refund->waiting, 0);
    ck_assert_int_eq(refund->worker.pid, 0);
    ck_assert_int_eq(charge_of("order-1")->refunded_minor, sent[_i].refunded_minor);
    ck_assert_int_eq(charge_of("order-1")->refunds_pending_minor, sent[_i].pending_minor);
    ck_assert_int_eq(script.calls, 1);
    ck_assert_int_eq(script.queries, 0);
    ck_assert_int_eq(pay_slots_count(acquirer.slots), 0);
    ck_assert_msg(logged("PAY00428: ") == (sent[_i].says == 'N'), "%s", name);
    ck_assert_msg(logged("PAY00213: ") == (sent[_i].says == 'T'), "%s", name);
    /* From now on it is queried. */
    script_say('P');
    shop_clock_set(NOW + DAY);
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.calls, 1);
    ck_assert_int_eq(script.queries, sent[_i].due != 0);
    store_is_clean();
}
END_TEST

START_TEST(test_no_place)
{
    int slot, i;

    set_up(unit_dir());
    waiting_refund();
    shop->service.policy.pending_alert = HOUR;
    slot = pay_slots_take(acquirer.slots, 0);
    script.absent = 4; /* each attempt queries first */
    script_say('+');
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(refund_of("rfd_1")->due_at, NOW + MINUTE + SECOND);
    ck_assert_int_eq(refund_of("rfd_1")->held, PAY_NOT_HELD);
    for (i = 0; i < 2; i++) { /* old ones are tried as often */
        shop_clock_set(NOW + HOUR + i * MINUTE);
        ck_assert_int_eq(step(), 0);
        ck_assert_int_eq(refund_of("rfd_1")->due_at, shop_clock + MINUTE);
        ck_assert_int_eq(refund_of("rfd_1")->held, PAY_HELD_OVERDUE);
        ck_assert_int_eq(said(PAY_LOG_WARNING, "rfd_1"), 1);
    }
    ck_assert_int_eq(refund_of("rfd_1")->waiting, 1);
    ck_assert_int_eq(script.calls + script.queries, 0);
    pay_slots_give(acquirer.slots, slot);
    shop_clock_set(shop_clock + MINUTE);
    ck_assert_int_eq(step(), 1);
    ck_assert_int_eq(script.calls, 1);
    ck_assert_int_eq(refund_of("rfd_1")->state, PAY_REFUND_PROCESSED);
    ck_assert_int_eq(refund_of("rfd_1")->held, PAY_NOT_HELD);
}
END_TEST

static apr_status_t claim_status;
static int claim_takes_ms, claim_is_late;

/* `claim_is_late` 1: another process claims it in between. */
static apr_status_t claim_other(pay_refund_t **out, int *claimed, pay_store_t *store,
                                const pay_scope_t *scope, const char *reference,
                                const pay_worker_t *worker, apr_int64_t send_before_ms,
                                apr_int64_t wait_until_ms, apr_time_t due_at, apr_pool_t *p)
{
    const pay_worker_t other = {1, 1, 1};
    apr_status_t rv;

    *out = NULL;
    *claimed = 0;
    if (claim_status != APR_SUCCESS) {
        return claim_status;
    }
    if (claim_is_late) {
        ck_assert_int_eq(STORE_REAL(refund_claim)(out, claimed, store, scope, reference, &other,
                                                  send_before_ms, wait_until_ms, due_at, p),
                         APR_SUCCESS);
        ck_assert_int_eq(*claimed, 1);
    }
    rv = STORE_REAL(refund_claim)(out, claimed, store, scope, reference, worker, send_before_ms,
                                  wait_until_ms, due_at, p);
    unit_boot_pass(claim_takes_ms);
    return rv;
}

static const struct {
    const char *name;
    apr_status_t status;
    int is_late, takes_ms;
    int waiting;
    pay_refund_state_t state;
    const char *line;
} hindrances[] = {
    {"the store is busy", PAY_STORE_EBUSY, 0, 0, 1, PAY_REFUND_PENDING, "PAY00429: "},
    {"another process was faster", APR_SUCCESS, 1, 0, 0, PAY_REFUND_PENDING, NULL},
    {"the store took too long", APR_SUCCESS, 0, PAY_SEND_BEFORE_MS + 1000, 0, PAY_REFUND_FAILED,
     "PAY00427: "},
};

START_TEST(test_not_sent)
{
    const char *name = hindrances[_i].name;

    set_up(unit_dir());
    waiting_refund();
    claim_status = hindrances[_i].status;
    claim_is_late = hindrances[_i].is_late;
    claim_takes_ms = hindrances[_i].takes_ms;
    store_script.refund_claim = claim_other;
    script.absent += hindrances[_i].waiting;
    script_say('+');
    ck_assert_msg(step() == (hindrances[_i].state == PAY_REFUND_FAILED), "%s", name);
    ck_assert_msg(script.calls == 0, "%s", name);
    ck_assert_msg(!hindrances[_i].line || logged(hindrances[_i].line) == 1, "%s", name);
    ck_assert_msg(refund_of("rfd_1")->waiting == hindrances[_i].waiting, "%s", name);
    ck_assert_msg(refund_of("rfd_1")->state == hindrances[_i].state, "%s", name);
    ck_assert_int_eq(pay_slots_count(acquirer.slots), 0);
    store_script.refund_claim = NULL;
    shop_clock_set(shop_clock + DAY);
    step();
    ck_assert_msg(script.calls == hindrances[_i].waiting, "%s", name);
}
END_TEST

static const struct {
    const char *name;
    char says;
    pay_mode_t mode;
    int put_back;
    pay_refund_state_t state;
    int settled, waiting, queries;
    pay_held_t held;
} found[] = {
    {"it was processed", '+', PAY_LIVE, 0, PAY_REFUND_PROCESSED, 1, 0, 1, PAY_NOT_HELD},
    {"it was refused", '-', PAY_LIVE, 0, PAY_REFUND_FAILED, 1, 0, 1, PAY_NOT_HELD},
    {"it is pending there", 'P', PAY_LIVE, 0, PAY_REFUND_PENDING, 0, 0, 1, PAY_NOT_HELD},
    {"it is something else", 'D', PAY_LIVE, 0, PAY_REFUND_PENDING, 0, 1, 1, PAY_HELD_DIFFERENT},
    {"no answer", 'U', PAY_LIVE, 0, PAY_REFUND_PENDING, 0, 1, 1, PAY_NOT_HELD},
    {"an error", 'T', PAY_LIVE, 0, PAY_REFUND_PENDING, 0, 1, 1, PAY_NOT_HELD},
    {"Test Mode", '+', PAY_TEST, 0, PAY_REFUND_PENDING, 0, 1, 0, PAY_NOT_HELD},
    {"put back", '+', PAY_LIVE, 1, PAY_REFUND_PENDING, 0, 1, 0, PAY_NOT_HELD},
};

static apr_status_t epoch_held(pay_epoch_t *out, pay_store_t *store)
{
    (void)store;
    *out = (pay_epoch_t){.number = 1, .held = 1};
    return APR_SUCCESS;
}

/*
 * A waiting refund is queried first, and is sent only if the acquirer reports that it does not have
 * it.
 */
START_TEST(test_found_before_it_is_sent)
{
    const char *name = found[_i].name;
    const pay_refund_t *refund;

    set_up(unit_dir());
    waiting_refund();
    script.absent = 0;
    shop_mode(found[_i].mode);
    if (found[_i].put_back) {
        store_script.epoch_find = epoch_held;
    }
    script_say(found[_i].says);
    ck_assert_msg(step() == found[_i].settled, "%s", name);
    refund = refund_of("rfd_1");
    ck_assert_msg(refund->state == found[_i].state, "%s: %d", name, refund->state);
    ck_assert_msg(refund->waiting == found[_i].waiting, "%s: %d", name, refund->waiting);
    ck_assert_msg(refund->held == found[_i].held, "%s: %d", name, refund->held);
    ck_assert_msg(script.queries == found[_i].queries, "%s: %d", name, script.queries);
    ck_assert_msg(script.calls == 0, "%s", name);
    ck_assert_msg(refund->absent_since == 0, "%s", name);
    ck_assert_msg(refund->state != PAY_REFUND_PENDING || refund->due_at <= shop_clock + MINUTE,
                  "%s", name);
    store_is_clean();
}
END_TEST

static void die(const payments_charge_t *charge, const payments_refund_t *refund)
{
    (void)charge, (void)refund;
    _exit(0);
}

/*
 * The process ends while the refund is on its way: another one queries, and never sends it again.
 */
START_TEST(test_crash)
{
    const char *dir = unit_dir();
    int status, i;
    pid_t child;

    child = fork();
    ck_assert_int_ge(child, 0);
    if (!child) {
        set_up(dir);
        waiting_refund();
        script.meanwhile = die;
        (void)step();
        _exit(1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    set_up(dir);
    ck_assert_int_eq(refund_of("rfd_1")->waiting, 0);
    script_say('A');
    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(refund_of("rfd_1")->state, PAY_REFUND_PENDING);
        shop_clock_set(refund_of("rfd_1")->due_at);
        ck_assert_int_eq(step(), i);
    }
    ck_assert_int_eq(refund_of("rfd_1")->state, PAY_REFUND_FAILED);
    ck_assert_int_eq(script.calls, 0);
    ck_assert_int_eq(script.queries, 2);
}
END_TEST

static apr_status_t take_bare(apr_array_header_t **out, pay_store_t *store, apr_time_t now,
                              apr_interval_time_t lease, int limit, apr_pool_t *p)
{
    apr_status_t rv;
    int i;

    rv = STORE_REAL(due_take)(out, store, now, lease, limit, p);
    for (i = 0; i < (*out)->nelts; i++) {
        APR_ARRAY_IDX(*out, i, pay_due_t).charge = NULL;
    }
    return rv;
}

/* Nothing is sent without the charge that it is a refund of. */
START_TEST(test_no_charge)
{
    set_up(unit_dir());
    waiting_refund();
    store_script.due_take = take_bare;
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.calls + script.queries, 0);
    ck_assert_int_eq(refund_of("rfd_1")->waiting, 1);
    ck_assert_int_eq(refund_of("rfd_1")->held, PAY_HELD_OVERDUE);
    ck_assert_int_eq(said(PAY_LOG_ERR, "rfd_1"), 1);
    ck_assert_int_eq(logged("PAY00233: "), 1);
}
END_TEST

static apr_status_t resolve_fails(pay_refund_t **out, int *changed, pay_store_t *store,
                                  const pay_scope_t *scope, const char *refund_reference,
                                  const pay_outcome_t *outcome, apr_time_t due_at, apr_pool_t *p)
{
    (void)store, (void)scope, (void)refund_reference, (void)outcome, (void)due_at, (void)p;
    *out = NULL;
    *changed = 0;
    return PAY_STORE_EBUSY;
}

/* An answer that cannot be stored is queried again; a sent refund is not sent again. */
START_TEST(test_answer_is_lost)
{
    set_up(unit_dir());
    waiting_refund();
    script_say('+');
    store_script.refund_resolve = resolve_fails;
    ck_assert_int_eq(step(), 0);
    ck_assert_int_eq(script.calls, 1);
    ck_assert_int_eq(logged("PAY00234: "), 1);
    store_script.refund_resolve = NULL;
    shop_clock_set(refund_of("rfd_1")->due_at);
    unit_boot_pass(60 * 1000); /* its worker, which lives, has had its time */
    ck_assert_int_eq(step(), 1);
    ck_assert_int_eq(script.calls, 1);
    ck_assert_int_eq(script.queries, 1);
    ck_assert_int_eq(refund_of("rfd_1")->state, PAY_REFUND_PROCESSED);
}
END_TEST

/* ---- made elsewhere, and pending there */

/* Of order-1, or (0) of a charge that is not known here. */
static void elsewhere(int of_charge)
{
    pay_charge_t *charge = shop_charge_named(shop, &live, "order-1", "up-order-1");
    pay_refund_t record = {.id = "up_1",
                           .refund_reference = "up_1",
                           .money = {100, "NGN"},
                           .scope = live,
                           .channel = "dashboard",
                           .state = PAY_REFUND_PENDING,
                           .transaction_reference = of_charge ? "order-1" : NULL,
                           .created_at = NOW - DAY,
                           .updated_at = NOW - DAY,
                           .acquirer_charge = of_charge ? charge->acquirer_reference : NULL};
    apr_array_header_t *rows = apr_array_make(unit_pool, 1, sizeof(const pay_refund_t *));
    pay_import_t import;
    pay_refund_t *refund;
    int at, changed;

    APR_ARRAY_PUSH(rows, const pay_refund_t *) = &record;
    ck_assert_int_eq(pay_store_import_begin(&import, shop->store, &live, unit_pool), APR_SUCCESS);
    import.by_acquirer = 1;
    ck_assert_int_eq(pay_store_import_rows(&import, &at, shop->store, rows, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(pay_store_import_finish(&import, shop->store, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_store_refund_ask(&refund, &changed, shop->store, &live, "up_1", "scripted",
                                          NOW + MINUTE, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    ck_assert_int_eq(pay_store_refund_ask(&refund, &changed, shop->store, &live, "up_1", "scripted",
                                          NOW + DAY, unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 0);
    shop_clock_set(NOW + MINUTE);
}

/* By its acquirer's name for it. */
static void asked(const payments_charge_t *charge, const payments_refund_t *refund)
{
    (void)charge;
    ck_assert_str_eq(refund->acquirer_reference, "up_1");
    ck_assert_str_eq(refund->tag, "");
    ck_assert_str_eq(refund->amount, "1.00");
}

static const struct {
    const char *name;
    char says;
    int of_charge;
    pay_refund_state_t state;
    pay_held_t held;
    apr_int64_t refunded_minor, pending_minor;
} made_elsewhere[] = {
    {"processed", '+', 1, PAY_REFUND_PROCESSED, PAY_NOT_HELD, 100, 0},
    {"processed, of no charge of ours", '+', 0, PAY_REFUND_PROCESSED, PAY_NOT_HELD, 0, 0},
    {"failed", '-', 1, PAY_REFUND_FAILED, PAY_NOT_HELD, 0, 0},
    {"pending", 'P', 1, PAY_REFUND_PENDING, PAY_HELD_OVERDUE, 0, 100},
    {"nothing to be understood", 'U', 1, PAY_REFUND_PENDING, PAY_HELD_OVERDUE, 0, 100},
    {"there is none any more", 'A', 1, PAY_REFUND_PENDING, PAY_HELD_OVERDUE, 0, 100},
    {"another one", 'D', 1, PAY_REFUND_PENDING, PAY_HELD_DIFFERENT, 0, 100},
};

START_TEST(test_made_elsewhere)
{
    const char *name = made_elsewhere[_i].name;
    const pay_refund_t *refund;
    int i;

    set_up(unit_dir());
    shop->service.policy.pending_alert = HOUR;
    elsewhere(made_elsewhere[_i].of_charge);
    script.meanwhile = asked;
    script_say(made_elsewhere[_i].says);
    script.outcome.acquirer_reference = "up_1";
    for (i = 0; i < 100 && refund_of("up_1")->due_at; i++) { /* days of it decide nothing */
        shop_clock_set(refund_of("up_1")->due_at);
        (void)step();
    }
    refund = refund_of("up_1");
    ck_assert_msg(refund->state == made_elsewhere[_i].state, "%s: %d", name, refund->state);
    ck_assert_msg(refund->held == made_elsewhere[_i].held, "%s: %d", name, refund->held);
    ck_assert_str_eq(refund->acquirer_reference, "");
    ck_assert_int_eq(script.queries, refund->due_at ? 100 : 1);
    ck_assert_int_eq(script.calls, 0);
    ck_assert_int_eq(charge_of("order-1")->refunded_minor, made_elsewhere[_i].refunded_minor);
    ck_assert_int_eq(charge_of("order-1")->refunds_pending_minor, made_elsewhere[_i].pending_minor);
    store_is_clean();
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_sent, 0, UNIT_ROWS(sent));
    tcase_add_test(tcase, test_no_place);
    tcase_add_loop_test(tcase, test_not_sent, 0, UNIT_ROWS(hindrances));
    tcase_add_loop_test(tcase, test_found_before_it_is_sent, 0, UNIT_ROWS(found));
    tcase_add_test(tcase, test_crash);
    tcase_add_test(tcase, test_no_charge);
    tcase_add_test(tcase, test_answer_is_lost);
    tcase_add_loop_test(tcase, test_made_elsewhere, 0, UNIT_ROWS(made_elsewhere));
}

UNIT_PROGRAM(add)
