/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/prepare.h"

#include "base/log.h"
#include "base/shared/clock.h"
#include "httpd/call/httpd_log.h"
#include "httpd/call/rates.h"
#include "httpd/conf/conf.h"
#include "httpd/dashboard/confirm.h"
#include "httpd/dashboard/files.h"
#include "httpd/dashboard/guard.h"
#include "httpd/dashboard/root.h"
#include "httpd/process/acquirers.h"
#include "httpd/process/failure_share.h"
#include "httpd/process/inspector.h"
#include "httpd/process/prepare_acquirer.h"
#include "httpd/process/prepare_delivery.h"
#include "httpd/process/rights.h"
#include "httpd/process/server_slots.h"
#include "httpd/process/store_host.h"
#include "httpd/process/watchdog.h"
#include "service/account/upkeep.h"

#include <apr_shm.h>
#include <errno.h>
#include <http_core.h>
#include <http_log.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unixd.h>

APLOG_USE_MODULE(payments);

#define PREPARE_TIME_MAX apr_time_from_sec(10) /* of all stores together */
#define PREPARE_POLL apr_time_from_msec(2)

/* Writes to the store the defaults of `paymentsctl account create` for this host's account. */
static void put_defaults(const pay_store_host_t *store_host, pay_store_t *store, server_rec *s,
                         apr_pool_t *p)
{
    const pay_conf_t *conf = pay_conf_get(s);
    const pay_account_settings_t settings = {
        .key_prefix = conf->key_prefix,
        .currency = conf->currency,
        .timezone = conf->timezone,
    };
    pay_account_t *account;
    const char *cause;
    apr_status_t rv;

    rv = pay_server_defaults_put(store, conf->account ? conf->account : "", &settings, p);
    if (rv != APR_SUCCESS) {
        cause = pay_httpd_log_cause(&rv, "unknown");
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s,
                     PAYLOGNO(00301) "PaymentsStore %s: the defaults of new accounts could not be "
                                     "stored: %s",
                     store_host->url, cause);
        return;
    }
    if (!conf->account) {
        return;
    }
    rv = pay_store_account_get(&account, store, conf->account, p);
    if (rv == APR_NOTFOUND) {
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, 0, s,
            PAYLOGNO(00302) "PaymentsAccount %s does not exist yet: calls are answered 401 until "
                            "it is created (paymentsctl -s %s account create %s)",
            conf->account, store_host->url, conf->account);
    }
}

/* What one store hands on from root's part of the preparation to the other. */
typedef struct prepared_t {
    const pay_store_host_t *store_host;
    const pay_mail_login_t *login;
    int refused; /* the log says why */
} prepared_t;

static void refuse(prepared_t *one, apr_status_t rv, const char *reason)
{
    const char *cause = pay_httpd_log_cause(&rv, "it failed");

    ap_log_error(APLOG_MARK, APLOG_ERR, rv, APR_ARRAY_IDX(one->store_host->hosts, 0, server_rec *),
                 PAYLOGNO(00303) "PaymentsStore %s cannot be used, and its virtual hosts answer "
                                 "503 until it can: %s%s%s",
                 one->store_host->url, reason ? reason : "", reason ? "; " : "", cause);
    one->refused = 1;
}

/* As root: everything that does not touch the store's files. */
static void prepare_place(prepared_t *one, apr_pool_t *p)
{
    const char *reason = NULL;
    apr_status_t rv = APR_SUCCESS;

    one->login = pay_prepare_login(one->store_host, p);
    if (!ap_unixd_config.chroot_dir) { /* otherwise the path leads elsewhere once that is entered */
        rv = pay_store_hand_over(&reason, one->store_host->url, ap_unixd_config.user_id,
                                 ap_unixd_config.group_id, p);
    }
    if (rv != APR_SUCCESS) {
        refuse(one, rv, reason);
    }
}

/* As the server's user: the files. */
static void prepare_store(prepared_t *one, apr_pool_t *p)
{
    const pay_store_host_t *store_host = one->store_host;
    const char *reason = NULL;
    pay_store_t *store = NULL;
    apr_status_t rv;
    int i;

    rv = pay_store_prepare(&reason, store_host->url, &store_host->options, p);
    if (rv == APR_SUCCESS) {
        rv = pay_store_open(&store, store_host->url, &store_host->options, p);
    }
    if (rv != APR_SUCCESS) {
        refuse(one, rv, reason);
        return;
    }
    for (i = 0; i < store_host->hosts->nelts; i++) {
        put_defaults(store_host, store, APR_ARRAY_IDX(store_host->hosts, i, server_rec *), p);
    }
    pay_prepare_delivery(store_host, one->login, store, p);
}

/* The result for a store. */
enum { NOT_TRIED, PREPARED, FAILED };

/*
 * Runs in the process of its own. The owner of a store can link another file to its names at any
 * moment, so root opens none of them; and there is no way back to root: first everything that needs
 * it for every store, then the stores.
 */
