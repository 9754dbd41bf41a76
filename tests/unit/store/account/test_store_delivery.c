/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

static const pay_delivery_t full = {.webhook_insecure = 1,
                                    .trusted_ca = "/etc/ca.pem",
                                    .webhook_allow = "10.0.0.0/8 ::1",
                                    .mail_relay = "smtp://relay.example:587",
                                    .mail_login = "sealed",
                                    .mail_from = "shop@shop.example",
                                    .mail_templates = "/etc/templates"};
static const pay_delivery_t none = {.trusted_ca = "",
                                    .webhook_allow = "",
                                    .mail_relay = "",
                                    .mail_login = "",
                                    .mail_from = "",
                                    .mail_templates = ""};

static apr_status_t get(pay_delivery_t **out)
{
    return pay_store_delivery_get(out, till->store, unit_pool);
}

static void check(const pay_delivery_t *want)
{
    pay_delivery_t *got;

    ck_assert_int_eq(get(&got), APR_SUCCESS);
    ck_assert_int_eq(got->webhook_insecure, want->webhook_insecure);
    ck_assert_str_eq(got->trusted_ca, want->trusted_ca);
    ck_assert_str_eq(got->webhook_allow, want->webhook_allow);
    ck_assert_str_eq(got->mail_relay, want->mail_relay);
    ck_assert_str_eq(got->mail_login, want->mail_login);
    ck_assert_str_eq(got->mail_from, want->mail_from);
    ck_assert_str_eq(got->mail_templates, want->mail_templates);
}

START_TEST(test_nobody_has_said_yet)
{
    pay_delivery_t *got = (pay_delivery_t *)&full;

    ck_assert_int_eq(get(&got), APR_NOTFOUND);
    ck_assert_ptr_null(got);
}
END_TEST

START_TEST(test_last_word_counts)
{
    ck_assert_int_eq(pay_store_delivery_put(till->store, &full, unit_pool), APR_SUCCESS);
    check(&full);
    till_close();
    till_reopen();
    check(&full);
    ck_assert_int_eq(pay_store_delivery_put(till->store, &none, unit_pool), APR_SUCCESS);
    check(&none);
    till_check_clean();
}
END_TEST

START_TEST(test_strings_must_be_set)
{
    pay_delivery_t delivery = full, *got;

    delivery.mail_from = NULL;
    ck_assert_int_eq(pay_store_delivery_put(till->store, &delivery, unit_pool), APR_EINVAL);
    ck_assert_int_eq(get(&got), APR_NOTFOUND);
}
END_TEST

START_TEST(test_damaged_row)
{
    static const unsigned char bytes[] = {1, 1, 0, 0, 0, 0, 0, 0, 0};
    pay_delivery_t *got = (pay_delivery_t *)&full;
    pay_store_key_t key;

    pay_store_key_start(&key);
    ck_assert(pay_store_key_bytes(&key, "delivery", 8));
    till_plant(PAY_TABLE_META, &key, bytes, sizeof(bytes));
    ck_assert_int_eq(get(&got), PAY_STORE_ECORRUPT);
    ck_assert_ptr_null(got);
    ck_assert_int_eq(till_lines[PAY_LOG_ERR], 1);
    ck_assert_int_eq(pay_store_delivery_put(till->store, &full, unit_pool), APR_SUCCESS);
    check(&full);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_nobody_has_said_yet);
    tcase_add_test(tcase, test_last_word_counts);
    tcase_add_test(tcase, test_strings_must_be_set);
    tcase_add_test(tcase, test_damaged_row);
}

UNIT_PROGRAM(add)
