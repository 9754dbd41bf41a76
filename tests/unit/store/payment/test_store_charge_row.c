/* SPDX-License-Identifier: Apache-2.0 */
#include "till.h"

#include "store/payment/charge.h"

#include <errno.h>

static const char *text_of(char c, int len)
{
    char *text = apr_palloc(unit_pool, (apr_size_t)len + 1);

    memset(text, c, (apr_size_t)len);
    text[len] = '\0';
    return text;
}

/* Every field at its longest, as opened and resolved rows can be. */
static pay_charge_t *longest(int i)
{
    pay_charge_t *charge = till_proposal(i, text_of('r', PAY_REFERENCE_MAX), APR_INT64_MAX);

    charge->seq = 7;
    charge->token = text_of('t', 255);
    charge->card.issuer = text_of('i', PAY_STORE_CARD_TEXT_MAX);
    charge->card.country = text_of('c', PAY_STORE_CARD_TEXT_MAX);
    charge->card.type = text_of('y', PAY_STORE_CARD_TEXT_MAX);
    charge->email = text_of('e', 254);
    charge->first_name = text_of('f', PAY_NAMES_BYTES_MAX / 2);
    charge->last_name = text_of('l', PAY_NAMES_BYTES_MAX / 2);
    charge->request_ip = text_of('4', PAY_STORE_NAME_MAX);
    charge->acquirer = text_of('a', PAY_STORE_NAME_MAX);
    charge->key_id = text_of('k', PAY_STORE_NAME_MAX);
    charge->code = text_of('0', PAY_OUTCOME_CODE_MAX);
    charge->message = text_of('m', PAY_OUTCOME_MESSAGE_MAX);
    charge->authorization_code = text_of('A', PAY_AUTHORIZATION_MAX);
    charge->contradiction = text_of('x', PAY_STORE_CONTRADICTION_MAX);
    charge->state = PAY_CHARGE_SUCCESSFUL;
    charge->decided_state = PAY_CHARGE_SUCCESSFUL;
    charge->worker = (pay_worker_t){APR_INT64_MAX, APR_INT64_MAX, APR_INT64_MAX};
    charge->attempts = APR_UINT32_MAX;
    charge->refunded_minor = APR_INT64_MAX;
    charge->refund_at_acquirer = APR_UINT64_MAX;
    charge->refunds_pending_minor = APR_INT64_MAX;
    charge->events = APR_UINT32_MAX;
    charge->kind = PAY_CHARGE_CHECKOUT;
    charge->channel = PAY_CHANNEL_BANK_TRANSFER;
    charge->acquirer_reference = text_of('u', PAY_ACQUIRER_REFERENCE_LEN);
    charge->absent_since = APR_INT64_MAX;
    charge->absent_from = charge->opened = (pay_moment_t){APR_INT64_MAX, APR_INT64_MAX};
    charge->held = PAY_HELD_LATE;
    charge->late = PAY_LATE_REFUNDING;
    charge->late_tag = text_of('g', PAY_TAG_LEN);
    charge->spent = 1;
    charge->refunded_there_minor = charge->money.amount_minor;
    charge->fee_minor = APR_INT64_MAX;
    charge->resolution = text_of('p', PAY_RESOLUTION_MAX);
    memset(charge->idempotency_key, 0xFF, sizeof(charge->idempotency_key));
    return charge;
}

START_TEST(test_longest_row_needs_no_overflow_page)
{
    pay_bytes_t row;

    ck_assert_int_eq(pay_store_charge_encode(&row, longest(0), unit_pool), 0);
    ck_assert_uint_lt(row.len, 2038);
    ck_assert_uint_le(row.len, PAY_STORE_CHARGE_ROW_MAX);
}
END_TEST

