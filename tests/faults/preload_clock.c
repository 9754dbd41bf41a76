/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into httpd or paymentsctl: three of its clocks are moved and stopped by the file that
 * PAYMENTS_CLOCK_FILE names, which a test writes at any time (tests/api/virtual_clock.py).
 *
 * The file holds two 8-byte numbers of this machine for each of CLOCK_REALTIME, CLOCK_MONOTONIC and
 * CLOCK_BOOTTIME: by how many microseconds the clock is ahead of the real one, and, unless 0, the
 * time in microseconds at which it stands. A shorter file leaves the rest of the clocks alone.
 *
 * A wait until a time ends when the moved clock shows that time, and so never while it stands. A
 * wait for a duration in poll(2), libcurl's among them, ends when the real or the moved clock has
 * gone on by so much: a stopped clock starves nobody who polls. Sleeps take real time.
 */

#undef _FORTIFY_SOURCE /* its headers have a poll of their own */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define USEC_PER_SEC INT64_C(1000000)
#define USEC_PER_MSEC 1000
#define NSEC_PER_USEC 1000
#define SLICE_US (20 * USEC_PER_MSEC) /* of a wait: then the moved clock is read again */
#define WALL_FROM_US (INT64_C(1000000000) * USEC_PER_SEC) /* no machine has been up for so long */
#define EXPORTED __attribute__((visibility("default")))

typedef struct hand_t {
    int64_t ahead_us;
    int64_t stands_us; /* 0: it goes */
} hand_t;

enum { WALL, MONOTONIC, BOOT, CLOCKS };

typedef int clock_gettime_t(clockid_t clock, struct timespec *out);
typedef int poll_t(struct pollfd *fds, nfds_t count, int timeout_ms);
typedef int sem_clockwait_t(sem_t *sem, clockid_t clock, const struct timespec *until);
typedef int mutex_clocklock_t(pthread_mutex_t *mutex, clockid_t clock,
                              const struct timespec *until);

static clock_gettime_t *real_clock_gettime;
static poll_t *real_poll;
static sem_clockwait_t *real_sem_clockwait;
static mutex_clocklock_t *real_mutex_clocklock;
static const volatile hand_t *hands; /* NULL: no file, the real time */

__attribute__((constructor)) static void prepare(void)
{
    const char *path = getenv("PAYMENTS_CLOCK_FILE");
    void *mapped;
    int fd;

    *(void **)&real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    *(void **)&real_poll = dlsym(RTLD_NEXT, "poll");
    *(void **)&real_sem_clockwait = dlsym(RTLD_NEXT, "sem_clockwait");
    *(void **)&real_mutex_clocklock = dlsym(RTLD_NEXT, "pthread_mutex_clocklock");
    fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) {
        return;
    }
    mapped = mmap(NULL, CLOCKS * sizeof(hand_t), PROT_READ, MAP_SHARED, fd, 0);
    if (mapped != MAP_FAILED) {
        hands = mapped;
    }
    close(fd);
}

/* ---- what the clocks show */

static const volatile hand_t *hand_of(clockid_t clock)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        return hands ? &hands[WALL] : NULL;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
        return hands ? &hands[MONOTONIC] : NULL;
    case CLOCK_BOOTTIME:
        return hands ? &hands[BOOT] : NULL;
    default:
        return NULL;
    }
}

static int64_t us_of(const struct timespec *spec)
{
    return (int64_t)spec->tv_sec * USEC_PER_SEC + spec->tv_nsec / NSEC_PER_USEC;
}

static struct timespec spec_of(int64_t us)
{
    const struct timespec spec = {(time_t)(us / USEC_PER_SEC),
                                  (long)(us % USEC_PER_SEC) * NSEC_PER_USEC};

    return spec;
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *out)
{
    const volatile hand_t *hand = hand_of(clock);
    int64_t stands_us;
    long below_us;
    int rc;

    if (!real_clock_gettime) { /* a sanitizer reads it before this library is set up */
        return (int)syscall(SYS_clock_gettime, clock, out);
    }
    rc = real_clock_gettime(clock, out);
    if (rc == 0 && hand) {
        stands_us = hand->stands_us;
        below_us = stands_us ? 0 : out->tv_nsec % NSEC_PER_USEC;
        *out = spec_of(stands_us ? stands_us : us_of(out) + hand->ahead_us);
        out->tv_nsec += below_us;
    }
    return rc;
}

