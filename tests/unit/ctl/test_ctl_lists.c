/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"

#include "output.h"
#include "store_script.h"
#include "unit.h"

#include <string.h>

/*
 * Each list of paymentsctl, over a store that has the account and reads nothing else: the command
 * fails. A store on a disk that fails in the middle of a list would do the same only by chance.
 */

#define DOWN PAY_STORE_EDOWN

static apr_status_t account_get(pay_account_t **out, pay_store_t *store, const char *name,
                                apr_pool_t *p)
{
    (void)store;
    *out = apr_pcalloc(p, sizeof(**out));
    (*out)->name = name;
    (*out)->number = 1;
    (*out)->settings = pay_account_settings_builtin;
    return APR_SUCCESS;
}

static apr_status_t account_list(apr_array_header_t **out, pay_store_t *store, apr_pool_t *p)
{
    (void)store;
    *out = apr_array_make(p, 0, sizeof(pay_account_t *));
    return APR_SUCCESS;
}

static apr_status_t no_accounts(apr_array_header_t **out, pay_store_t *store, apr_pool_t *p)
{
    (void)out;
    (void)store;
    (void)p;
    return DOWN;
}

static apr_status_t one_account(apr_array_header_t **out, pay_store_t *store, apr_pool_t *p)
{
    *out = apr_array_make(p, 1, sizeof(pay_account_t *));
    return account_get(apr_array_push(*out), store, "shop", p);
}

/* Keys, and grants. */
static apr_status_t none_of_account(apr_array_header_t **out, pay_store_t *store, const char *name,
                                    apr_pool_t *p)
{
    (void)store;
    (void)name;
    *out = apr_array_make(p, 0, sizeof(void *));
    return DOWN;
}

static apr_status_t no_tokens(apr_array_header_t **out, pay_store_t *store,
                              const pay_scope_t *scope, apr_pool_t *p)
{
    (void)store;
    (void)scope;
    *out = apr_array_make(p, 0, sizeof(void *));
    return DOWN;
}

static apr_status_t no_links(apr_array_header_t **out, pay_store_t *store, const pay_scope_t *scope,
                             const char *after, int limit, apr_pool_t *p)
{
    (void)after;
    (void)limit;
    return no_tokens(out, store, scope, p);
}

static apr_status_t no_charges(apr_array_header_t **out, pay_store_t *store,
                               const pay_scope_t *scope, const pay_time_range_t *range,
                               const pay_charge_t *after, int limit, apr_pool_t *p)
{
    (void)range;
    (void)after;
    (void)limit;
    return no_tokens(out, store, scope, p);
}

static apr_status_t none_found(apr_array_header_t **out, pay_charge_cursor_t *cursor,
                               pay_store_t *store, const pay_scope_t *scope,
                               const pay_charge_filter_t *filter, int limit, apr_pool_t *p)
{
    (void)filter;
    (void)limit;
    cursor->done = 1;
    return no_tokens(out, store, scope, p);
}

static apr_status_t no_refunds(pay_refund_cursor_t *cursor, apr_size_t *len, apr_size_t *count,
                               pay_store_t *store, const pay_scope_t *scope,
                               const pay_time_range_t *range, char *buffer, apr_size_t size)
{
    (void)store;
    (void)scope;
    (void)range;
    (void)buffer;
    (void)size;
    cursor->done = 1;
    *len = *count = 0;
    return DOWN;
}

static apr_status_t no_page(apr_array_header_t **out, pay_page_cursor_t *cursor, pay_store_t *store,
                            const pay_scope_t *scope, const pay_time_range_t *range, int limit,
                            apr_pool_t *p)
{
    (void)range;
    (void)limit;
    cursor->done = 1;
    return no_tokens(out, store, scope, p);
}

static apr_status_t no_totals(apr_array_header_t **out, pay_store_t *store,
                              const pay_scope_t *scope, const pay_time_range_t *range,
                              const pay_total_t *after, int limit, apr_pool_t *p)
{
    (void)range;
    (void)after;
    (void)limit;
    return no_tokens(out, store, scope, p);
}

static apr_status_t no_events(apr_array_header_t **out, pay_store_t *store,
                              const pay_scope_t *scope, int parked, const pay_event_t *after,
                              int limit, apr_pool_t *p)
{
    (void)parked;
    (void)after;
    (void)limit;
    return no_tokens(out, store, scope, p);
}

static apr_status_t no_entries(apr_array_header_t **out, pay_store_t *store, apr_uint32_t account,
                               apr_uint64_t before, int limit, apr_pool_t *p)
{
    (void)store;
    (void)account;
    (void)before;
    (void)limit;
    *out = apr_array_make(p, 0, sizeof(void *));
    return DOWN;
}

static apr_status_t no_held(apr_array_header_t **out, pay_store_t *store, const pay_scope_t *scope,
                            const pay_due_t *after, int limit, apr_pool_t *p)
{
    (void)out;
    (void)store;
    (void)scope;
    (void)after;
    (void)limit;
    (void)p;
    return DOWN;
}

