/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_CHECKOUTS_H
#define PAY_STORE_CHECKOUTS_H

/* Units of work of the store for checkouts, payment links and totals. Include store/store.h
 * instead. A checkout is opened by charge_open with `checkout` of the proposal set. */

#include "model/link.h"
#include "store/types.h"

/* The target of a page's id: one of charge and link is set. */
typedef struct pay_store_page_t {
    pay_account_t *account;
    pay_charge_t *charge; /* including its checkout */
    pay_link_t *link;
} pay_store_page_t;

/* APR_NOTFOUND if the page does not exist. */
apr_status_t pay_store_page_find(pay_store_page_t *out, pay_store_t *store, const char *page_id,
                                 apr_pool_t *p);

/* One step of a checkout, made by its payer or because it has expired. */
typedef struct pay_checkout_move_t {
    pay_checkout_step_t from;
    pay_checkout_step_t to; /* CANCELLED and EXPIRED: the charge is abandoned */
    apr_time_t now;         /* from expires_at on the only move is to EXPIRED, which is not possible
                             * before */
    const pay_card_t *card; /* NULL: unchanged */
    pay_channel_t channel;
    const char *acquirer_url;     /* NULL: unchanged */
    const pay_outcome_t *outcome; /* NULL, or PAY_OUTCOME_UNKNOWN: not decided */
    /* The time of the next query: above 0 for one that stays pending; for an abandoned one 0 means
     * that no acquirer is queried about it. */
    apr_time_t due_at;
} pay_checkout_move_t;

/*
 * Compare and set: acts only while the charge is pending and the checkout's step is move->from.
 * *changed 0: it is not, and *out is its present state. An outcome decides the charge in the same
 * transaction, like charge_resolve. APR_NOTFOUND: there is no such checkout.
 */
apr_status_t pay_store_checkout_move(pay_charge_t **out, int *changed, pay_store_t *store,
                                     const pay_scope_t *scope, apr_uint64_t seq,
                                     const pay_checkout_move_t *move, apr_pool_t *p);

/*
 * Removes up to `limit` checkouts that public keys and visitors of payment links made and nobody
 * paid, once they ended longer ago than options.checkout_keep, with everything that belongs to
 * them. One that an acquirer or a person may still decide, that an undelivered event reports, or
 * that decides about a link that can be paid once, is examined again an hour later. Before that,
 * once for each store, those that an earlier version wrote are examined. *count: examined rows.
 */
apr_status_t pay_store_checkout_sweep(int *count, pay_store_t *store, apr_time_t now, int limit,
                                      apr_pool_t *p);

/* --- totals (docs/store.md) --- */
/*
 * Array of pay_total_t that begin within `range`, by time and then currency, at most `limit`; those
 * after `after` (NULL: from the start), the last one of the previous call. They are updated in the
 * transactions that change them; rows of an unfinished import are not part of them.
 */
apr_status_t pay_store_total_list(apr_array_header_t **out, pay_store_t *store,
                                  const pay_scope_t *scope, const pay_time_range_t *range,
                                  const pay_total_t *after, int limit, apr_pool_t *p);

/* --- payment links --- */
/* Takes scope, reference, page and the values of the link; sets created_at. APR_EEXIST: the
 * reference is taken. APR_NOTFOUND: there is no such account. */
apr_status_t pay_store_link_create(pay_link_t **out, pay_store_t *store, const pay_link_t *proposal,
                                   apr_pool_t *p);
/* APR_NOTFOUND if the link does not exist. */
apr_status_t pay_store_link_get(pay_link_t **out, pay_store_t *store, const pay_scope_t *scope,
                                const char *reference, apr_pool_t *p);
/* Array of pay_link_t * by reference, at most `limit`; those after the reference `after` (NULL:
 * from the start). */
apr_status_t pay_store_link_list(apr_array_header_t **out, pay_store_t *store,
                                 const pay_scope_t *scope, const char *after, int limit,
                                 apr_pool_t *p);
/* No checkout is made from it from now on; open ones can still be paid. *changed 0: it was disabled
 * before. APR_NOTFOUND. */
apr_status_t pay_store_link_disable(pay_link_t **out, int *changed, pay_store_t *store,
                                    const pay_scope_t *scope, const char *reference, apr_pool_t *p);

#endif
