/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"

#include "shown.h"
#include "store_script.h"

/* Commands that go through the store in steps: where they end, and their messages then. */

static int steps;

static apr_status_t account_get(pay_account_t **out, pay_store_t *store, const char *name,
                                apr_pool_t *p)
{
    (void)store;
    *out = apr_pcalloc(p, sizeof(**out));
    (*out)->name = name;
    (*out)->number = 7;
    (*out)->settings = pay_account_settings_builtin;
    return APR_SUCCESS;
}

static ctl_exit_t run_of(ctl_exit_t (*run)(ctl_t *), const store_script_t *ops, ctl_t *ctl,
                         const char **output, const char **said)
{
    int out_before, err_before;
    ctl_exit_t got;

    store_script = *ops;
    ctl->service.store = STORE_NONE;
    ctl->pool = unit_pool;
    ctl->arg[0] = "shop";
    steps = 0;
    *said = output_away(stderr, &err_before);
    *output = output_open(&out_before);
    got = run(ctl);
    *output = shown_squeeze(output_read(*output, out_before));
    *said = output_back(stderr, *said, err_before);
    return got;
}

/* ---- payer erase, account reset */

#define ERASED "MODE|CHARGES|REFUNDS|EVENTS|TOKENS|ANSWERS|LEFT\n"
#define PENDING                                                                                    \
    "paymentsctl: 3 charges of this payer are pending and were left as they are; run the same "    \
    "command again once they are decided\n"
#define IN_USE "paymentsctl: 3 charges were in use and are left; run the same command again\n"

static const struct erase_row_t {
    const char *name;
    ctl_exit_t (*run)(ctl_t *ctl);
    const char *mode;
    int last;    /* the step that is the last of a mode */
    int failing; /* the step at which the store fails; 0: none */
    apr_uint64_t left;
    ctl_exit_t want;
    const char *prints, *says;
} erase_rows[] = {
    {"both modes", ctl_payer_erase, NULL, 2, 0, 0, CTL_OK,
     ERASED "test|1|2|3|4|5|0\nlive|1|2|3|4|5|0\n", ""},
    {"both by their name", ctl_payer_erase, "both", 1, 0, 0, CTL_OK,
     ERASED "test|1|2|3|4|5|0\nlive|1|2|3|4|5|0\n", ""},
    {"one", ctl_payer_erase, "live", 2, 0, 0, CTL_OK, ERASED "live|1|2|3|4|5|0\n", ""},
    {"pending ones", ctl_payer_erase, "test", 1, 0, 3, CTL_EXIT_REFUSED,
     ERASED "test|1|2|3|4|5|3\n", PENDING},
    {"a store that fails", ctl_payer_erase, NULL, 3, 2, 0, CTL_EXIT_NOT_VALID, "", NULL},
    {"Test Mode", ctl_account_reset, "test", 3, 0, 0, CTL_OK, ERASED "test|1|2|3|4|5|0\n", ""},
    {"some in use", ctl_account_reset, "test", 1, 0, 3, CTL_EXIT_REFUSED,
     ERASED "test|1|2|3|4|5|3\n", IN_USE},
    {"a store that fails then", ctl_account_reset, "test", 3, 2, 0, CTL_EXIT_NOT_VALID, "", NULL},
};

static const struct erase_row_t *erase_row;

static apr_status_t payer_erase(pay_erasure_t *at, pay_store_t *store, const pay_scope_t *scope,
                                const char *email, apr_pool_t *p)
{
    (void)store, (void)scope, (void)p;
    ck_assert_str_eq(email, "ada@example.com");
    at->charges = 1;
    at->refunds = 2;
    at->events = 3;
    at->tokens = 4;
    at->answers = 5;
    at->left = erase_row->left;
    steps++;
    at->done = steps % erase_row->last == 0;
    return steps == erase_row->failing ? PAY_STORE_ECORRUPT : APR_SUCCESS;
}

static apr_status_t scope_reset(pay_reset_t *at, pay_store_t *store, const pay_scope_t *scope,
                                apr_pool_t *p)
{
    pay_erasure_t erasure = {.done = 0};
    const apr_status_t rv = payer_erase(&erasure, store, scope, "ada@example.com", p);

    at->charges = erasure.charges;
    at->refunds = erasure.refunds;
    at->events = erasure.events;
    at->tokens = erasure.tokens;
    at->answers = erasure.answers;
    at->left = erasure.left;
    at->done = erasure.done;
    return rv;
}