static char scopes_asked[20]; /* "t" for Test Mode, "l" for Live Mode, "*" for both */

static apr_status_t none_held(apr_array_header_t **out, pay_store_t *store,
                              const pay_scope_t *scope, const pay_due_t *after, int limit,
                              apr_pool_t *p)
{
    const size_t len = strlen(scopes_asked);

    (void)store;
    (void)after;
    (void)limit;
    ck_assert_uint_lt(len, sizeof(scopes_asked) - 1);
    scopes_asked[len] = scope ? pay_mode_name(scope->mode)[0] : '*';
    *out = apr_array_make(p, 0, sizeof(pay_due_t));
    return APR_SUCCESS;
}

/* Another one each time. */
static apr_status_t ever_more_held(apr_array_header_t **out, pay_store_t *store,
                                   const pay_scope_t *scope, const pay_due_t *after, int limit,
                                   apr_pool_t *p)
{
    pay_charge_t *charge = apr_pcalloc(p, sizeof(*charge));

    if (none_held(out, store, scope, after, limit, p) == APR_SUCCESS) {
        charge->reference = charge->acquirer = charge->acquirer_reference = "r1";
        apr_cpystrn(charge->money.currency, "NGN", sizeof(charge->money.currency));
        APR_ARRAY_PUSH(*out, pay_due_t) = (pay_due_t){.charge = charge};
    }
    return APR_SUCCESS;
}

static const store_script_t many_wait = {
    .account_get = account_get, .account_list = account_list, .held_list = ever_more_held};
static const store_script_t nobody_waits = {
    .account_get = account_get, .account_list = account_list, .held_list = none_held};
static const store_script_t nothing_held = {
    .account_get = account_get, .account_list = account_list, .held_list = no_held};
static const store_script_t nothing_known = {.account_get = account_get,
                                             .account_list = no_accounts};
static const store_script_t only_accounts = {.account_get = account_get,
                                             .account_list = one_account,
                                             .key_list = none_of_account,
                                             .grant_list = none_of_account,
                                             .token_list = no_tokens,
                                             .link_list = no_links,
                                             .charge_list = no_charges,
                                             .charge_search = none_found,
                                             .refund_scan = no_refunds,
                                             .refund_page = no_page,
                                             .total_list = no_totals,
                                             .event_list = no_events,
                                             .audit_list = no_entries};

static const struct {
    const char *name;
    ctl_exit_t (*run)(ctl_t *);
    const store_script_t *script;
    const char *account, *mode;
    const char *state;
} rows[] = {
    {"what is held", ctl_held_list, &nothing_held, NULL, NULL, NULL},
    {"in Live Mode", ctl_held_list, &nothing_held, NULL, "live", NULL},
    {"of an account", ctl_held_list, &nothing_held, "shop", NULL, NULL},
    {"of its Live Mode", ctl_held_list, &nothing_held, "shop", "live", NULL},
    {"what is held, without accounts", ctl_held_list, &nothing_known, NULL, NULL, NULL},
    {"accounts", ctl_account_list, &nothing_known, NULL, NULL, NULL},
    {"grants, without accounts", ctl_account_grants, &nothing_known, NULL, NULL, NULL},
    {"grants", ctl_account_grants, &only_accounts, NULL, NULL, NULL},
    {"grants of an account", ctl_account_grants, &only_accounts, "shop", NULL, NULL},
    {"audit, without accounts", ctl_audit_list, &nothing_known, NULL, NULL, NULL},
    {"audit", ctl_audit_list, &only_accounts, NULL, NULL, NULL},
    {"audit of an account", ctl_audit_list, &only_accounts, "shop", NULL, NULL},
    {"keys", ctl_key_list, &only_accounts, "shop", NULL, NULL},
    {"tokens", ctl_token_list, &only_accounts, "shop", "test", NULL},
    {"payment links", ctl_link_list, &only_accounts, "shop", "test", NULL},
    {"charges", ctl_charge_list, &only_accounts, "shop", "test", NULL},
    {"charges of a state", ctl_charge_list, &only_accounts, "shop", "test", "successful"},
    {"refunds", ctl_refund_list, &only_accounts, "shop", "test", NULL},
    {"refunds to link", ctl_refund_link, &only_accounts, "shop", "live", NULL},
    {"totals", ctl_totals, &only_accounts, "shop", "test", NULL},
    {"events", ctl_event_list, &only_accounts, "shop", "test", NULL},
};

START_TEST(test_a_store_that_fails)
{
    ctl_t ctl = {.pool = unit_pool};

    store_script = *rows[_i].script;
    ctl.arg[0] = rows[_i].account;
    ctl.option[CTL_OPTION_MODE] = rows[_i].mode;
    ctl.option[CTL_OPTION_STATE] = rows[_i].state;
    ctl.option[CTL_OPTION_BY] = "day";
    ck_assert_msg(rows[_i].run(&ctl) == CTL_EXIT_ACCESS, "%s", rows[_i].name);
}
END_TEST

