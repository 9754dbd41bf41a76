/* SPDX-License-Identifier: Apache-2.0 */
#include "acquirer/relay/relay.h"
#include "httpd/conf/root.h"
#include "httpd/process/check.h"

#include "request.h"

#define STORE "PaymentsEngine On\nPaymentsStore lmdb:/srv/pay"
#define LIVE                                                                                       \
    STORE "\nPaymentsAccount shop\nPaymentsAcquirer live relay https://a.example key=file:/k"

/* Lines of two hosts, and a part of the message about them; NULL: the server starts. */
static const struct {
    const char *name;
    const char *first, *second; /* NULL: none exists */
    const char *fault;
} host_rows[] = {
    {"no engine", "PaymentsStoreReserve 65G", NULL, NULL},
    {"the least", STORE, NULL, NULL},
    {"two hosts alike", STORE, STORE, NULL},
    {"no store", "PaymentsEngine On", NULL, "needs PaymentsStore"},
    {"of the second", STORE, "PaymentsEngine On", "needs PaymentsStore"},
    {"a reserve of all", STORE "\nPaymentsStoreSize 1G\nPaymentsStoreReserve 1G", NULL,
     "PaymentsStoreReserve: want less"},
    {"a byte less", STORE "\nPaymentsStoreSize 1G\nPaymentsStoreReserve 1073741823", NULL, NULL},
    {"a relay without a sender", STORE "\nPaymentsMailRelay smtp://m.example", NULL,
     "needs PaymentsMailFrom"},
    {"a relay with one", STORE "\nPaymentsMailRelay smtp://m.example\nPaymentsMailFrom a@b.example",
     NULL, NULL},
    {"a store that is served", "PaymentsEngine On\nPaymentsStore lmdb:/var/www/pay", NULL,
     "PaymentsStore: want a directory outside"},
    {"a neighbour of what is served", "PaymentsEngine On\nPaymentsStore lmdb:/var/www2", NULL,
     NULL},
    {"a master key that is served", STORE "\nPaymentsMasterKey file:/var/www/key", NULL,
     "outside every DocumentRoot"},
    {"a master key in the store", STORE "\nPaymentsMasterKey file:/srv/pay/key", NULL,
     "outside the store"},
    {"beside it", STORE "\nPaymentsMasterKey file:/srv/pay.key", NULL, NULL},
    {"a path of the API", STORE "\nPaymentsHealth /api/v1/health", NULL,
     "PaymentsHealth: want a path that is not one of the API's"},
    {"the API's own", STORE "\nPaymentsMetrics /api/v1", NULL, "PaymentsMetrics: want a path"},
    {"a page's", STORE "\nPaymentsMetrics /payment/page/x", NULL, "PaymentsMetrics: want a path"},
    {"beside the API", STORE "\nPaymentsHealth /api/v1health", NULL, NULL},
    {"elsewhere with a base path", STORE "\nPaymentsBasePath /b\nPaymentsHealth /api/v1", NULL,
     NULL},
    {"below the base path", STORE "\nPaymentsBasePath /b\nPaymentsHealth /b/api/v1", NULL,
     "PaymentsHealth"},
    {"one path for two", STORE "\nPaymentsHealth /x\nPaymentsMetrics /x", NULL,
     "want another path than PaymentsHealth"},
    {"the dashboard over the API", STORE "\nPaymentsDashboard /api", NULL, "PaymentsDashboard"},
    {"the dashboard in the API", STORE "\nPaymentsDashboard /api/v1/desk", NULL,
     "PaymentsDashboard"},
    {"over pages", STORE "\nPaymentsDashboard /payment", NULL, "PaymentsDashboard"},
    {"over the pages' folder", STORE "\nPaymentsDashboard /payment/page", NULL,
     "PaymentsDashboard"},
    {"over the order", STORE "\nPaymentsDashboard /payment/order", NULL, "PaymentsDashboard"},
    {"beside them", STORE "\nPaymentsDashboard /pay", NULL, NULL},
    {"over the health", STORE "\nPaymentsDashboard /d\nPaymentsHealth /d/h", NULL,
     "PaymentsHealth: want a path outside PaymentsDashboard"},
    {"the same as metrics", STORE "\nPaymentsDashboard /d\nPaymentsMetrics /d", NULL,
     "PaymentsMetrics: want a path outside"},
    {"beside the metrics", STORE "\nPaymentsDashboard /d\nPaymentsMetrics /dm", NULL, NULL},
    {"two sizes", STORE "\nPaymentsStoreSize 1G", STORE "\nPaymentsStoreSize 2G",
     "PaymentsStoreSize: want one value"},
    {"two reserves", STORE "\nPaymentsStoreReserve 1M", STORE, "PaymentsStoreReserve: want one"},
    {"two waits", STORE "\nPaymentsCommitWait 1s", STORE, "PaymentsCommitWait: want one"},
    {"two batches", STORE "\nPaymentsCommitBatch 1", STORE, "PaymentsCommitBatch: want one"},
    {"two quotas", STORE "\nPaymentsAccountQuota 1000", STORE, "PaymentsAccountQuota: want one"},
    {"two times to keep", STORE "\nPaymentsCheckoutKeep 1h", STORE,
     "PaymentsCheckoutKeep: want one"},
    {"two master keys", STORE "\nPaymentsMasterKey file:/k", STORE, "PaymentsMasterKey: want one"},
    {"the same one", STORE "\nPaymentsMasterKey file:/srv/pay.key", STORE, NULL},
    {"of two stores", STORE "\nPaymentsStoreSize 1G",
     "PaymentsEngine On\nPaymentsStore lmdb:/srv/other\nPaymentsStoreSize 2G", NULL},
    {"one without engine", "PaymentsStore lmdb:/srv/pay\nPaymentsStoreSize 1G",
     STORE "\nPaymentsStoreSize 2G", NULL},
    {"Live Mode", LIVE, NULL, NULL},
    {"of two hosts", LIVE, LIVE, NULL},
    {"without an account", STORE "\nPaymentsAcquirer live relay https://a.example key=file:/k",
     NULL, "needs PaymentsAccount"},
    {"a secret that is served",
     STORE "\nPaymentsAccount shop\nPaymentsAcquirer live relay https://a.example "
           "key=file:/var/www/k",
     NULL, "outside every DocumentRoot"},
    {"a secret in the open",
     STORE "\nPaymentsAccount shop\nPaymentsAcquirer live relay https://a.example key=abc", NULL,
     "key= is a secret"},
    {"a secret of a relative file",
     STORE "\nPaymentsAccount shop\nPaymentsAcquirer live relay https://a.example key=file:k", NULL,
     "key= is a secret"},
    {"a secret of a directory",
     STORE "\nPaymentsAccount shop\nPaymentsAcquirer live relay https://a.example key=file:/k/",
     NULL, "key= is a secret"},
    {"a secret of the root",
     STORE "\nPaymentsAccount shop\nPaymentsAcquirer live relay https://a.example key=file:/", NULL,
     "key= is a secret"},
    {"a secret of a relative program",
     STORE "\nPaymentsAccount shop\nPaymentsAcquirer live relay https://a.example key=exec:k", NULL,
     "key= is a secret"},
    {"a secret of a program",
     STORE "\nPaymentsAccount shop\nPaymentsAcquirer live relay https://a.example key=exec:/k",
     NULL, NULL},
    {"a secret of a pipe",
     STORE "\nPaymentsAccount shop\nPaymentsAcquirer live relay https://a.example key=pipe:/k",
     NULL, "key= is a secret"},
    {"the first of two at fault",
     STORE "\nPaymentsAccount shop\nPaymentsAcquirer live relay https://a.example "
           "key=file:/var/www/k\nPaymentsAcquirer live relay https://b.example key=file:/k",
     NULL, "outside every DocumentRoot"},
    {"beside a host without an account", STORE, LIVE, NULL},
    {"beside a host without Live Mode", STORE "\nPaymentsAccount shop", LIVE, NULL},
    {"a URL that the connector refuses",
     STORE "\nPaymentsAccount shop\nPaymentsAcquirer live relay key=file:/k", NULL,
     "PaymentsAcquirer live relay:"},
    {"two time-outs", LIVE, LIVE "\nPaymentsAcquirerTimeout 5s", "one time-out"},
    {"two limits", LIVE, LIVE "\nPaymentsAcquirerMaxInFlight 5", "PaymentsAcquirerMaxInFlight for"},
    {"two keys", LIVE,
     STORE "\nPaymentsAccount shop\nPaymentsAcquirer live relay https://a.example key=file:/other",
     "one set of parameters"},
    {"one parameter more", LIVE, LIVE " ca=/ca.pem", "one set of parameters"},
    {"two URLs", LIVE,
     STORE "\nPaymentsAccount shop\nPaymentsAcquirer live relay https://a.example/x key=file:/k",
     "want one URL"},
    {"under two names", LIVE,
     STORE "\nPaymentsAccount shop\nPaymentsAcquirer live relay https://a.example/x key=file:/k "
           "name=second",
     NULL},
    {"of two accounts", LIVE,
     STORE "\nPaymentsAccount other\nPaymentsAcquirer live relay https://a.example/x key=file:/k",
     NULL},
};