static void prepare_all(char *prepared, const apr_array_header_t *store_hosts, server_rec *s,
                        apr_pool_t *p)
{
    prepared_t *all = apr_pcalloc(p, sizeof(*all) * (apr_size_t)store_hosts->nelts);
    apr_pool_t *scratch;
    int i;

    for (i = 0; i < store_hosts->nelts; i++) {
        all[i].store_host = APR_ARRAY_IDX(store_hosts, i, const pay_store_host_t *);
        if (prepared[i] == NOT_TRIED) {
            prepare_place(&all[i], p);
        }
    }
    if (!pay_rights_give_up(s, p)) {
        return;
    }
    for (i = 0; i < store_hosts->nelts; i++) {
        if (prepared[i] != NOT_TRIED) {
            continue;
        }
        apr_pool_create(&scratch, p);
        if (!all[i].refused) {
            prepare_store(&all[i], scratch);
        }
        prepared[i] = all[i].refused ? FAILED : PREPARED;
        apr_pool_destroy(scratch);
    }
}

/*
 * Returns 1 if the process died in a store, which is left out from now on: the others are still to
 * be prepared.
 */
static int died_in_store(char *prepared, const apr_array_header_t *store_hosts)
{
    const pay_store_host_t *store_host;
    int i, found = 0;

    for (i = 0; i < store_hosts->nelts; i++) {
        store_host = APR_ARRAY_IDX(store_hosts, i, const pay_store_host_t *);
        if (prepared[i] == NOT_TRIED && pay_store_mark_is_set(store_host->options.mark)) {
            prepared[i] = FAILED;
            found = 1;
        }
    }
    return found;
}

/*
 * Returns 1 if the process ended by itself in time; else it is ended. *killed_by: a signal, or 0.
 */
static int wait_for(int *killed_by, pid_t pid, apr_time_t until)
{
    int status = 0;
    pid_t ended;

    *killed_by = 0;
    for (;;) {
        ended = waitpid(pid, &status, WNOHANG);
        if (ended == pid && WIFSIGNALED(status)) {
            *killed_by = WTERMSIG(status);
        }
        if (ended == pid || (ended < 0 && errno != EINTR)) {
            return ended == pid;
        }
        if (pay_clock_us() > until) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
            return 0;
        }
        apr_sleep(PREPARE_POLL);
    }
}

/*
 * Stores are prepared in a process of its own. LMDB's write lock and a file system can make it wait
 * without end, and the parent serves every virtual host; nor does the parent, which is root, ever
 * have a store open.
 */
static void prepare_apart(const apr_array_header_t *store_hosts, server_rec *s, apr_pool_t *p)
{
    const apr_time_t until = pay_clock_us() + PREPARE_TIME_MAX;
    apr_shm_t *shm;
    char *prepared;
    apr_status_t rv;
    pid_t pid;
    int ended, killed_by = 0;
    int i;

    rv = apr_shm_create(&shm, (apr_size_t)store_hosts->nelts, NULL, p);
    if (rv != APR_SUCCESS) {
        ap_log_error(
            APLOG_MARK, APLOG_ERR, rv, s,
            PAYLOGNO(00308) "No shared memory: the child processes open the stores by themselves");
        return;
    }
    prepared = apr_shm_baseaddr_get(shm);
    memset(prepared, 0, (size_t)store_hosts->nelts);
    do {
        pid = fork();
        if (pid == 0) {
            pay_store_deaths_watch(NULL, 0, p);
            prepare_all(prepared, store_hosts, s, p);
            _exit(0);
        }
        ended = pid > 0 && wait_for(&killed_by, pid, until);
    } while (ended && died_in_store(prepared, store_hosts));
    if (!ended) {
        ap_log_error(
            APLOG_MARK, APLOG_ERR, pid < 0 ? errno : 0, s,
            PAYLOGNO(00309) "The stores could not be prepared within %d s: a stopped process may "
                            "hold the writer lock of one. Resume or end that process; changed "
                            "defaults of new accounts wait for the next start",
            (int)apr_time_sec(PREPARE_TIME_MAX));
    } else if (killed_by) {
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, s,
                     PAYLOGNO(00313) "The process that prepares the stores was killed by signal "
                                     "%d: the child processes open the stores by themselves",
                     killed_by);
    }
    for (i = 0; i < store_hosts->nelts; i++) {
        APR_ARRAY_IDX(store_hosts, i, pay_store_host_t *)->reported =
            pid > 0 && !killed_by && prepared[i] != PREPARED;
    }
}

static int post_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp,
                       server_rec *main_server)
{
    const apr_array_header_t *store_hosts;

    (void)plog;
    if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG) {
        return OK; /* the configuration is read twice at start; only the second one counts */
    }
    pay_httpd_log_start(main_server);
    store_hosts = pay_store_hosts_collect(main_server, pconf);
    if (store_hosts->nelts == 0) {
        return OK;
    }
    pay_prepare_keyrings(store_hosts, pconf);
    prepare_apart(store_hosts, main_server, ptemp);
    pay_server_slots_share(main_server, pconf);
    pay_acquirers_share(store_hosts, main_server, pconf);
    pay_prepare_acquirers(store_hosts, pconf);
    pay_rates_share(main_server, pconf);
    pay_failure_share(main_server);
    pay_dashboard_guard_share(main_server);
    pay_dashboard_confirm_share(main_server, pconf);
    pay_dashboard_root_judge(main_server, ptemp);
    pay_dashboard_files_load(main_server, pconf);
    pay_watchdog_start(main_server, store_hosts, pconf);
    pay_inspector_start(main_server, pconf);
    return OK;
}

void pay_prepare_register_hooks(apr_pool_t *p)
{
    (void)p;
    /* mod_watchdog counts the registered callbacks in its own, last hook. */
    ap_hook_post_config(post_config, NULL, NULL, APR_HOOK_MIDDLE);
}