START_TEST(test_without_a_key_its_digest_is_left_out)
{
    pay_charge_t *charge = longest(0), *found;
    size_t i, len;
    pay_bytes_t key, row;
    pay_store_key_t at;

    charge->acquirer_reference = charge->late_tag = charge->resolution = "";
    charge->absent_since = 0;
    charge->absent_from = charge->opened = (pay_moment_t){0, 0};
    charge->held = PAY_NOT_HELD;
    charge->late = PAY_LATE_NONE;
    charge->spent = 0;
    charge->refunded_there_minor = 0;
    charge->fee_minor = 0;
    charge->channel = PAY_CHANNEL_CARD;
    pay_store_charge_key(&at, &charge->scope, charge->seq);
    key = pay_store_key_val(&at);
    ck_assert_int_eq(pay_store_charge_encode(&row, charge, unit_pool), 0);
    ck_assert_int_eq(pay_store_charge_decode(&found, &key, &row, unit_pool), 0);
    ck_assert_mem_eq(found->idempotency_key, charge->idempotency_key,
                     sizeof(charge->idempotency_key));
    len = row.len;
    memset(charge->idempotency_key, 0, sizeof(charge->idempotency_key));
    ck_assert_int_eq(pay_store_charge_encode(&row, charge, unit_pool), 0);
    ck_assert_uint_eq(row.len, len - sizeof(charge->idempotency_key));
    ck_assert_int_eq(pay_store_charge_decode(&found, &key, &row, unit_pool), 0);
    ck_assert_uint_eq(found->refund_at_acquirer, APR_UINT64_MAX);
    for (i = 0; i < sizeof(found->idempotency_key); i++) {
        ck_assert_uint_eq(found->idempotency_key[i], 0);
    }
}
END_TEST

/* A row of exactly `size` bytes, by its longest string. */
static pay_charge_t *of_size(size_t size)
{
    pay_charge_t *charge = longest(0);
    pay_bytes_t row;

    ck_assert_int_eq(pay_store_charge_encode(&row, charge, unit_pool), 0);
    charge->token = text_of('t', 255 + (int)(size - row.len));
    return charge;
}

START_TEST(test_limit)
{
    pay_bytes_t row;

    ck_assert_int_eq(pay_store_charge_encode(&row, of_size(PAY_STORE_CHARGE_ROW_MAX), unit_pool),
                     0);
    ck_assert_uint_eq(row.len, PAY_STORE_CHARGE_ROW_MAX);
    ck_assert_int_eq(
        pay_store_charge_encode(&row, of_size(PAY_STORE_CHARGE_ROW_MAX + 1), unit_pool),
        ENAMETOOLONG);
}
END_TEST

static int no_overflow(pay_rows_txn_t *txn, void *baton)
{
    MDB_stat stat;
    int i, rc = 0;

    (void)baton;
    for (i = 0; i < TILL_SCOPES && !rc; i++) {
        rc = pay_store_charge_put(txn, of_size(PAY_STORE_CHARGE_ROW_MAX), unit_pool);
    }
    ck_assert_int_eq(mdb_stat(txn->native, pay_lmdb_dbi(PAY_TABLE_CHARGE), &stat), 0);
    ck_assert_uint_eq(stat.ms_overflow_pages, 0);
    return rc;
}

START_TEST(test_limit_is_lmdbs)
{
    till_raw(no_overflow, NULL);
}
END_TEST

static pay_charge_t *grown(const pay_charge_t *opened)
{
    const pay_charge_t *full = longest(0);
    pay_charge_t *charge = apr_pmemdup(unit_pool, opened, sizeof(*opened));

    charge->wait_until_at = 0;
    charge->code = full->code;
    charge->message = full->message;
    charge->authorization_code = full->authorization_code;
    charge->contradiction = full->contradiction;
    charge->held = full->held;
    charge->late_tag = full->late_tag;
    charge->resolution = full->resolution;
    charge->refunded_there_minor = opened->money.amount_minor;
    charge->fee_minor = full->fee_minor;
    if (!*opened->acquirer_reference) {
        memcpy(charge->idempotency_key, full->idempotency_key, sizeof(charge->idempotency_key));
    } else if (!*opened->card.last4) {
        charge->card = full->card;
    }
    return charge;
}

/* The growth of a row is at most the reserved one: of a charge in this process, of one that goes
 * through an acquirer, and of one whose card only that knows; each without a worker and with one,
 * whose deadline is removed with it. */