/* The store's records of refunds. */
static const struct {
    const char *name;
    const char *text;
    ctl_exit_t want;
} record_rows[] = {
    {"none", "", CTL_OK},
    {"no object", "x", CTL_EXIT_NOT_VALID},
    {"one that does not end", "{\"id\":\"}", CTL_EXIT_NOT_VALID},
    {"one that ends in an escape", "{\"id\":\"\\", CTL_EXIT_NOT_VALID},
    {"one that ends inside of another", "{\"id\":{}", CTL_EXIT_NOT_VALID},
    {"no JSON", "{x}", CTL_EXIT_NOT_VALID},
    {"no refund", "{}", CTL_EXIT_NOT_VALID},
};

static const char *records;

static apr_status_t records_scan(pay_refund_cursor_t *cursor, apr_size_t *len, apr_size_t *count,
                                 pay_store_t *store, const pay_scope_t *scope,
                                 const pay_time_range_t *range, char *buffer, apr_size_t size)
{
    (void)store;
    (void)scope;
    (void)range;
    cursor->done = 1;
    apr_cpystrn(buffer, records, size);
    *len = strlen(records);
    *count = 1;
    return APR_SUCCESS;
}

START_TEST(test_records_that_are_none)
{
    static const store_script_t script = {.account_get = account_get, .refund_scan = records_scan};
    ctl_t ctl = {.pool = unit_pool};

    store_script = script;
    records = record_rows[_i].text;
    ctl.arg[0] = "shop";
    ctl.option[CTL_OPTION_MODE] = "test";
    ck_assert_msg(ctl_refund_list(&ctl) == record_rows[_i].want, "%s", record_rows[_i].name);
}
END_TEST

/* In JSON each is printed as it is stored, whatever it contains. */
static const struct {
    const char *text, *want;
} json_rows[] = {
    {"", "[]\n"},
    {"{}", "[\n{}\n]\n"},
    {",{\"a\":1}", "[\n{\"a\":1}\n]\n"},
    {"{\"a\":{\"b\":{}}},{\"c\":2}", "[\n{\"a\":{\"b\":{}}},\n{\"c\":2}\n]\n"},
    {"{\"a\":\"}{\\\"}\\\\\"},{\"c\":\",\"}", "[\n{\"a\":\"}{\\\"}\\\\\"},\n{\"c\":\",\"}\n]\n"},
};

START_TEST(test_records_as_they_are)
{
    static const store_script_t ops = {.account_get = account_get, .refund_scan = records_scan};
    ctl_t ctl = {.service.store = STORE_NONE, .pool = unit_pool, .json = 1};
    const char *output;
    int before;

    store_script = ops;
    records = json_rows[_i].text;
    ctl.arg[0] = "shop";
    ctl.option[CTL_OPTION_MODE] = "test";
    output = output_open(&before);
    ck_assert_int_eq(ctl_refund_list(&ctl), CTL_OK);
    ck_assert_str_eq(output_read(output, before), json_rows[_i].want);
}
END_TEST

static const struct {
    const char *account, *mode;
    const char *want;
} scope_rows[] = {
    {NULL, NULL, "*"},     {NULL, "live", "*"},   {"shop", NULL, "tl"},
    {"shop", "test", "t"}, {"shop", "live", "l"},
};

START_TEST(test_held_in_each_mode_once)
{
    ctl_t ctl = {.pool = unit_pool};

    store_script = nobody_waits;
    memset(scopes_asked, 0, sizeof(scopes_asked));
    ctl.arg[0] = scope_rows[_i].account;
    ctl.option[CTL_OPTION_MODE] = scope_rows[_i].mode;
    ck_assert_int_eq(ctl_held_list(&ctl), CTL_OK);
    ck_assert_str_eq(scopes_asked, scope_rows[_i].want);
}
END_TEST

START_TEST(test_a_full_list_asks_for_no_more)
{
    static const char *const limits[] = {"1", "2", "5"};
    ctl_t ctl = {.pool = unit_pool};

    store_script = many_wait;
    memset(scopes_asked, 0, sizeof(scopes_asked));
    ctl.option[CTL_OPTION_LIMIT] = limits[_i];
    ck_assert_int_eq(ctl_held_list(&ctl), CTL_OK);
    ck_assert_int_eq((int)strlen(scopes_asked), atoi(limits[_i]));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_a_store_that_fails, 0, UNIT_ROWS(rows));
    tcase_add_loop_test(tcase, test_records_that_are_none, 0, UNIT_ROWS(record_rows));
    tcase_add_loop_test(tcase, test_records_as_they_are, 0, UNIT_ROWS(json_rows));
    tcase_add_loop_test(tcase, test_held_in_each_mode_once, 0, UNIT_ROWS(scope_rows));
    tcase_add_loop_test(tcase, test_a_full_list_asks_for_no_more, 0, 3);
}

UNIT_PROGRAM(add)
