/* SPDX-License-Identifier: Apache-2.0 */
#include "outlet.h"

static const pay_event_t most = {.scope = {APR_UINT32_MAX, PAY_LIVE},
                                 .endpoint = PAY_ENDPOINT_NOTICE,
                                 .charge_seq = APR_UINT64_MAX,
                                 .sequence = APR_UINT32_MAX,
                                 .kind = PAY_EVENT_PARKED,
                                 .state = 599,
                                 .created_at = APR_INT64_MAX,
                                 .decided = 1,
                                 .refunded_minor = APR_INT64_MAX,
                                 .refunds_pending_minor = APR_INT64_MAX - 1,
                                 .refund_created_at = APR_INT64_MIN,
                                 .refund_seq = APR_UINT64_MAX,
                                 .leases = APR_UINT32_MAX,
                                 .lease_worker = {APR_INT64_MAX, APR_INT64_MAX, APR_INT64_MAX},
                                 .lease_until_ms = APR_INT64_MAX / 2,
                                 .lease_until_at = APR_INT64_MAX,
                                 .failures = APR_UINT32_MAX,
                                 .first_try_at = APR_INT64_MAX / 2,
                                 .due_at = APR_INT64_MAX,
                                 .parked_at = 0,
                                 .answered_at = APR_INT64_MAX,
                                 .status = 599,
                                 .error = "error",
                                 .answer = "answer"};

typedef struct trip_t {
    const pay_event_t *in;
    pay_event_t *out;
    int rc;
} trip_t;

static int trip_work(pay_rows_txn_t *txn, void *baton)
{
    trip_t *trip = baton;
    int rc;

    rc = pay_store_event_store(txn, trip->in, unit_pool);
    trip->rc = rc ? rc : pay_store_event_load(&trip->out, txn, trip->in, unit_pool);
    return rc;
}

static trip_t trip(const pay_event_t *event)
{
    trip_t there_and_back = {.in = event};

    till_raw(trip_work, &there_and_back);
    return there_and_back;
}

START_TEST(test_round_trip_at_the_ends)
{
    pay_event_t want = most, got;
    trip_t back = trip(&most);

    ck_assert_int_eq(back.rc, 0);
    got = *back.out;
    ck_assert_str_eq(got.error, "error");
    ck_assert_str_eq(got.answer, "answer");
    got.error = want.error;
    got.answer = want.answer;
    ck_assert_int_eq(memcmp(&got.lease_worker, &want.lease_worker, sizeof(got.lease_worker)), 0);
    ck_assert_uint_eq(got.charge_seq, want.charge_seq);
    ck_assert_uint_eq(got.sequence, want.sequence);
    ck_assert_int_eq(got.endpoint, want.endpoint);
    ck_assert_uint_eq(got.scope.account, want.scope.account);
    ck_assert_int_eq(got.scope.mode, want.scope.mode);
    ck_assert(got.kind == want.kind && got.state == want.state && got.decided == want.decided);
    ck_assert(got.created_at == want.created_at && got.refunded_minor == want.refunded_minor);
    ck_assert(got.refunds_pending_minor == want.refunds_pending_minor);
    ck_assert(got.refund_created_at == want.refund_created_at);
    ck_assert(got.refund_seq == want.refund_seq && got.leases == want.leases);
    ck_assert(got.lease_until_ms == want.lease_until_ms && got.failures == want.failures);
    ck_assert(got.lease_until_at == want.lease_until_at);
    ck_assert(got.first_try_at == want.first_try_at && got.due_at == want.due_at);
    ck_assert(got.parked_at == want.parked_at && got.answered_at == want.answered_at);
    ck_assert(got.status == want.status);
}
END_TEST