START_TEST(test_growth)
{
    pay_charge_t *opened = till_proposal(0, "order-1", 1000);
    pay_bytes_t before, after;

    opened->acquirer_reference = _i % 3 == 0 ? "" : text_of('u', PAY_ACQUIRER_REFERENCE_LEN);
    opened->wait_until_at = _i < 3 ? 0 : till_clock;
    if (_i % 3 == 2) {
        opened->card = (pay_card_t){.issuer = "", .country = "", .type = ""};
    }
    ck_assert_int_eq(pay_store_charge_encode(&before, opened, unit_pool), 0);
    ck_assert_int_eq(pay_store_charge_encode(&after, grown(opened), unit_pool), 0);
    ck_assert_uint_eq(after.len, before.len + pay_store_charge_growth_max(opened));
}
END_TEST

START_TEST(test_round_trip)
{
    pay_charge_t *charge = longest(_i), *got;
    pay_store_key_t key;
    pay_bytes_t at, row;

    charge->wait_until_at = APR_INT64_MIN;
    charge->code = ""; /* only one that is not decided has a deadline */
    ck_assert_int_eq(pay_store_charge_encode(&row, charge, unit_pool), 0);
    pay_store_charge_key(&key, &charge->scope, charge->seq);
    at = pay_store_key_val(&key);
    ck_assert_uint_eq(at.len, PAY_STORE_CHARGE_KEY_LEN);
    ck_assert_int_eq(pay_store_charge_decode(&got, &at, &row, unit_pool), 0);
    ck_assert_uint_eq(got->scope.account, charge->scope.account);
    ck_assert_int_eq(got->scope.mode, charge->scope.mode);
    ck_assert(got->seq == 7);
    ck_assert_str_eq(got->reference, charge->reference);
    ck_assert_int_eq(memcmp(got->request_digest, charge->request_digest, PAY_SHA256_LEN), 0);
    ck_assert_str_eq(got->token, charge->token);
    ck_assert_str_eq(got->card.first6, "555555");
    ck_assert_str_eq(got->card.last4, "4444");
    ck_assert_str_eq(got->money.currency, "NGN");
    ck_assert(got->money.amount_minor == APR_INT64_MAX);
    ck_assert_str_eq(got->email, charge->email);
    ck_assert_str_eq(got->last_name, charge->last_name);
    ck_assert_str_eq(got->contradiction, charge->contradiction);
    ck_assert_int_eq(got->state, PAY_CHARGE_SUCCESSFUL);
    ck_assert_int_eq(got->kind, PAY_CHARGE_CHECKOUT);
    ck_assert(got->worker.boot_id == APR_INT64_MAX);
    ck_assert(got->due_at == charge->due_at);
    ck_assert_uint_eq(got->attempts, APR_UINT32_MAX);
    ck_assert(got->absent_from.boot_id == APR_INT64_MAX && got->opened.ms == APR_INT64_MAX);
    ck_assert(got->fee_minor == APR_INT64_MAX);
    ck_assert(got->wait_until_at == APR_INT64_MIN && got->read_at == till_clock);
    ck_assert(!pay_charge_in_flight(got));
}
END_TEST

#define OLDER_FIELDS 47 /* without moments, refunded_there_minor, fee_minor */

/* As a program without moments wrote it: the last fields are missing. */
START_TEST(test_row_without_moments)
{
    pay_charge_t *charge = longest(_i), *got;
    pay_store_key_t key;
    pay_bytes_t at, row;

    ck_assert_int_eq(pay_store_charge_encode(&row, charge, unit_pool), 0);
    till_cut(&row, OLDER_FIELDS);
    pay_store_charge_key(&key, &charge->scope, charge->seq);
    at = pay_store_key_val(&key);
    ck_assert_int_eq(pay_store_charge_decode(&got, &at, &row, unit_pool), 0);
    ck_assert_int_eq(got->channel, charge->channel);
    ck_assert(got->absent_from.boot_id == 0 && got->absent_from.ms == 0);
    ck_assert(got->opened.boot_id == 0 && got->opened.ms == 0);
    ck_assert(got->fee_minor == 0);
}
END_TEST

