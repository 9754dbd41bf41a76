/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lmdb/mark.h"

#include "base/log.h"
#include "base/shared/clock.h"
#include "store/lmdb/backoff.h"
#include "store/lmdb/open.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define AGAIN_MS 600000 /* a mark set so soon after a passed check delays the next check */

struct pay_store_mark_t {
    _Atomic unsigned int word;      /* a counter: odd while the mark is set */
    _Atomic unsigned int logged;    /* the last odd word that was logged */
    _Atomic int signal;             /* that killed the process */
    _Atomic apr_int64_t cleared_ms; /* when a check last passed; 0: never */
    _Atomic apr_int64_t pause_ms;   /* before the first check after the mark was last set */
};

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "a signal handler sets the mark: atomics without locks");

/* SIGABRT: an assertion of LMDB about a page, or of the allocator about its consequences. */
static const int signals[] = {SIGBUS, SIGSEGV, SIGABRT};
#define SIGNALS (sizeof(signals) / sizeof(signals[0]))

static struct sigaction before[SIGNALS];
static const char *last_words;
static int exit_code;

/* Initial-exec: the first use by a thread allocates nothing, even in the handler. */
static _Thread_local volatile int depth __attribute__((tls_model("initial-exec")));
static _Thread_local pay_store_mark_t *volatile inside __attribute__((tls_model("initial-exec")));

apr_size_t pay_store_mark_size(void)
{
    return sizeof(pay_store_mark_t);
}

pay_store_mark_t *pay_store_mark_at(void *memory)
{
    assert((uintptr_t)memory % _Alignof(pay_store_mark_t) == 0);
    return memory;
}

int pay_store_mark_is_set(const pay_store_mark_t *mark)
{
    return pay_lmdb_mark_word(mark) % 2 != 0;
}

unsigned int pay_lmdb_mark_word(const pay_store_mark_t *mark)
{
    return mark ? atomic_load_explicit(&mark->word, memory_order_acquire) : 0;
}

void pay_lmdb_mark_enter(pay_store_mark_t *mark)
{
    if (depth == 0) {
        inside = mark;
    }
    depth++;
}

void pay_lmdb_mark_leave(void)
{
    assert(depth > 0);
    depth--;
    if (depth == 0) {
        inside = NULL;
    }
}

/* Returns 1 for a fault of this process itself, 0 for a signal that somebody sent. */
static int is_fault(int number, const siginfo_t *info)
{
    return info->si_code > 0
           || (number == SIGABRT && info->si_code == SI_TKILL && info->si_pid == getpid());
}

/* Async-signal-safe. The process dies as it would have without it: by the former action. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    pay_store_mark_t *mark = inside;
    unsigned int word;
    size_t i = 0;

    (void)context;
    if (mark && is_fault(number, info)) {
        atomic_store(&mark->signal, number);
        word = atomic_load(&mark->word);
        if (word % 2 == 0) {
            (void)atomic_compare_exchange_strong(&mark->word, &word, word + 1);
        }
        if (last_words) {
            (void)!write(STDERR_FILENO, last_words, strlen(last_words));
            _exit(exit_code);
        }
    }
    while (i < SIGNALS - 1 && signals[i] != number) {
        i++;
    }
    (void)sigaction(number, &before[i], NULL);
    if (info->si_code <= 0) {
        (void)raise(number); /* delivered once this returns; a fault recurs by itself */
    }
}

static apr_status_t watch_end(void *data)
{
    size_t i;

    (void)data;
    for (i = 0; i < SIGNALS; i++) {
        (void)sigaction(signals[i], &before[i], NULL);
    }
    return APR_SUCCESS;
}

void pay_store_deaths_watch(const char *words, int code, apr_pool_t *p)
{
    struct sigaction action;
    size_t i;

    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    last_words = words;
    exit_code = code;
    for (i = 0; i < SIGNALS; i++) {
        (void)sigaction(signals[i], &action, &before[i]);
    }
    apr_pool_cleanup_register(p, NULL, watch_end, apr_pool_cleanup_null);
}

void pay_lmdb_mark_log(pay_store_mark_t *mark, const char *path)
{
    const unsigned int word = pay_lmdb_mark_word(mark);

    if (word % 2 == 0 || atomic_exchange(&mark->logged, word) == word) {
        return;
    }
    pay_log(PAY_LOG_CRIT, APR_SUCCESS,
            PAYLOGNO(00650) "store %s is damaged, or its disk cannot be read: a process died in it "
                            "(%s). No process uses it, its virtual hosts answer 503, and others go "
                            "on. Stop the server, restore a backup in its place, run \"paymentsctl "
                            "-s lmdb:%s store check\" and start the server. Until then the store "
                            "is checked again and again, and used once a check passes",
            path, strsignal(atomic_load(&mark->signal)), path);
}

apr_int64_t pay_store_mark_pause(pay_store_mark_t *mark)
{
    const apr_int64_t cleared_ms = atomic_load(&mark->cleared_ms);
    apr_int64_t pause_ms = 0;

    if (cleared_ms && pay_clock_ms() - cleared_ms < AGAIN_MS) {
        pause_ms = atomic_load(&mark->pause_ms);
    }
    pause_ms = pay_lmdb_backoff_next(pause_ms);
    atomic_store(&mark->pause_ms, pause_ms);
    return pause_ms;
}

void pay_store_mark_clear(pay_store_mark_t *mark)
{
    atomic_store(&mark->cleared_ms, pay_clock_ms());
    if (pay_store_mark_is_set(mark)) {
        atomic_fetch_add(&mark->word, 1);
    }
}
