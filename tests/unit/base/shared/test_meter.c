/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/meter.h"
#include "base/shared/meter_text.h"

#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define PROCESSES 4
#define ROUNDS 20000
#define MISALIGNED 16 /* the remainder of malloc's alignment */

static const char *const operations[] = {"none", "one", "two"};

/* Shared by processes, like the server's: zeroed. */
static void *shared_memory(void)
{
    void *memory = mmap(NULL, pay_meter_size() + MISALIGNED, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(memory, MAP_FAILED);
    return memory;
}

static pay_meter_t *make_meter(void)
{
    pay_meter_t *meter = pay_meter_init(shared_memory());

    pay_meter_use(meter);
    return meter;
}

static apr_uint64_t sum_of_all(const pay_meter_t *meter)
{
    pay_meter_times_t times;
    apr_uint64_t sum = 0;
    int i, row;

    for (i = 0; i < PAY_METER_COUNTER_COUNT; i++) {
        sum += pay_meter_read(meter, (pay_meter_counter_t)i);
    }
    for (i = 0; i < PAY_METER_HISTOGRAM_COUNT; i++) {
        pay_meter_read_times(&times, meter, (pay_meter_histogram_t)i);
        sum += times.count + times.sum_us;
    }
    for (i = 0; i < PAY_METER_OPERATIONS_MAX; i++) {
        for (row = 0; row < PAY_METER_STATUSES; row++) {
            sum += pay_meter_read_requests(meter, i, row);
        }
    }
    return sum;
}

START_TEST(test_nothing_without_a_meter)
{
    pay_meter_t *meter = make_meter();

    pay_meter_use(NULL);
    pay_meter_add(PAY_METER_MAIL_PARKED, 7);
    pay_meter_observe(PAY_METER_COMMIT, 7);
    pay_meter_request(1, 200);
    ck_assert_uint_eq(sum_of_all(meter), 0);
    pay_meter_use(meter);
    pay_meter_add(PAY_METER_MAIL_PARKED, 7);
    ck_assert_uint_eq(sum_of_all(meter), 7);
}
END_TEST

START_TEST(test_each_counter_alone)
{
    pay_meter_t *meter = make_meter();
    int i;

    for (i = 0; i < PAY_METER_COUNTER_COUNT; i++) {
        pay_meter_add((pay_meter_counter_t)i, (apr_uint64_t)i + 1);
    }
    for (i = 0; i < PAY_METER_COUNTER_COUNT; i++) {
        ck_assert_uint_eq(pay_meter_read(meter, (pay_meter_counter_t)i), (apr_uint64_t)i + 1);
    }
    ck_assert_uint_eq(sum_of_all(meter),
                      PAY_METER_COUNTER_COUNT * (PAY_METER_COUNTER_COUNT + 1) / 2);
}
END_TEST

/* As after a graceful restart, whose new parent finds the memory of the old one. */
START_TEST(test_memory_is_kept)
{
    void *memory = shared_memory();
    pay_meter_t *meter = pay_meter_init(memory);

    pay_meter_use(meter);
    pay_meter_add(PAY_METER_CHARGE_FAILED, 3);
    ck_assert_ptr_eq(pay_meter_init(memory), meter);
    ck_assert_uint_eq(pay_meter_read(meter, PAY_METER_CHARGE_FAILED), 3);
}
END_TEST

/* Memory of another build, or uninitialised memory, is not read as counts. */
START_TEST(test_memory_of_others_is_cleared)
{
    char *memory = shared_memory();
    pay_meter_t *meter;

    memset(memory, 0xa5, pay_meter_size());
    meter = pay_meter_init(memory);
    pay_meter_use(meter);
    ck_assert_uint_eq(sum_of_all(meter), 0);
    pay_meter_add(PAY_METER_CHARGE_FAILED, 3);
    ((unsigned char *)meter)[0] ^= 1; /* the mark */
    ck_assert_ptr_eq(pay_meter_init(memory), meter);
    ck_assert_uint_eq(sum_of_all(meter), 0);
}
END_TEST

START_TEST(test_alignment)
{
    char *memory = shared_memory();
    pay_meter_t *meter = pay_meter_init(memory + MISALIGNED);
    int i;

    pay_meter_use(meter);
    ck_assert((char *)meter >= memory + MISALIGNED);
    for (i = 0; i < ROUNDS; i++) {
        pay_meter_request(PAY_METER_OPERATIONS_MAX - 1, 999);
    }
    ck_assert_uint_eq(sum_of_all(meter), ROUNDS);
    ck_assert_int_eq((unsigned char)memory[0], 0);
}
END_TEST

static const struct {
    const char *name;
    apr_interval_time_t time_us;
    int bucket;
    apr_uint64_t sum_us;
} time_rows[] = {
    {"before it began", -1, 0, 0},
    {"nothing", 0, 0, 0},
    {"first bound", 100, 0, 100},
    {"above the first", 101, 1, 101},
    {"second bound", 250, 1, 250},
    {"a millisecond", 1000, 3, 1000},
    {"above a millisecond", 1001, 4, 1001},
    {"a second", 1000000, 12, 1000000},
    {"last bound", 30000000, PAY_METER_BUCKETS - 1, 30000000},
    {"above the last", 30000001, PAY_METER_BUCKETS, 30000001},
    {"a day", APR_INT64_C(86400000000), PAY_METER_BUCKETS, APR_UINT64_C(86400000000)},
};

START_TEST(test_observe)
{
    pay_meter_t *meter = make_meter();
    const char *name = time_rows[_i].name;
    pay_meter_times_t times;
    int h, other, i;

    for (h = 0; h < PAY_METER_HISTOGRAM_COUNT; h++) {
        pay_meter_observe((pay_meter_histogram_t)h, time_rows[_i].time_us);
        pay_meter_read_times(&times, meter, (pay_meter_histogram_t)h);
        ck_assert_msg(times.count == 1 && times.sum_us == time_rows[_i].sum_us, "%s", name);
        for (i = 0; i <= PAY_METER_BUCKETS; i++) {
            ck_assert_msg(times.bucket[i] == (i == time_rows[_i].bucket), "%s: bucket %d", name, i);
        }
        for (other = h + 1; other < PAY_METER_HISTOGRAM_COUNT; other++) {
            pay_meter_read_times(&times, meter, (pay_meter_histogram_t)other);
            ck_assert_uint_eq(times.count, 0);
        }
    }
}
END_TEST

START_TEST(test_bounds_grow)
{
    int i;

    ck_assert_int_eq(pay_meter_bound(0), 100);
    ck_assert_int_eq(pay_meter_bound(PAY_METER_BUCKETS - 1), apr_time_from_sec(30));
    for (i = 1; i < PAY_METER_BUCKETS; i++) {
        ck_assert_int_gt(pay_meter_bound(i), pay_meter_bound(i - 1));
    }
}
END_TEST

/* Each status has a row of its own; one without a row is counted in the last. */
START_TEST(test_statuses)
{
    static const int unknown[] = {0, -1, 100, 199, 299, 418, 599, 999};
    pay_meter_t *meter = make_meter();
    int row, operation, i;

    for (row = 0; row < PAY_METER_STATUSES - 1; row++) {
        for (i = 0; i < row; i++) {
            ck_assert_int_ne(pay_meter_status(i), pay_meter_status(row));
        }
        for (operation = 0; operation < PAY_METER_OPERATIONS_MAX; operation++) {
            ck_assert_uint_eq(pay_meter_read_requests(meter, operation, row), 0);
            pay_meter_request(operation, pay_meter_status(row));
            ck_assert_uint_eq(pay_meter_read_requests(meter, operation, row), 1);
        }
    }
    ck_assert_int_eq(pay_meter_status(PAY_METER_STATUSES - 1), 0);
    for (i = 0; i < UNIT_ROWS(unknown); i++) {
        pay_meter_request(2, unknown[i]);
        ck_assert_uint_eq(pay_meter_read_requests(meter, 2, PAY_METER_STATUSES - 1),
                          (apr_uint64_t)i + 1);
    }
}
END_TEST

static void count_rounds(void)
{
    int i;

    for (i = 0; i < ROUNDS; i++) {
        pay_meter_add(PAY_METER_CHARGE_SUCCESSFUL, 1);
        pay_meter_observe(PAY_METER_COMMIT, i % 2 ? 100 : 200);
        pay_meter_request(1, 200);
    }
}

static void *count_thread(void *data)
{
    (void)data;
    count_rounds();
    return NULL;
}

static void check_rounds(const pay_meter_t *meter, apr_uint64_t counted_by)
{
    pay_meter_times_t times;

    ck_assert_uint_eq(pay_meter_read(meter, PAY_METER_CHARGE_SUCCESSFUL), counted_by * ROUNDS);
    ck_assert_uint_eq(pay_meter_read_requests(meter, 1, 0), counted_by * ROUNDS);
    pay_meter_read_times(&times, meter, PAY_METER_COMMIT);
    ck_assert_uint_eq(times.count, counted_by * ROUNDS);
    ck_assert_uint_eq(times.bucket[0], counted_by * ROUNDS / 2);
    ck_assert_uint_eq(times.bucket[1], counted_by * ROUNDS / 2);
    ck_assert_uint_eq(times.sum_us, counted_by * ROUNDS * 150);
}

/* Nothing is lost, and a concurrent reader never sees a count fall. */
START_TEST(test_threads)
{
    pay_meter_t *meter = make_meter();
    apr_uint64_t seen = 0, now = 0;
    pthread_t thread[THREADS];
    int i;

    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_create(&thread[i], NULL, count_thread, NULL), 0);
    }
    while (now < THREADS * ROUNDS) {
        now = pay_meter_read(meter, PAY_METER_CHARGE_SUCCESSFUL);
        ck_assert_uint_ge(now, seen);
        seen = now;
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    check_rounds(meter, THREADS);
}
END_TEST

