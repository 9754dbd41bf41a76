/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into httpd or paymentsctl: the kernel's boot id is the content of the file
 * PAYMENTS_BOOT_ID, as if the process ran on another machine.
 */

#undef _FORTIFY_SOURCE /* its headers have an open of their own */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

typedef int open_t(const char *path, int flags, ...);

EXPORTED int open(const char *path, int flags, ...)
{
    const char *other = getenv("PAYMENTS_BOOT_ID");
    open_t *real_open;
    mode_t mode = 0;
    va_list rest;

    if (flags & (O_CREAT | __O_TMPFILE)) {
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    if (other && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0) {
        path = other;
    }
    *(void **)&real_open = dlsym(RTLD_NEXT, "open");
    return real_open(path, flags, mode);
}
