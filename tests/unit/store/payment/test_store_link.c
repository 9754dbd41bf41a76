/* SPDX-License-Identifier: Apache-2.0 */
#include "link_goods.h"

#include "store/payment/link.h"

#define ROWS 7

static apr_status_t create(pay_link_t **out, const pay_link_t *proposal)
{
    return pay_store_link_create(out, till->store, proposal, unit_pool);
}

static apr_array_header_t *list(int i, const char *after, int limit)
{
    apr_array_header_t *links;

    ck_assert_int_eq(
        pay_store_link_list(&links, till->store, &till->scopes[i], after, limit, unit_pool),
        APR_SUCCESS);
    return links;
}

static const char *reference_of(const apr_array_header_t *links, int n)
{
    return APR_ARRAY_IDX(links, n, const pay_link_t *)->reference;
}

/* ---- one, in each scope its own */

START_TEST(test_made)
{
    pay_store_page_t page;
    pay_link_t *made[TILL_SCOPES], *link;
    pay_link_t proposal;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        proposal = link_proposal(i, "shop-1", i == 1);
        proposal.money.amount_minor = i * 100;
        proposal.expires_at = till_clock + i;
        proposal.paid = proposal.last_seq = 7;
        proposal.disabled_at = till_clock; /* of a new one these three are the store's */
        made[i] = link_make_of(&proposal);
    }
    for (i = 0; i < TILL_SCOPES; i++) {
        link = link_get(i, "shop-1");
        ck_assert_str_eq(link->reference, "shop-1");
        ck_assert_uint_eq(link->scope.account, till->scopes[i].account);
        ck_assert_int_eq(link->scope.mode, till->scopes[i].mode);
        ck_assert_str_eq(link->title, "Shoes");
        ck_assert_str_eq(link->description, "One pair");
        ck_assert_str_eq(link->redirect_url, "https://shop.example/thanks");
        ck_assert_int_eq(link->money.amount_minor, i * 100);
        ck_assert_str_eq(link->money.currency, "NGN");
        ck_assert_int_eq(link->once, i == 1);
        ck_assert_int_eq(link->expires_at, till_clock + i);
        ck_assert_int_eq(link->created_at, till_clock);
        ck_assert_int_eq(link->disabled_at, 0);
        ck_assert_uint_eq(link->paid, 0);
        ck_assert_uint_eq(link->last_seq, 0);
        ck_assert_int_eq(pay_store_page_find(&page, till->store, made[i]->page_id, unit_pool),
                         APR_SUCCESS);
        ck_assert_uint_eq(page.account->number, till->scopes[i].account);
        ck_assert_ptr_null(page.charge);
        ck_assert_int_eq(page.link->scope.mode, till->scopes[i].mode);
        ck_assert_int_eq(page.link->money.amount_minor, i * 100);
    }
    till_check_clean();
}
END_TEST

START_TEST(test_reference_twice)
{
    pay_link_t proposal = link_proposal(0, "shop-1", 0), *link;
    const char *before;

    link_make(0, "shop-1", 1);
    before = till_snapshot();
    ck_assert_int_eq(create(&link, &proposal), APR_EEXIST);
    ck_assert_ptr_null(link);
    ck_assert_str_eq(till_snapshot(), before);
    ck_assert_int_eq(link_get(0, "shop-1")->once, 1);
}
END_TEST

/* The page of a checkout, or of another link, is never taken over. */
START_TEST(test_page_twice)
{
    pay_link_t proposal = link_proposal(0, "shop-2", 0), *link;

    proposal.page_id = _i ? link_make(1, "shop-1", 0)->page_id
                          : till_checkout(1, "order-1", 1000)->checkout->page_id;
    ck_assert_int_eq(create(&link, &proposal), APR_EINVAL);
    ck_assert_int_eq(pay_store_link_get(&link, till->store, &till->scopes[0], "shop-2", unit_pool),
                     APR_NOTFOUND);
    till_check_clean();
}
END_TEST

START_TEST(test_no_account)
{
    pay_link_t proposal = link_proposal(0, "shop-1", 0), *link;

    proposal.scope.account = 99;
    ck_assert_int_eq(create(&link, &proposal), APR_NOTFOUND);
    till_check_clean();
}
END_TEST

START_TEST(test_none)
{
    static const char *const names[] = {
        "shop-2", "", "a/b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    pay_link_t *link;
    size_t i;
    int changed;

    link_make(0, "shop-1", 0);
    link_make(1, "shop-2", 0);
    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        ck_assert_int_eq(
            pay_store_link_get(&link, till->store, &till->scopes[0], names[i], unit_pool),
            APR_NOTFOUND);
        ck_assert_ptr_null(link);
        ck_assert_int_eq(pay_store_link_disable(&link, &changed, till->store, &till->scopes[0],
                                                names[i], unit_pool),
                         APR_NOTFOUND);
        ck_assert_ptr_null(link);
    }
}
END_TEST

/* ---- disabling */

