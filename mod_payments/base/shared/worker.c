/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shared/worker.h"

#include "base/text/time.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAT_TEXT_MAX 1024
#define PATH_LEN_MAX 64

/* Filled in by the first caller after a fork. Racing callers store the same values. */
static struct {
    _Atomic apr_int64_t pid;
    _Atomic apr_int64_t start_ticks;
    _Atomic apr_int64_t boot_id;
    _Atomic int filled;
} self;

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static _Atomic unsigned int forks;

static void forget_self(void)
{
    atomic_store(&self.filled, 0);
    atomic_fetch_add(&forks, 1);
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, forget_self);
}

/* Reads the beginning of a small file as a string; returns 0 or errno. */
static int read_text(char *out, size_t size, const char *path)
{
    size_t len = 0;
    ssize_t got = 0;
    int failed = 0;
    int fd;

    out[0] = '\0';
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    while (len < size - 1) {
        got = read(fd, out + len, size - 1 - len);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        len += (size_t)got;
    }
    if (got < 0) {
        failed = errno; /* ESRCH: it died between open and read */
        len = 0;
    }
    out[len] = '\0';
    close(fd);
    return failed;
}

/*
 * Reads the start time of a process from proc(5)'s stat text; -1: it is missing or of a dead
 * process.
 */
static apr_int64_t start_of(const char *text)
{
    const char *rest = strrchr(text, ')'); /* the name before it may contain anything */
    char state = '\0';
    long threads = 0;
    long long start = 0;
    int got;

    if (!rest) {
        return -1;
    }
    got = sscanf(rest,
                 ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %ld "
                 "%*s %lld",
                 &state, &threads, &start);
    if (got != 3) {
        return -1;
    }
    /* A zombie is dead, unless only its first thread has ended. */
    if (state == 'X' || (state == 'Z' && threads <= 1)) {
        return -1;
    }
    return start;
}

/* Reads the boot's UUID as a number: the low 63 of its 128 bits. 0 if unknown. */
static apr_int64_t read_boot_id(void)
{
    char text[PATH_LEN_MAX];
    apr_uint64_t id = 0;
    const char *c;
    int failed;

    failed = read_text(text, sizeof(text), "/proc/sys/kernel/random/boot_id");
    if (failed) {
        return 0;
    }
    for (c = text; *c; c++) {
        const char digit[2] = {*c, '\0'};

        if (strchr("0123456789abcdef", *c)) {
            id = id << 4 | strtoul(digit, NULL, 16);
        }
    }
    return (apr_int64_t)(id & APR_INT64_MAX);
}

unsigned int pay_worker_forks(void)
{
    pthread_once(&fork_once, watch_forks);
    return atomic_load(&forks);
}

pay_worker_t pay_worker_self(void)
{
    pay_worker_t worker = {0, 0, 0};
    char text[STAT_TEXT_MAX];
    apr_int64_t start = -1;
    int failed;

    pthread_once(&fork_once, watch_forks);
    if (atomic_load(&self.filled)) {
        worker.pid = atomic_load(&self.pid);
        worker.start_ticks = atomic_load(&self.start_ticks);
        worker.boot_id = atomic_load(&self.boot_id);
        return worker;
    }
    worker.pid = getpid();
    failed = read_text(text, sizeof(text), "/proc/self/stat");
    if (!failed) {
        start = start_of(text);
    }
    worker.start_ticks = start > 0 ? start : 0;
    worker.boot_id = read_boot_id();
    atomic_store(&self.start_ticks, worker.start_ticks);
    atomic_store(&self.boot_id, worker.boot_id);
    atomic_store(&self.pid, worker.pid);
    atomic_store(&self.filled, 1);
    return worker;
}

int pay_worker_alive(const pay_worker_t *worker)
{
    char path[PATH_LEN_MAX];
    char text[STAT_TEXT_MAX];
    int failed;

    if (worker->pid <= 0 || worker->pid > INT_MAX || worker->boot_id != pay_worker_self().boot_id) {
        return 0;
    }
    if (worker->start_ticks) {
        snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)worker->pid);
        failed = read_text(text, sizeof(text), path);
        if (!failed) {
            return start_of(text) == worker->start_ticks;
        }
    }
    /* /proc may hide other users' processes: then the pid must do, and alive is the safe answer. */
    return kill((pid_t)worker->pid, 0) == 0 || errno != ESRCH;
}

/* Returns the time from `now_ms` to `until_ms`: not negative, and at most PAY_WORKER_TERM_MAX. */
static apr_interval_time_t time_to(apr_int64_t until_ms, apr_int64_t now_ms)
{
    const apr_int64_t longest_ms = apr_time_as_msec(PAY_WORKER_TERM_MAX);

    if (until_ms <= now_ms) {
        return 0;
    }
    return until_ms < now_ms + longest_ms ? apr_time_from_msec(until_ms - now_ms)
                                          : PAY_WORKER_TERM_MAX;
}

apr_time_t pay_worker_until(apr_int64_t until_ms, apr_time_t now)
{
    const apr_time_t until_at = now + time_to(until_ms, pay_time_boot_ms());

    return until_at ? until_at : 1;
}

apr_interval_time_t pay_worker_left(const pay_worker_t *worker, apr_int64_t until_ms,
                                    apr_time_t until_at, apr_time_t now)
{
    const apr_time_t graced = now - PAY_WORKER_GRACE;
    apr_interval_time_t left;

    if (worker->pid == 0) {
        return 0;
    }
    if (worker->boot_id == pay_worker_self().boot_id) {
        left = time_to(until_ms, pay_time_boot_ms());
        return left > 0 && pay_worker_alive(worker) ? left : 0;
    }
    if (until_at == 0
        || pay_time_is_over(until_at, graced, PAY_WORKER_TERM_MAX + PAY_WORKER_GRACE)) {
        return 0;
    }
    return until_at - graced;
}

apr_int64_t pay_worker_namespace(void)
{
    struct stat info;
    int failed;

    failed = stat("/proc/self/ns/pid", &info);
    if (failed) {
        return 0;
    }
    return (apr_int64_t)info.st_ino;
}
