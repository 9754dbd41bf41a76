/* SPDX-License-Identifier: Apache-2.0 */
#undef _FORTIFY_SOURCE /* its own open and write conflict with these */

#include "preload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILES_MAX 65536 /* descriptors of a process */

typedef enum kind_t { KIND_OTHER, KIND_DATA, KIND_SYNCED, KIND_CALLS } kind_t;

/* The meaning of each descriptor. Inherited by fork like the descriptors. */
static atomic_uchar kinds[FILES_MAX];

void preload_die(const char *why)
{
    static const char end[] = "\n";

    (void)syscall(SYS_write, STDERR_FILENO, why, strlen(why));
    (void)syscall(SYS_write, STDERR_FILENO, end, sizeof(end) - 1);
    abort();
}

size_t preload_len(const struct iovec *part, int parts)
{
    size_t len = 0;
    int i;

    for (i = 0; i < parts; i++) {
        len += part[i].iov_len;
    }
    return len;
}

ssize_t preload_real_write(int fd, off_t offset, const struct iovec *part, int parts)
{
    return syscall(SYS_pwritev, fd, part, parts, offset, 0);
}

int preload_real_sync(int fd)
{
    return (int)syscall(SYS_fdatasync, fd);
}

static kind_t kind_of(int fd)
{
    return fd >= 0 && fd < FILES_MAX ? (kind_t)kinds[fd] : KIND_OTHER;
}

static int is_file(int fd)
{
    return kind_of(fd) == KIND_DATA || kind_of(fd) == KIND_SYNCED;
}

/* Returns the descriptor that a path of the form /proc/self/fd/N leads to; -1 for other paths. */
static int fd_of_path(const char *path)
{
    static const char prefix[] = "/proc/self/fd/";

    return strncmp(path, prefix, sizeof(prefix) - 1) == 0 ? atoi(path + sizeof(prefix) - 1) : -1;
}

/* A store's file has no name before its header is durable. */
static int is_path_of_file(const char *path, const char *file, int flags)
{
    return (flags & O_TMPFILE) == O_TMPFILE || is_file(fd_of_path(path))
           || (file && strcmp(path, file) == 0);
}

static int open_at(int at, const char *path, int flags, mode_t mode)
{
    const char *file = getenv("PAYMENTS_PRELOAD_FILE");
    const char *calls = getenv("PAYMENTS_PRELOAD_CALLS");
    int fd = (int)syscall(SYS_openat, at, path, flags, mode);

    if (fd >= 0 && fd < FILES_MAX) {
        kinds[fd] = KIND_OTHER;
        if ((flags & O_ACCMODE) != O_RDONLY && is_path_of_file(path, file, flags)) {
            kinds[fd] = flags & O_DSYNC ? KIND_SYNCED : KIND_DATA;
        } else if (calls && strcmp(path, calls) == 0) {
            kinds[fd] = KIND_CALLS;
        }
    }
    return fd;
}

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list args;                                                                              \
        mode_t mode;                                                                               \
                                                                                                   \
        va_start(args, flags);                                                                     \
        mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;                           \
        va_end(args);                                                                              \
        return open_at(AT_FDCWD, path, flags, mode);                                               \
    }
OPEN(open)
OPEN(open64)

int openat(int at, const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
    va_end(args);
    return open_at(at, path, flags, mode);
}

int linkat(int from, const char *old, int to, const char *path, int flags)
{
    int rc = (int)syscall(SYS_linkat, from, old, to, path, flags);

    if (rc == 0 && is_file(fd_of_path(old))) {
        preload_named();
    }
    return rc;
}

int close(int fd)
{
    if (fd >= 0 && fd < FILES_MAX) {
        kinds[fd] = KIND_OTHER;
    }
    return (int)syscall(SYS_close, fd);
}

static ssize_t write_at(int fd, off_t offset, const struct iovec *part, int parts)
{
    if (parts > PRELOAD_PARTS_MAX) {
        preload_die("preload: a write of too many parts");
    }
    return preload_write(fd, kind_of(fd) == KIND_SYNCED, offset, part, parts);
}

static ssize_t write_here(int fd, const struct iovec *part, int parts)
{
    const off_t offset = lseek(fd, 0, SEEK_CUR);
    ssize_t done = write_at(fd, offset, part, parts);

    if (done > 0) {
        (void)lseek(fd, offset + done, SEEK_SET);
    }
    return done;
}

ssize_t write(int fd, const void *data, size_t len)
{
    const struct iovec part = {(void *)(uintptr_t)data, len};

    if (kind_of(fd) == KIND_CALLS) {
        preload_call(data, len);
    }
    return is_file(fd) ? write_here(fd, &part, 1) : syscall(SYS_write, fd, data, len);
}

ssize_t writev(int fd, const struct iovec *part, int parts)
{
    return is_file(fd) ? write_here(fd, part, parts) : syscall(SYS_writev, fd, part, parts);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t offset)
{
    const struct iovec part = {(void *)(uintptr_t)data, len};

    return is_file(fd) ? write_at(fd, offset, &part, 1)
                       : syscall(SYS_pwrite64, fd, data, len, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t offset)
{
    return pwrite(fd, data, len, offset);
}

ssize_t pwritev(int fd, const struct iovec *part, int parts, off_t offset)
{
    return is_file(fd) ? write_at(fd, offset, part, parts)
                       : preload_real_write(fd, offset, part, parts);
}

ssize_t pwritev64(int fd, const struct iovec *part, int parts, off64_t offset)
{
    return pwritev(fd, part, parts, offset);
}

int fdatasync(int fd)
{
    return is_file(fd) ? preload_sync(fd) : preload_real_sync(fd);
}

int fsync(int fd)
{
    return is_file(fd) ? preload_sync(fd) : (int)syscall(SYS_fsync, fd);
}

int ftruncate(int fd, off_t len)
{
    if (is_file(fd)) {
        preload_die("preload: the file is truncated");
    }
    return (int)syscall(SYS_ftruncate, fd, len);
}

int ftruncate64(int fd, off64_t len)
{
    return ftruncate(fd, len);
}
