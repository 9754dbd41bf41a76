/* SPDX-License-Identifier: Apache-2.0 */
#include "request_goods.h"

#include "base/text/writer.h"
#include "model/refund.h"

#define CREATED APR_INT64_C(1767225600000000) /* 2026-01-01T00:00:00Z */
#define N10 "abcdefghij"
#define N50 N10 N10 N10 N10 N10
#define N100 N50 N50
#define N1000 N100 N100 N100 N100 N100 N100 N100 N100 N100 N100
#define N500 N100 N100 N100 N100 N100
#define S5 "\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
#define S50 S5 S5 S5 S5 S5 S5 S5 S5 S5 S5
#define S500 S50 S50 S50 S50 S50 S50 S50 S50 S50 S50
#define NEEDED "\"id\":\"1\",\"refundReference\":\"RF-1\",\"createdAt\":\"2026-01-01T00:00:00Z\""

/* Every pair of states; a row is the state before, a column the state after. */
static const struct {
    const char *name;
    pay_refund_state_t from;
    int to[PAY_REFUND_STATE_COUNT];
} state_cases[] = {
    {"pending", PAY_REFUND_PENDING, {0, 1, 1}},
    {"processed", PAY_REFUND_PROCESSED, {0, 0, 1}},
    {"failed", PAY_REFUND_FAILED, {0, 0, 0}},
};
_Static_assert(sizeof(state_cases) / sizeof(state_cases[0]) == PAY_REFUND_STATE_COUNT, "all");

/* One run a pair. */
START_TEST(test_move)
{
    int from = _i / PAY_REFUND_STATE_COUNT, to = _i % PAY_REFUND_STATE_COUNT;
    int want = state_cases[from].to[to];
    int may = pay_refund_may_become(state_cases[from].from, state_cases[to].from);

    ck_assert_msg(may == want, "%s to %s is %s", state_cases[from].name, state_cases[to].name,
                  want ? "legal" : "illegal");
}
END_TEST

START_TEST(test_states)
{
    ck_assert_int_eq(state_cases[_i].from, _i); /* so that columns are states too */
    ck_assert_str_eq(pay_refund_state_name(state_cases[_i].from), state_cases[_i].name);
}
END_TEST

START_TEST(test_states_outside)
{
    ck_assert_int_eq(pay_refund_may_become(PAY_REFUND_PENDING, PAY_REFUND_STATE_COUNT), 0);
    ck_assert_int_eq(pay_refund_may_become(PAY_REFUND_STATE_COUNT, PAY_REFUND_FAILED), 0);
    ck_assert_int_eq(pay_refund_may_become((pay_refund_state_t)-1, PAY_REFUND_FAILED), 0);
    ck_assert_str_eq(pay_refund_state_name(PAY_REFUND_STATE_COUNT), "unknown");
}
END_TEST

static const char *render(const pay_refund_t *refund)
{
    pay_writer_t *w = pay_writer_make(64, unit_pool);

    pay_refund_to_json(w, NULL, refund);
    return w->text;
}

#define WHOLE_RECORD                                                                               \
    "{\"id\":\"re_1\",\"refundReference\":\"RF-1\",\"amount\":\"500.00\",\"currency\":\"NGN\","    \
    "\"domain\":\"live\",\"channel\":\"API\",\"merchantNote\":\"late\",\"customerNote\":\"a\\nb\"" \
    ",\"status\":\"pending\",\"transactionReference\":\"order-1\","                                \
    "\"createdAt\":\"2026-01-01T00:00:00.000Z\",\"updatedAt\":\"2026-01-01T00:00:00.250Z\"}"

START_TEST(test_json)
{
    pay_refund_t refund = {.id = "re_1",
                           .refund_reference = "RF-1",
                           .money = {50000, "NGN"},
                           .scope = {3, PAY_LIVE},
                           .channel = "API",
                           .merchant_note = "late",
                           .customer_note = "a\nb",
                           .state = PAY_REFUND_PENDING,
                           .transaction_reference = "order-1",
                           .created_at = CREATED,
                           .updated_at = CREATED + 250000,
                           .seq = 9,
                           .acquirer = "simulator",
                           .key_id = "key_1"};

    ck_assert_str_eq(render(&refund), WHOLE_RECORD);
}
END_TEST

