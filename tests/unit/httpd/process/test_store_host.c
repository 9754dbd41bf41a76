/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/store_host.h"

#include "request.h"

/* One store_host for each store, with its hosts, and the state that their processes share. */

static server_rec *host_of(server_rec *main_server, const char *store)
{
    server_rec *s = main_server ? request_host(main_server) : request_server();
    process_rec *process = apr_pcalloc(unit_pool, sizeof(*process));

    process->pool = unit_pool;
    s->process = process;
    if (store) {
        request_set(s, "PaymentsEngine", "On");
        request_set(s, "PaymentsStore", store);
    }
    return s;
}

static const pay_store_host_t *at(const apr_array_header_t *store_hosts, int i)
{
    return APR_ARRAY_IDX(store_hosts, i, const pay_store_host_t *);
}

static server_rec *host_at(const pay_store_host_t *store_host, int i)
{
    return APR_ARRAY_IDX(store_host->hosts, i, server_rec *);
}

START_TEST(test_one_for_each_store)
{
    const apr_array_header_t *store_hosts;
    server_rec *hosts[4];

    stand_in = (stand_in_t){.daemons = 2, .threads = 5};
    hosts[0] = host_of(NULL, NULL);
    hosts[1] = host_of(hosts[0], "lmdb:/srv/a");
    hosts[2] = host_of(hosts[0], "lmdb:/srv/b");
    hosts[3] = host_of(hosts[0], "lmdb:/srv/a/");
    request_set(hosts[1], "PaymentsCommitBatch", "7");
    store_hosts = pay_store_hosts_collect(hosts[0], unit_pool);
    ck_assert_ptr_eq(store_hosts, pay_store_hosts());
    ck_assert_int_eq(store_hosts->nelts, 2);
    ck_assert_str_eq(at(store_hosts, 0)->url, "lmdb:/srv/a");
    ck_assert_str_eq(at(store_hosts, 1)->url, "lmdb:/srv/b");
    ck_assert_uint_eq(at(store_hosts, 0)->number, 0);
    ck_assert_uint_eq(at(store_hosts, 1)->number, 1);
    ck_assert_int_eq(at(store_hosts, 0)->options.commit_batch, 7);
    ck_assert_int_eq(at(store_hosts, 1)->options.commit_batch, 256);
    ck_assert_int_eq(at(store_hosts, 0)->hosts->nelts, 2);
    ck_assert_ptr_eq(host_at(at(store_hosts, 0), 0), hosts[1]);
    ck_assert_ptr_eq(host_at(at(store_hosts, 0), 1), hosts[3]);
    ck_assert_ptr_eq(host_at(at(store_hosts, 1), 0), hosts[2]);
}
END_TEST

/* The marks outlive a restart, the writer lock is of one generation. */
START_TEST(test_what_is_shared)
{
    const apr_array_header_t *first, *second;
    server_rec *s = host_of(NULL, "lmdb:/srv/a");

    (void)host_of(s, "lmdb:/srv/b");
    stand_in = (stand_in_t){.daemons = 2, .threads = 5};
    first = pay_store_hosts_collect(s, unit_pool);
    second = pay_store_hosts_collect(s, unit_pool);
    ck_assert_ptr_nonnull(at(first, 0)->options.shared);
    ck_assert_ptr_nonnull(at(first, 0)->options.mark);
    ck_assert_ptr_ne(at(first, 0)->options.shared, at(second, 0)->options.shared);
    ck_assert_ptr_ne(at(first, 0)->options.shared, at(first, 1)->options.shared);
    ck_assert_ptr_eq(at(first, 0)->options.mark, at(second, 0)->options.mark);
    ck_assert_ptr_ne(at(first, 0)->options.mark, at(first, 1)->options.mark);
    ck_assert_int_eq(pay_store_mark_is_set(at(first, 0)->options.mark), 0);
    ck_assert_int_eq(stand_in.logged, 0);
}
END_TEST

static const struct {
    const char *name;
    int daemons, threads;
    unsigned int want;
} reader_rows[] = {
    {"prefork", 4, 1, 2 * 4 * 1 + 256},
    {"threads, which HTTP/2 adds its own to", 2, 2, 2 * 2 * (2 + 64) + 256},
    {"an MPM that does not say", 0, 0, 2 * 1 * 1 + 256},
};

START_TEST(test_readers)
{
    stand_in = (stand_in_t){.daemons = reader_rows[_i].daemons, .threads = reader_rows[_i].threads};
    ck_assert_msg(
        at(pay_store_hosts_collect(host_of(NULL, "lmdb:/srv/a"), unit_pool), 0)->options.readers_max
            == reader_rows[_i].want,
        "%s", reader_rows[_i].name);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_one_for_each_store);
    tcase_add_test(tcase, test_what_is_shared);
    tcase_add_loop_test(tcase, test_readers, 0, UNIT_ROWS(reader_rows));
}

UNIT_PROGRAM(add)
