/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/conf/acquirer.h"
#include "httpd/conf/row.h"

#include "request.h"

/* ---- each row of the table: its bounds, its default, and who inherits it */

/* Two values of each directive that has a setter of its own, neither of them its default. Those of
 * the others are made up from their rows, so that a new row needs no new test. */
static const struct {
    const char *directive;
    const char *main_server;
    const char *host;
} own_values[] = {
    {"PaymentsStore", "lmdb:/a", "lmdb:/b"},
    {"PaymentsCurrencies", "USD NGN", "EUR"},
    {"PaymentsTrustedTLSProxy", "10.0.0.0/8", "192.0.2.1"},
    {"PaymentsAcquirer", "live relay https://a.example", "live relay https://b.example"},
    {"PaymentsRateLimit", "10/s", "secret 20/s"},
    {"PaymentsRateLimit", "public 10/s", "public off"},
    {"PaymentsRateLimit", "public-total 10/s", "public-total off"},
    {"PaymentsAuthFailureLimit", "10/s", "off"},
    {"PaymentsFailureLimit", "card 7/h", "card 8/h"},
    {"PaymentsFailureLimit", "account 7/h", "link 8/h"},
    {"PaymentsFailureLimit", "off", "address 8/h, card 9/h"},
    {"PaymentsCORSOrigin", "https://a.example", "https://b.example"},
    {"PaymentsReturnHosts", "a.example", "b.example"},
    {"PaymentsMasterKey", "file:/a.key", "file:/b.key"},
    {"PaymentsWebhookAllow", "10.0.0.0/8 fd00::/8", "192.0.2.1"},
    {"PaymentsMailRelay", "smtp://mail.example:25 /login", "smtps://mail.example"},
};

typedef struct given_t {
    const command_rec *directive;
    const pay_conf_row_t *row;
    const char *value[2];
} given_t;

static int is_standard(const pay_conf_row_t *row, const char *text)
{
    return row->members->standard && !strcmp(*(const char *const *)row->members->standard, text);
}

static void give_texts(given_t *given)
{
    static const char *const texts[] = {
        "/a",
        "/b",
        "one",
        "two",
        "USD",
        "EUR",
        "https://a.example",
        "https://b.example",
        "a@a.example",
        "b@b.example",
        "Africa/Lagos",
        "Africa/Accra",
    };
    const char *text;
    int i, count = 0;

    for (i = 0; i < UNIT_ROWS(texts) && count < 2; i++) {
        text = given->row->text(texts[i], unit_pool);
        if (text && !is_standard(given->row, text)) {
            given->value[count++] = texts[i];
        }
    }
    ck_assert_msg(count == 2, "%s: add two of its values to `texts`", given->directive->name);
}

static const char *wait_text(apr_interval_time_t wait)
{
    return wait % APR_USEC_PER_SEC
               ? apr_psprintf(unit_pool, "%" APR_TIME_T_FMT "ms", apr_time_as_msec(wait))
               : apr_psprintf(unit_pool, "%" APR_TIME_T_FMT "s", apr_time_sec(wait));
}

static const char *number_text(const pay_conf_row_t *row, apr_int64_t number)
{
    return row->kind == PAY_CONF_COUNT || row->kind == PAY_CONF_BYTES
               ? apr_psprintf(unit_pool, "%" APR_INT64_T_FMT, number)
               : wait_text(number);
}

/* The smallest step between two values. */
static apr_int64_t step_of(const pay_conf_row_t *row)
{
    return row->kind == PAY_CONF_COUNT || row->kind == PAY_CONF_BYTES ? 1 : apr_time_from_msec(1);
}

static void give(given_t *given)
{
    const pay_conf_row_t *row = given->row;

    switch (row->kind) {
    case PAY_CONF_OWN:
        given->directive = NULL; /* own_values has it, or a test fails */
        break;
    case PAY_CONF_FLAG:
        given->value[0] = row->words[row->members->standard != NULL];
        given->value[1] = row->words[row->members->standard == NULL];
        break;
    case PAY_CONF_TEXT:
        give_texts(given);
        break;
    default:
        given->value[0] = number_text(row, row->min + step_of(row));
        given->value[1] = number_text(row, row->min + 2 * step_of(row));
    }
}

