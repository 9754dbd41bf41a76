/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into httpd: its wall clock is the real one and as many microseconds as the file
 * PAYMENTS_CLOCK_FILE holds, an 8-byte number of this machine, which may change at any time. Other
 * clocks are left alone, as they are when an administrator or NTP sets the time.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define USEC_PER_SEC 1000000
#define NSEC_PER_USEC 1000
#define EXPORTED __attribute__((visibility("default")))

typedef int clock_gettime_t(clockid_t clock, struct timespec *out);

static clock_gettime_t *real_clock_gettime;
static const volatile int64_t *offset_us; /* NULL: no file, the real time */

__attribute__((constructor)) static void prepare(void)
{
    const char *path = getenv("PAYMENTS_CLOCK_FILE");
    void *mapped;
    int fd;

    *(void **)&real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) {
        return;
    }
    mapped = mmap(NULL, sizeof(*offset_us), PROT_READ, MAP_SHARED, fd, 0);
    if (mapped != MAP_FAILED) {
        offset_us = mapped;
    }
    close(fd);
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *out)
{
    int64_t us;
    int rc;

    if (!real_clock_gettime) { /* a sanitizer asks before this library is set up */
        return (int)syscall(SYS_clock_gettime, clock, out);
    }
    rc = real_clock_gettime(clock, out);
    if (rc == 0 && offset_us && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        us = (int64_t)out->tv_sec * USEC_PER_SEC + out->tv_nsec / NSEC_PER_USEC + *offset_us;
        out->tv_sec = (time_t)(us / USEC_PER_SEC);
        out->tv_nsec = (long)(us % USEC_PER_SEC) * NSEC_PER_USEC + out->tv_nsec % NSEC_PER_USEC;
    }
    return rc;
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
    struct timespec now = {0, 0};

    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (out) {
        *out = now.tv_sec;
    }
    return now.tv_sec;
}