/* A record is written as it was read, or in its normal form. */
static const struct {
    const char *name;
    pay_mode_t mode;
    const char *record;
    const char *want;
} read_cases[] = {
    {"whole", PAY_LIVE, WHOLE_RECORD, WHOLE_RECORD},
    {"the least", PAY_TEST, "{" NEEDED "}",
     "{\"id\":\"1\",\"refundReference\":\"RF-1\",\"amount\":null,\"currency\":null,"
     "\"domain\":\"test\",\"channel\":null,\"merchantNote\":null,\"customerNote\":null,"
     "\"status\":\"processed\",\"transactionReference\":null,"
     "\"createdAt\":\"2026-01-01T00:00:00.000Z\",\"updatedAt\":\"2026-01-01T00:00:00.000Z\"}"},
    {"nulls, other members, other notation", PAY_TEST,
     "{\"more\":[1,2],\"updatedAt\":\"2026-01-02T01:00:00.9999+01:00\",\"createdAt\":"
     "\"2026-01-01T00:00:00.0019Z\",\"transactionReference\":\"\",\"status\":\"failed\","
     "\"customerNote\":null,\"merchantNote\":\"\",\"channel\":null,\"domain\":null,"
     "\"currency\":\"jpy\",\"amount\":\"5e2\",\"refundReference\":\"RF-1\",\"id\":\"1\"}",
     "{\"id\":\"1\",\"refundReference\":\"RF-1\",\"amount\":\"500\",\"currency\":\"JPY\","
     "\"domain\":\"test\",\"channel\":null,\"merchantNote\":\"\",\"customerNote\":null,"
     "\"status\":\"failed\",\"transactionReference\":null,"
     "\"createdAt\":\"2026-01-01T00:00:00.001Z\",\"updatedAt\":\"2026-01-02T00:00:00.999Z\"}"},
    {"a currency without an amount", PAY_TEST,
     "{" NEEDED ",\"amount\":null,\"currency\":\"NGN\",\"status\":null}",
     "{\"id\":\"1\",\"refundReference\":\"RF-1\",\"amount\":null,\"currency\":\"NGN\","
     "\"domain\":\"test\",\"channel\":null,\"merchantNote\":null,\"customerNote\":null,"
     "\"status\":\"processed\",\"transactionReference\":null,"
     "\"createdAt\":\"2026-01-01T00:00:00.000Z\",\"updatedAt\":\"2026-01-01T00:00:00.000Z\"}"},
};

START_TEST(test_read)
{
    pay_refund_t *refund;
    pay_refund_t *again;

    ck_assert_msg(!pay_refund_from_json(&refund, parse(read_cases[_i].record), read_cases[_i].mode,
                                        unit_pool),
                  "%s", read_cases[_i].name);
    ck_assert_msg(refund->scope.mode == read_cases[_i].mode, "%s", read_cases[_i].name);
    ck_assert_str_eq(render(refund), read_cases[_i].want);
    ck_assert_ptr_null(
        pay_refund_from_json(&again, parse(render(refund)), read_cases[_i].mode, unit_pool));
    ck_assert_str_eq(render(again), read_cases[_i].want);
}
END_TEST

