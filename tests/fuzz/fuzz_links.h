/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_LINKS_H
#define FUZZ_LINKS_H

/* The payment link in the store of fuzz_store.h, and operations on it. */

#include "fuzz_page.h"
#include "fuzz_store.h"

#include "base/text/writer.h"
#include "store/payment/link.h"

#define FUZZ_LINK "link"
#define FUZZ_LINK_PAGE "bcdefghijklmnopqrstuvwxyz234567a"
#define FUZZ_LINKS_MAX 10

static inline void fuzz_links_make(void)
{
    const pay_link_t proposal = {.scope = fuzz_store.scope,
                                 .reference = FUZZ_LINK,
                                 .page_id = FUZZ_LINK_PAGE,
                                 .title = "Shoes",
                                 .description = "",
                                 .redirect_url = "https://shop.example/done",
                                 .money = {0, "NGN"},
                                 .once = 1,
                                 .expires_at = FUZZ_NOW + apr_time_from_sec(3600)};
    pay_link_t *link;

    CHECK(pay_store_link_create(&link, fuzz_store.store, &proposal, fuzz_store.pool)
          == APR_SUCCESS);
}

/* A row of any table that decodes as a link is encoded as it was, and can be shown. */
static inline void fuzz_links_decode(const pay_bytes_t *key, const pay_bytes_t *row, apr_pool_t *p)
{
    pay_link_t *link, *again;
    pay_bytes_t written;
    int rc;

    rc = pay_store_link_decode(&link, key, row, p);
    CHECK(rc == 0 || rc == PAY_ROWS_BAD);
    CHECK((rc == 0) == (link != NULL));
    if (rc) {
        return;
    }
    CHECK(pay_link_reference_is(link->reference) && pay_page_id_is(link->page_id));
    pay_link_to_json(pay_writer_make(0, p), NULL, link, "", FUZZ_NOW);
    CHECK(pay_store_link_encode(&written, link, p) == 0);
    CHECK(((const unsigned char *)row->data)[1] != ((const unsigned char *)written.data)[1]
          || (row->len == written.len && !memcmp(row->data, written.data, row->len)));
    CHECK(pay_store_link_decode(&again, key, &written, p) == 0);
}

/* ECORRUPT only if the check found a fault. */
static inline void fuzz_links_read(apr_size_t faults, apr_pool_t *p)
{
    apr_array_header_t *links;
    pay_store_page_t page;
    pay_link_t *link;
    apr_status_t rv;

    rv = pay_store_link_get(&link, fuzz_store.store, &fuzz_store.scope, FUZZ_LINK, p);
    CHECK(rv == APR_SUCCESS || rv == APR_NOTFOUND || (rv == PAY_STORE_ECORRUPT && faults > 0));
    rv = pay_store_link_list(&links, fuzz_store.store, &fuzz_store.scope, NULL, FUZZ_LINKS_MAX, p);
    CHECK(rv == APR_SUCCESS || (rv == PAY_STORE_ECORRUPT && faults > 0));
    rv = pay_store_page_find(&page, fuzz_store.store, FUZZ_LINK_PAGE, p);
    CHECK(rv == APR_SUCCESS || rv == APR_NOTFOUND || (rv == PAY_STORE_ECORRUPT && faults > 0));
    CHECK(rv != APR_SUCCESS || !page.charge != !page.link);
}

/* Reads, then writes; the last ones may return anything, but nothing may end the process. */
static inline void fuzz_links_use(apr_size_t faults, apr_pool_t *p)
{
    const pay_outcome_t approved = {
        .kind = PAY_OUTCOME_APPROVED, .code = "00", .message = "Approved"};
    pay_checkout_t checkout = fuzz_page;
    pay_charge_t proposal = {.scope = fuzz_store.scope,
                             .kind = PAY_CHARGE_CHECKOUT,
                             .reference = "of-link",
                             .token = "",
                             .card = {.issuer = "", .country = "", .type = ""},
                             .money = {FUZZ_AMOUNT_MINOR, "NGN"},
                             .email = "bob@example.com",
                             .first_name = "Bob",
                             .last_name = "",
                             .request_ip = "192.0.2.1",
                             .acquirer = "simulator",
                             .key_id = "",
                             .due_at = FUZZ_NOW,
                             .checkout = &checkout};
    pay_charge_t *charge;
    pay_claim_t claim;
    pay_link_t *link;
    int changed;

    fuzz_links_read(faults, p);
    checkout.page_id = "cdefghijklmnopqrstuvwxyz234567ab";
    checkout.link = FUZZ_LINK;
    if (pay_store_charge_open(&charge, &claim, fuzz_store.store, &proposal, NULL, NULL, p)
            == APR_SUCCESS
        && claim == PAY_CLAIM_NEW) {
        (void)pay_store_charge_resolve(&charge, &changed, fuzz_store.store, &fuzz_store.scope,
                                       charge->seq, &approved, FUZZ_NOW, p);
    }
    (void)pay_store_link_disable(&link, &changed, fuzz_store.store, &fuzz_store.scope, FUZZ_LINK,
                                 p);
}

#endif