/* Children as httpd makes them, with threads of their own; one is killed while it counts. */
START_TEST(test_processes)
{
    pay_meter_t *meter = make_meter();
    pid_t pid[PROCESSES], doomed;
    pthread_t thread;
    int i, status;

    for (i = 0; i < PROCESSES; i++) {
        pid[i] = fork();
        ck_assert_int_ge(pid[i], 0);
        if (pid[i] == 0) {
            pay_meter_use(meter);
            if (pthread_create(&thread, NULL, count_thread, NULL) != 0) {
                _exit(1);
            }
            count_rounds();
            pthread_join(thread, NULL);
            _exit(0);
        }
    }
    doomed = fork();
    ck_assert_int_ge(doomed, 0);
    if (doomed == 0) {
        pay_meter_use(meter);
        for (;;) {
            pay_meter_add(PAY_METER_MAIL_FAILED, 1);
        }
    }
    while (pay_meter_read(meter, PAY_METER_MAIL_FAILED) == 0) {
        usleep(1000);
    }
    kill(doomed, SIGKILL);
    for (i = 0; i < PROCESSES; i++) {
        ck_assert_int_eq(waitpid(pid[i], &status, 0), pid[i]);
        ck_assert_int_eq(status, 0);
    }
    ck_assert_int_eq(waitpid(doomed, &status, 0), doomed);
    check_rounds(meter, 2 * PROCESSES);
}
END_TEST

