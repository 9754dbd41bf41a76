/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PRELOAD_H
#define PRELOAD_H

/*
 * A library that is preloaded into httpd stands between LMDB and one file: the one whose path is in
 * PAYMENTS_PRELOAD_FILE, as it is passed to open(2). preload.c catches every call that writes or
 * syncs it; the functions below, which each library defines for itself, decide the result. A call
 * that truncates the file ends the process: neither library knows what it leaves behind.
 * PAYMENTS_PRELOAD_CALLS, if set, is the path of the file where an acquirer notes its calls.
 */

#include <sys/types.h>
#include <sys/uio.h>

#define PRELOAD_PARTS_MAX 128 /* LMDB passes at most 64 */

/* `synced` 1: through a descriptor opened with O_DSYNC, which is how LMDB writes its header. Like
 * pwritev(2). */
ssize_t preload_write(int fd, int synced, off_t offset, const struct iovec *part, int parts);

/* Like fdatasync(2). */
int preload_sync(int fd);

/* The file now has its name; one that is opened by its name has it from the start. */
void preload_named(void);

/* An acquirer is about to note a call. */
void preload_call(const char *line, size_t len);

/* The system's own. */
ssize_t preload_real_write(int fd, off_t offset, const struct iovec *part, int parts);
int preload_real_sync(int fd);

size_t preload_len(const struct iovec *part, int parts);

/* Writes the reason to stderr and ends the process. */
void preload_die(const char *why) __attribute__((noreturn));

#endif
