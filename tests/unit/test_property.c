/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random sequences of charges, refunds, voids, retries, reconciliation and crashes through the real
 * services and store, compared with property_model.h after every step. PAYMENTS_SEQUENCES is their
 * number, PAYMENTS_SEED the first one.
 */

#include "property.h"

#include <stdio.h>
#include <unistd.h>

#define SEQUENCES_DEFAULT 1000
#define MORE_MAX 200
#define STEPS_MAX 40
#define SEQUENCES_A_STORE 50 /* check reads the whole store */

static const struct {
    const char *name;
    void (*run)(void);
    int weight;
} operations[] = {
    {"charge", property_do_charge, 3},
    {"charge again", property_do_charge_again, 2},
    {"charge under a used key", property_do_charge_under_a_used_key, 1},
    {"checkout", property_do_checkout, 1},
    {"pay a checkout", property_do_pay_checkout, 1},
    {"void", property_do_void, 1},
    {"refund", property_do_refund, 8},
    {"refund again", property_do_refund_again, 3},
    {"refused refund again", property_do_refusal_again, 2},
    {"refund fails later", property_do_refund_fail, 1},
    {"reconcile", property_do_reconcile, 2},
    {"absence", property_do_absence, 1},
    {"verify", property_do_verify, 1},
    {"expire keys", property_do_expire, 1},
    {"endpoint on or off", property_do_endpoint, 1},
    {"deliver", property_do_deliver, 5},
    {"backup", property_do_backup, 1},
    {"put back", property_do_put_back, 1},
    {"a copy beside", property_do_beside, 1},
    {"a wrong clock", property_do_clock, 1},
};

static apr_uint64_t number_of(const char *variable, apr_uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void step(void)
{
    static const apr_interval_time_t pauses[] = {0, 1, 500, 30 * 1000, 700 * 1000}; /* ms */
    int i, at, weights = 0;

    for (i = 0; i < UNIT_ROWS(operations); i++) {
        weights += operations[i].weight;
    }
    at = property_below(weights);
    for (i = 0; at >= operations[i].weight; i++) {
        at -= operations[i].weight;
    }
    property.now += apr_time_from_msec(pauses[property_below(UNIT_ROWS(pauses))]);
    property.doing =
        apr_psprintf(property.pool, "step %d, %s", ++property.steps, operations[i].name);
    apr_pool_clear(property.step);
    operations[i].run();
    property_compare(0);
}

/* Nothing is left for the next one. */
static void end(pay_mode_t mode)
{
    property.doing = "at the end";
    if (mode == PAY_TEST && property_below(4) == 0) {
        property_reset();
        return;
    }
    property_reconcile(PAYMENTS_APPROVED);
    property_compare(1);
    property_end_late(); /* which ends checkouts, too, and reports it */
    property_compare(1);
    if (property_below(4) == 0) {
        property_erase();
        return;
    }
    property_events_end();
    property_compare(1);
}

static void sequence(apr_uint64_t seed)
{
    pay_account_settings_t settings = pay_account_settings_builtin;
    pay_account_t *account;
    pay_mode_t mode;
    int count;

    property.seed = property.random = seed;
    property.now += PROPERTY_HOUR;
    property.steps = 0;
    memset(&property.model, 0, sizeof(property.model));
    apr_pool_create(&property.pool, unit_pool);
    apr_pool_create(&property.step, property.pool);
    property.sent = apr_hash_make(property.pool);
    property_restore_begin();
    settings.fees = property_below(2) ? "NGN 1.4% + 0.07 max 9.00" : "";
    ck_assert_int_eq(pay_store_account_create(&account, property.service.store,
                                              apr_psprintf(property.pool, "shop-%" PRIu64, seed),
                                              &settings, property.pool),
                     APR_SUCCESS);
    mode = property_below(2) ? PAY_LIVE : PAY_TEST;
    ck_assert_int_eq(pay_store_account_set(&account, property.service.store, account->name, NULL,
                                           &mode, property.pool),
                     APR_SUCCESS);
    property.service.policy.late_refund = property_below(2);
    property.service.account_name = account->name; /* live acquirers belong to one account */
    property.caller = (pay_caller_t){.account = account,
                                     .scope = {account->number, mode},
                                     .key_kind = PAY_KEY_SECRET,
                                     .key_id = ""};
    property_events_begin();
    for (count = 5 + property_below(STEPS_MAX - 4); count > 0; count--) {
        step();
    }
    end(mode);
    property.service.account_name = NULL;
    apr_pool_destroy(property.pool);
}

static int is_all_seen(void)
{
    return property.refunds > 0 && property.refusals > 0 && property.replays > 0
           && property.crashes > 0 && property.delivered > 0 && property.found_late > 0
           && property.erased > 0 && property.emptied > 0 && property.restores > 0
           && property.copies > 0 && property.clocks > 0;
}

/*
 * The requested number, and, because few may lack something by chance, more until everything
 * occurred.
 */
START_TEST(test_random_sequences_keep_to_the_model)
{
    apr_uint64_t count = number_of("PAYMENTS_SEQUENCES", SEQUENCES_DEFAULT);
    apr_uint64_t first = number_of("PAYMENTS_SEED", (apr_uint64_t)apr_time_now());
    apr_uint64_t i, steps = 0;

    pay_time_set_source(property_clock);
    pay_moment_set_source(property_moment);
    property.now = PROPERTY_START;
    property.service.policy.refund_repeat_window = PROPERTY_WINDOW;
    property.service.policy.late_after = MODEL_LATE_AFTER;
    property.service.policy.pending_alert = MODEL_PENDING_ALERT;
    for (i = 0; i < count || (i < count + MORE_MAX && !is_all_seen()); i++) {
        if (i % SEQUENCES_A_STORE == 0) {
            if (i > 0) {
                property_close();
            }
            property.url = apr_pstrcat(unit_pool, "lmdb:", unit_dir(), NULL);
            property_open();
            property_events_epoch(0);
        }
        sequence(first + i);
        steps += (apr_uint64_t)property.steps;
    }
    property_close();
    printf("%" PRIu64 " sequences from PAYMENTS_SEED=%" PRIu64 ": %" PRIu64
           " steps, %d refunds, %d refusals, %d replays, %d crashes, %d events, %d late approvals, "
           "%d restores, %d copies, %d wrong clocks\n",
           i, first, steps, property.refunds, property.refusals, property.replays, property.crashes,
           property.delivered, property.found_late, property.restores, property.copies,
           property.clocks);
    ck_assert_msg(is_all_seen(), "the sequences did not do what they are for");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_set_timeout(tcase, 1800);
    tcase_add_test(tcase, test_random_sequences_keep_to_the_model);
}

static void prepare(void)
{
    /* A disk would take most of the time, and its behaviour is the subject of other tests. */
    if (access("/dev/shm", W_OK) == 0) {
        (void)setenv("TMPDIR", "/dev/shm", 1);
    }
}

UNIT_PROGRAM_PREPARED(add, prepare)