START_TEST(test_clock)
{
    apr_time_t began = pay_meter_now();

    usleep(2000);
    ck_assert_int_ge(pay_meter_now() - began, 2000);
}
END_TEST

static const char *text_of(const pay_meter_t *meter)
{
    apr_array_header_t *lines = apr_array_make(unit_pool, 8, sizeof(const char *));

    pay_meter_text(lines, meter, operations, UNIT_ROWS(operations));
    return apr_array_pstrcat(unit_pool, lines, '\0');
}

static const struct {
    const char *name;
    const char *lines; /* whole ones, one behind the other */
} text_rows[] = {
    {"requests", "# TYPE payments_requests_total counter\n"
                 "payments_requests_total{operation=\"none\",status=\"401\"} 1\n"
                 "payments_requests_total{operation=\"one\",status=\"200\"} 2\n"
                 "payments_requests_total{operation=\"one\",status=\"503\"} 1\n"
                 "payments_requests_total{operation=\"two\",status=\"other\"} 1\n"
                 "# HELP payments_charges_total "},
    {"charges", "# TYPE payments_charges_total counter\n"
                "payments_charges_total{mode=\"test\",outcome=\"successful\"} 100\n"
                "payments_charges_total{mode=\"live\",outcome=\"successful\"} 101\n"
                "payments_charges_total{mode=\"test\",outcome=\"failed\"} 102\n"
                "payments_charges_total{mode=\"live\",outcome=\"failed\"} 103\n"
                "payments_charges_total{mode=\"test\",outcome=\"pending\"} 104\n"
                "payments_charges_total{mode=\"live\",outcome=\"pending\"} 105\n"
                "# HELP payments_deliveries_total "},
    {"deliveries", "# TYPE payments_deliveries_total counter\n"
                   "payments_deliveries_total{channel=\"webhook\",result=\"delivered\"} 106\n"
                   "payments_deliveries_total{channel=\"webhook\",result=\"failed\"} 107\n"
                   "payments_deliveries_total{channel=\"webhook\",result=\"parked\"} 108\n"
                   "payments_deliveries_total{channel=\"mail\",result=\"delivered\"} 109\n"
                   "payments_deliveries_total{channel=\"mail\",result=\"failed\"} 110\n"
                   "payments_deliveries_total{channel=\"mail\",result=\"parked\"} 111\n"
                   "# HELP payments_acquirer_refused_total "},
    {"refusals", "# TYPE payments_acquirer_refused_total counter\n"
                 "payments_acquirer_refused_total{reason=\"in_flight\"} 112\n"
                 "payments_acquirer_refused_total{reason=\"breaker\"} 113\n"
                 "payments_acquirer_refused_total{reason=\"credentials\"} 114\n"
                 "payments_acquirer_refused_total{reason=\"slots\"} 115\n"
                 "# HELP payments_acquirer_unknown_total "},
    {"unknown outcomes", "# TYPE payments_acquirer_unknown_total counter\n"
                         "payments_acquirer_unknown_total 116\n"
                         "# HELP payments_acquirer_not_sent_total "},
    {"calls not sent", "# TYPE payments_acquirer_not_sent_total counter\n"
                       "payments_acquirer_not_sent_total 117\n"
                       "# HELP payments_acquirer_queries_total "},
    {"questions", "# TYPE payments_acquirer_queries_total counter\n"
                  "payments_acquirer_queries_total 118\n"
                  "# HELP payments_failure_limited_total "},
    {"refused after failures", "# TYPE payments_failure_limited_total counter\n"
                               "payments_failure_limited_total{kind=\"card\"} 119\n"
                               "payments_failure_limited_total{kind=\"link\"} 120\n"
                               "payments_failure_limited_total{kind=\"address\"} 121\n"
                               "payments_failure_limited_total{kind=\"account\"} 122\n"
                               "# HELP payments_commit_seconds "},
    {"histogram", "# TYPE payments_commit_seconds histogram\n"
                  "payments_commit_seconds_bucket{le=\"0.0001\"} 1\n"
                  "payments_commit_seconds_bucket{le=\"0.00025\"} 2\n"
                  "payments_commit_seconds_bucket{le=\"0.0005\"} 2\n"
                  "payments_commit_seconds_bucket{le=\"0.001\"} 3\n"
                  "payments_commit_seconds_bucket{le=\"0.0025\"} 3\n"
                  "payments_commit_seconds_bucket{le=\"0.005\"} 3\n"
                  "payments_commit_seconds_bucket{le=\"0.01\"} 3\n"
                  "payments_commit_seconds_bucket{le=\"0.025\"} 3\n"
                  "payments_commit_seconds_bucket{le=\"0.05\"} 3\n"
                  "payments_commit_seconds_bucket{le=\"0.1\"} 3\n"
                  "payments_commit_seconds_bucket{le=\"0.25\"} 3\n"
                  "payments_commit_seconds_bucket{le=\"0.5\"} 3\n"
                  "payments_commit_seconds_bucket{le=\"1\"} 3\n"
                  "payments_commit_seconds_bucket{le=\"2.5\"} 3\n"
                  "payments_commit_seconds_bucket{le=\"5\"} 3\n"
                  "payments_commit_seconds_bucket{le=\"10\"} 3\n"
                  "payments_commit_seconds_bucket{le=\"30\"} 3\n"
                  "payments_commit_seconds_bucket{le=\"+Inf\"} 4\n"
                  "payments_commit_seconds_sum 30.001102\n"
                  "payments_commit_seconds_count 4\n"
                  "# HELP payments_acquirer_seconds "},
    {"empty histogram", "payments_delivery_seconds_bucket{le=\"+Inf\"} 0\n"
                        "payments_delivery_seconds_sum 0\n"
                        "payments_delivery_seconds_count 0\n"
                        "# HELP payments_acquirer_connect_seconds "},
    {"parts of a call", "payments_acquirer_connect_seconds_sum 0.002\n"
                        "payments_acquirer_connect_seconds_count 1\n"
                        "# HELP payments_acquirer_tls_seconds "},
    {"TLS", "payments_acquirer_tls_seconds_sum 0.03\n"
            "payments_acquirer_tls_seconds_count 1\n"
            "# HELP payments_acquirer_first_byte_seconds "},
    {"first byte", "payments_acquirer_first_byte_seconds_sum 0.4\n"
                   "payments_acquirer_first_byte_seconds_count 1\n"},
};