static const struct {
    const char *name;
    const char *record;
    const char *want; /* fields at fault */
} fault_cases[] = {
    {"empty object", "{}", "/id /refundReference /createdAt"},
    {"nulls", "{\"id\":null,\"refundReference\":null,\"createdAt\":null}",
     "/id /refundReference /createdAt"},
    {"all of the wrong type",
     "{\"id\":1,\"refundReference\":true,\"amount\":5,\"currency\":[],\"domain\":0,\"channel\":{},"
     "\"merchantNote\":1,\"customerNote\":2,\"status\":3,\"transactionReference\":4,"
     "\"createdAt\":5,\"updatedAt\":6}",
     "/id /refundReference /amount /currency /domain /merchantNote /customerNote /createdAt"
     " /updatedAt /channel /status /transactionReference"},
    {"id empty",
     "{\"id\":\"\",\"refundReference\":\"RF-1\",\"createdAt\":\"2026-01-01T00:00:00Z\"}", "/id"},
    {"id of 101 characters",
     "{\"id\":\"" N100 "k\",\"refundReference\":\"RF-1\","
     "\"createdAt\":\"2026-01-01T00:00:00Z\"}",
     "/id"},
    {"reference with a slash",
     "{\"id\":\"1\",\"refundReference\":\"a/b\",\"createdAt\":\"2026-01-01T00:00:00Z\"}",
     "/refundReference"},
    {"reference a card number",
     "{\"id\":\"1\",\"refundReference\":\"" PAN "\",\"createdAt\":\"2026-01-01T00:00:00Z\"}",
     "/refundReference"},
    {"amount without a currency", "{" NEEDED ",\"amount\":\"5.00\"}", "/currency"},
    {"amount 0", "{" NEEDED ",\"amount\":\"0.00\",\"currency\":\"NGN\"}", "/amount"},
    {"amount below 0", "{" NEEDED ",\"amount\":\"-5.00\",\"currency\":\"NGN\"}", "/amount"},
    {"amount empty", "{" NEEDED ",\"amount\":\"\",\"currency\":\"NGN\"}", "/amount"},
    {"amount a number", "{" NEEDED ",\"amount\":5.00,\"currency\":\"NGN\"}", "/amount"},
    {"too many decimals", "{" NEEDED ",\"amount\":\"5.001\",\"currency\":\"NGN\"}", "/amount"},
    {"no currency", "{" NEEDED ",\"currency\":\"XQZ\"}", "/currency"},
    {"other mode", "{" NEEDED ",\"domain\":\"live\"}", "/domain"},
    {"no mode", "{" NEEDED ",\"domain\":\"\"}", "/domain"},
    {"channel of 33 bytes", "{" NEEDED ",\"channel\":\"" N10 N10 N10 "abc\"}", "/channel"},
    {"channel of 32 bytes", "{" NEEDED ",\"channel\":\"" N10 N10 N10 "ab\"}", ""},
    {"longest notes",
     "{" NEEDED ",\"merchantNote\":\"" N1000 N1000 "\",\"customerNote\":\"" N1000 N1000 "\"}", ""},
    {"notes one longer",
     "{" NEEDED ",\"merchantNote\":\"" N1000 N1000 "k\",\"customerNote\":\"" N1000 N1000 "k\"}",
     "/merchantNote /customerNote"},
    {"a card number in a note", "{" NEEDED ",\"customerNote\":\"card " PAN "\"}", "/customerNote"},
    {"a status of others", "{" NEEDED ",\"status\":\"completed\"}", "/status"},
    {"status in upper case", "{" NEEDED ",\"status\":\"Processed\"}", "/status"},
    {"status empty", "{" NEEDED ",\"status\":\"\"}", "/status"},
    {"longest transaction reference", "{" NEEDED ",\"transactionReference\":\"" N100 "\"}", ""},
    {"transaction reference one longer", "{" NEEDED ",\"transactionReference\":\"" N100 "k\"}",
     "/transactionReference"},
    {"a date without a time",
     "{\"id\":\"1\",\"refundReference\":\"RF-1\",\"createdAt\":\"2026-01-01\"}", "/createdAt"},
    {"the epoch",
     "{\"id\":\"1\",\"refundReference\":\"RF-1\",\"createdAt\":\"1970-01-01T00:00:00Z\"}",
     "/createdAt"},
    {"before the epoch",
     "{\"id\":\"1\",\"refundReference\":\"RF-1\",\"createdAt\":\"1969-12-31T23:59:59Z\"}",
     "/createdAt"},
    {"no such day", "{" NEEDED ",\"updatedAt\":\"2026-02-30T00:00:00Z\"}", "/updatedAt"},
};