static int64_t now_us(clockid_t clock)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(clock, &now);
    return us_of(&now);
}

EXPORTED int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    int rc;

    (void)zone;
    rc = clock_gettime(CLOCK_REALTIME, &now);
    if (rc == 0) {
        out->tv_sec = now.tv_sec;
        out->tv_usec = (suseconds_t)(now.tv_nsec / NSEC_PER_USEC);
    }
    return rc;
}

EXPORTED time_t time(time_t *out)
{
    const time_t now = (time_t)(now_us(CLOCK_REALTIME) / USEC_PER_SEC);

    if (out) {
        *out = now;
    }
    return now;
}

/* ---- waits for a duration */

static int64_t real_now_us(void)
{
    struct timespec now = {0, 0};

    (void)real_clock_gettime(CLOCK_MONOTONIC, &now);
    return us_of(&now);
}

EXPORTED int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    const int64_t wait_us = (int64_t)timeout_ms * USEC_PER_MSEC;
    int64_t until_us, real_until_us, left_us;
    int rc;

    if (!hands || wait_us <= SLICE_US) {
        return real_poll(fds, count, timeout_ms);
    }
    until_us = now_us(CLOCK_MONOTONIC) + wait_us;
    real_until_us = real_now_us() + wait_us;
    do {
        left_us = real_until_us - real_now_us();
        left_us = left_us < 0 ? 0 : left_us > SLICE_US ? SLICE_US : left_us;
        rc = real_poll(fds, count, (int)((left_us + USEC_PER_MSEC - 1) / USEC_PER_MSEC));
    } while (rc == 0 && now_us(CLOCK_MONOTONIC) < until_us && real_now_us() < real_until_us);
    return rc;
}

/* ---- waits until a time */

#ifdef __GLIBC__ /* in a line of its own: elsewhere the next one is not even C */
#if __GLIBC_PREREQ(2, 30)

/* Returns when the moved clock must be read again, by the real one: at once if `until` has come. */
static struct timespec slice_end(clockid_t clock, const struct timespec *until)
{
    int64_t left_us = us_of(until) - now_us(clock);

    left_us = left_us < 0 ? 0 : left_us > SLICE_US ? SLICE_US : left_us;
    return spec_of(real_now_us() + left_us);
}

static int has_come(clockid_t clock, const struct timespec *until)
{
    return us_of(until) <= now_us(clock);
}

/*
 * The clock of a condition cannot be known: the time shows it. It may wake up spuriously, and does.
 */
EXPORTED int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                                    const struct timespec *restrict until)
{
    const clockid_t clock = us_of(until) >= WALL_FROM_US ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    const struct timespec end = slice_end(clock, until);
    const int rc = pthread_cond_clockwait(cond, mutex, CLOCK_MONOTONIC, &end);

    return rc == ETIMEDOUT && !has_come(clock, until) ? 0 : rc;
}

EXPORTED int sem_clockwait(sem_t *restrict sem, clockid_t clock,
                           const struct timespec *restrict until)
{
    struct timespec end;
    int rc;

    do {
        end = slice_end(clock, until);
        rc = real_sem_clockwait(sem, CLOCK_MONOTONIC, &end);
    } while (rc != 0 && errno == ETIMEDOUT && !has_come(clock, until));
    return rc;
}

EXPORTED int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict until)
{
    return sem_clockwait(sem, CLOCK_REALTIME, until);
}

EXPORTED int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
                                     const struct timespec *until)
{
    struct timespec end;
    int rc;

    do {
        end = slice_end(clock, until);
        rc = real_mutex_clocklock(mutex, CLOCK_MONOTONIC, &end);
    } while (rc == ETIMEDOUT && !has_come(clock, until));
    return rc;
}

EXPORTED int pthread_mutex_timedlock(pthread_mutex_t *restrict mutex,
                                     const struct timespec *restrict until)
{
    return pthread_mutex_clocklock(mutex, CLOCK_REALTIME, until);
}

#endif
#endif
