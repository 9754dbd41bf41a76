/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/record/audit.h"

#include <string.h>

static const struct {
    const char *name;
    apr_uint32_t account;
    apr_uint64_t seq;
    const char *bytes; /* NULL: removed; "": a good row */
    int short_key;
    int want; /* faults */
    const char *told;
} spoil_cases[] = {
    {"a row does not decode", 1, 2, "\xff", 0, 1, "audit 000000010000000000000002: the row"},
    {"a key of another length", 1, 9, "\xff", 1, 1, "the row does not decode"},
    {"the entry before the first", 1, 0, "", 0, 1, "the row does not decode"},
    {"one is taken out", 1, 2, NULL, 0, 1, "the entry before it is gone"},
    {"one of the whole store", 0, 1, NULL, 0, 1, "the entry before it is gone"},
    {"one after a gap", 1, 9, "", 0, 1, "the entry before it is gone"},
    {"one of no account", 99, 1, "", 0, 1, "there is no such account"},
};

/* Three of account 1, two of the whole store. */
static void fill(void)
{
    pay_audit_t entry = {.who = "ada", .what = "test"};
    pay_store_t *store;
    int i;

    for (i = 0; i < 5; i++) {
        entry.account = i % 2 ? 0 : 1;
        ck_assert_int_eq(pay_store_audited(&store, till->store, &entry, unit_pool), APR_SUCCESS);
        ck_assert_int_eq(pay_store_audit_note(store), APR_SUCCESS);
    }
    till_check_clean();
}

START_TEST(test_spoiled)
{
    const pay_audit_t good = {.who = "", .from = "", .what = "", .subject = "", .detail = ""};
    const char *bytes = spoil_cases[_i].bytes;
    pay_store_key_t key;
    pay_bytes_t row = {1, bytes};
    int faults;

    fill();
    if (bytes && !*bytes) {
        ck_assert_int_eq(pay_store_audit_encode(&row, &good, unit_pool), 0);
    }
    pay_store_audit_key(&key, spoil_cases[_i].account, spoil_cases[_i].seq);
    key.len -= (size_t)spoil_cases[_i].short_key;
    till_plant(PAY_TABLE_AUDIT, &key, bytes ? row.data : NULL, row.len);
    faults = till_faults(spoil_cases[_i].told);
    ck_assert_msg(faults == spoil_cases[_i].want, "%s: %d faults, among them: %s",
                  spoil_cases[_i].name, faults, till_fault);
    ck_assert_msg(strstr(till_fault, spoil_cases[_i].told) != NULL, "%s: %s", spoil_cases[_i].name,
                  till_fault);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_loop_test(tcase, test_spoiled, 0, UNIT_ROWS(spoil_cases));
}

UNIT_PROGRAM(add)