START_TEST(test_erasing)
{
    static const store_script_t ops = {
        .account_get = account_get, .payer_erase = payer_erase, .scope_reset = scope_reset};
    const char *output, *said;
    ctl_t ctl = {.json = 0};
    ctl_exit_t got;

    erase_row = &erase_rows[_i];
    ctl.option[CTL_OPTION_EMAIL] = "Ada@example.com";
    ctl.option[CTL_OPTION_MODE] = erase_row->mode;
    got = run_of(erase_row->run, &ops, &ctl, &output, &said);
    ck_assert_msg(got == erase_row->want, "%s: exit status %d", erase_row->name, (int)got);
    ck_assert_msg(strcmp(output, erase_row->prints) == 0, "%s: %s", erase_row->name, output);
    ck_assert_msg(!erase_row->says || strcmp(said, erase_row->says) == 0, "%s: %s", erase_row->name,
                  said);
    ck_assert_int_le(steps, 4);
}
END_TEST

/* ---- lists that are full, or at their end, ask for no more */

static const struct end_row_t {
    const char *name;
    ctl_exit_t (*run)(ctl_t *ctl);
    const char *limit;
    const char *state;
    int rows;  /* of each step but the last */
    int there; /* steps that find some */
    int want;  /* requested steps */
} end_rows[] = {
    {"charges", ctl_charge_list, NULL, NULL, 2, 2, 3},
    {"charges to a limit", ctl_charge_list, "2", NULL, 2, 9, 1},
    {"charges to a limit of two steps", ctl_charge_list, "3", NULL, 2, 9, 2},
    {"charges that are found", ctl_charge_list, NULL, "failed", 2, 2, 3},
    {"found to a limit", ctl_charge_list, "2", "failed", 2, 9, 1},
    {"found to a limit of two steps", ctl_charge_list, "3", "failed", 2, 9, 2},
    {"links", ctl_link_list, NULL, NULL, 2, 2, 3},
    {"links to a limit", ctl_link_list, "2", NULL, 2, 9, 1},
    {"the audit", ctl_audit_list, NULL, NULL, 2, 2, 3},
    {"the audit to its first entry", ctl_audit_list, NULL, NULL, 2, 5, 5},
    {"the audit to a limit", ctl_audit_list, "2", NULL, 2, 9, 1},
    {"events", ctl_event_list, NULL, NULL, 2, 2, 3},
    {"events to a limit", ctl_event_list, "2", NULL, 2, 9, 1},
};

static const struct end_row_t *end_row;

/* So many rows of that size, each zero. */
static apr_array_header_t *step_of(apr_size_t size, apr_pool_t *p)
{
    apr_array_header_t *rows = apr_array_make(p, 2, sizeof(void *));
    int i;

    steps++;
    for (i = 0; i < end_row->rows && steps <= end_row->there; i++) {
        APR_ARRAY_PUSH(rows, void *) = apr_pcalloc(p, size);
    }
    return rows;
}

static apr_status_t charge_list(apr_array_header_t **out, pay_store_t *store,
                                const pay_scope_t *scope, const pay_time_range_t *range,
                                const pay_charge_t *after, int limit, apr_pool_t *p)
{
    (void)store, (void)scope, (void)range, (void)limit;
    ck_assert((after != NULL) == (steps > 0));
    *out = step_of(sizeof(pay_charge_t), p);
    return APR_SUCCESS;
}

static apr_status_t charge_search(apr_array_header_t **out, pay_charge_cursor_t *cursor,
                                  pay_store_t *store, const pay_scope_t *scope,
                                  const pay_charge_filter_t *filter, int limit, apr_pool_t *p)
{
    (void)store, (void)scope, (void)limit;
    ck_assert_uint_eq(filter->words, 1U << PAY_CHARGE_FAILED);
    *out = step_of(sizeof(pay_charge_t), p);
    cursor->done = steps > end_row->there;
    return APR_SUCCESS;
}

