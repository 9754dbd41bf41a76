/* SPDX-License-Identifier: Apache-2.0 */
#include "acquirer/pay_acquirer_simulator.h"

#include <apr_strings.h>
#include <string.h>

#define AUTHORIZATION_LEN 6

/* ISO 8583 response codes, and the words that go with them. */
#define APPROVED PAY_OUTCOME_APPROVED, "00", "Approved"
#define DO_NOT_HONOR PAY_OUTCOME_DECLINED, "05", "Do not honor"
#define INSUFFICIENT_FUNDS PAY_OUTCOME_DECLINED, "51", "Insufficient funds"
#define EXPIRED_CARD PAY_OUTCOME_DECLINED, "54", "Expired card"
#define MALFUNCTION PAY_OUTCOME_DECLINED, "96", "System malfunction"
#define NO_ANSWER PAY_OUTCOME_UNKNOWN, "", ""

typedef struct verdict_t {
    pay_outcome_kind_t kind;
    const char *code;
    const char *message;
} verdict_t;

static const struct {
    verdict_t at_charge;
    verdict_t at_query; /* asked later, whether or not the charge got its answer */
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

static pay_test_behaviour_t behaviour_of(const pay_charge_t *charge)
{
    const pay_card_t *card;
    pay_test_behaviour_t behaviour;

    if (pay_test_token_find(&card, &behaviour, charge->token)) {
        return behaviour;
    }
    return pay_test_card_behaviour(&charge->card);
}

/* Six capitals and digits that follow from the reference: charge and query give the same ones. */
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
static apr_status_t answer(pay_outcome_t *out, const verdict_t *verdict, const char *reference,
                           apr_pool_t *p)
{
    const char *authorization = "";
    apr_status_t rv;

    *out = (pay_outcome_t){PAY_OUTCOME_UNKNOWN, "", "", ""};
    if (verdict->kind == PAY_OUTCOME_APPROVED && reference) {
        rv = authorization_of(&authorization, reference, p);
        if (rv != APR_SUCCESS) {
            return rv;
        }
    }
    *out = (pay_outcome_t){verdict->kind, verdict->code, verdict->message, authorization};
    return APR_SUCCESS;
}

static apr_status_t simulator_charge(pay_outcome_t *out, void *context, const pay_charge_t *charge,
                                     apr_interval_time_t timeout, apr_pool_t *p)
{
    (void)context;
    (void)timeout;
    return answer(out, &behaviours[behaviour_of(charge)].at_charge, charge->reference, p);
}

static apr_status_t simulator_charge_query(pay_outcome_t *out, void *context,
                                           const pay_charge_t *charge, apr_interval_time_t timeout,
                                           apr_pool_t *p)
{
    (void)context;
    (void)timeout;
    return answer(out, &behaviours[behaviour_of(charge)].at_query, charge->reference, p);
}

/* A refund's query says what the refund itself would have said. */
static apr_status_t simulator_refund(pay_outcome_t *out, void *context, const pay_refund_t *refund,
                                     const pay_charge_t *charge, apr_interval_time_t timeout,
                                     apr_pool_t *p)
{
    /* A refund of imported history may name no charge that is known here. */
    pay_test_behaviour_t behaviour = charge ? behaviour_of(charge) : PAY_TEST_APPROVE;

    (void)context;
    (void)refund;
    (void)timeout;
    return answer(out, &behaviours[behaviour].refund, NULL, p);
}

const pay_acquirer_t pay_acquirer_simulator = {
    .struct_size = sizeof(pay_acquirer_t),
    .abi = PAY_ACQUIRER_ABI,
    .name = "simulator",
    .is_pure = 1,
    .charge = simulator_charge,
    .charge_query = simulator_charge_query,
    .refund = simulator_refund,
    .refund_query = simulator_refund,
};
