/* SPDX-License-Identifier: Apache-2.0 */
#include "lmdb_fixture.h"

static const struct {
    const char *name;
    const char *url;
    int fine;
} url_rows[] = {
    {"a directory", "lmdb:/var/lib/payments", 1},
    {"blanks in it", "lmdb:/srv/my shop", 1},
    {"no scheme", "/var/lib/payments", 0},
    {"another scheme", "sqlite:/var/lib/payments", 0},
    {"scheme in upper case", "LMDB:/var/lib/payments", 0},
    {"no path", "lmdb:", 0},
    {"relative", "lmdb:payments", 0},
    {"the root", "lmdb:/", 0},
    {"empty", "", 0},
};

START_TEST(test_urls)
{
    const pay_store_options_t options = fixture_options();
    const char *reason = NULL;
    pay_store_t *store;

    ck_assert_msg((pay_store_url_fault(url_rows[_i].url) == NULL) == url_rows[_i].fine, "%s",
                  url_rows[_i].name);
    if (url_rows[_i].fine) {
        return;
    }
    ck_assert_int_eq(pay_store_open(&store, url_rows[_i].url, &options, unit_pool), APR_EINVAL);
    ck_assert_ptr_null(store);
    ck_assert_int_eq(pay_store_prepare(&reason, url_rows[_i].url, &options, unit_pool), APR_EINVAL);
    ck_assert_ptr_nonnull(reason);
    reason = NULL;
    ck_assert_int_eq(pay_store_upgrade(&reason, url_rows[_i].url, &options, 1, unit_pool),
                     APR_EINVAL);
    ck_assert_ptr_nonnull(reason);
}
END_TEST

START_TEST(test_paths)
{
    static const char *const want[] = {"/srv/pay", "/srv/pay/data.mdb", "/srv/pay/lock.mdb"};
    const apr_array_header_t *paths = pay_store_paths("lmdb:/srv/pay", unit_pool);
    int i;

    ck_assert_int_eq(paths->nelts, UNIT_ROWS(want));
    for (i = 0; i < paths->nelts; i++) {
        ck_assert_str_eq(APR_ARRAY_IDX(paths, i, const char *), want[i]);
    }
    ck_assert_int_eq(pay_store_paths("lmdb:srv", unit_pool)->nelts, 0);
}
END_TEST

static const struct {
    const char *name;
    apr_status_t status;
    const char *word; /* NULL: no text */
} text_rows[] = {
    {"down", PAY_STORE_EDOWN, "out of service"},
    {"schema", PAY_STORE_ESCHEMA, "schema"},
    {"full", PAY_STORE_EFULL, "PaymentsStoreSize"},
    {"busy", PAY_STORE_EBUSY, "PaymentsCommitWait"},
    {"unknown", PAY_STORE_EUNKNOWN, "unknown"},
    {"corrupt", PAY_STORE_ECORRUPT, "decode"},
    {"success", APR_SUCCESS, NULL},
    {"not found", APR_NOTFOUND, NULL},
    {"one before", PAY_STORE_EDOWN - 1, NULL},
    {"one after", PAY_STORE_ELAST + 1, NULL},
};

START_TEST(test_status_texts)
{
    const char *text = pay_store_status_text(text_rows[_i].status);

    if (!text_rows[_i].word) {
        ck_assert_msg(text == NULL, "%s", text_rows[_i].name);
        return;
    }
    ck_assert_msg(text && strstr(text, text_rows[_i].word), "%s", text_rows[_i].name);
}
END_TEST

START_TEST(test_defaults_of_the_options)
{
    ck_assert_int_eq(pay_store_options_default.map_bytes, APR_INT64_C(68719476736));
    ck_assert_int_eq(pay_store_options_default.reserve_bytes, APR_INT64_C(268435456));
    ck_assert_int_eq(pay_store_options_default.commit_wait, apr_time_from_sec(2));
    ck_assert_uint_eq(pay_store_options_default.readers_max, 1024);
    ck_assert_int_eq(pay_store_options_default.create, 0);
    ck_assert_int_eq(pay_store_options_default.read_only, 0);
}
END_TEST

START_TEST(test_opened_prepared_and_ready)
{
    const pay_store_options_t options = fixture_options();
    const char *url = apr_pstrcat(unit_pool, "lmdb:", unit_dir(), "/store", NULL);
    const char *reason = "unset";
    pay_store_t *store;

    ck_assert_int_eq(pay_store_prepare(&reason, url, &options, unit_pool), APR_SUCCESS);
    ck_assert_ptr_null(reason);
    ck_assert_int_eq(pay_store_open(&store, url, &options, unit_pool), APR_SUCCESS);
    reason = "unset";
    ck_assert_int_eq(pay_store_ready(&reason, store, unit_pool), APR_SUCCESS);
    ck_assert_ptr_null(reason);
    ck_assert_int_eq(pay_store_upgrade(&reason, url, &options, 0, unit_pool), APR_SUCCESS);
    ck_assert(strstr(reason, "nothing to do") != NULL);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_urls, 0, UNIT_ROWS(url_rows));
    tcase_add_test(tcase, test_paths);
    tcase_add_loop_test(tcase, test_status_texts, 0, UNIT_ROWS(text_rows));
    tcase_add_test(tcase, test_defaults_of_the_options);
    tcase_add_test(tcase, test_opened_prepared_and_ready);
}

UNIT_PROGRAM(add)
