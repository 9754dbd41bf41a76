/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LINK_GOODS_H
#define LINK_GOODS_H

/* Payment links in the store of till.h, and checkouts that are made from them. */

#include "till.h"

#include "checkout_goods.h"

#define LINK_AMOUNT_MINOR 1000

/* Can be paid once unless `once` is 0; its amount is fixed. */
static inline pay_link_t link_proposal(int i, const char *reference, int once)
{
    const pay_link_t link = {.scope = till->scopes[i],
                             .reference = reference,
                             .page_id = checkout_page_id(unit_pool),
                             .title = "Shoes",
                             .description = "One pair",
                             .redirect_url = "https://shop.example/thanks",
                             .money = {LINK_AMOUNT_MINOR, "NGN"},
                             .once = once};

    return link;
}

static inline pay_link_t *link_make_of(const pay_link_t *proposal)
{
    pay_link_t *link;

    ck_assert_int_eq(pay_store_link_create(&link, till->store, proposal, unit_pool), APR_SUCCESS);
    return link;
}

static inline pay_link_t *link_make(int i, const char *reference, int once)
{
    const pay_link_t proposal = link_proposal(i, reference, once);

    return link_make_of(&proposal);
}

static inline pay_link_t *link_get(int i, const char *reference)
{
    pay_link_t *link;

    ck_assert_int_eq(pay_store_link_get(&link, till->store, &till->scopes[i], reference, unit_pool),
                     APR_SUCCESS);
    return link;
}

/* A payer begins to pay the link; `p` belongs to the caller's thread. */
static inline pay_claim_t link_open(pay_charge_t **out, int i, const char *link, const char *email,
                                    apr_pool_t *p)
{
    static int names;
    pay_charge_t *proposal;
    pay_checkout_t *checkout;
    pay_claim_t claim;

    proposal = till_proposal(i, apr_psprintf(p, "of-link-%d", names++), LINK_AMOUNT_MINOR);
    checkout = checkout_make(till_clock + apr_time_from_sec(60), p);
    checkout->link = link;
    proposal->kind = PAY_CHARGE_CHECKOUT;
    proposal->token = "";
    proposal->email = email;
    proposal->checkout = checkout;
    ck_assert_int_eq(pay_store_charge_open(out, &claim, till->store, proposal, NULL, NULL, p),
                     APR_SUCCESS);
    return claim;
}

static inline pay_charge_t *link_begin(int i, const char *link, const char *email)
{
    pay_charge_t *charge;

    ck_assert_int_eq(link_open(&charge, i, link, email, unit_pool), PAY_CLAIM_NEW);
    return charge;
}

#endif