static const struct {
    const char *name;
    int state, decided_state;
    apr_int64_t amount_minor;
    const char *currency;
    const char *message;
    apr_int64_t refunded, pending, fee;
} unsound_cases[] = {
    {"no such state", PAY_CHARGE_STATE_COUNT, 0, 1, "NGN", "", 0, 0, 0},
    {"no such decided state", 0, PAY_CHARGE_STATE_COUNT, 1, "NGN", "", 0, 0, 0},
    {"amount 0", 0, 0, 0, "NGN", "", 0, 0, 0},
    {"amount below 0", 0, 0, -1, "NGN", "", 0, 0, 0},
    {"no such currency", 0, 0, 1, "XXQ", "", 0, 0, 0},
    {"a string is missing", 0, 0, 1, "NGN", NULL, 0, 0, 0},
    {"refunded below 0", 0, 0, 1, "NGN", "", -1, 0, 0},
    {"pending below 0", 0, 0, 1, "NGN", "", 0, -1, 0},
    {"a fee below 0", 0, 0, 1, "NGN", "", 0, 0, -1},
};

START_TEST(test_unsound_row)
{
    pay_charge_t *charge = longest(0), *got;
    pay_store_key_t key;
    pay_bytes_t at, row;

    charge->state = (pay_charge_state_t)unsound_cases[_i].state;
    charge->decided_state = (pay_charge_state_t)unsound_cases[_i].decided_state;
    charge->money.amount_minor = unsound_cases[_i].amount_minor;
    apr_cpystrn(charge->money.currency, unsound_cases[_i].currency, 4);
    charge->message = unsound_cases[_i].message;
    charge->refunded_minor = unsound_cases[_i].refunded;
    charge->refunds_pending_minor = unsound_cases[_i].pending;
    charge->fee_minor = unsound_cases[_i].fee;
    ck_assert_int_eq(pay_store_charge_encode(&row, charge, unit_pool), 0);
    pay_store_charge_key(&key, &charge->scope, charge->seq);
    at = pay_store_key_val(&key);
    ck_assert_msg(pay_store_charge_decode(&got, &at, &row, unit_pool) == PAY_ROWS_BAD, "%s",
                  unsound_cases[_i].name);
    ck_assert_ptr_null(got);
}
END_TEST

START_TEST(test_unsound_kind)
{
    pay_charge_t *charge = longest(0), *got;
    pay_store_key_t key;
    pay_bytes_t at, row;

    charge->kind = (pay_charge_kind_t)(PAY_CHARGE_CHECKOUT + 1);
    ck_assert_int_eq(pay_store_charge_encode(&row, charge, unit_pool), 0);
    pay_store_charge_key(&key, &charge->scope, charge->seq);
    at = pay_store_key_val(&key);
    ck_assert_int_eq(pay_store_charge_decode(&got, &at, &row, unit_pool), PAY_ROWS_BAD);
    ck_assert_ptr_null(got);
}
END_TEST

/* All pairs: the store has no rules other than the model's table. */
START_TEST(test_become)
{
    pay_charge_state_t from = (pay_charge_state_t)(_i / PAY_CHARGE_STATE_COUNT);
    pay_charge_state_t to = (pay_charge_state_t)(_i % PAY_CHARGE_STATE_COUNT);
    pay_charge_t charge = {.state = from, .money = {100, "NGN"}, .updated_at = 7};
    int may = pay_charge_may_become(from, to);

    ck_assert_msg(pay_store_charge_become(&charge, to) == may, "%s to %s",
                  pay_charge_state_name(from), pay_charge_state_name(to));
    ck_assert_int_eq(charge.state, may ? to : from);
    ck_assert(charge.updated_at == 7);
}
END_TEST