START_TEST(test_disable)
{
    pay_link_t *link;
    int i, changed;

    for (i = 0; i < TILL_SCOPES; i++) {
        link_make(i, "shop-1", 0);
    }
    till_clock += apr_time_from_sec(5);
    ck_assert_int_eq(pay_store_link_disable(&link, &changed, till->store, &till->scopes[_i],
                                            "shop-1", unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 1);
    ck_assert_int_eq(link->disabled_at, till_clock);
    till_clock += apr_time_from_sec(5);
    ck_assert_int_eq(pay_store_link_disable(&link, &changed, till->store, &till->scopes[_i],
                                            "shop-1", unit_pool),
                     APR_SUCCESS);
    ck_assert_int_eq(changed, 0);
    ck_assert_int_eq(link->disabled_at, till_clock - apr_time_from_sec(5));
    for (i = 0; i < TILL_SCOPES; i++) {
        ck_assert_int_eq(link_get(i, "shop-1")->disabled_at != 0, i == _i);
    }
    till_check_clean();
}
END_TEST

/* ---- the audit: what changed, and nothing else */

START_TEST(test_audit)
{
    const pay_audit_t entry = {.account = till->scopes[1].account,
                               .who = "ada",
                               .from = "dashboard",
                               .what = "link",
                               .subject = "shop-1",
                               .detail = "live"};
    pay_link_t proposal = link_proposal(1, "shop-1", 0), *link;
    apr_array_header_t *told;
    const pay_audit_t *last;
    pay_store_t *store;
    int i, changed;

    for (i = 0; i < 4; i++) { /* every second time it is so already */
        ck_assert_int_eq(pay_store_audited(&store, till->store, &entry, unit_pool), APR_SUCCESS);
        if (i < 2) {
            ck_assert_int_eq(pay_store_link_create(&link, store, &proposal, unit_pool),
                             i ? APR_EEXIST : APR_SUCCESS);
        } else {
            ck_assert_int_eq(pay_store_link_disable(&link, &changed, store, &till->scopes[1],
                                                    "shop-1", unit_pool),
                             APR_SUCCESS);
        }
        ck_assert_int_eq(
            pay_store_audit_list(&told, till->store, till->scopes[1].account, 0, 9, unit_pool),
            APR_SUCCESS);
        ck_assert_int_eq(told->nelts, i < 2 ? 1 : 2);
        last = APR_ARRAY_IDX(told, 0, const pay_audit_t *);
        ck_assert_str_eq(last->subject, "shop-1");
        ck_assert_str_eq(last->detail, "live");
    }
}
END_TEST

/* ---- lists */

START_TEST(test_list)
{
    const char *after = NULL;
    apr_array_header_t *links;
    int i, n, seen = 0;

    for (n = 0; n < ROWS; n++) {
        for (i = 0; i < TILL_SCOPES; i++) {
            link_make(i, apr_psprintf(unit_pool, "link-%d", (n * 3) % ROWS), 0);
        }
    }
    ck_assert_int_eq(list(_i, NULL, PAY_STORE_ROWS_MAX)->nelts, ROWS);
    for (links = list(_i, NULL, 2); links->nelts > 0; links = list(_i, after, 2)) {
        for (n = 0; n < links->nelts; n++) {
            ck_assert_str_eq(reference_of(links, n), apr_psprintf(unit_pool, "link-%d", seen++));
            after = reference_of(links, n);
        }
    }
    ck_assert_int_eq(seen, ROWS);
    ck_assert_str_eq(reference_of(list(_i, "link-2a", 1), 0), "link-3"); /* it may be absent */
}
END_TEST

START_TEST(test_list_from_nowhere)
{
    apr_array_header_t *links;

    link_make(0, "shop-1", 0);
    ck_assert_int_eq(
        pay_store_link_list(&links, till->store, &till->scopes[0], "a/b", 1, unit_pool),
        APR_EINVAL);
    ck_assert_int_eq(list(1, NULL, 1)->nelts, 0);
}
END_TEST

/* ---- rows behind the store's back */

static const struct {
    const char *name;
    pay_link_t row;
} damages[] = {
    {"no page", {.page_id = "short", .money = {1, "NGN"}}},
    {"below nothing", {.page_id = "abcdefghijklmnopqrstuvwxyz234567", .money = {-1, "NGN"}}},
    {"no currency", {.page_id = "abcdefghijklmnopqrstuvwxyz234567", .money = {1, "NG"}}},
    {"twice", {.page_id = "abcdefghijklmnopqrstuvwxyz234567", .money = {1, "NGN"}, .once = 2}},
    {"no text", {.page_id = "abcdefghijklmnopqrstuvwxyz234567", .money = {1, "NGN"}}},
};

START_TEST(test_damaged_row)
{
    pay_link_t row = damages[_i].row, *link;
    apr_array_header_t *links;
    pay_store_page_t page;
    pay_store_key_t key;
    const char *id = link_make(0, "shop-1", 0)->page_id;
    pay_bytes_t bytes;

    row.title = row.description = row.redirect_url =
        strcmp(damages[_i].name, "no text") ? "" : NULL;
    ck_assert_int_eq(pay_store_link_encode(&bytes, &row, unit_pool), 0);
    ck_assert_int_eq(pay_store_link_key(&key, &till->scopes[0], "shop-1"), 1);
    till_plant(PAY_TABLE_LINK, &key, bytes.data, bytes.len);
    ck_assert_int_eq(pay_store_link_get(&link, till->store, &till->scopes[0], "shop-1", unit_pool),
                     PAY_STORE_ECORRUPT);
    ck_assert_int_eq(pay_store_link_list(&links, till->store, &till->scopes[0], NULL, 9, unit_pool),
                     PAY_STORE_ECORRUPT);
    ck_assert_int_eq(pay_store_page_find(&page, till->store, id, unit_pool), PAY_STORE_ECORRUPT);
    ck_assert_int_eq(till_faults("does not decode"), 1);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_made);
    tcase_add_test(tcase, test_reference_twice);
    tcase_add_loop_test(tcase, test_page_twice, 0, 2);
    tcase_add_test(tcase, test_no_account);
    tcase_add_test(tcase, test_none);
    tcase_add_loop_test(tcase, test_disable, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_audit);
    tcase_add_loop_test(tcase, test_list, 0, TILL_SCOPES);
    tcase_add_test(tcase, test_list_from_nowhere);
    tcase_add_loop_test(tcase, test_damaged_row, 0, UNIT_ROWS(damages));
}

UNIT_PROGRAM(add)
