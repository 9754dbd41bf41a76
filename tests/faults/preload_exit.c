/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into httpd: a process that ends takes its time, and any shutdown by another of its
 * threads meanwhile, or beside those threads, is noted in the file PAYMENTS_LATE.
 */

#include <curl/curl.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define EXIT_USEC 500000 /* a watchdog wakes up ten times a second */

typedef void exit_t(int status);
typedef CURLMcode cleanup_t(CURLM *multi);
typedef int init_t(uint64_t options, const void *settings);

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

static void note(const char *line)
{
    const char *path = getenv("PAYMENTS_LATE");
    int fd;

    if (path) {
        fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        (void)!write(fd, line, strlen(line));
        (void)close(fd);
    }
}

/* After everything that exit() calls. OpenSSL begins nothing any more after its shutdown. */
__attribute__((destructor)) static void look_at_openssl(void)
{
    init_t *init;

    *(void **)&init = dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto");
    if (init && !init(0, NULL)) {
        note("OpenSSL\n");
    }
}

EXPORTED CURLMcode curl_multi_cleanup(CURLM *multi)
{
    cleanup_t *real_cleanup;

    if (atomic_load(&ends)) {
        note("libcurl\n");
    }
    *(void **)&real_cleanup = dlsym(RTLD_NEXT, "curl_multi_cleanup");
    return real_cleanup(multi);
}