static const struct {
    const char *name;
    pay_charge_state_t state;
    apr_int64_t refunded;
    pay_charge_state_t want;
} follow_cases[] = {
    {"all back", PAY_CHARGE_SUCCESSFUL, 100, PAY_CHARGE_REVERSED},
    {"more than all back", PAY_CHARGE_SUCCESSFUL, 101, PAY_CHARGE_REVERSED},
    {"one short", PAY_CHARGE_SUCCESSFUL, 99, PAY_CHARGE_SUCCESSFUL},
    {"reversed stays", PAY_CHARGE_REVERSED, 100, PAY_CHARGE_REVERSED},
    {"reversed no more", PAY_CHARGE_REVERSED, 99, PAY_CHARGE_SUCCESSFUL},
    {"pending", PAY_CHARGE_PENDING, 100, PAY_CHARGE_PENDING},
    {"failed", PAY_CHARGE_FAILED, 100, PAY_CHARGE_FAILED},
    {"void", PAY_CHARGE_VOID, 100, PAY_CHARGE_VOID},
    {"abandoned", PAY_CHARGE_ABANDONED, 100, PAY_CHARGE_ABANDONED},
    {"void, none back", PAY_CHARGE_VOID, 0, PAY_CHARGE_VOID},
    {"no state", PAY_CHARGE_STATE_COUNT, 100, PAY_CHARGE_STATE_COUNT},
};

START_TEST(test_follow_refunds)
{
    pay_charge_t charge = {.state = follow_cases[_i].state,
                           .money = {100, "NGN"},
                           .refunded_minor = follow_cases[_i].refunded};

    pay_store_charge_follow_refunds(&charge);
    ck_assert_msg(charge.state == follow_cases[_i].want, "%s: %s", follow_cases[_i].name,
                  pay_charge_state_name(charge.state));
}
END_TEST

#define NONE PAY_REFUND_FAILED

static const struct {
    const char *name;
    pay_charge_state_t state;
    apr_int64_t refunded, pending;
    pay_refund_state_t from, to;
    apr_int64_t amount;
    int want_rc;
    pay_charge_state_t want_state;
    apr_int64_t want_refunded, want_pending;
} moved_cases[] = {
    {"opened", PAY_CHARGE_SUCCESSFUL, 0, 0, NONE, PAY_REFUND_PENDING, 40, 0, PAY_CHARGE_SUCCESSFUL,
     0, 40},
    {"processed", PAY_CHARGE_SUCCESSFUL, 10, 40, PAY_REFUND_PENDING, PAY_REFUND_PROCESSED, 40, 0,
     PAY_CHARGE_SUCCESSFUL, 50, 0},
    {"the last one processed", PAY_CHARGE_SUCCESSFUL, 60, 40, PAY_REFUND_PENDING,
     PAY_REFUND_PROCESSED, 40, 0, PAY_CHARGE_REVERSED, 100, 0},
    {"one short of all", PAY_CHARGE_SUCCESSFUL, 59, 40, PAY_REFUND_PENDING, PAY_REFUND_PROCESSED,
     40, 0, PAY_CHARGE_SUCCESSFUL, 99, 0},
    {"all pending is not reversed", PAY_CHARGE_SUCCESSFUL, 0, 0, NONE, PAY_REFUND_PENDING, 100, 0,
     PAY_CHARGE_SUCCESSFUL, 0, 100},
    {"failed gives back", PAY_CHARGE_SUCCESSFUL, 10, 40, PAY_REFUND_PENDING, NONE, 40, 0,
     PAY_CHARGE_SUCCESSFUL, 10, 0},
    {"failed after processed", PAY_CHARGE_REVERSED, 100, 0, PAY_REFUND_PROCESSED, NONE, 40, 0,
     PAY_CHARGE_SUCCESSFUL, 60, 0},
    {"imported beyond the amount", PAY_CHARGE_SUCCESSFUL, 90, 0, NONE, PAY_REFUND_PROCESSED, 40, 0,
     PAY_CHARGE_REVERSED, 130, 0},
    {"imported on a pending charge", PAY_CHARGE_PENDING, 0, 0, NONE, PAY_REFUND_PROCESSED, 100, 0,
     PAY_CHARGE_PENDING, 100, 0},
    {"more than is pending", PAY_CHARGE_SUCCESSFUL, 10, 39, PAY_REFUND_PENDING,
     PAY_REFUND_PROCESSED, 40, ERANGE, PAY_CHARGE_SUCCESSFUL, 10, 39},
    {"more than is refunded", PAY_CHARGE_SUCCESSFUL, 39, 0, PAY_REFUND_PROCESSED, NONE, 40, ERANGE,
     PAY_CHARGE_SUCCESSFUL, 39, 0},
    {"pending again", PAY_CHARGE_SUCCESSFUL, 50, 0, PAY_REFUND_PROCESSED, PAY_REFUND_PENDING, 40,
     ERANGE, PAY_CHARGE_SUCCESSFUL, 50, 0},
    {"processed twice", PAY_CHARGE_SUCCESSFUL, 50, 0, PAY_REFUND_PROCESSED, PAY_REFUND_PROCESSED,
     40, ERANGE, PAY_CHARGE_SUCCESSFUL, 50, 0},
    {"pending twice", PAY_CHARGE_SUCCESSFUL, 0, 50, PAY_REFUND_PENDING, PAY_REFUND_PENDING, 40,
     ERANGE, PAY_CHARGE_SUCCESSFUL, 0, 50},
    {"more than a sum can be", PAY_CHARGE_REVERSED, APR_INT64_MAX, 0, NONE, PAY_REFUND_PROCESSED, 1,
     ERANGE, PAY_CHARGE_REVERSED, APR_INT64_MAX, 0},
};