/* Returns 1 if every field of `want` is at fault, and no other. */
static int fields_are(const pay_problem_t *problem, const char *want)
{
    const char *rest = want;
    int count = *want ? 1 : 0;
    int i;

    for (rest = strchr(rest, ' '); rest; rest = strchr(rest + 1, ' ')) {
        count++;
    }
    if (!problem || problem->fields->nelts != count) {
        return !problem && count == 0;
    }
    for (i = 0; i < count; i++) {
        const pay_field_error_t *error = &APR_ARRAY_IDX(problem->fields, i, pay_field_error_t);
        const char *padded = apr_pstrcat(unit_pool, " ", want, " ", NULL);
        if (!strstr(padded, apr_pstrcat(unit_pool, " ", error->field, " ", NULL))
            || strstr(error->reason, PAN)) {
            return 0;
        }
    }
    return problem->error == PAY_ERR_INVALID;
}

START_TEST(test_faults)
{
    pay_refund_t *refund = (pay_refund_t *)unit_pool;
    const pay_problem_t *problem;

    problem = pay_refund_from_json(&refund, parse(fault_cases[_i].record), PAY_TEST, unit_pool);
    ck_assert_msg(fields_are(problem, fault_cases[_i].want), "%s", fault_cases[_i].name);
    ck_assert_msg((refund != NULL) == (problem == NULL), "%s", fault_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    const char *note;
    int want;    /* 1: at fault where a refund is made here */
    int history; /* 1: at fault in history */
} note_cases[] = {
    {"none", NULL, 0, 0},
    {"empty", "", 0, 0},
    {"two lines and a tab", "wrong size\n\tagain", 1, 0},
    {"beyond ASCII",
     "r\xc3\xbc"
     "ckgabe",
     0, 0},
    {"500 characters", N500, 0, 0},
    {"501 characters", N500 "k", 1, 0},
    {"500 characters of four bytes", S500, 0, 0},
    {"501 of them", S500 "k", 1, 1},
    {"2000 bytes", N1000 N1000, 1, 0},
    {"2001 bytes", N1000 N1000 "k", 1, 1},
    {"carriage return", "a\r\nb", 1, 1},
    {"control character", "a\x02", 1, 1},
    {"DEL", "a\x7f", 1, 1},
    {"C1 control", "a\xc2\x85", 1, 1},
    {"not UTF-8", "a\xff", 1, 1},
    {"invisible character", "a\xe2\x80\x8b", 1, 0},
    {"card number", "card 4111 1111 1111 1111", 1, 1},
    {"long number", "parcel 1763701200000", 0, 0},
    {"phone number", "call +234 801 234 5678", 0, 0},
};

START_TEST(test_note)
{
    const char *reason = pay_note_fault(note_cases[_i].note);

    ck_assert_msg((reason != NULL) == note_cases[_i].want, "%s", note_cases[_i].name);
}
END_TEST

START_TEST(test_history_note)
{
    pay_writer_t *w = pay_writer_make(64, unit_pool);
    pay_refund_t *refund;
    const char *note = note_cases[_i].note;

    if (note && strchr(note, '\xff')) {
        return; /* no JSON text contains it */
    }
    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "id", "1");
    pay_writer_string(w, "refundReference", "RF-1");
    pay_writer_string(w, "createdAt", "2026-01-01T00:00:00Z");
    pay_writer_string(w, "merchantNote", note);
    pay_writer_object_close(w);
    ck_assert_msg((pay_refund_from_json(&refund, parse(w->text), PAY_TEST, unit_pool) != NULL)
                      == note_cases[_i].history,
                  "%s", note_cases[_i].name);
}
END_TEST

/*
 * A record whose notes have the greatest length, and are escaped throughout, is within the limit.
 */
