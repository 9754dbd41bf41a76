/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_CHECKOUT_H
#define PAY_MODEL_CHECKOUT_H

/*
 * What a charge that is paid on a hosted page has beside the charge itself (docs/api.md,
 * "Checkouts"): the page, where the payer returns to, and how far the payer came. Pure.
 */

#include "model/charge.h"

#define PAY_PAGE_ID_BITS 160 /* of a page's id: a secret between shop and payer */
#define PAY_PAGE_ID_LEN 32   /* its characters */
#define PAY_CHECKOUT_URL_MAX 1000
#define PAY_CHECKOUT_METADATA_MAX 2000 /* characters of JSON */
#define PAY_CHECKOUT_TEXT_MAX 255      /* characters of title and description, each */
#define PAY_CHECKOUT_PHONE_MAX 32
#define PAY_LINK_REFERENCE_MAX 50

/* The longest time that a checkout may have, and what the clock of its server may have been apart
 * by: one that seems to have longer was made while the clock was ahead, and is over. */
#define PAY_CHECKOUT_LIFETIME_MAX apr_time_from_sec(168 * 60 * 60)
#define PAY_CHECKOUT_AHEAD_MAX apr_time_from_sec(60 * 60)

/* What is told of one for which the acquirer of Live Mode opened no page. */
#define PAY_CHECKOUT_UNOPENED                                                                      \
    "The acquirer opened no payment page. Try again under another reference."

/* How far the payer came; stored. Who pays moves it forward by compare and set. */
typedef enum pay_checkout_step_t {
    PAY_CHECKOUT_OPEN,      /* the payer has not paid yet */
    PAY_CHECKOUT_CODE,      /* a card was given that asks for a one-time code */
    PAY_CHECKOUT_SENT,      /* handed to the acquirer: nothing is taken from the payer any more */
    PAY_CHECKOUT_CANCELLED, /* by the payer */
    PAY_CHECKOUT_EXPIRED,
    PAY_CHECKOUT_STEP_COUNT
} pay_checkout_step_t;

/* Strings are never NULL; "" where there is nothing. */
typedef struct pay_checkout_t {
    const char *page_id;
    const char *link; /* reference of the payment link it was made from */
    const char *phone;
    const char *redirect_url; /* absolute, http or https */
    const char *metadata;     /* JSON */
    const char *logo_url;
    const char *title;
    const char *description;
    apr_time_t expires_at;
    pay_checkout_step_t step;
    const char *acquirer_url; /* Live Mode: its page, https; "" until it is known */
    /* 1: the shop chose redirect_url, or its host, and the browser may go there by itself; 0:
     * whoever has a public key chose it, and the payer is asked. */
    int return_trusted;
    /* The store's own: 1 while it counts as an unpaid checkout of a public key or a link's page,
     * and from when on it is kept for PaymentsCheckoutKeep; 0: it is not removed. */
    int stranger;
    apr_time_t ended_at;
} pay_checkout_t;

/* What the payer is shown. */
typedef enum pay_checkout_stage_t {
    PAY_STAGE_PAY,       /* the form to pay with, or Live Mode's page of the acquirer */
    PAY_STAGE_CODE,      /* the form for the one-time code */
    PAY_STAGE_ASKED,     /* closed here; the acquirer of Live Mode may have been paid */
    PAY_STAGE_WAITING,   /* the acquirer has not decided */
    PAY_STAGE_APPROVED,  /* paid, whether given back since or not */
    PAY_STAGE_DECLINED,  /* final */
    PAY_STAGE_CANCELLED, /* by the payer */
    PAY_STAGE_EXPIRED,
    PAY_STAGE_CLOSED, /* voided by the shop */
    PAY_STAGE_COUNT
} pay_checkout_stage_t;

/*
 * 1 while its payer has paid nothing and may: not "pending" for people, for no acquirer was sent a
 * payment. Once its time is over and somebody looks, its acquirer is asked about it, or it is
 * closed. By the row alone, without the clock, so that counts and lists agree.
 */
int pay_checkout_is_open(const pay_charge_t *charge);

/* What people look for: the states, and PAY_CHARGE_WORD_OPEN beside them; one word a charge. */
#define PAY_CHARGE_WORD_OPEN PAY_CHARGE_STATE_COUNT
#define PAY_CHARGE_WORDS "pending, successful, failed, reversed, void, abandoned or open"

unsigned int pay_charge_word(const pay_charge_t *charge);
const char *pay_charge_word_name(unsigned int word);
apr_status_t pay_charge_word_parse(unsigned int *out, const char *text); /* APR_EINVAL */

/* 1: the time of the charge's checkout is over, or would last longer than any, and the boot clock
 * does not say that it was made a moment ago (then the clock was set back). */
int pay_checkout_is_over(const pay_charge_t *charge, apr_time_t now);

/* Of a charge with its checkout, at `now`: one that is over its time is expired, whether or not
 * the row says so already. Never PAY_STAGE_ASKED. */
pay_checkout_stage_t pay_checkout_stage(const pay_charge_t *charge, apr_time_t now);

/* What its payer may be told: PAY_STAGE_ASKED for one of Live Mode that is over, as long as its
 * acquirer or a person is asked whether it was paid all the same. */
pay_checkout_stage_t pay_checkout_told(const pay_charge_t *charge, apr_time_t now);

/*
 * The page's address with the charge's reference in its query, where clients look for it: `root` is
 * what stands before the page's id.
 */
const char *pay_checkout_page_url(const pay_charge_t *charge, const char *root, apr_pool_t *p);

/* The word for redirectUrl's parameter status: "successful", "failed", "cancelled" or, while the
 * acquirer has not decided, "pending". */
const char *pay_checkout_return_status(pay_checkout_stage_t stage);

/*
 * Where the payer's browser goes in the end: redirect_url with reference and status added to its
 * query; "" when the checkout has none.
 */
const char *pay_checkout_return_url(const pay_charge_t *charge, pay_checkout_stage_t stage,
                                    apr_pool_t *p);

/* 1 when `text` has the form of a page's id. */
int pay_page_id_is(const char *text);

#endif