static int row_count(void)
{
    int count = 0;

    while (pay_conf_directives[count].name) {
        count++;
    }
    return count;
}

/* Number `i` of the rows of own_values, then of pay_conf_directives. */
static given_t given_of(int i)
{
    given_t given = {.directive = pay_conf_directives};

    if (i < UNIT_ROWS(own_values)) {
        while (strcmp(given.directive->name, own_values[i].directive) != 0) {
            given.directive++;
            ck_assert_msg(given.directive->name != NULL, "%s", own_values[i].directive);
        }
        given.row = given.directive->cmd_data;
        given.value[0] = own_values[i].main_server;
        given.value[1] = own_values[i].host;
        return given;
    }
    given.directive = &pay_conf_directives[i - UNIT_ROWS(own_values)];
    given.row = given.directive->cmd_data;
    give(&given);
    return given;
}

static pay_conf_t *merged(const server_rec *main_server, const server_rec *host)
{
    return pay_conf_merge(unit_pool, pay_conf_get(main_server), pay_conf_get(host));
}

static int is_same(const void *one, const void *two, const pay_conf_member_t *member)
{
    return !memcmp((const char *)one + member->at, (const char *)two + member->at, member->size);
}

/* Whether the two have one value in each member of the directive. */
static int are_same(const pay_conf_t *one, const pay_conf_t *two, const given_t *given)
{
    const pay_conf_member_t *member = given->row->members;

    while (member->size && is_same(one, two, member)) {
        member++;
    }
    return !member->size;
}

/* A server with the first or the second value. */
static server_rec *server_with(const given_t *given, int value)
{
    server_rec *s = request_server();

    request_set(s, given->directive->name, given->value[value]);
    return s;
}

/* The directive changes a member of its row, and nothing else. */
START_TEST(test_members)
{
    const given_t given = given_of(_i);
    const pay_conf_t *plain = pay_conf_get(request_server());
    const pay_conf_member_t *member;
    pay_conf_t *conf;

    if (!given.directive) {
        return;
    }
    ck_assert_msg(given.directive->errmsg && *given.directive->errmsg, "no help");
    conf = pay_conf_get(server_with(&given, 0));
    ck_assert_msg(!are_same(conf, plain, &given), "%s: no change", given.directive->name);
    for (member = given.row->members; member->size; member++) {
        memcpy((char *)conf + member->at, (const char *)plain + member->at, member->size);
    }
    memset(conf->said, 0, sizeof(conf->said));
    ck_assert_msg(!memcmp(conf, plain, sizeof(*conf)), "%s changes what is not in its row",
                  given.directive->name);
}
END_TEST

START_TEST(test_default)
{
    const given_t given = given_of(_i);
    static const char zeros[sizeof(pay_conf_t)];
    const pay_conf_t *conf = merged(request_server(), request_server());
    const pay_conf_member_t *member;

    for (member = given.directive ? given.row->members : NULL; member && member->size; member++) {
        ck_assert_msg(!memcmp((const char *)conf + member->at,
                              member->standard ? member->standard : zeros, member->size),
                      "%s", given.directive->name);
    }
}
END_TEST

START_TEST(test_given_by_the_main_server)
{
    const given_t given = given_of(_i);
    server_rec *plain = request_server();
    server_rec *further = request_server();
    server_rec *main_server;
    const pay_conf_t *want;

    if (!given.directive) {
        return;
    }
    main_server = server_with(&given, 0);
    want = pay_conf_get(given.row->scope == PAY_CONF_HOST ? plain : main_server);
    ck_assert_msg(are_same(merged(main_server, plain), want, &given), "%s: once",
                  given.directive->name);
    ((void **)further->module_config)[1] = merged(main_server, plain);
    ck_assert_msg(are_same(merged(further, plain), want, &given), "%s: is forgotten",
                  given.directive->name);
    ck_assert_msg(are_same(merged(plain, further), want, &given), "%s: counts as not given",
                  given.directive->name);
}
END_TEST

