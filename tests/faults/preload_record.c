/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records every write and sync of a store in the file that PAYMENTS_RECORD names (record.h). The
 * file must exist; the process must be able to open it when it starts.
 */
#include "preload.h"
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int record_fd = -1;

__attribute__((constructor)) static void record_open(void)
{
    const char *path = getenv("PAYMENTS_RECORD");

    if (path) {
        record_fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
    }
}

static void append(uint32_t kind, off_t offset, const struct iovec *part, int parts)
{
    struct iovec all[PRELOAD_PARTS_MAX + 1];
    record_head_t head = {.kind = kind, .thread = (uint32_t)syscall(SYS_gettid)};
    ssize_t done;

    head.offset = (uint64_t)offset;
    head.len = preload_len(part, parts);
    all[0].iov_base = &head;
    all[0].iov_len = sizeof(head);
    if (parts > 0) {
        memcpy(all + 1, part, (size_t)parts * sizeof(*part));
    }
    done = syscall(SYS_writev, record_fd, all, parts + 1);
    if (done != (ssize_t)preload_len(all, parts + 1)) {
        preload_die("preload: the record cannot be written");
    }
}

ssize_t preload_write(int fd, int synced, off_t offset, const struct iovec *part, int parts)
{
    ssize_t done;

    append(synced ? RECORD_WRITE_SYNCED : RECORD_WRITE, offset, part, parts);
    done = preload_real_write(fd, offset, part, parts);
    if (done != (ssize_t)preload_len(part, parts)) {
        preload_die("preload: a recorded write failed");
    }
    if (synced) {
        append(RECORD_WRITE_END, offset, NULL, 0);
    }
    return done;
}

void preload_named(void)
{
    append(RECORD_NAMED, 0, NULL, 0);
}

void preload_call(const char *line, size_t len)
{
    static const char asked[] = "asked ";
    const struct iovec part[] = {{(void *)(uintptr_t)asked, sizeof(asked) - 1},
                                 {(void *)(uintptr_t)line, len}};

    append(RECORD_MARK, 0, part, 2);
}

int preload_sync(int fd)
{
    append(RECORD_SYNC, 0, NULL, 0);
    if (preload_real_sync(fd) != 0) {
        preload_die("preload: a recorded sync failed");
    }
    append(RECORD_SYNC_END, 0, NULL, 0);
    return 0;
}
