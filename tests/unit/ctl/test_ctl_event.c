/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/event.h"

#include "ctl/commands.h"

#include "lmdb_fixture.h"
#include "output.h"
#include "store_script.h"
#include "unit.h"

/*
 * `event retry --all` and `event drop --all` while others change the same events: the store lists
 * three, and a script decides how the change of each ends.
 */

#define EVENTS 3

static const apr_status_t *script;
static int asked; /* for so many events */
static const char *what;

static apr_status_t event_list(apr_array_header_t **out, pay_store_t *store,
                               const pay_scope_t *scope, int parked, const pay_event_t *after,
                               int limit, apr_pool_t *p)
{
    pay_event_t *event;
    int i;

    (void)store;
    (void)limit;
    ck_assert_int_eq(parked, 1);
    *out = apr_array_make(p, EVENTS, sizeof(pay_event_t *));
    for (i = 0; !after && i < EVENTS; i++) {
        event = apr_pcalloc(p, sizeof(*event));
        event->scope = *scope;
        event->charge_seq = 1;
        event->sequence = (apr_uint64_t)i + 1;
        APR_ARRAY_PUSH(*out, pay_event_t *) = event;
    }
    return APR_SUCCESS;
}

static apr_status_t change(const char *word, const pay_event_t *place)
{
    ck_assert_uint_eq(place->sequence, (apr_uint64_t)asked + 1);
    what = word;
    return script[asked++];
}

static apr_status_t event_retry(pay_event_t **out, pay_store_t *store, const pay_scope_t *scope,
                                const pay_event_t *place, apr_pool_t *p)
{
    (void)out;
    (void)store;
    (void)scope;
    (void)p;
    return change("retried", place);
}

static apr_status_t event_drop(pay_event_t **out, pay_store_t *store, const pay_scope_t *scope,
                               const pay_event_t *place, apr_pool_t *p)
{
    (void)out;
    (void)store;
    (void)scope;
    (void)p;
    return change("dropped", place);
}

static const struct {
    const char *name;
    apr_status_t script[EVENTS];
    ctl_exit_t want;
    int asked;
    int changed;
} rows[] = {
    {"nobody else is there", {APR_SUCCESS, APR_SUCCESS, APR_SUCCESS}, CTL_OK, 3, 3},
    {"one is gone", {APR_SUCCESS, APR_NOTFOUND, APR_SUCCESS}, CTL_OK, 3, 2},
    {"an earlier one came first", {APR_EBUSY, APR_SUCCESS, APR_SUCCESS}, CTL_OK, 3, 2},
    {"all are gone", {APR_NOTFOUND, APR_NOTFOUND, APR_NOTFOUND}, CTL_OK, 3, 0},
    {"the store fails", {APR_SUCCESS, PAY_STORE_EDOWN, APR_SUCCESS}, CTL_EXIT_ACCESS, 2, 0},
};

static const struct {
    ctl_exit_t (*run)(ctl_t *);
    const char *word;
} commands[] = {{ctl_event_retry, "retried"}, {ctl_event_drop, "dropped"}};

START_TEST(test_all)
{
    const int row = _i / UNIT_ROWS(commands), command = _i % UNIT_ROWS(commands);
    ctl_t ctl = {.service.store = fixture_shop(unit_dir()), .pool = unit_pool};
    const char *output, *want = "";
    int before;
    ctl_exit_t got;

    script = rows[row].script;
    asked = 0;
    store_script.event_list = event_list;
    store_script.event_retry = event_retry;
    store_script.event_drop = event_drop;
    ctl.arg[0] = "one";
    ctl.option[CTL_OPTION_ALL] = "";
    ctl.option[CTL_OPTION_MODE] = "test";
    output = output_open(&before);
    got = commands[command].run(&ctl);
    output = output_read(output, before);
    ck_assert_msg(got == rows[row].want, "%s", rows[row].name);
    ck_assert_msg(asked == rows[row].asked, "%s: %d", rows[row].name, asked);
    ck_assert_str_eq(what, commands[command].word);
    if (rows[row].want == CTL_OK) {
        want = apr_psprintf(unit_pool, "%d %s\n", rows[row].changed, commands[command].word);
    }
    ck_assert_str_eq(output, want);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_all, 0, UNIT_ROWS(rows) * UNIT_ROWS(commands));
}

UNIT_PROGRAM(add)
