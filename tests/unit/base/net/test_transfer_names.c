/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer_fixture.h"

#include "between.h"
#include "inherited.h"

#include <semaphore.h>
#include <sys/socket.h>

#define LOOKUP_MS 2000 /* long enough for the quick one on a busy machine */

/* ---- names, as a resolver of the test knows them */

static sem_t lookup_begun;
static sem_t lookup_release;

/* "two.test" has an address that the tests do not allow, and one they do. */
static int look_up(const char *host, const char *service, const struct addrinfo *hints,
                   struct addrinfo **out)
{
    struct addrinfo *first;
    int rc;

    if (strcmp(host, "nobody.test") == 0) {
        return EAI_NONAME;
    }
    if (strcmp(host, "slow.test") == 0) {
        sem_post(&lookup_begun);
        sem_wait(&lookup_release);
        return EAI_AGAIN;
    }
    if (strcmp(host, "two.test") == 0) {
        rc = between_real_getaddrinfo("127.0.0.2", service, hints, &first);
        if (rc == 0) {
            rc = between_real_getaddrinfo("127.0.0.1", service, hints, &first->ai_next);
        }
        *out = first;
        return rc;
    }
    return between_real_getaddrinfo(strcmp(host, "local.test") == 0 ? "127.0.0.1" : host, service,
                                    hints, out);
}

static const char *named_url(const char *host, const peer_t *peer)
{
    return apr_psprintf(unit_pool, "http://%s:%d/hook", host, peer_port(peer));
}

