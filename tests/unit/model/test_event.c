/* SPDX-License-Identifier: Apache-2.0 */
#include "unit.h"

#include "model/event.h"

#include <string.h>

#define CREATED APR_TIME_C(1800000000000000)

static pay_event_t event_make(void)
{
    const pay_event_t event = {.scope = {7, PAY_TEST},
                               .endpoint = PAY_ENDPOINT_WEBHOOK,
                               .charge_seq = 300,
                               .sequence = 2,
                               .kind = PAY_EVENT_TRANSACTION,
                               .state = PAY_CHARGE_SUCCESSFUL,
                               .created_at = CREATED};

    return event;
}

/* Receivers keep ids: they must not change with a version. */
START_TEST(test_id_is_for_ever)
{
    pay_event_t event = event_make();

    ck_assert_str_eq(pay_event_id(&event, unit_pool),
                     "evt_01000000000000012c0000000201c8e16e1412f00a");
    ck_assert_uint_eq(strlen(pay_event_id(&event, unit_pool)), PAY_EVENT_ID_LEN);
}
END_TEST

START_TEST(test_id_is_the_same_at_every_try)
{
    pay_event_t event = event_make();
    const char *id = pay_event_id(&event, unit_pool);

    event.leases = 7;
    event.lease_worker.pid = 12;
    event.lease_until_ms = 99;
    event.failures = 3;
    event.first_try_at = CREATED + 1;
    event.due_at = CREATED + 2;
    event.parked_at = CREATED + 3;
    event.answered_at = CREATED + 4;
    event.status = 500;
    event.error = "no";
    event.answer = "no";
    ck_assert_str_eq(pay_event_id(&event, unit_pool), id);
}
END_TEST

static void change_account(pay_event_t *event)
{
    event->scope.account++;
}
static void change_mode(pay_event_t *event)
{
    event->scope.mode = PAY_LIVE;
}
static void change_endpoint(pay_event_t *event)
{
    event->endpoint = PAY_ENDPOINT_NOTICE;
}
static void change_charge(pay_event_t *event)
{
    event->charge_seq++;
}
static void change_charge_bit(pay_event_t *event)
{
    event->charge_seq |= PAY_EVENT_PARKED_BIT;
}
static void change_sequence(pay_event_t *event)
{
    event->sequence++;
}
static void change_time(pay_event_t *event)
{
    event->created_at++;
}

static const struct {
    const char *name;
    void (*change)(pay_event_t *event);
    int is_place; /* an id shows it */
} id_cases[] = {
    {"another account", change_account, 0},
    {"another mode", change_mode, 0},
    {"another endpoint", change_endpoint, 1},
    {"another charge", change_charge, 1},
    {"a notice of parking", change_charge_bit, 1},
    {"the next event", change_sequence, 1},
    {"another store's at the same place", change_time, 0},
};

START_TEST(test_id_is_unlike_any_others)
{
    pay_event_t event = event_make(), place, other;
    const char *id = pay_event_id(&event, unit_pool), *changed;

    id_cases[_i].change(&event);
    changed = pay_event_id(&event, unit_pool);
    ck_assert_msg(strcmp(changed, id) != 0, "%s", id_cases[_i].name);
    ck_assert_int_eq(pay_event_id_parse(&place, id), APR_SUCCESS);
    ck_assert_int_eq(pay_event_id_parse(&other, changed), APR_SUCCESS);
    ck_assert_msg((memcmp(&place, &other, sizeof(place)) != 0) == id_cases[_i].is_place, "%s",
                  id_cases[_i].name);
    ck_assert(other.endpoint == event.endpoint && other.charge_seq == event.charge_seq
              && other.sequence == event.sequence);
}
END_TEST

START_TEST(test_id_at_the_ends_of_its_numbers)
{
    pay_event_t event = event_make(), place;

    event.charge_seq = APR_UINT64_MAX;
    event.sequence = APR_UINT32_MAX;
    event.endpoint = PAY_ENDPOINT_KIND_LAST;
    ck_assert_int_eq(pay_event_id_parse(&place, pay_event_id(&event, unit_pool)), APR_SUCCESS);
    ck_assert(place.charge_seq == APR_UINT64_MAX && place.sequence == APR_UINT32_MAX);
    ck_assert_int_eq(place.endpoint, PAY_ENDPOINT_KIND_LAST);
    event.charge_seq = 0;
    event.sequence = 0;
    ck_assert_int_eq(pay_event_id_parse(&place, pay_event_id(&event, unit_pool)), APR_SUCCESS);
    ck_assert(place.charge_seq == 0 && place.sequence == 0);
}
END_TEST

#define HEX                                                                                        \
    "00000000000001"                                                                               \
    "00000001"                                                                                     \
    "0123456789abcdef"
static const struct {
    const char *name, *text;
    apr_status_t want;
} parse_cases[] = {
    {"an id", "evt_0100" HEX, APR_SUCCESS},
    {"the last endpoint", "evt_0300" HEX, APR_SUCCESS},
    {"no endpoint", "evt_0000" HEX, APR_EINVAL},
    {"an endpoint that is none", "evt_0400" HEX, APR_EINVAL},
    {"empty", "", APR_EINVAL},
    {"the prefix alone", "evt_", APR_EINVAL},
    {"another prefix", "ref_0100" HEX, APR_EINVAL},
    {"capital hex digits", "evt_0A00" HEX, APR_EINVAL},
    {"no hex digit", "evt_01g0" HEX, APR_EINVAL},
    {"a character short", "evt_010" HEX, APR_EINVAL},
    {"a character long", "evt_01000" HEX, APR_EINVAL},
    {"a blank within", "evt_01 0" HEX, APR_EINVAL},
    {"beyond ASCII",
     "evt_01\xff"
     "0" HEX,
     APR_EINVAL},
};