static void set_lines(server_rec *s, const char *lines)
{
    char *rest = apr_pstrdup(unit_pool, lines);
    char *line, *value;
    const char *fault;

    for (line = apr_strtok(rest, "\n", &rest); line; line = apr_strtok(NULL, "\n", &rest)) {
        value = strchr(line, ' ');
        *value++ = '\0';
        fault = request_directive(s, line, value);
        if (fault) { /* the start ends there */
            stand_in.logged++;
            apr_cpystrn(stand_in.log, fault, sizeof(stand_in.log));
        }
    }
}

static server_rec *start(int row)
{
    server_rec *main_server = request_server();
    core_server_config *core = ap_get_core_module_config(main_server->module_config);

    stand_in = (stand_in_t){.connector = &pay_acquirer_relay};
    core->ap_document_root = "/var/www//";
    set_lines(main_server, host_rows[row].first);
    if (host_rows[row].second) {
        set_lines(request_host(main_server), host_rows[row].second);
    }
    pay_check_register_hooks(unit_pool);
    return main_server;
}

START_TEST(test_hosts)
{
    server_rec *main_server = start(_i);
    const char *fault = host_rows[_i].fault;
    int rc = HTTP_INTERNAL_SERVER_ERROR;

    if (!stand_in.logged) {
        rc = stand_in.check_config(unit_pool, unit_pool, unit_pool, main_server);
    }
    ck_assert_msg(rc == (fault ? HTTP_INTERNAL_SERVER_ERROR : OK), "%s: %s", host_rows[_i].name,
                  stand_in.log);
    ck_assert_msg(!fault || strstr(stand_in.log, fault), "%s: %s", host_rows[_i].name,
                  stand_in.log);
    ck_assert_int_eq(stand_in.logged, fault ? 1 : 0);
}
END_TEST