START_TEST(test_given_by_the_host)
{
    const given_t given = given_of(_i);
    server_rec *plain = request_server();
    server_rec *main_server, *host;
    const pay_conf_member_t *member;
    const pay_conf_t *both, *want;
    const char *fault;

    if (!given.directive) {
        return;
    }
    main_server = server_with(&given, 0);
    if (given.row->scope == PAY_CONF_GLOBAL) {
        fault = request_directive(request_host(main_server), given.directive->name, given.value[1]);
        ck_assert_msg(fault && strstr(fault, "VirtualHost"), "%s", given.directive->name);
        return;
    }
    host = server_with(&given, 1);
    ck_assert_msg(!are_same(pay_conf_get(main_server), pay_conf_get(host), &given), "no change");
    ck_assert_msg(are_same(merged(plain, host), pay_conf_get(host), &given), "%s: alone",
                  given.directive->name);
    both = merged(main_server, host);
    for (member = given.row->members; member->size; member++) {
        want = pay_conf_get(is_same(pay_conf_get(host), pay_conf_get(plain), member)
                                    && given.row->members[1].size
                                ? main_server
                                : host); /* of several, it has those that it changes */
        ck_assert_msg(is_same(both, want, member), "%s: over the main server's",
                      given.directive->name);
    }
}
END_TEST

/* One step past its bounds a value is refused, by a sentence that has the bounds. */
START_TEST(test_bounds)
{
    const command_rec *directive = &pay_conf_directives[_i];
    const pay_conf_row_t *row = directive->cmd_data;
    const char *past, *fault;

    if (row->kind == PAY_CONF_OWN) {
        return;
    }
    fault = request_directive(request_server(), directive->name, "");
    ck_assert_str_eq(fault,
                     apr_psprintf(unit_pool, "%s: want %s, got ''", directive->name, row->want));
    if (row->kind == PAY_CONF_FLAG || row->kind == PAY_CONF_TEXT) {
        return;
    }
    request_set(request_server(), directive->name, number_text(row, row->min));
    request_set(request_server(), directive->name, number_text(row, row->max));
    past = number_text(row, row->max + step_of(row));
    ck_assert_msg(request_directive(request_server(), directive->name, past) != NULL, "%s %s",
                  directive->name, past);
    past = number_text(row, row->min - step_of(row));
    ck_assert_msg(request_directive(request_server(), directive->name, past) != NULL, "%s %s",
                  directive->name, past);
}
END_TEST

START_TEST(test_own_setters_have_values)
{
    const command_rec *directive = &pay_conf_directives[_i];
    int i;

    for (i = 0; i < UNIT_ROWS(own_values); i++) {
        if (!strcmp(own_values[i].directive, directive->name)) {
            return;
        }
    }
    ck_assert_msg(((const pay_conf_row_t *)directive->cmd_data)->kind != PAY_CONF_OWN,
                  "%s has a setter of its own, and no values in own_values", directive->name);
}
END_TEST

/* What one host opens is not open in another, and what delivers is of the whole server. */
static const struct {
    const char *directive;
    pay_conf_scope_t scope;
} scopes[] = {
    {"PaymentsEngine", PAY_CONF_HOST},          {"PaymentsCORSOrigin", PAY_CONF_HOST},
    {"PaymentsHealth", PAY_CONF_HOST},          {"PaymentsMetrics", PAY_CONF_HOST},
    {"PaymentsDashboard", PAY_CONF_HOST},       {"PaymentsWebhookInsecure", PAY_CONF_GLOBAL},
    {"PaymentsWebhookAllow", PAY_CONF_GLOBAL},  {"PaymentsTrustedCA", PAY_CONF_GLOBAL},
    {"PaymentsMailRelay", PAY_CONF_GLOBAL},     {"PaymentsMailFrom", PAY_CONF_GLOBAL},
    {"PaymentsMailTemplates", PAY_CONF_GLOBAL}, {"PaymentsStore", PAY_CONF_INHERITED},
};

