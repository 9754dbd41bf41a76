/* SPDX-License-Identifier: Apache-2.0 */
#include "acquirer/simulator.h"

#include "base/crypto/crypto.h"
#include "model/card.h"

#include <apr_strings.h>
#include <string.h>

#define AUTHORIZATION_LEN 6

/* ISO 8583 response codes, with their messages. */
#define APPROVED PAYMENTS_APPROVED, "00", "Approved"
#define DO_NOT_HONOR PAYMENTS_DECLINED, "05", "Do not honor"
#define INSUFFICIENT_FUNDS PAYMENTS_DECLINED, "51", "Insufficient funds"
#define EXPIRED_CARD PAYMENTS_DECLINED, "54", "Expired card"
#define MALFUNCTION PAYMENTS_DECLINED, "96", "System malfunction"
#define NO_ANSWER PAYMENTS_UNKNOWN, "", ""

typedef struct verdict_t {
    payments_verdict_t kind;
    const char *code;
    const char *message;
} verdict_t;

static const struct {
    verdict_t at_charge;
    verdict_t at_query; /* queried later, whether or not the charge got its answer */
    verdict_t refund;
} behaviours[] = {
    [PAY_TEST_APPROVE] = {{APPROVED}, {APPROVED}, {APPROVED}},
    [PAY_TEST_DECLINE] = {{DO_NOT_HONOR}, {DO_NOT_HONOR}, {APPROVED}},
    [PAY_TEST_INSUFFICIENT_FUNDS] = {{INSUFFICIENT_FUNDS}, {INSUFFICIENT_FUNDS}, {APPROVED}},
    [PAY_TEST_EXPIRED_CARD] = {{EXPIRED_CARD}, {EXPIRED_CARD}, {APPROVED}},
    [PAY_TEST_ERROR] = {{NO_ANSWER}, {MALFUNCTION}, {APPROVED}},
    [PAY_TEST_TIMEOUT] = {{NO_ANSWER}, {APPROVED}, {APPROVED}},
    [PAY_TEST_ONE_TIME_CODE] = {{APPROVED}, {APPROVED}, {APPROVED}},
    [PAY_TEST_REFUND_FAILS] = {{APPROVED}, {APPROVED}, {DO_NOT_HONOR}},
};
_Static_assert(sizeof(behaviours) / sizeof(behaviours[0]) == PAY_TEST_BEHAVIOUR_COUNT,
               "one row a behaviour");

static pay_test_behaviour_t behaviour_of(const payments_charge_t *charge)
{
    const pay_card_t *card;
    pay_card_t known = {.issuer = ""};
    pay_test_behaviour_t behaviour;

    if (pay_test_token_find(&card, &behaviour, charge->token)) {
        return behaviour;
    }
    apr_cpystrn(known.first6, charge->card_first6, sizeof(known.first6));
    apr_cpystrn(known.last4, charge->card_last4, sizeof(known.last4));
    return pay_test_card_behaviour(&known);
}

/* Makes six capitals and digits from the reference: charge and query return the same ones. */
static apr_status_t authorization_of(const char **out, const char *reference, apr_pool_t *p)
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    unsigned char digest[PAY_SHA256_LEN];
    char *code = apr_palloc(p, AUTHORIZATION_LEN + 1);
    apr_status_t rv;
    int i;

    *out = "";
    rv = pay_sha256(digest, reference, strlen(reference));
    if (rv != APR_SUCCESS) {
        return rv;
    }
    for (i = 0; i < AUTHORIZATION_LEN; i++) {
        code[i] = alphabet[digest[i] % (sizeof(alphabet) - 1)];
    }
    code[i] = '\0';
    *out = code;
    return APR_SUCCESS;
}

/* `reference` NULL: an approval without an authorization code. */
static apr_status_t answer(payments_answer_t *out, const verdict_t *verdict, const char *reference,
                           apr_pool_t *p)
{
    apr_status_t rv;

    if (verdict->kind == PAYMENTS_APPROVED && reference) {
        rv = authorization_of(&out->authorization_code, reference, p);
        if (rv != APR_SUCCESS) {
            return rv;
        }
    }
    out->verdict = verdict->kind;
    out->code = verdict->code;
    out->message = verdict->message;
    return APR_SUCCESS;
}

/* It cannot be configured: Test Mode has it without a directive. */
static const char *simulator_check(const payments_settings_t *settings, apr_pool_t *p)
{
    (void)settings;
    (void)p;
    return "the simulator is Test Mode's acquirer: it takes no settings";
}

static apr_status_t simulator_open(void **context, const char **fault,
                                   const payments_settings_t *settings, apr_pool_t *p)
{
    (void)settings;
    (void)p;
    *context = NULL;
    *fault = NULL;
    return APR_SUCCESS;
}

static apr_status_t simulator_charge(payments_answer_t *out, void *context,
                                     const payments_charge_t *charge, apr_interval_time_t timeout,
                                     apr_pool_t *p)
{
    (void)context;
    (void)timeout;
    return answer(out, &behaviours[behaviour_of(charge)].at_charge, charge->reference, p);
}

static apr_status_t simulator_charge_query(payments_answer_t *out, void *context,
                                           const payments_charge_t *charge,
                                           apr_interval_time_t timeout, apr_pool_t *p)
{
    (void)context;
    (void)timeout;
    return answer(out, &behaviours[behaviour_of(charge)].at_query, charge->reference, p);
}

/* The query of a refund returns the answer of the refund itself. */
static apr_status_t simulator_refund(payments_answer_t *out, void *context,
                                     const payments_refund_t *refund,
                                     const payments_charge_t *charge, apr_interval_time_t timeout,
                                     apr_pool_t *p)
{
    /* A refund of imported history may name no charge that is known here. */
    pay_test_behaviour_t behaviour = charge->token ? behaviour_of(charge) : PAY_TEST_APPROVE;

    (void)context;
    (void)refund;
    (void)timeout;
    return answer(out, &behaviours[behaviour].refund, NULL, p);
}

const payments_acquirer_t pay_acquirer_simulator = {
    .struct_size = sizeof(payments_acquirer_t),
    .abi = PAYMENTS_ACQUIRER_ABI,
    .name = "simulator",
    .flags = PAYMENTS_PURE,
    .check = simulator_check,
    .open = simulator_open,
    .charge = simulator_charge,
    .charge_query = simulator_charge_query,
    .refund = simulator_refund,
    .refund_query = simulator_refund,
};