/* A connector may have no secrets, and its module may be missing. */
START_TEST(test_connectors)
{
    payments_acquirer_t open = pay_acquirer_relay;
    server_rec *main_server = request_server();

    open.secrets = NULL;
    stand_in = (stand_in_t){.connector = &open};
    set_lines(main_server, LIVE);
    ck_assert_int_eq(stand_in.logged, 0);
    pay_check_register_hooks(unit_pool);
    ck_assert_int_eq(stand_in.check_config(unit_pool, unit_pool, unit_pool, main_server), OK);
    open.name = "other";
    ck_assert_int_ne(stand_in.check_config(unit_pool, unit_pool, unit_pool, main_server), OK);
    ck_assert_ptr_nonnull(strstr(stand_in.log, "a loaded module has (other), got 'relay'"));
    open.flags |= PAYMENTS_PURE; /* which is for Test Mode */
    ck_assert_int_ne(stand_in.check_config(unit_pool, unit_pool, unit_pool, main_server), OK);
    ck_assert_ptr_nonnull(strstr(stand_in.log, "a loaded module has (), got 'relay'"));
    stand_in.connector = NULL;
    ck_assert_int_ne(stand_in.check_config(unit_pool, unit_pool, unit_pool, main_server), OK);
    ck_assert_ptr_nonnull(strstr(stand_in.log, "a loaded module has (), got 'relay'"));
}
END_TEST

START_TEST(test_mod_watchdog_is_needed)
{
    server_rec *main_server = start(1);

    stand_in.has_no_watchdog = 1;
    ck_assert_int_ne(stand_in.check_config(unit_pool, unit_pool, unit_pool, main_server), OK);
    ck_assert_ptr_nonnull(strstr(stand_in.log, "mod_watchdog"));
}
END_TEST

/* ---- what a DocumentRoot serves */

static const struct {
    const char *root, *path;
    int want;
} root_rows[] = {
    {"/var/www", "/var/www", 1},
    {"/var/www", "/var/www/a", 1},
    {"/var/www/", "/var/www", 1},
    {"/var/www//", "/var/www/a/b", 1},
    {"/var/www", "/var/www2", 0},
    {"/var/www", "/var/ww", 0},
    {"/var/www", "/srv/var/www/a", 0},
    {"/", "/srv", 0},
    {NULL, "/var/www", 0},
};

START_TEST(test_document_roots)
{
    server_rec *main_server = request_server();
    server_rec *host = request_host(main_server);
    core_server_config *core = ap_get_core_module_config(host->module_config);
    const char *served;

    core->ap_document_root = root_rows[_i].root;
    served = pay_conf_served_by(main_server, root_rows[_i].path);
    ck_assert_msg(!served == !root_rows[_i].want, "%s: %s", root_rows[_i].root, root_rows[_i].path);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_hosts, 0, UNIT_ROWS(host_rows));
    tcase_add_test(tcase, test_connectors);
    tcase_add_test(tcase, test_mod_watchdog_is_needed);
    tcase_add_loop_test(tcase, test_document_roots, 0, UNIT_ROWS(root_rows));
}

UNIT_PROGRAM(add)
