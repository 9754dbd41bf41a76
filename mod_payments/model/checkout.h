/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_CHECKOUT_H
#define PAY_MODEL_CHECKOUT_H

/*
 * The part of a charge that exists only if it is paid on a hosted page (docs/api.md, "Checkouts"):
 * the page, the payer's return address, and the payer's progress. Pure.
 */

#include "model/charge.h"

#define PAY_PAGE_ID_BITS 160 /* of a page's id: a secret between shop and payer */
#define PAY_PAGE_ID_LEN 32   /* its characters */
#define PAY_CHECKOUT_URL_MAX 1000
#define PAY_CHECKOUT_METADATA_MAX 2000 /* characters of JSON */
#define PAY_CHECKOUT_TEXT_MAX 255      /* characters of title and description, each */
#define PAY_CHECKOUT_PHONE_MAX 32
#define PAY_LINK_REFERENCE_MAX 50

/* The longest lifetime of a checkout, and the largest error of its server's clock: a checkout that
 * seems to live longer was made while the clock was ahead, and is over. */
#define PAY_CHECKOUT_LIFETIME_MAX apr_time_from_sec(168 * 60 * 60)
#define PAY_CHECKOUT_AHEAD_MAX apr_time_from_sec(60 * 60)

/* The message of a checkout for which the acquirer of Live Mode opened no page. */
#define PAY_CHECKOUT_UNOPENED                                                                      \
    "The acquirer opened no payment page. Try again under another reference."

/* The payer's progress; stored. Paying moves it forward by compare and set. */
typedef enum pay_checkout_step_t {
    PAY_CHECKOUT_OPEN,      /* the payer has not paid yet */
    PAY_CHECKOUT_CODE,      /* the card that was entered asks for a one-time code */
    PAY_CHECKOUT_SENT,      /* handed to the acquirer: nothing more is accepted from the payer */
    PAY_CHECKOUT_CANCELLED, /* by the payer */
    PAY_CHECKOUT_EXPIRED,
    PAY_CHECKOUT_STEP_COUNT
} pay_checkout_step_t;

/* Strings are never NULL; "" if there is no value. */
typedef struct pay_checkout_t {
    const char *page_id;
    const char *link; /* reference of the payment link that it was made from */
    const char *phone;
    const char *redirect_url; /* absolute, http or https */
    const char *metadata;     /* JSON */
    const char *logo_url;
    const char *title;
    const char *description;
    apr_time_t expires_at;
    pay_checkout_step_t step;
    const char *acquirer_url; /* Live Mode: the acquirer's page, https; "" until it is known */
    /* 1: the shop chose redirect_url, or its host, and the browser may go there by itself; 0: any
     * holder of a public key chose it, and the payer is asked first. */
    int return_trusted;
    /* Internal to the store: 1 while it counts as an unpaid checkout of a public key or a link's
     * page, and the time from which PaymentsCheckoutKeep counts; 0: it is not removed. */
    int anonymous;
    apr_time_t ended_at;
} pay_checkout_t;

/* What the payer sees. */
typedef enum pay_checkout_stage_t {
    PAY_STAGE_PAY,       /* the payment form, or in Live Mode the acquirer's page */
    PAY_STAGE_CODE,      /* the form for the one-time code */
    PAY_STAGE_ASKED,     /* closed here; the acquirer of Live Mode may have received a payment */
    PAY_STAGE_WAITING,   /* the acquirer has not decided */
    PAY_STAGE_APPROVED,  /* paid, whether refunded since or not */
    PAY_STAGE_DECLINED,  /* final */
    PAY_STAGE_CANCELLED, /* by the payer */
    PAY_STAGE_EXPIRED,
    PAY_STAGE_CLOSED, /* voided by the shop */
    PAY_STAGE_COUNT
} pay_checkout_stage_t;

/*
 * Returns 1 while the payer has not paid and still can. People do not see this as "pending",
 * because no payment was sent to an acquirer. When its time is over, the next process that reads it
 * queries its acquirer, or closes it. Depends only on the row, not on the clock, so that counts and
 * lists agree.
 */
int pay_checkout_is_open(const pay_charge_t *charge);

/*
 * The words that people search by: the states, and PAY_CHARGE_WORD_OPEN in addition; one word for
 * each charge.
 */
#define PAY_CHARGE_WORD_OPEN PAY_CHARGE_STATE_COUNT
#define PAY_CHARGE_WORDS "pending, successful, failed, reversed, void, abandoned or open"

unsigned int pay_charge_word(const pay_charge_t *charge);
const char *pay_charge_word_name(unsigned int word);
apr_status_t pay_charge_word_parse(unsigned int *out, const char *text); /* APR_EINVAL */

/* Returns 1 if the time of the charge's checkout is over, or if it would last longer than the
 * maximum and the boot clock does not show that it was made a moment ago (the clock was then set
 * back). */
int pay_checkout_is_over(const pay_charge_t *charge, apr_time_t now);

/* Of a charge with its checkout, at `now`: one whose time is over is expired, whether or not the
 * row says so already. Never PAY_STAGE_ASKED. */
pay_checkout_stage_t pay_checkout_stage(const pay_charge_t *charge, apr_time_t now);

/* The stage that its payer may see: PAY_STAGE_ASKED for one of Live Mode that is over, as long as
 * its acquirer is still queried, or a person must decide, whether it was paid after all. */
pay_checkout_stage_t pay_checkout_told(const pay_charge_t *charge, apr_time_t now);

/*
 * Returns the page's address with the charge's reference in its query, where clients look for it:
 * `root` is the part before the page's id.
 */
const char *pay_checkout_page_url(const pay_charge_t *charge, const char *root, apr_pool_t *p);

/* Returns the word for redirectUrl's parameter status: "successful", "failed", "cancelled" or,
 * while the acquirer has not decided, "pending". */
const char *pay_checkout_return_status(pay_checkout_stage_t stage);

/*
 * Returns the final address of the payer's browser: redirect_url with reference and status added to
 * its query; "" if the checkout has none.
 */
const char *pay_checkout_return_url(const pay_charge_t *charge, pay_checkout_stage_t stage,
                                    apr_pool_t *p);

/* Returns 1 if `text` has the form of a page's id. */
int pay_page_id_is(const char *text);

#endif