START_TEST(test_largest_record)
{
    char *note = apr_pcalloc(unit_pool, PAY_NOTE_BYTES_MAX + 1);
    pay_refund_t refund = {.id = N100,
                           .refund_reference = N100,
                           .money = {APR_INT64_C(99999999999999), "NGN"},
                           .channel = "dashboard",
                           .merchant_note = note,
                           .customer_note = note,
                           .transaction_reference = N100,
                           .created_at = CREATED,
                           .updated_at = CREATED};

    memset(note, '"', PAY_NOTE_BYTES_MAX);
    ck_assert_uint_lt(strlen(render(&refund)), PAY_REFUND_TEXT_MAX);
    memset(note, '\t', PAY_NOTE_BYTES_MAX);
    ck_assert_uint_lt(strlen(render(&refund)), PAY_REFUND_TEXT_MAX);
}
END_TEST

static const struct {
    const char *name;
    pay_refund_state_t state;
    int mine;     /* 1: this process is its worker */
    int ahead_ms; /* of the boot clock: the end of its work */
    int want;
} flight_cases[] = {
    {"at work", PAY_REFUND_PENDING, 1, 60000, 1},
    {"its time is over", PAY_REFUND_PENDING, 1, -1, 0},
    {"nobody's", PAY_REFUND_PENDING, 0, 60000, 0},
    {"processed", PAY_REFUND_PROCESSED, 1, 60000, 0},
    {"failed", PAY_REFUND_FAILED, 1, 60000, 0},
};

START_TEST(test_in_flight)
{
    pay_refund_t refund = {.state = flight_cases[_i].state};

    refund.worker = pay_worker_self();
    if (!flight_cases[_i].mine) {
        memset(&refund.worker, 0, sizeof(refund.worker));
    }
    refund.wait_until_ms = pay_time_boot_ms() + flight_cases[_i].ahead_ms;
    ck_assert_msg(pay_refund_in_flight(&refund) == flight_cases[_i].want, "%s",
                  flight_cases[_i].name);
    refund.worker.start_ticks++; /* another process with the same pid */
    ck_assert_msg(!pay_refund_in_flight(&refund), "%s", flight_cases[_i].name);
    if (refund.worker.pid) {
        refund.worker.boot_id ^= 1; /* as on another machine */
        refund.wait_until_at = 1 + apr_time_from_msec(flight_cases[_i].ahead_ms);
        refund.read_at = 1 + PAY_WORKER_GRACE;
    }
    ck_assert_msg(pay_refund_in_flight(&refund) == flight_cases[_i].want, "%s, another boot",
                  flight_cases[_i].name);
}
END_TEST

static const struct {
    const char *name;
    pay_refund_state_t state;
    pay_refund_state_t decided_state;
    const char *want; /* status */
    int updated_ms;   /* after it was created */
} answer_cases[] = {
    {"undecided", PAY_REFUND_PENDING, PAY_REFUND_PENDING, "pending", 0},
    {"processed", PAY_REFUND_PROCESSED, PAY_REFUND_PROCESSED, "processed", 250},
    {"failed", PAY_REFUND_FAILED, PAY_REFUND_FAILED, "failed", 250},
    {"processed, failed after all", PAY_REFUND_FAILED, PAY_REFUND_PROCESSED, "processed", 250},
    {"damaged", PAY_REFUND_FAILED, PAY_REFUND_STATE_COUNT, "pending", 0},
};

START_TEST(test_answer)
{
    pay_refund_t refund = {.id = "re_1",
                           .refund_reference = "RF-1",
                           .money = {50000, "NGN"},
                           .state = answer_cases[_i].state,
                           .created_at = CREATED,
                           .updated_at = CREATED + 900000,
                           .decided_state = answer_cases[_i].decided_state,
                           .decided_at = CREATED + 250000};
    pay_writer_t *w = pay_writer_make(64, unit_pool);
    const char *want = apr_psprintf(
        unit_pool,
        "{\"id\":\"re_1\",\"refundReference\":\"RF-1\",\"amount\":\"500.00\",\"currency\":\"NGN\","
        "\"domain\":\"test\",\"channel\":null,\"merchantNote\":null,\"customerNote\":null,"
        "\"status\":\"%s\",\"transactionReference\":null,"
        "\"createdAt\":\"2026-01-01T00:00:00.000Z\",\"updatedAt\":\"2026-01-01T00:00:00.%03dZ\"}",
        answer_cases[_i].want, answer_cases[_i].updated_ms);

    pay_refund_answer_to_json(w, &refund);
    ck_assert_msg(!strcmp(w->text, want), "%s: %s", answer_cases[_i].name, w->text);
}
END_TEST

