/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_CARD_H
#define PAY_MODEL_CARD_H

/*
 * The parts of cards that this module may know, the cards of Test Mode, and finding card numbers.
 */

#include <apr.h>

#define PAY_CARD_FIRST6_LEN 6
#define PAY_CARD_LAST4_LEN 4

typedef struct pay_card_t {
    char first6[PAY_CARD_FIRST6_LEN + 1]; /* "" if unknown */
    char last4[PAY_CARD_LAST4_LEN + 1];
    const char *issuer;  /* "Mastercard"; "" if unknown */
    const char *country; /* ISO 3166 alpha-2; "" if unknown */
    const char *type;    /* "debit", "credit"; "" if unknown */
} pay_card_t;

/* The simulator's reaction to a card or test token (docs/api.md, "Test data"). */
typedef enum pay_test_behaviour_t {
    PAY_TEST_APPROVE,
    PAY_TEST_DECLINE,
    PAY_TEST_INSUFFICIENT_FUNDS,
    PAY_TEST_EXPIRED_CARD,
    PAY_TEST_ERROR,         /* an error: pending, then failed */
    PAY_TEST_TIMEOUT,       /* no answer: pending, then successful */
    PAY_TEST_ONE_TIME_CODE, /* asks for a code at checkout; its token charges like an approved
                             * card */
    PAY_TEST_REFUND_FAILS,  /* approved, its refunds fail */
    PAY_TEST_BEHAVIOUR_COUNT
} pay_test_behaviour_t;

/* The bank account of Test Mode (docs/api.md, "Test data"). */
#define PAY_TEST_BANK_CODE "000"
#define PAY_TEST_BANK_NAME "Test Bank"
#define PAY_TEST_BANK_ACCOUNT "0000000000"

/* Returns the Test Mode card with this full number (blanks and dashes allowed); NULL if there is
 * none. */
const pay_card_t *pay_test_card_find(const char *number);

/*
 * Returns the behaviour of the Test Mode card with this first six and last four; APPROVE for
 * others.
 */
pay_test_behaviour_t pay_test_card_behaviour(const pay_card_t *card);

/* Returns 1 if `token` begins with "tok_test_" (reserved, whether it exists or not). */
int pay_test_token_is_reserved(const char *token);

/* Finds a built-in token of Test Mode: its card and behaviour; returns 0 if none exists. */
int pay_test_token_find(const pay_card_t **card, pay_test_behaviour_t *behaviour,
                        const char *token);

/* Returns 1 if the whole of `text`, without blanks and dashes, is a card number (network prefix and
 * length, Luhn). */
int pay_card_number_is(const char *text);

/*
 * Returns 1 if `text` contains a card number. For free text such as notes and names, and for
 * e-mail.
 */
int pay_card_number_within(const char *text);

/*
 * Returns 1 if the digits of `text`, whatever separates them, are a card number of 16 digits or
 * more: no telephone number has more than 15 (ITU-T E.164), so shorter ones are ignored.
 */
int pay_card_number_in_phone(const char *text);

/*
 * Does the same as pay_card_number_within for a URL: percent signs are decoded and plus signs are
 * blanks. Visa's 13 digits, which have long been out of use on cards and occur in article numbers
 * (EAN), are accepted.
 */
int pay_card_number_in_url(const char *url);

#endif
