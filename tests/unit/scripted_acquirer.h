/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCRIPTED_ACQUIRER_H
#define SCRIPTED_ACQUIRER_H

/* A connector with scripted answers, for cases that the simulator cannot produce. */

#include "acquirer/acquirer.h"

#include <string.h>

/* The scripted connector's next answers, and its calls. */
typedef struct script_t {
    apr_status_t status;
    pay_outcome_t outcome;      /* the answer, unless `verdict` is set */
    payments_verdict_t verdict; /* PENDING, ABSENT or DIFFERENT; else that of `outcome` */
    payments_trouble_t trouble;
    apr_interval_time_t retry_after;
    const apr_array_header_t *similar;
    void (*meanwhile)(const payments_charge_t *charge, const payments_refund_t *refund);
    int doubted; /* with PAYMENTS_UNKNOWN: it reports absence, which is not believed */
    int calls;   /* charge and refund */
    int queries;
    /* So many queries about a refund, made before it is sent, are answered ABSENT and not counted:
     * those about the tag that begins so. */
    const char *absent_tag;
    int absent;
} script_t;

static script_t script;

static inline payments_verdict_t script_verdict(void)
{
    if (script.verdict != PAYMENTS_UNKNOWN) {
        return script.verdict;
    }
    switch (script.outcome.kind) {
    case PAY_OUTCOME_APPROVED:
        return PAYMENTS_APPROVED;
    case PAY_OUTCOME_DECLINED:
        return PAYMENTS_DECLINED;
    case PAY_OUTCOME_UNKNOWN:
        return PAYMENTS_UNKNOWN;
    default: /* not allowed to a connector */
        return (payments_verdict_t)script.outcome.kind;
    }
}

static inline apr_status_t script_answer(payments_answer_t *out, const payments_charge_t *charge,
                                         const payments_refund_t *refund)
{
    const pay_card_t *card = script.outcome.card;

    if (script.meanwhile) {
        script.meanwhile(charge, refund);
    }
    out->verdict = script_verdict();
    out->trouble = script.trouble;
    out->retry_after = script.retry_after;
    out->code = script.outcome.code;
    out->message = script.outcome.message;
    out->authorization_code = script.outcome.authorization_code;
    out->acquirer_reference = script.outcome.acquirer_reference;
    out->spent = script.outcome.spent;
    out->doubted = script.doubted;
    out->similar = script.similar;
    out->card_token = script.outcome.token;
    if (card) {
        out->card_first6 = card->first6;
        out->card_last4 = card->last4;
        out->card_issuer = card->issuer;
        out->card_country = card->country;
        out->card_type = card->type;
    }
    return script.status;
}

static inline apr_status_t script_charge(payments_answer_t *out, void *context,
                                         const payments_charge_t *charge,
                                         apr_interval_time_t timeout, apr_pool_t *p)
{
    (void)context, (void)timeout, (void)p;
    __atomic_fetch_add(&script.calls, 1, __ATOMIC_SEQ_CST);
    return script_answer(out, charge, NULL);
}

static inline apr_status_t script_charge_query(payments_answer_t *out, void *context,
                                               const payments_charge_t *charge,
                                               apr_interval_time_t timeout, apr_pool_t *p)
{
    (void)context, (void)timeout, (void)p;
    __atomic_fetch_add(&script.queries, 1, __ATOMIC_SEQ_CST);
    return script_answer(out, charge, NULL);
}

static inline apr_status_t script_refund(payments_answer_t *out, void *context,
                                         const payments_refund_t *refund,
                                         const payments_charge_t *charge,
                                         apr_interval_time_t timeout, apr_pool_t *p)
{
    (void)context, (void)timeout, (void)p;
    __atomic_fetch_add(&script.calls, 1, __ATOMIC_SEQ_CST);
    return script_answer(out, charge, refund);
}

static inline apr_status_t script_refund_query(payments_answer_t *out, void *context,
                                               const payments_refund_t *refund,
                                               const payments_charge_t *charge,
                                               apr_interval_time_t timeout, apr_pool_t *p)
{
    (void)context, (void)timeout, (void)p;
    if (script.absent > 0 && !strncmp(refund->tag, script.absent_tag, strlen(script.absent_tag))) {
        script.absent--;
        out->verdict = PAYMENTS_ABSENT;
        return APR_SUCCESS;
    }
    __atomic_fetch_add(&script.queries, 1, __ATOMIC_SEQ_CST);
    return script_answer(out, charge, refund);
}

static inline const char *script_check(const payments_settings_t *settings, apr_pool_t *p)
{
    (void)settings, (void)p;
    return NULL;
}

static inline apr_status_t script_open(void **context, const char **fault,
                                       const payments_settings_t *settings, apr_pool_t *p)
{
    (void)settings, (void)p;
    *context = NULL;
    *fault = NULL;
    return APR_SUCCESS;
}

#define SCRIPT_CONNECTOR                                                                           \
    .struct_size = sizeof(payments_acquirer_t), .abi = PAYMENTS_ACQUIRER_ABI, .name = "scripted",  \
    .check = script_check, .open = script_open, .charge = script_charge,                           \
    .charge_query = script_charge_query, .refund = script_refund,                                  \
    .refund_query = script_refund_query

static const payments_acquirer_t script_connector = {SCRIPT_CONNECTOR};
static const payments_acquirer_t script_tokens_connector = {SCRIPT_CONNECTOR,
                                                            .flags = PAYMENTS_OWN_TOKENS};
static const payments_acquirer_t script_pure_connector = {SCRIPT_CONNECTOR, .flags = PAYMENTS_PURE};

#define SCRIPT_TIMEOUT apr_time_from_sec(20)

static const pay_acquirer_t script_acquirer = {
    .connector = &script_connector, .name = "scripted", .timeout = SCRIPT_TIMEOUT};
/* Keeps tokens of its own. */
static const pay_acquirer_t script_tokens_acquirer = {
    .connector = &script_tokens_connector, .name = "scripted", .timeout = SCRIPT_TIMEOUT};
/* Called before the charge is written. */
static const pay_acquirer_t script_pure_acquirer = {
    .connector = &script_pure_connector, .name = "scripted", .timeout = SCRIPT_TIMEOUT};

#endif