START_TEST(test_refund_moved)
{
    pay_charge_t charge = {.state = moved_cases[_i].state,
                           .money = {100, "NGN"},
                           .refunded_minor = moved_cases[_i].refunded,
                           .refunds_pending_minor = moved_cases[_i].pending};
    const char *name = moved_cases[_i].name;
    int rc;

    rc = pay_store_charge_refund_moved(&charge, moved_cases[_i].from, moved_cases[_i].to,
                                       moved_cases[_i].amount);
    ck_assert_msg(rc == moved_cases[_i].want_rc, "%s: %d", name, rc);
    ck_assert_msg(charge.state == moved_cases[_i].want_state, "%s: state", name);
    ck_assert_msg(charge.refunded_minor == moved_cases[_i].want_refunded, "%s: refunded", name);
    ck_assert_msg(charge.refunds_pending_minor == moved_cases[_i].want_pending, "%s: pending",
                  name);
}
END_TEST

START_TEST(test_contradiction)
{
    pay_outcome_t outcome = {.kind = PAY_OUTCOME_DECLINED,
                             .code = "05",
                             .message = text_of('m', 400),
                             .authorization_code = ""};

    ck_assert_str_eq(pay_store_contradiction(till_outcome(PAY_OUTCOME_APPROVED), unit_pool),
                     "approved 00: Approved");
    ck_assert_uint_eq(strlen(pay_store_contradiction(&outcome, unit_pool)),
                      PAY_STORE_CONTRADICTION_MAX);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_checked_fixture(tcase, till_set_up, till_tear_down);
    tcase_add_test(tcase, test_longest_row_needs_no_overflow_page);
    tcase_add_test(tcase, test_without_a_key_its_digest_is_left_out);
    tcase_add_test(tcase, test_limit);
    tcase_add_test(tcase, test_limit_is_lmdbs);
    tcase_add_loop_test(tcase, test_growth, 0, 6);
    tcase_add_loop_test(tcase, test_round_trip, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_row_without_moments, 0, TILL_SCOPES);
    tcase_add_loop_test(tcase, test_unsound_row, 0, UNIT_ROWS(unsound_cases));
    tcase_add_test(tcase, test_unsound_kind);
    tcase_add_loop_test(tcase, test_become, 0, PAY_CHARGE_STATE_COUNT * PAY_CHARGE_STATE_COUNT);
    tcase_add_loop_test(tcase, test_follow_refunds, 0, UNIT_ROWS(follow_cases));
    tcase_add_loop_test(tcase, test_refund_moved, 0, UNIT_ROWS(moved_cases));
    tcase_add_test(tcase, test_contradiction);
}

UNIT_PROGRAM(add)