static apr_status_t link_list(apr_array_header_t **out, pay_store_t *store,
                              const pay_scope_t *scope, const char *after, int limit, apr_pool_t *p)
{
    int i;

    (void)store, (void)scope, (void)limit;
    ck_assert((after != NULL) == (steps > 0));
    *out = step_of(sizeof(pay_link_t), p);
    for (i = 0; i < (*out)->nelts; i++) {
        APR_ARRAY_IDX(*out, i, pay_link_t *)->reference = "l-1";
        APR_ARRAY_IDX(*out, i, pay_link_t *)->page_id = "P";
    }
    return APR_SUCCESS;
}

/* Entries 10 and 9, then 8 and 7, and so on to the first one. */
static apr_status_t audit_list(apr_array_header_t **out, pay_store_t *store, apr_uint32_t number,
                               apr_uint64_t before, int limit, apr_pool_t *p)
{
    apr_uint64_t seq = steps > 0 ? before : 11;
    int i;

    (void)store, (void)number, (void)limit;
    ck_assert((before != 0) == (steps > 0));
    *out = step_of(sizeof(pay_audit_t), p);
    for (i = 0; i < (*out)->nelts; i++) {
        APR_ARRAY_IDX(*out, i, pay_audit_t *)->seq = --seq;
        APR_ARRAY_IDX(*out, i, pay_audit_t *)->at = SHOWN_AT(0);
    }
    return APR_SUCCESS;
}

static apr_status_t event_list(apr_array_header_t **out, pay_store_t *store,
                               const pay_scope_t *scope, int parked, const pay_event_t *after,
                               int limit, apr_pool_t *p)
{
    int i;

    (void)store, (void)scope, (void)limit;
    ck_assert_int_eq(parked, 0);
    ck_assert((after != NULL) == (steps > 0));
    *out = step_of(sizeof(pay_event_t), p);
    for (i = 0; i < (*out)->nelts; i++) {
        APR_ARRAY_IDX(*out, i, pay_event_t *)->endpoint = PAY_ENDPOINT_WEBHOOK;
        APR_ARRAY_IDX(*out, i, pay_event_t *)->kind = PAY_EVENT_TEST;
        APR_ARRAY_IDX(*out, i, pay_event_t *)->error = "";
    }
    return APR_SUCCESS;
}

static int lines_of(const char *text)
{
    int lines = 0;

    for (; *text; text++) {
        lines += *text == '\n';
    }
    return lines;
}

START_TEST(test_ends)
{
    static const store_script_t ops = {.account_get = account_get,
                                       .charge_list = charge_list,
                                       .charge_search = charge_search,
                                       .link_list = link_list,
                                       .audit_list = audit_list,
                                       .event_list = event_list};
    const int found = end_rows[_i].rows * end_rows[_i].there;
    const char *output, *said;
    ctl_t ctl = {.json = 0};

    end_row = &end_rows[_i];
    ctl.option[CTL_OPTION_MODE] = "test";
    ctl.option[CTL_OPTION_LIMIT] = end_row->limit;
    ctl.option[CTL_OPTION_STATE] = end_row->state;
    ck_assert_int_eq(run_of(end_row->run, &ops, &ctl, &output, &said), CTL_OK);
    ck_assert_msg(steps == end_row->want, "%s: %d steps", end_row->name, steps);
    ck_assert_msg(lines_of(output) == 1 + (end_row->limit ? atoi(end_row->limit) : found), "%s: %s",
                  end_row->name, output);
}
END_TEST

/* ---- refund link: verdicts */

static const struct link_row_t {
    const char *name;
    apr_status_t rv;
    pay_refund_link_t verdict;
    ctl_exit_t want;
    const char *row; /* NULL: none is printed */
} link_rows[] = {
    {"linked", 0, PAY_REFUND_LINKED, CTL_OK, "r-1|a-1|processed|1.00|EUR|c-1|can be linked|"},
    {"by another one meanwhile", 0, PAY_REFUND_LINK_KNOWN, CTL_OK, NULL},
    {"without a charge", 0, PAY_REFUND_LINK_NONE, CTL_OK,
     "r-1|a-1|processed|1.00|EUR|c-1|charge not known here|"},
    {"gone", APR_NOTFOUND, PAY_REFUND_LINKED, CTL_OK, NULL},
    {"a store that fails", PAY_STORE_ECORRUPT, PAY_REFUND_LINKED, CTL_EXIT_NOT_VALID, NULL},
};

static const struct link_row_t *link_row;

