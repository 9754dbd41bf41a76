/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/inspector.h"

#include "base/log.h"
#include "httpd/process/rights.h"
#include "httpd/process/store_host.h"

#include <ap_listen.h>
#include <ap_mpm.h>
#include <apr_thread_proc.h>
#include <errno.h>
#include <fcntl.h>
#include <http_core.h>
#include <http_log.h>
#include <mpm_common.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

APLOG_USE_MODULE(payments);

#define PAUSE_MS_MAX 60000     /* between two checks; doubles up to it */
#define CHECK_SECONDS_MAX 3600 /* of one check: a damaged table may have no end */
#define NICENESS 19            /* sites and other stores have priority */

typedef struct inspector_t {
    const pay_store_host_t *store_host;
    apr_pool_t *pool; /* NULL: it does not run */
    apr_proc_t proc;
    pid_t parent;
} inspector_t;

static server_rec *server;
static apr_pool_t *generation; /* NULL: not started */
static apr_array_header_t *inspectors;

/* --- in the inspector and its checks --- */

/* Ends with its parent. Called after the last change of user, which resets this. */
static void end_with(pid_t parent)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(0);
    }
}

static void signals_reset(void)
{
    static const int numbers[] = {SIGTERM, SIGHUP,  SIGUSR1, SIGWINCH, SIGCHLD,
                                  SIGBUS,  SIGSEGV, SIGABRT, SIGALRM,  SIGPIPE};
    size_t i;

    for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        (void)signal(numbers[i], SIG_DFL);
    }
}

/* Everything that a dying check would log has been logged already. */
static void be_quiet(void)
{
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (fd >= 0) {
        (void)dup2(fd, STDERR_FILENO);
        close(fd);
    }
    pay_log_set_sink(NULL, NULL);
}

/* Returns 1 if a check in a process of its own found nothing wrong. */
static int passes(const pay_store_host_t *store_host, apr_pool_t *p)
{
    const pid_t self = getpid();
    const char *reason;
    int status = 0;
    pid_t pid;

    pid = fork();
    if (pid == 0) {
        end_with(self);
        be_quiet();
        (void)alarm(CHECK_SECONDS_MAX);
        _exit(pay_store_verify(&reason, store_host->url, &store_host->options, p) == APR_SUCCESS
                  ? 0
                  : 1);
    }
    while (pid > 0 && waitpid(pid, &status, 0) != pid) {
        if (errno != EINTR) {
            return 0;
        }
    }
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Its exit code is always 0: with another one httpd might end itself. */
static void inspect(const inspector_t *self)
{
    const struct rlimit none = {0, 0};
    const pay_store_host_t *store_host = self->store_host;
    apr_int64_t pause_ms;

    signals_reset();
    ap_close_listeners();
    if (!pay_rights_give_up(server, self->pool)) {
        _exit(0); /* the log says why */
    }
    end_with(self->parent);
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)setpriority(PRIO_PROCESS, 0, NICENESS);
    pause_ms = pay_store_mark_pause(store_host->options.mark);
    for (;;) {
        apr_sleep(apr_time_from_msec(pause_ms));
        if (passes(store_host, self->pool)) {
            break;
        }
        pause_ms = pause_ms < PAUSE_MS_MAX / 2 ? pause_ms * 2 : PAUSE_MS_MAX;
    }
    pay_store_mark_clear(store_host->options.mark);
    ap_log_error(
        APLOG_MARK, APLOG_NOTICE, 0, APR_ARRAY_IDX(store_host->hosts, 0, server_rec *),
        PAYLOGNO(00652) "PaymentsStore %s: a check found no damage, and the store is used again",
        store_host->url);
    _exit(0);
}

/* --- in the parent --- */

static apr_status_t inspector_end(void *data)
{
    inspector_t *self = data;

    if (self->proc.pid > 0 && self->parent == getpid()) {
        (void)kill(self->proc.pid, SIGKILL);
        while (waitpid(self->proc.pid, NULL, 0) < 0 && errno == EINTR) {
            continue;
        }
    }
    self->proc.pid = 0;
    self->pool = NULL;
    return APR_SUCCESS;
}

/* The MPM's loop has reaped it. */
static void inspector_ended(int reason, void *data, int status)
{
    inspector_t *self = data;

    (void)status;
    if ((reason == APR_OC_REASON_DEATH || reason == APR_OC_REASON_LOST) && self->pool) {
        self->proc.pid = 0;
        apr_pool_destroy(self->pool);
    }
}

static void inspector_run(inspector_t *self)
{
    pid_t pid;

    apr_pool_create(&self->pool, generation);
    self->parent = getpid();
    pid = fork();
    if (pid == 0) {
        inspect(self);
    }
    if (pid < 0) {
        ap_log_error(APLOG_MARK, APLOG_ERR, errno, server,
                     PAYLOGNO(00653) "PaymentsStore %s: no process could be started to check it; "
                                     "the next try is in a few seconds",
                     self->store_host->url);
        apr_pool_destroy(self->pool);
        self->pool = NULL;
        return;
    }
    self->proc.pid = pid;
    apr_proc_other_child_register(&self->proc, inspector_ended, self, NULL, self->pool);
    apr_pool_cleanup_register(self->pool, self, inspector_end, apr_pool_cleanup_null);
}

static void look(void)
{
    inspector_t *one;
    int i;

    for (i = 0; generation && i < inspectors->nelts; i++) {
        one = APR_ARRAY_IDX(inspectors, i, inspector_t *);
        if (!pay_store_mark_is_set(one->store_host->options.mark)) {
            continue;
        }
        pay_store_mark_log(one->store_host->options.mark, one->store_host->url);
        if (!one->pool) {
            inspector_run(one);
        }
    }
}

static apr_status_t generation_end(void *data)
{
    (void)data;
    generation = NULL;
    return APR_SUCCESS;
}

void pay_inspector_start(server_rec *main_server, apr_pool_t *pconf)
{
    const apr_array_header_t *store_hosts = pay_store_hosts();
    inspector_t *one;
    int i;

    server = main_server;
    generation = pconf;
    apr_pool_cleanup_register(pconf, NULL, generation_end, apr_pool_cleanup_null);
    inspectors = apr_array_make(pconf, store_hosts->nelts, sizeof(inspector_t *));
    for (i = 0; i < store_hosts->nelts; i++) {
        one = apr_pcalloc(pconf, sizeof(*one));
        one->store_host = APR_ARRAY_IDX(store_hosts, i, const pay_store_host_t *);
        APR_ARRAY_PUSH(inspectors, inspector_t *) = one;
    }
    look();
}

/* httpd runs it in the parent, every ten seconds or so. */
static int monitor(apr_pool_t *p, server_rec *s)
{
    (void)p;
    (void)s;
    look();
    return DECLINED;
}

static void child_status(server_rec *s, pid_t pid, ap_generation_t gen, int slot,
                         mpm_child_status state)
{
    (void)s;
    (void)pid;
    (void)gen;
    (void)slot;
    if (state == MPM_CHILD_EXITED || state == MPM_CHILD_LOST_SLOT) {
        look();
    }
}

void pay_inspector_register_hooks(apr_pool_t *p)
{
    (void)p;
    ap_hook_monitor(monitor, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_child_status(child_status, NULL, NULL, APR_HOOK_MIDDLE);
}
