/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into httpd: a process that ends takes its time, and what another of its threads takes
 * down meanwhile is noted in the file PAYMENTS_LATE.
 */

#include <curl/curl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define EXIT_USEC 500000 /* a watchdog looks ten times a second */

typedef void exit_t(int status);
typedef CURLMcode cleanup_t(CURLM *multi);

static atomic_int ends;

EXPORTED __attribute__((noreturn)) void exit(int status)
{
    exit_t *real_exit;

    *(void **)&real_exit = dlsym(RTLD_NEXT, "exit");
    atomic_store(&ends, 1);
    usleep(EXIT_USEC);
    real_exit(status);
    abort();
}

EXPORTED CURLMcode curl_multi_cleanup(CURLM *multi)
{
    const char *path = getenv("PAYMENTS_LATE");
    cleanup_t *real_cleanup;
    int fd;

    if (path && atomic_load(&ends)) {
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        (void)!write(fd, "late\n", 5);
        (void)close(fd);
    }
    *(void **)&real_cleanup = dlsym(RTLD_NEXT, "curl_multi_cleanup");
    return real_cleanup(multi);
}
