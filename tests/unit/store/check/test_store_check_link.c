/* SPDX-License-Identifier: Apache-2.0 */
#include "link_goods.h"

#include "store/payment/link.h"

#define LINK "shop-1"
#define PAGE_OF_NOBODY "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz"

typedef enum spoil_t {
    SPOIL_ROW,
    SPOIL_KEY,
    SPOIL_KEY_NUL,
    SPOIL_ACCOUNT,
    SPOIL_PAGE_GONE,
    SPOIL_PAGE_OF_CHECKOUT,
    SPOIL_PAGE_OF_NOBODY,
    SPOIL_PAGE_SHORT,
    SPOIL_PAGE_LONG,
    SPOIL_PAGE_SECOND,
    SPOIL_LINK_GONE,
    SPOIL_UNKNOWING,
    SPOIL_UNCOUNTED,
    SPOIL_NOT_HELD,
    SPOIL_HELD_BY_NONE
} spoil_t;

static const struct {
    const char *name;
    spoil_t how;
    int want;         /* faults */
    const char *told; /* in one's text */
} cases[] = {
    {"a row does not decode", SPOIL_ROW, 1, "link 00000002"},
    {"a short key", SPOIL_KEY, 1, "the row does not decode"},
    {"a NUL in the key", SPOIL_KEY_NUL, 1, "the row does not decode"},
    {"no such account", SPOIL_ACCOUNT, 2, "there is no such account"},
    {"its page is gone", SPOIL_PAGE_GONE, 1, "its page does not lead to it"},
    {"its page is a checkout's", SPOIL_PAGE_OF_CHECKOUT, 2, "its page does not lead to it"},
    {"a page of no link", SPOIL_PAGE_OF_NOBODY, 1, "leads to no checkout or link"},
    {"a page without a reference", SPOIL_PAGE_SHORT, 1, "leads to no checkout or link"},
    {"a page with a long one", SPOIL_PAGE_LONG, 1, "leads to no checkout or link"},
    {"a second page", SPOIL_PAGE_SECOND, 1, "leads to no checkout or link"},
    {"a checkout's link is gone", SPOIL_LINK_GONE, 2, "there is no such payment link"},
    {"a link knows nothing of its checkout", SPOIL_UNKNOWING, 1, "does not have charge"},
    {"a payment is not counted", SPOIL_UNCOUNTED, 1, "does not count charge"},
    {"an open checkout is not counted", SPOIL_NOT_HELD, 1, "which may yet be paid"},
    {"an open checkout is counted twice", SPOIL_HELD_BY_NONE, 1,
     "counts 2 checkouts that may be paid, and has 1"},
};

static void key_of(pay_store_key_t *key)
{
    ck_assert_int_eq(pay_store_link_key(key, &till->scopes[0], LINK), 1);
}

static void plant_link(const pay_store_key_t *key, const pay_link_t *link)
{
    pay_bytes_t row;

    ck_assert_int_eq(pay_store_link_encode(&row, link, unit_pool), 0);
    till_plant(PAY_TABLE_LINK, key, row.data, row.len);
}

/* A page of kind link, followed by so many bytes of the scope and reference. */
static void plant_page(const char *id, const char *reference, size_t len)
{
    unsigned char place[1 + PAY_STORE_KEY_MAX] = {PAY_PAGE_LINK};
    pay_store_key_t page, key;

    pay_store_key_of_scope(&key, &till->scopes[0]);
    ck_assert_int_eq(pay_store_key_bytes(&key, reference, strlen(reference)), 1);
    memcpy(place + 1, key.bytes, key.len);
    ck_assert_int_eq(pay_store_page_key(&page, id), 1);
    till_plant(PAY_TABLE_PAGE, &page, place, len ? len : 1 + key.len);
}

static void spoil(spoil_t how, pay_link_t *link, const pay_charge_t *charge)
{
    pay_store_key_t key, page;

    key_of(&key);
    ck_assert_int_eq(pay_store_page_key(&page, link->page_id), 1);
    switch (how) {
    case SPOIL_ROW:
        till_plant(PAY_TABLE_LINK, &key, "\xff", 1);
        return;
    case SPOIL_KEY:
        pay_store_key_start(&key);
        pay_store_key_u32(&key, 1);
        plant_link(&key, link);
        return;
    case SPOIL_KEY_NUL:
        ck_assert_int_eq(pay_store_key_bytes(&key, "\0a", 2), 1);
        plant_link(&key, link);
        return;
    case SPOIL_ACCOUNT:
        pay_store_key_start(&key);
        pay_store_key_u32(&key, 99);
        ck_assert_int_eq(pay_store_key_bytes(&key, "\0x", 2), 1);
        plant_link(&key, link);
        return;
    case SPOIL_PAGE_GONE:
        till_plant(PAY_TABLE_PAGE, &page, NULL, 0);
        return;
    case SPOIL_PAGE_OF_CHECKOUT:
        till_plant(PAY_TABLE_PAGE, &page, "\1aaaaabbbbbbbb", PAY_STORE_PAGE_LEN);
        return;
    case SPOIL_PAGE_OF_NOBODY:
        plant_page(PAGE_OF_NOBODY, "nobody", 0);
        return;
    case SPOIL_PAGE_SHORT:
        plant_page(PAGE_OF_NOBODY, LINK, 1 + PAY_STORE_SCOPE_LEN);
        return;
    case SPOIL_PAGE_LONG:
        plant_page(PAGE_OF_NOBODY, LINK, 1 + PAY_STORE_LINK_KEY_MAX + 1);
        return;
    case SPOIL_PAGE_SECOND:
        plant_page(PAGE_OF_NOBODY, LINK, 0);
        return;
    case SPOIL_LINK_GONE:
        till_plant(PAY_TABLE_LINK, &key, NULL, 0);
        return;
    case SPOIL_UNKNOWING:
        link->last_seq = charge->seq - 1;
        plant_link(&key, link);
        return;
    case SPOIL_UNCOUNTED:
        link->paid = 0;
        plant_link(&key, link);
        return;
    case SPOIL_NOT_HELD:
        link->holding = 0;
        plant_link(&key, link);
        return;
    case SPOIL_HELD_BY_NONE:
        link->holding++;
        plant_link(&key, link);
        return;
    }
}

START_TEST(test_spoilt)
{
    const int is_open = cases[_i].how >= SPOIL_NOT_HELD; /* of one that is paid once */
    pay_charge_t *charge, *paid;
    int i;

    for (i = 0; i < TILL_SCOPES; i++) {
        link_make(i, LINK, is_open);
    }
    charge = link_begin(0, LINK, "ada@shop.example");
    if (!is_open) {
        ck_assert_int_eq(till_resolve(&paid, 0, charge->seq, PAY_OUTCOME_APPROVED), 1);
    }
    till_check_clean();
    spoil(cases[_i].how, link_get(0, LINK), charge);
    ck_assert_msg(till_faults(cases[_i].told) == cases[_i].want, "%s: %d: %s", cases[_i].name,
                  till_faults(cases[_i].told), till_fault);
    ck_assert_msg(strstr(till_fault, cases[_i].told) != NULL, "%s: %s", cases[_i].name, till_fault);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_spoilt, 0, UNIT_ROWS(cases));
}

UNIT_PROGRAM(add)