START_TEST(test_id_parse)
{
    pay_event_t place;

    ck_assert_msg(pay_event_id_parse(&place, parse_cases[_i].text) == parse_cases[_i].want, "%s",
                  parse_cases[_i].name);
}
END_TEST

static const struct {
    pay_event_kind_t kind;
    int state;
    const char *notify, *type;
    const char *to;       /* w, r, n: the recipients of the first such change */
    const char *to_again; /* ... and of the return of the transaction to this state */
} kinds[] = {
    {PAY_EVENT_TRANSACTION, PAY_CHARGE_PENDING, "transaction", "pending", "", ""},
    {PAY_EVENT_TRANSACTION, PAY_CHARGE_SUCCESSFUL, "transaction", "successful", "wrn", "w"},
    {PAY_EVENT_TRANSACTION, PAY_CHARGE_FAILED, "transaction", "failed", "wn", "w"},
    {PAY_EVENT_TRANSACTION, PAY_CHARGE_REVERSED, "transaction", "reversed", "w", "w"},
    {PAY_EVENT_TRANSACTION, PAY_CHARGE_VOID, "transaction", "void", "", ""},
    {PAY_EVENT_TRANSACTION, PAY_CHARGE_ABANDONED, "transaction", "abandoned", "w", "w"},
    {PAY_EVENT_REFUND, PAY_REFUND_PENDING, "refund", "pending", "", ""},
    {PAY_EVENT_REFUND, PAY_REFUND_PROCESSED, "refund", "processed", "wrn", "w"},
    {PAY_EVENT_REFUND, PAY_REFUND_FAILED, "refund", "failed", "w", "w"},
    {PAY_EVENT_TEST, 0, "test_assess", "test", "wn", "w"},
    {PAY_EVENT_PARKED, 0, "event", "parked", "n", ""},
    {(pay_event_kind_t)0, 0, "unknown", "unknown", "", ""},
    {(pay_event_kind_t)5, 0, "unknown", "unknown", "", ""},
};

START_TEST(test_kinds)
{
    static const char letters[] = " wrn";
    pay_event_t event = {.kind = kinds[_i].kind, .state = kinds[_i].state};
    int kind;

    ck_assert_str_eq(pay_event_notify(&event), kinds[_i].notify);
    ck_assert_str_eq(pay_event_notify_type(&event), kinds[_i].type);
    for (kind = PAY_ENDPOINT_WEBHOOK; kind <= PAY_ENDPOINT_KIND_LAST; kind++) {
        ck_assert_msg(pay_event_is_for((pay_endpoint_kind_t)kind, event.kind, event.state, 1)
                          == (strchr(kinds[_i].to, letters[kind]) != NULL),
                      "%s %s to %s", kinds[_i].notify, kinds[_i].type,
                      pay_endpoint_kind_name((pay_endpoint_kind_t)kind));
        ck_assert_msg(pay_event_is_for((pay_endpoint_kind_t)kind, event.kind, event.state, 0)
                          == (strchr(kinds[_i].to_again, letters[kind]) != NULL),
                      "%s %s again to %s", kinds[_i].notify, kinds[_i].type,
                      pay_endpoint_kind_name((pay_endpoint_kind_t)kind));
    }
}
END_TEST

static const struct {
    apr_uint32_t failures;
    int seconds;
} wait_cases[] = {
    {0, 5},        {1, 5},         {2, 5},          {3, 5},
    {4, 60},       {5, 5 * 60},    {6, 30 * 60},    {7, 2 * 3600},
    {8, 6 * 3600}, {9, 12 * 3600}, {10, 12 * 3600}, {APR_UINT32_MAX, 12 * 3600},
};

START_TEST(test_wait)
{
    ck_assert_int_eq(pay_event_wait(wait_cases[_i].failures),
                     apr_time_from_sec(wait_cases[_i].seconds));
}
END_TEST

START_TEST(test_standing)
{
    pay_event_t event = event_make();

    ck_assert_str_eq(pay_event_standing(&event), "behind");
    event.due_at = CREATED;
    ck_assert_str_eq(pay_event_standing(&event), "waiting");
    event.due_at = 0;
    event.parked_at = CREATED;
    ck_assert_str_eq(pay_event_standing(&event), "parked");
}
END_TEST

START_TEST(test_charge_seq)
{
    pay_event_t event = event_make();

    ck_assert_uint_eq(pay_event_charge_seq(&event), 300);
    event.charge_seq |= PAY_EVENT_PARKED_BIT;
    ck_assert_uint_eq(pay_event_charge_seq(&event), 300);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_id_is_for_ever);
    tcase_add_test(tcase, test_id_is_the_same_at_every_try);
    tcase_add_loop_test(tcase, test_id_is_unlike_any_others, 0, UNIT_ROWS(id_cases));
    tcase_add_test(tcase, test_id_at_the_ends_of_its_numbers);
    tcase_add_loop_test(tcase, test_id_parse, 0, UNIT_ROWS(parse_cases));
    tcase_add_loop_test(tcase, test_kinds, 0, UNIT_ROWS(kinds));
    tcase_add_loop_test(tcase, test_wait, 0, UNIT_ROWS(wait_cases));
    tcase_add_test(tcase, test_standing);
    tcase_add_test(tcase, test_charge_seq);
}

UNIT_PROGRAM(add)
