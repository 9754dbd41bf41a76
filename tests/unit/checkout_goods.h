/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHECKOUT_GOODS_H
#define CHECKOUT_GOODS_H

/* The parts of a checkout besides its charge, for tests that open one. */

#include "model/checkout.h"

#include <apr_strings.h>
#include <string.h>

/* A page's id of its own for each call. */
static inline const char *checkout_page_id(apr_pool_t *p)
{
    static unsigned int count;
    char *id = apr_pstrmemdup(p, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", PAY_PAGE_ID_LEN);
    unsigned int rest = count++;
    int i;

    for (i = PAY_PAGE_ID_LEN - 1; rest > 0; i--) {
        id[i] = (char)('a' + rest % 26);
        rest /= 26;
    }
    return id;
}

static inline pay_checkout_t *checkout_make(apr_time_t expires_at, apr_pool_t *p)
{
    pay_checkout_t *checkout = (pay_checkout_t *)apr_pcalloc(p, sizeof(*checkout));

    checkout->page_id = checkout_page_id(p);
    checkout->link = checkout->phone = checkout->logo_url = checkout->acquirer_url = "";
    checkout->redirect_url = "https://shop.example/done";
    checkout->metadata = "{\"cart\": 7}";
    checkout->title = "Shoes";
    checkout->description = "One pair";
    checkout->expires_at = expires_at;
    checkout->step = PAY_CHECKOUT_OPEN;
    return checkout;
}

#endif