static apr_status_t refund_link(pay_refund_t **out, pay_charge_t **charge,
                                pay_refund_link_t *verdict, pay_store_t *store,
                                const pay_scope_t *scope, const char *reference, int change,
                                apr_pool_t *p)
{
    (void)store, (void)scope, (void)change;
    steps++;
    *out = apr_pcalloc(p, sizeof(**out));
    (*out)->refund_reference = reference;
    (*out)->money = (pay_money_t){100, "EUR"};
    (*out)->state = PAY_REFUND_PROCESSED;
    (*out)->acquirer_charge = "a-1";
    (*out)->created_at = SHOWN_AT(0);
    *charge = apr_pcalloc(p, sizeof(**charge));
    (*charge)->reference = "c-1";
    *verdict = link_row->verdict;
    return link_row->rv;
}

/* One that has a charge, and one that has none. */
static apr_status_t refund_page(apr_array_header_t **out, pay_page_cursor_t *cursor,
                                pay_store_t *store, const pay_scope_t *scope,
                                const pay_time_range_t *range, int limit, apr_pool_t *p)
{
    pay_refund_t *refunds = apr_pcalloc(p, 2 * sizeof(*refunds));

    (void)store, (void)scope, (void)range, (void)limit;
    cursor->done = 1;
    refunds[0].refund_reference = "r-0";
    refunds[0].charge_seq = 1;
    refunds[1].refund_reference = "r-1";
    refunds[1].acquirer_charge = "a-1";
    *out = apr_array_make(p, 2, sizeof(void *));
    APR_ARRAY_PUSH(*out, pay_refund_t *) = &refunds[0];
    APR_ARRAY_PUSH(*out, pay_refund_t *) = &refunds[1];
    return APR_SUCCESS;
}

START_TEST(test_linking)
{
    static const store_script_t ops = {
        .account_get = account_get, .refund_page = refund_page, .refund_link = refund_link};
    const char *output, *said;
    ctl_t ctl = {.json = 0};
    ctl_exit_t got;

    link_row = &link_rows[_i];
    ctl.option[CTL_OPTION_MODE] = "live";
    got = run_of(ctl_refund_link, &ops, &ctl, &output, &said);
    ck_assert_msg(got == link_row->want, "%s: exit status %d", link_row->name, (int)got);
    ck_assert_int_eq(steps, 1);
    ck_assert_msg(lines_of(output) == (link_row->row ? 2 : 1), "%s: %s", link_row->name, output);
    ck_assert_msg(!link_row->row || strstr(output, link_row->row), "%s: %s", link_row->name,
                  output);
    ck_assert_msg(!strstr(said, "of them can be linked")
                      == !(link_row->row && link_row->verdict == PAY_REFUND_LINKED),
                  "%s: %s", link_row->name, said);
}
END_TEST

/* ---- account grant */

static apr_status_t grant_put(pay_grant_t **out, pay_grant_verdict_t *verdict, pay_store_t *store,
                              const char *name, const char *host, const char *user, pay_role_t role,
                              int keep_owner, apr_pool_t *p)
{
    (void)out, (void)store, (void)name, (void)host, (void)user, (void)p;
    ck_assert_int_eq(role, PAY_ROLE_VIEWER);
    ck_assert_int_eq(keep_owner, 0);
    *verdict = PAY_GRANT_REFUSED_FULL;
    return APR_SUCCESS;
}

START_TEST(test_grants_have_an_end)
{
    static const store_script_t ops = {.account_get = account_get, .grant_put = grant_put};
    const char *output, *said;
    ctl_t ctl = {.arg = {NULL, "ada"}};

    ctl.option[CTL_OPTION_HOST] = "pay.example";
    ctl.option[CTL_OPTION_ROLE] = "viewer";
    ck_assert_int_eq(run_of(ctl_account_grant, &ops, &ctl, &output, &said), CTL_EXIT_REFUSED);
    ck_assert_ptr_nonnull(
        strstr(said, "The account, or the user, has the maximum number of grants"));
    ck_assert_str_eq(output, "");
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_erasing, 0, UNIT_ROWS(erase_rows));
    tcase_add_loop_test(tcase, test_ends, 0, UNIT_ROWS(end_rows));
    tcase_add_loop_test(tcase, test_linking, 0, UNIT_ROWS(link_rows));
    tcase_add_test(tcase, test_grants_have_an_end);
}

UNIT_PROGRAM(add)
