/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/descriptor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define OWN_DESCRIPTORS "/proc/self/fd"
#define FD_FIRST 3         /* lower ones are inherited by every program */
#define FD_BLIND_MAX 65536 /* tried if they cannot be listed */

static pthread_once_t guard_once = PTHREAD_ONCE_INIT;
static atomic_int guards; /* threads between begin and end */

int pay_descriptor_close_on_exec(int fd)
{
    const int flags = fcntl(fd, F_GETFD);

    if (flags < 0) {
        return errno;
    }
    if (!(flags & FD_CLOEXEC) && fcntl(fd, F_SETFD, flags | FD_CLOEXEC) != 0) {
        return errno;
    }
    return 0;
}

/* Returns one more than the highest number to try. */
static int fd_end(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > FD_BLIND_MAX) {
        return FD_BLIND_MAX;
    }
    return (int)limit.rlim_cur;
}

/* Runs in a forked process, where only system calls are allowed. */
static void forked(void)
{
    const int end = atomic_load(&guards) > 0 ? fd_end() : 0;
    int fd;

    for (fd = FD_FIRST; fd < end; fd++) {
        (void)pay_descriptor_close_on_exec(fd);
    }
}

static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, forked);
}

void pay_descriptor_guard_begin(void)
{
    pthread_once(&guard_once, watch_forks);
    atomic_fetch_add(&guards, 1);
}

void pay_descriptor_guard_end(void)
{
    atomic_fetch_sub(&guards, 1);
}

/* Returns 1 for an end of a pair of unnamed sockets that this very process made. */
static int is_own_pair(int fd)
{
    struct sockaddr_un name = {.sun_family = AF_UNSPEC};
    socklen_t name_len = sizeof(name);
    struct ucred peer = {0};
    socklen_t peer_len = sizeof(peer);
    int type = 0;
    socklen_t type_len = sizeof(type);

    return getsockname(fd, (struct sockaddr *)&name, &name_len) == 0 && name.sun_family == AF_UNIX
           && name_len == sizeof(name.sun_family)
           && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_len) == 0 && type == SOCK_STREAM
           && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_len) == 0
           && peer.pid == getpid();
}

static void pair_close_on_exec(int fd)
{
    const int flags = fcntl(fd, F_GETFD);

    if (flags >= 0 && !(flags & FD_CLOEXEC) && is_own_pair(fd)) {
        (void)pay_descriptor_close_on_exec(fd);
    }
}

void pay_descriptor_pairs_close_on_exec(void)
{
    DIR *list = opendir(OWN_DESCRIPTORS);
    const int end = list ? 0 : fd_end();
    const struct dirent *entry;
    int fd;

    while (list && (entry = readdir(list)) != NULL) {
        fd = atoi(entry->d_name); /* 0 for the two entries that are not numbers */
        if (fd >= FD_FIRST) {
            pair_close_on_exec(fd);
        }
    }
    for (fd = FD_FIRST; fd < end; fd++) {
        pair_close_on_exec(fd);
    }
    if (list) {
        closedir(list);
    }
}