START_TEST(test_text)
{
    static const apr_interval_time_t times_us[] = {100, 101, 900, 30000001};
    pay_meter_t *meter = make_meter();
    const char *text;
    int i;

    pay_meter_request(0, 401);
    pay_meter_request(1, 200);
    pay_meter_request(1, 200);
    pay_meter_request(1, 503);
    pay_meter_request(2, 418);
    for (i = 0; i < PAY_METER_COUNTER_COUNT; i++) {
        pay_meter_add((pay_meter_counter_t)i, 100 + (apr_uint64_t)i);
    }
    for (i = 0; i < UNIT_ROWS(times_us); i++) {
        pay_meter_observe(PAY_METER_COMMIT, times_us[i]);
    }
    pay_meter_observe(PAY_METER_ACQUIRER_CONNECT, 2000);
    pay_meter_observe(PAY_METER_ACQUIRER_TLS, 30000);
    pay_meter_observe(PAY_METER_ACQUIRER_FIRST_BYTE, 400000);
    text = text_of(meter);
    ck_assert_msg(strstr(text, text_rows[_i].lines) != NULL, "%s: not in\n%s", text_rows[_i].name,
                  text);
}
END_TEST

START_TEST(test_text_of_largest_numbers)
{
    pay_meter_t *meter = make_meter();
    const char *text;

    pay_meter_add(PAY_METER_CHARGE_FAILED_LIVE, APR_UINT64_MAX);
    pay_meter_observe(PAY_METER_ACQUIRER, APR_INT64_MAX);
    text = text_of(meter);
    ck_assert_ptr_nonnull(strstr(text, "outcome=\"failed\"} 18446744073709551615\n"));
    ck_assert_ptr_nonnull(strstr(text, "payments_acquirer_seconds_sum 9223372036854.775807\n"));
    ck_assert_ptr_nonnull(strstr(text, "payments_requests_total counter\n# HELP"));
}
END_TEST

static void add_cases(TCase *tcase)
{
    tcase_add_test(tcase, test_nothing_without_a_meter);
    tcase_add_test(tcase, test_each_counter_alone);
    tcase_add_test(tcase, test_memory_is_kept);
    tcase_add_test(tcase, test_memory_of_others_is_cleared);
    tcase_add_test(tcase, test_alignment);
    tcase_add_loop_test(tcase, test_observe, 0, UNIT_ROWS(time_rows));
    tcase_add_test(tcase, test_bounds_grow);
    tcase_add_test(tcase, test_statuses);
    tcase_add_test(tcase, test_threads);
    tcase_add_test(tcase, test_processes);
    tcase_add_test(tcase, test_clock);
    tcase_add_loop_test(tcase, test_text, 0, UNIT_ROWS(text_rows));
    tcase_add_test(tcase, test_text_of_largest_numbers);
}

UNIT_PROGRAM(add_cases)