/* Invalid events, whoever wrote them. */
static const struct {
    const char *name;
    pay_event_kind_t kind;
    int state;
    apr_uint64_t charge_seq;
    apr_time_t first_try_at;
    apr_int64_t lease_until_ms;
    int sound;
} sound_cases[] = {
    {"a transaction", PAY_EVENT_TRANSACTION, PAY_CHARGE_ABANDONED, 1, 0, 0, 1},
    {"of no state", PAY_EVENT_TRANSACTION, PAY_CHARGE_STATE_COUNT, 1, 0, 0, 0},
    {"of a negative state", PAY_EVENT_TRANSACTION, -1, 1, 0, 0, 0},
    {"a refund", PAY_EVENT_REFUND, PAY_REFUND_FAILED, 1, 0, 0, 1},
    {"a refund of no state", PAY_EVENT_REFUND, PAY_REFUND_STATE_COUNT, 1, 0, 0, 0},
    {"a transaction of no charge", PAY_EVENT_TRANSACTION, PAY_CHARGE_FAILED, 0, 0, 0, 0},
    {"a test", PAY_EVENT_TEST, 0, 0, 0, 0, 1},
    {"a test of a charge", PAY_EVENT_TEST, 0, 1, 0, 0, 0},
    {"a notice", PAY_EVENT_PARKED, 503, 1 | PAY_EVENT_PARKED_BIT, 0, 0, 1},
    {"a notice at another's place", PAY_EVENT_PARKED, 503, 1, 0, 0, 0},
    {"a transaction at a notice's place", PAY_EVENT_TRANSACTION, PAY_CHARGE_FAILED,
     1 | PAY_EVENT_PARKED_BIT, 0, 0, 0},
    {"of no kind", (pay_event_kind_t)0, 0, 1, 0, 0, 0},
    {"of a kind to come", (pay_event_kind_t)5, 0, 1, 0, 0, 0},
    {"tried before time began", PAY_EVENT_TRANSACTION, 1, 1, -1, 0, 0},
    {"tried at the end of time", PAY_EVENT_TRANSACTION, 1, 1, APR_INT64_MAX / 2 + 1, 0, 0},
    {"leased before time began", PAY_EVENT_TRANSACTION, 1, 1, 0, -1, 0},
    {"leased to the end of time", PAY_EVENT_TRANSACTION, 1, 1, 0, APR_INT64_MAX / 2 + 1, 0},
};

START_TEST(test_sound)
{
    const pay_event_t event = {.scope = till->scopes[0],
                               .endpoint = PAY_ENDPOINT_WEBHOOK,
                               .charge_seq = sound_cases[_i].charge_seq,
                               .sequence = 1,
                               .kind = sound_cases[_i].kind,
                               .state = sound_cases[_i].state,
                               .first_try_at = sound_cases[_i].first_try_at,
                               .lease_until_ms = sound_cases[_i].lease_until_ms,
                               .error = "",
                               .answer = ""};
    trip_t back = trip(&event);

    ck_assert_msg(back.rc == (sound_cases[_i].sound ? 0 : PAY_ROWS_BAD), "%s",
                  sound_cases[_i].name);
    ck_assert_msg((back.out != NULL) == sound_cases[_i].sound, "%s", sound_cases[_i].name);
    ck_assert_int_eq(till_lines[PAY_LOG_ERR], sound_cases[_i].sound ? 0 : 1);
}
END_TEST

START_TEST(test_strings_must_be_there)
{
    pay_event_t event = most;

    event.error = NULL;
    ck_assert_int_eq(trip(&event).rc, PAY_ROWS_BAD);
    event.sequence--; /* an unreadable row is not overwritten */
    event.error = "";
    event.answer = NULL;
    ck_assert_int_eq(trip(&event).rc, PAY_ROWS_BAD);
}
END_TEST

static const struct {
    const char *name;
    int endpoint, longer;
    int want;
} key_cases[] = {
    {"a webhook's", PAY_ENDPOINT_WEBHOOK, 0, 1},
    {"a notice's", PAY_ENDPOINT_KIND_LAST, 0, 1},
    {"of no endpoint", 0, 0, 0},
    {"of an endpoint to come", PAY_ENDPOINT_KIND_LAST + 1, 0, 0},
    {"a byte short", PAY_ENDPOINT_WEBHOOK, -1, 0},
    {"a byte long", PAY_ENDPOINT_WEBHOOK, 1, 0},
};

START_TEST(test_key)
{
    pay_event_t event = most, place;
    pay_store_key_t key;
    pay_bytes_t at;

    event.endpoint = (pay_endpoint_kind_t)key_cases[_i].endpoint;
    pay_store_event_key(&key, &event);
    key.len += (size_t)key_cases[_i].longer;
    at = pay_store_key_val(&key);
    memset(&place, 0, sizeof(place));
    ck_assert_msg(pay_store_event_key_read(&place, &at) == key_cases[_i].want, "%s",
                  key_cases[_i].name);
    if (key_cases[_i].want) {
        ck_assert(place.charge_seq == event.charge_seq && place.sequence == event.sequence);
        ck_assert(place.endpoint == event.endpoint && place.scope.mode == event.scope.mode);
        ck_assert(place.scope.account == event.scope.account);
    }
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_round_trip_at_the_ends);
    tcase_add_loop_test(tcase, test_sound, 0, UNIT_ROWS(sound_cases));
    tcase_add_test(tcase, test_strings_must_be_there);
    tcase_add_loop_test(tcase, test_key, 0, UNIT_ROWS(key_cases));
}

UNIT_PROGRAM(add)