static const peer_http_t polite = {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", PEER_KEEP, 0};

/* ---- tests */

START_TEST(test_no_such_name)
{
    pay_transfer_t *transfer = fixture_post("http://nobody.test/");

    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    ck_assert_str_eq(fixture_end(transfer), "not sent");
    ck_assert_str_eq(transfer->error, "The host's name could not be resolved.");
}
END_TEST

/* A lookup that does not end delays no other transfer, neither while it lasts nor as it ends. */
START_TEST(test_slow_lookup)
{
    peer_t *peer = peer_http(&polite);
    pay_transfers_t *set = fixture_set(LOOKUP_MS, LONG_MS);
    pay_transfer_t *slow = fixture_post("http://slow.test/");
    pay_transfer_t *quick = fixture_post(named_url("local.test", peer));

    fixture_start(set, slow);
    pay_transfers_run(set, 0);
    sem_wait(&lookup_begun);
    fixture_start(set, quick);
    ck_assert_ptr_eq(fixture_next(set), quick);
    ck_assert_str_eq(fixture_end(quick), "answered");

    ck_assert_ptr_eq(fixture_next(set), slow);
    ck_assert_str_eq(fixture_end(slow), "not sent");
    ck_assert_str_eq(slow->error, "No connection was made in time.");
    fixture_run(set, quick);
    ck_assert_str_eq(fixture_end(quick), "answered");
    sem_post(&lookup_release);
}
END_TEST

/* Neither the wake-up pair of a set nor the pair of a lookup in another thread. */
START_TEST(test_no_program_inherits_a_lookup)
{
    const int before = inherited_count();
    pay_transfers_t *set = fixture_set(LOOKUP_MS, LONG_MS);

    ck_assert_int_eq(inherited_count(), before);
    fixture_start(set, fixture_post("http://slow.test/"));
    pay_transfers_run(set, 0);
    sem_wait(&lookup_begun);
    ck_assert_int_eq(inherited_count(), before);
    sem_post(&lookup_release);
    (void)fixture_next(set);
    ck_assert_int_eq(inherited_count(), before);
}
END_TEST

static const struct {
    const char *name;
    const char *host;
    const char *allowed; /* NULL: none */
    const char *end;
    int connections;
} judge_rows[] = {
    {"loopback", "127.0.0.1", NULL, "forbidden", 0},
    {"mapped loopback", "[::ffff:127.0.0.1]", NULL, "forbidden", 0},
    {"a name of loopback", "local.test", NULL, "forbidden", 0},
    {"unspecified, which is loopback too", "0.0.0.0", NULL, "forbidden", 0},
    {"one number", "2130706433", NULL, "forbidden", 0},
    {"hexadecimal", "0x7f.1", NULL, "forbidden", 0},
    {"two addresses", "two.test", NULL, "forbidden", 0},
    {"another one is allowed", "local.test", "10.0.0.0/8", "forbidden", 0},
    {"allowed", "127.0.0.1", "127.0.0.0/8", "answered", 1},
    {"a name of an allowed one", "local.test", "10.0.0.0/8 127.0.0.1", "answered", 1},
    {"only the allowed one of two is dialled", "two.test", "127.0.0.1", "answered", 1},
};

START_TEST(test_judged)
{
    peer_t *peer = peer_http(&polite);
    pay_transfer_t *transfer = fixture_post(named_url(judge_rows[_i].host, peer));

    transfer->judged = 1;
    if (judge_rows[_i].allowed) {
        transfer->allowed = fixture_networks(judge_rows[_i].allowed);
    }
    fixture_run(fixture_set(LONG_MS, LONG_MS), transfer);
    ck_assert_msg(strcmp(fixture_end(transfer), judge_rows[_i].end) == 0, "%s: %s (%s)",
                  judge_rows[_i].name, fixture_end(transfer), transfer->error);
    ck_assert_int_eq(peer_connections(peer), judge_rows[_i].connections);
    if (transfer->end == PAY_TRANSFER_FORBIDDEN) {
        ck_assert_str_eq(transfer->error, "The host's address is not permitted.");
    }
}
END_TEST

/* A reused connection was judged by another list, or by none: each request is judged by its own. */
START_TEST(test_kept_judged)
{
    peer_t *peer = peer_http(&polite);
    pay_transfers_t *set = fixture_set(LONG_MS, LONG_MS);
    pay_transfer_t *transfer = fixture_post(peer_url(peer, "http"));

    fixture_run(set, transfer);
    ck_assert_str_eq(fixture_end(transfer), "answered");
    transfer->judged = 1;
    transfer->allowed = fixture_networks("10.0.0.0/8");
    fixture_run(set, transfer);
    ck_assert_str_eq(fixture_end(transfer), "forbidden");
    ck_assert_int_eq(peer_requests(peer), 1);
    transfer->allowed = fixture_networks("127.0.0.1");
    fixture_run(set, transfer);
    ck_assert_str_eq(fixture_end(transfer), "answered");
    ck_assert_int_eq(peer_requests(peer), 2);
}
END_TEST

/* Running transfers end with the pool, at any stage, without waiting. */
START_TEST(test_destroyed)
{
    const peer_http_t silent = {"", PEER_HANG, 0};
    peer_t *peer = peer_http(&silent);
    peer_t *other = peer_http(&polite);
    pay_transfers_t *set;
    apr_pool_t *pool;

    ck_assert_int_eq(apr_pool_create(&pool, unit_pool), APR_SUCCESS);
    ck_assert_int_eq(pay_transfers_create(&set, pool), APR_SUCCESS);
    fixture_start(set, fixture_post(peer_url(other, "http")));
    while (peer_requests(other) < 1) {
        pay_transfers_run(set, apr_time_from_msec(SHORT_MS));
    }
    fixture_start(set, fixture_post("http://slow.test/"));
    fixture_start(set, fixture_post(peer_url(peer, "http")));
    fixture_start(set, fixture_post(peer_url(peer, "https")));
    while (peer_requests(peer) < 1) {
        pay_transfers_run(set, apr_time_from_msec(1));
    }
    sem_wait(&lookup_begun);
    fixture_start(set, fixture_post(peer_url(peer, "http"))); /* not begun */
    apr_pool_destroy(pool);
    sem_post(&lookup_release);
}
END_TEST

static void add(TCase *tcase)
{
    sem_init(&lookup_begun, 0, 0);
    sem_init(&lookup_release, 0, 0);
    tcase_add_test(tcase, test_no_such_name);
    tcase_add_test(tcase, test_slow_lookup);
    tcase_add_test(tcase, test_no_program_inherits_a_lookup);
    tcase_add_loop_test(tcase, test_judged, 0, UNIT_ROWS(judge_rows));
    tcase_add_test(tcase, test_kept_judged);
    tcase_add_test(tcase, test_destroyed);
}

static void prepare(void)
{
    between.getaddrinfo = look_up;
}

UNIT_PROGRAM_PREPARED(add, prepare)
