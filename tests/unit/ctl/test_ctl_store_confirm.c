/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"

#include "lmdb_fixture.h"
#include "output.h"
#include "store_script.h"
#include "unit.h"

/*
 * The output of `store confirm` before confirmation is complete: if one part cannot be read, the
 * command fails.
 */

static apr_status_t refund_waiting(apr_array_header_t **out, pay_store_t *store,
                                   const pay_scope_t *scope, int limit, apr_pool_t *p)
{
    (void)out, (void)store, (void)scope, (void)limit, (void)p;
    return PAY_STORE_EDOWN;
}

/* Keys, and grants. */
static apr_status_t named_list(apr_array_header_t **out, pay_store_t *store, const char *name,
                               apr_pool_t *p)
{
    (void)out, (void)store, (void)name, (void)p;
    return PAY_STORE_EDOWN;
}

/* It has counted some when it fails: the number of all is not known. */
static apr_status_t waiting_count(pay_waiting_t *out, pay_store_t *store, const pay_scope_t *scope,
                                  int limit)
{
    (void)store, (void)scope, (void)limit;
    memset(out, 0, sizeof(*out));
    out->tokens = out->events = 1;
    return PAY_STORE_EDOWN;
}

static apr_status_t waiting_count_live(pay_waiting_t *out, pay_store_t *store,
                                       const pay_scope_t *scope, int limit)
{
    (void)store, (void)limit;
    memset(out, 0, sizeof(*out));
    return scope->mode == PAY_LIVE ? PAY_STORE_EDOWN : APR_SUCCESS;
}

static apr_status_t account_list(apr_array_header_t **out, pay_store_t *store, apr_pool_t *p)
{
    (void)out, (void)store, (void)p;
    return PAY_STORE_EDOWN;
}

static const struct {
    const char *name;
    store_script_t script; /* those that fail */
    ctl_exit_t want;
} rows[] = {
    {"all of it", {.account_list = NULL}, CTL_OK},
    {"without the accounts", {.account_list = account_list}, CTL_EXIT_ACCESS},
    {"without the refunds", {.refund_waiting = refund_waiting}, CTL_EXIT_ACCESS},
    {"without the keys", {.key_list = named_list}, CTL_EXIT_ACCESS},
    {"without the grants", {.grant_list = named_list}, CTL_EXIT_ACCESS},
    {"without the counts", {.waiting_count = waiting_count}, CTL_EXIT_ACCESS},
    {"without those of Live Mode", {.waiting_count = waiting_count_live}, CTL_EXIT_ACCESS},
};

START_TEST(test_shown_whole)
{
    ctl_t ctl = {.service.store = fixture_shop(unit_dir()), .pool = unit_pool};
    const char *output;
    ctl_exit_t got;
    int before;

    store_script = rows[_i].script;
    output = output_open(&before);
    got = ctl_store_confirm(&ctl);
    output = output_read(output, before);
    ck_assert_msg(got == rows[_i].want, "%s", rows[_i].name);
    ck_assert_msg(!strstr(output, "card tokens") && !strstr(output, "events not delivered"),
                  "%s: %s", rows[_i].name, output);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_shown_whole, 0, UNIT_ROWS(rows));
}

UNIT_PROGRAM(add)