START_TEST(test_scopes)
{
    const command_rec *directive = pay_conf_directives;

    while (strcmp(directive->name, scopes[_i].directive) != 0) {
        directive++;
        ck_assert_msg(directive->name != NULL, "%s", scopes[_i].directive);
    }
    ck_assert_msg(((const pay_conf_row_t *)directive->cmd_data)->scope == scopes[_i].scope, "%s",
                  scopes[_i].directive);
}
END_TEST

/* ---- values that are not inherited */

/* A limit of failures of one kind leaves the others as in the main server. */
START_TEST(test_failure_kinds_are_inherited_one_by_one)
{
    server_rec *main_server = request_server();
    server_rec *host = request_server();
    const pay_conf_t *conf;
    int mode;

    request_set(main_server, "PaymentsFailureLimit", "card 7/h, address 9/h");
    request_set(host, "PaymentsFailureLimit", "link 8/min");
    conf = merged(main_server, host);
    for (mode = 0; mode < PAY_MODE_COUNT; mode++) {
        ck_assert_int_eq(conf->policy.failure_limit[mode][PAY_FAILURE_CARD].count, 7);
        ck_assert_int_eq(conf->policy.failure_limit[mode][PAY_FAILURE_ADDRESS].count, 9);
        ck_assert_int_eq(conf->policy.failure_limit[mode][PAY_FAILURE_LINK].count, 8);
        ck_assert_int_eq(conf->policy.failure_limit[mode][PAY_FAILURE_ACCOUNT].count,
                         mode == PAY_LIVE ? 200 : 0);
    }
    request_set(host, "PaymentsFailureLimit", "off");
    conf = merged(main_server, host);
    ck_assert_int_eq(conf->policy.failure_limit[PAY_LIVE][PAY_FAILURE_CARD].count, 0);
    ck_assert_int_eq(conf->policy.failure_limit[PAY_TEST][PAY_FAILURE_ACCOUNT].count, 0);
}
END_TEST

/* An acquirer of one account moves no money of another. */
static const struct {
    const char *name;
    const char *main_account, *host_account;
    const char *host_acquirer;
    const char *want; /* the acquirer's name; NULL: none exists */
} account_rows[] = {
    {"nobody names an account", NULL, NULL, NULL, "relay@a.example"},
    {"the host names one", NULL, "shop", NULL, "relay@a.example"},
    {"the main server names one", "shop", NULL, NULL, "relay@a.example"},
    {"both name one", "shop", "shop", NULL, "relay@a.example"},
    {"each its own", "shop", "other", NULL, NULL},
    {"and the host has an acquirer", "shop", "other", "live relay https://b.example",
     "relay@b.example"},
};

START_TEST(test_acquirers_of_another_account)
{
    server_rec *main_server = request_server();
    server_rec *host = request_server();
    const pay_conf_t *conf;

    request_set(main_server, "PaymentsAcquirer", "live relay https://a.example");
    if (account_rows[_i].main_account) {
        request_set(main_server, "PaymentsAccount", account_rows[_i].main_account);
    }
    if (account_rows[_i].host_account) {
        request_set(host, "PaymentsAccount", account_rows[_i].host_account);
    }
    if (account_rows[_i].host_acquirer) {
        request_set(host, "PaymentsAcquirer", account_rows[_i].host_acquirer);
    }
    conf = merged(main_server, host);
    if (!account_rows[_i].want) {
        ck_assert_msg(!conf->acquirers, "%s", account_rows[_i].name);
        return;
    }
    ck_assert_msg(conf->acquirers && conf->acquirers->nelts == 1, "%s", account_rows[_i].name);
    ck_assert_str_eq(APR_ARRAY_IDX(conf->acquirers, 0, pay_conf_acquirer_t *)->name,
                     account_rows[_i].want);
}
END_TEST