static const struct {
    const char *name;
    size_t offset;
    const char *want;
} string_rows[] = {
    {"id", offsetof(pay_refund_t, id), ""},
    {"refund_reference", offsetof(pay_refund_t, refund_reference), ""},
    {"channel", offsetof(pay_refund_t, channel), NULL},
    {"merchant_note", offsetof(pay_refund_t, merchant_note), NULL},
    {"customer_note", offsetof(pay_refund_t, customer_note), NULL},
    {"transaction_reference", offsetof(pay_refund_t, transaction_reference), NULL},
    {"acquirer", offsetof(pay_refund_t, acquirer), ""},
    {"key_id", offsetof(pay_refund_t, key_id), ""},
    {"tag", offsetof(pay_refund_t, tag), ""},
    {"acquirer_reference", offsetof(pay_refund_t, acquirer_reference), ""},
    {"resolution", offsetof(pay_refund_t, resolution), ""},
    {"acquirer_charge", offsetof(pay_refund_t, acquirer_charge), ""},
    {"asked_digest", offsetof(pay_refund_t, asked_digest), ""},
};

START_TEST(test_new_strings)
{
    const char *text, *want = string_rows[_i].want;
    pay_refund_t refund;

    memset(&refund, 0xFF, sizeof(refund));
    pay_refund_init(&refund);
    memcpy(&text, (const char *)&refund + string_rows[_i].offset, sizeof(text));
    ck_assert_msg(want ? text && !strcmp(text, want) : !text, "%s", string_rows[_i].name);
}
END_TEST

START_TEST(test_new_numbers)
{
    pay_refund_t refund;

    memset(&refund, 0xFF, sizeof(refund));
    pay_refund_init(&refund);
    ck_assert_int_eq(refund.state, PAY_REFUND_PENDING);
    ck_assert_int_eq(refund.decided_state, PAY_REFUND_PENDING);
    ck_assert_str_eq(refund.money.currency, "");
    ck_assert(refund.money.amount_minor == 0 && refund.seq == 0 && refund.charge_seq == 0);
    ck_assert(refund.import_number == 0 && refund.worker.pid == 0 && refund.due_at == 0);
    ck_assert(refund.waiting == 0 && refund.held == PAY_NOT_HELD && refund.opened.ms == 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_new_strings, 0, UNIT_ROWS(string_rows));
    tcase_add_test(tcase, test_new_numbers);
    tcase_add_loop_test(tcase, test_history_note, 0, UNIT_ROWS(note_cases));
    tcase_add_loop_test(tcase, test_in_flight, 0, UNIT_ROWS(flight_cases));
    tcase_add_loop_test(tcase, test_answer, 0, UNIT_ROWS(answer_cases));
    tcase_add_loop_test(tcase, test_move, 0, PAY_REFUND_STATE_COUNT * PAY_REFUND_STATE_COUNT);
    tcase_add_loop_test(tcase, test_states, 0, UNIT_ROWS(state_cases));
    tcase_add_test(tcase, test_states_outside);
    tcase_add_test(tcase, test_json);
    tcase_add_loop_test(tcase, test_read, 0, UNIT_ROWS(read_cases));
    tcase_add_loop_test(tcase, test_faults, 0, UNIT_ROWS(fault_cases));
    tcase_add_loop_test(tcase, test_note, 0, UNIT_ROWS(note_cases));
    tcase_add_test(tcase, test_largest_record);
}

UNIT_PROGRAM(add)
