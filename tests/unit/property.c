/* SPDX-License-Identifier: Apache-2.0 */
#include "model/fee.h"
#include "property.h"
#include "scripted_acquirer.h"
#include "store_options.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

property_t property;

apr_time_t property_clock(void)
{
    return property.now + property.wrong_by;
}

pay_moment_t property_moment(void)
{
    return (pay_moment_t){1, apr_time_as_msec(property.now)};
}

/* splitmix64 */
apr_uint64_t property_draw(void)
{
    apr_uint64_t z = property.random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

int property_below(int limit)
{
    return (int)(property_draw() % (apr_uint64_t)limit);
}

const char *property_name(const char *prefix)
{
    return apr_psprintf(property.pool, "%s-%d", prefix, ++property.names);
}

pay_outcome_kind_t property_outcome(void)
{
    static const pay_outcome_kind_t kinds[] = {
        PAY_OUTCOME_APPROVED, PAY_OUTCOME_APPROVED, PAY_OUTCOME_APPROVED,
        PAY_OUTCOME_DECLINED, PAY_OUTCOME_UNKNOWN,
    };
    const pay_outcome_kind_t kind = kinds[property_below(UNIT_ROWS(kinds))];

    return property.wrong_by && kind == PAY_OUTCOME_UNKNOWN ? PAY_OUTCOME_APPROVED : kind;
}

/* Each refund is sent once, whatever happens to the store; queries do not count as calls. */
static int noted_calls;

static void note_sent(const payments_charge_t *charge, const payments_refund_t *refund)
{
    const char *tag;

    (void)charge;
    if (script.calls == noted_calls) {
        return;
    }
    noted_calls = script.calls;
    if (!refund || property.caller.scope.mode == PAY_TEST) { /* the simulator needs no tags */
        return;
    }
    tag = apr_pstrdup(property.pool, refund->tag);
    HOLD(*tag && !apr_hash_get(property.sent, tag, APR_HASH_KEY_STRING), "a refund is sent twice");
    apr_hash_set(property.sent, tag, APR_HASH_KEY_STRING, tag);
}

const pay_outcome_t *property_say(pay_outcome_kind_t kind, apr_status_t status)
{
    memset(&script, 0, sizeof(script));
    script.status = status;
    script.outcome.kind = kind;
    script.outcome.code = kind == PAY_OUTCOME_APPROVED ? "00" : "05";
    script.outcome.message = kind == PAY_OUTCOME_APPROVED ? "Approved" : "Declined";
    script.outcome.authorization_code = "";
    script.meanwhile = note_sent;
    noted_calls = 0;
    return &script.outcome;
}

void property_say_verdict(payments_verdict_t verdict)
{
    property_say(verdict == PAYMENTS_APPROVED   ? PAY_OUTCOME_APPROVED
                 : verdict == PAYMENTS_DECLINED ? PAY_OUTCOME_DECLINED
                                                : PAY_OUTCOME_UNKNOWN,
                 APR_SUCCESS);
    script.verdict = verdict;
}

int property_calls(void)
{
    return script.calls;
}

void property_open(void)
{
    pay_store_options_t options = unit_store_options();
    apr_array_header_t *live;

    options.map_bytes = 256 * 1024 * 1024;
    ck_assert_int_eq(apr_pool_create(&property.store_pool, NULL), APR_SUCCESS);
    ck_assert_int_eq(
        pay_store_open(&property.service.store, property.url, &options, property.store_pool),
        APR_SUCCESS);
    property.service.acquirer[PAY_TEST] = &script_acquirer;
    property.service.acquirer[PAY_LIVE] = &script_tokens_acquirer;
    live = apr_array_make(property.store_pool, 1, sizeof(const pay_acquirer_t *));
    APR_ARRAY_PUSH(live, const pay_acquirer_t *) = &script_tokens_acquirer;
    property.service.acquirers = live;
}

void property_close(void)
{
    apr_pool_destroy(property.store_pool);
    property.service.store = NULL;
}

/* --- a random record of the model --- */

model_charge_t *property_charge(void)
{
    return property.model.charge_count
               ? &property.model.charges[property_below(property.model.charge_count)]
               : NULL;
}

model_refund_t *property_refund(model_charge_t **charge)
{
    *charge = property_charge();
    return *charge && (*charge)->refund_count
               ? &(*charge)->refunds[property_below((*charge)->refund_count)]
               : NULL;
}

/* --- comparing --- */

/* The first answer of a decision; later ones must have the same bytes. */
void property_hold_answer(const char **known, const char *text)
{
    if (!*known) {
        *known = text;
    }
    HOLD(!strcmp(*known, text), "a replay is not the first answer");
}

static void compare_refund(const model_refund_t *want, const char *reference)
{
    pay_refund_t *got = NULL;

    HOLD(!strcmp(want->reference, reference), "the refunds are in another order");
    HOLD(!pay_refund_get(&got, &property.service, &property.caller.scope, reference, property.step),
         "a refund is gone");
    HOLD(got->state == want->state, "a refund's state differs");
    HOLD(got->money.amount_minor == want->amount_minor, "a refund's amount differs");
    HOLD(got->held == want->question.held, "a refund is held for another reason");
    HOLD(got->absent_since == want->question.absent_since, "a refund is absent since another time");
}

/* Of Live Mode's: its acquirer knows it by a name that leads to it alone, and reveals nothing. */
static void compare_name(const pay_charge_t *charge)
{
    const int is_named = charge->scope.mode == PAY_LIVE && charge->kind == PAY_CHARGE_TOKENIZED;
    pay_charge_t *found;

    HOLD(strlen(charge->acquirer_reference) == (is_named ? PAY_ACQUIRER_REFERENCE_LEN : 0),
         "the acquirer knows it by another name");
    if (is_named) {
        HOLD(pay_store_charge_find_acquirer(&found, property.service.store, &charge->scope,
                                            charge->acquirer_reference, property.step)
                     == APR_SUCCESS
                 && found->seq == charge->seq,
             "the acquirer's name leads to another charge");
    }
}

/* By rules that nobody changes during a sequence. */
static apr_int64_t fee_of(const model_charge_t *charge)
{
    const pay_money_t money = {charge->amount_minor, "NGN"};
    const char *rules = property.caller.account->settings.fees;
    const int is_paid =
        charge->state == PAY_CHARGE_SUCCESSFUL || charge->state == PAY_CHARGE_REVERSED;

    return is_paid ? pay_fee_of(rules, &money, PAY_CHANNEL_CARD) : 0;
}

static void compare_charge(const model_charge_t *want)
{
    pay_transaction_t got;
    int i;

    HOLD(!pay_transaction_get(&got, &property.service, &property.caller.scope, want->reference,
                              property.step),
         "a charge is gone");
    HOLD(got.charge->state == want->state, "a charge's state differs");
    HOLD(got.charge->money.amount_minor == want->amount_minor, "a charge's amount differs");
    HOLD(got.charge->fee_minor == fee_of(want), "a charge's fee differs");
    HOLD(got.charge->refunded_minor == model_sum(want, PAY_REFUND_PROCESSED),
         "the refunded amount differs");
    HOLD(got.charge->refunds_pending_minor == model_sum(want, PAY_REFUND_PENDING),
         "the amount of pending refunds differs");
    compare_name(got.charge);
    HOLD(got.charge->held == want->question.held, "a charge is held for another reason");
    HOLD(want->state != PAY_CHARGE_PENDING
             || got.charge->absent_since == want->question.absent_since,
         "a charge is absent since another time");
    HOLD(got.charge->late == want->question.late, "what was done about a late approval differs");
    HOLD(!*got.charge->contradiction == !want->question.late, "a late approval is not kept");
    HOLD(got.refunds->nelts == want->refund_count, "the number of refunds differs");
    for (i = 0; i < want->refund_count; i++) {
        compare_refund(&want->refunds[i], APR_ARRAY_IDX(got.refunds, i, const char *));
    }
}

static void compare_totals(void)
{
    const pay_time_range_t all = {0, APR_INT64_MAX};
    pay_total_t want = {.charges = 0}, got = {.charges = 0};
    apr_array_header_t *rows;
    int i, k;

    for (i = 0; i < property.model.charge_count; i++) {
        const model_charge_t *charge = &property.model.charges[i];

        if (charge->state == PAY_CHARGE_SUCCESSFUL || charge->state == PAY_CHARGE_REVERSED) {
            want.charges++;
            pay_sum_add(&want.charged, charge->amount_minor);
            pay_sum_add(&want.fees, fee_of(charge));
        }
        want.failed += charge->state == PAY_CHARGE_FAILED;
        for (k = 0; k < charge->refund_count; k++) {
            want.refunds += charge->refunds[k].state == PAY_REFUND_PROCESSED;
        }
        pay_sum_add(&want.refunded, model_sum(charge, PAY_REFUND_PROCESSED));
    }
    HOLD(pay_store_total_list(&rows, property.service.store, &property.caller.scope, &all, NULL,
                              PAY_STORE_ROWS_MAX, property.step)
             == APR_SUCCESS,
         "the totals cannot be read");
    for (i = 0; i < rows->nelts; i++) {
        pay_total_add(&got, &APR_ARRAY_IDX(rows, i, pay_total_t));
    }
    HOLD(got.charges == want.charges && got.failed == want.failed && got.refunds == want.refunds
             && pay_sum_compare(&got.charged, &want.charged) == 0
             && pay_sum_compare(&got.refunded, &want.refunded) == 0
             && pay_sum_compare(&got.fees, &want.fees) == 0,
         "the totals differ");
}

static void fault(void *baton, const char *text)
{
    *(const char **)baton = apr_pstrdup(property.pool, text);
}

void property_compare_money(int whole_store)
{
    const char *found = "the store has faults";
    apr_size_t faults = 0;
    int i;

    for (i = 0; i < property.model.charge_count; i++) {
        compare_charge(&property.model.charges[i]);
    }
    compare_totals();
    if (whole_store) {
        HOLD(pay_store_check(&faults, property.service.store, fault, &found, property.step)
                 == APR_SUCCESS,
             "the store cannot be checked");
        HOLD(faults == 0, found);
    }
}

void property_compare(int whole_store)
{
    property_events_compare();
    property_compare_money(whole_store);
}

void property_set_pure(int is_pure)
{
    property.service.acquirer[PAY_TEST] = is_pure ? &script_pure_acquirer : &script_acquirer;
}

/* --- crashes: a process of its own that dies at the acquirer --- */

static void die(const payments_charge_t *charge, const payments_refund_t *refund)
{
    (void)charge;
    (void)refund;
    _exit(EXIT_SUCCESS);
}

void property_crash(void (*work)(const void *), const void *baton)
{
    int status;
    pid_t pid;

    property.crashes++;
    property_close();
    (void)fflush(NULL);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        property_open();
        script.meanwhile = die;
        work(baton);
        _exit(EXIT_FAILURE); /* it never reached the acquirer */
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    HOLD(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS, "it did not reach the acquirer");
    property_open();
}
