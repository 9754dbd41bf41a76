/* SPDX-License-Identifier: Apache-2.0 */
/* Lets writes and syncs of a store fail while the test requests it (fail.h). */
#include "fail.h"
#include "preload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static fail_t *fail;

__attribute__((constructor)) static void fail_map(void)
{
    const char *path = getenv("PAYMENTS_FAIL");
    void *memory = MAP_FAILED;
    int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0) : -1;

    if (fd >= 0) {
        memory = mmap(NULL, sizeof(*fail), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        (void)syscall(SYS_close, fd);
    }
    if (memory == MAP_FAILED) {
        preload_die("preload: PAYMENTS_FAIL cannot be mapped");
    }
    fail = memory;
}

/* The header's pages are written through O_DSYNC, and through the other descriptor only to make the
 * store, or to restore the old header. */
static int is_restore(off_t offset)
{
    return offset < 2 * sysconf(_SC_PAGESIZE);
}

ssize_t preload_write(int fd, int synced, off_t offset, const struct iovec *part, int parts)
{
    const int which = synced ? 2 : is_restore(offset) ? 3 : 0;
    const int error = which == 2 ? fail->header : which == 3 ? fail->restore : fail->data;
    struct iovec half = part[0];

    if (!error) {
        return preload_real_write(fd, offset, part, parts);
    }
    fail->failed[which]++;
    if (error == FAIL_SHORT) {
        half.iov_len /= 2;
        return preload_real_write(fd, offset, &half, 1);
    }
    if (synced) {
        (void)preload_real_write(fd, offset, part, parts);
    }
    errno = error;
    return -1;
}

void preload_named(void)
{
}

void preload_call(const char *line, size_t len)
{
    (void)line;
    (void)len;
}

int preload_sync(int fd)
{
    const int error = fail->sync;

    if (!error) {
        return preload_real_sync(fd);
    }
    fail->failed[1]++;
    errno = error;
    return -1;
}