/* The default limits. */
START_TEST(test_defaults)
{
    const pay_conf_t *conf = pay_conf_get(request_server());
    int kind;

    ck_assert_int_eq(conf->engine, 0);
    ck_assert_int_eq(conf->require_tls, 1);
    ck_assert_int_eq(conf->body_max, 65536);
    ck_assert_int_eq(conf->policy.late_refund, 0);
    ck_assert_int_eq(conf->rate_limit[PAY_KEY_SECRET].interval, 0);
    ck_assert_int_eq(conf->rate_limit[PAY_KEY_PUBLIC].interval, 200000);
    ck_assert_int_eq(conf->rate_limit[PAY_KEY_PUBLIC].burst, 50);
    ck_assert_int_eq(conf->rate_total.interval, 20000);
    ck_assert_int_eq(conf->rate_total.burst, 500);
    ck_assert_int_eq(conf->failure_limit.interval, 1000000);
    ck_assert_int_eq(conf->failure_limit.burst, 120);
    ck_assert_int_eq(conf->policy.refund_repeat_window, apr_time_from_sec(600));
    ck_assert_int_eq(conf->policy.acquirer_timeout, apr_time_from_sec(20));
    ck_assert_int_eq(conf->policy.slot_wait, apr_time_from_msec(500));
    ck_assert_int_eq(conf->policy.late_after, apr_time_from_sec(3600));
    ck_assert_int_eq(conf->policy.pending_alert, apr_time_from_sec(3600));
    ck_assert_int_eq(conf->policy.refund_sync, apr_time_from_sec(600));
    ck_assert_int_eq(conf->policy.checkout_lifetime, apr_time_from_sec(3600));
    ck_assert_int_eq(conf->policy.refund_days_max, 0);
    ck_assert_int_eq(conf->in_flight_max, 64);
    ck_assert_int_eq(conf->options.map_bytes, APR_INT64_C(64) << 30);
    ck_assert_int_eq(conf->options.reserve_bytes, APR_INT64_C(256) << 20);
    ck_assert_int_eq(conf->options.commit_wait, apr_time_from_sec(2));
    ck_assert_int_eq(conf->options.commit_batch, 256);
    ck_assert_int_eq(conf->options.checkout_keep, apr_time_from_sec(720 * 3600));
    ck_assert_int_eq(conf->options.account_rows_max, 0);
    ck_assert_str_eq(conf->base_path, "");
    ck_assert_str_eq(conf->key_prefix, "pay");
    ck_assert_str_eq(conf->currency, "NGN");
    ck_assert_str_eq(conf->timezone, "UTC");
    ck_assert_int_eq(conf->delivery.webhook_insecure, 0);
    ck_assert_str_eq(conf->delivery.trusted_ca, "");
    ck_assert_str_eq(conf->delivery.mail_relay, "");
    for (kind = 0; kind < PAY_FAILURE_KINDS; kind++) {
        ck_assert_int_eq(conf->policy.failure_limit[PAY_TEST][kind].count, 0);
        ck_assert_int_gt(conf->policy.failure_limit[PAY_LIVE][kind].count, 0);
    }
}
END_TEST

static void add(TCase *tcase)
{
    const int rows = row_count();
    const int given = UNIT_ROWS(own_values) + rows;

    tcase_add_loop_test(tcase, test_members, 0, given);
    tcase_add_loop_test(tcase, test_default, 0, given);
    tcase_add_loop_test(tcase, test_given_by_the_main_server, 0, given);
    tcase_add_loop_test(tcase, test_given_by_the_host, 0, given);
    tcase_add_loop_test(tcase, test_bounds, 0, rows);
    tcase_add_loop_test(tcase, test_own_setters_have_values, 0, rows);
    tcase_add_loop_test(tcase, test_scopes, 0, UNIT_ROWS(scopes));
    tcase_add_test(tcase, test_failure_kinds_are_inherited_one_by_one);
    tcase_add_loop_test(tcase, test_acquirers_of_another_account, 0, UNIT_ROWS(account_rows));
    tcase_add_test(tcase, test_defaults);
}

UNIT_PROGRAM(add)
