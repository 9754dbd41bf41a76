/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHILD_FIXTURE_H
#define CHILD_FIXTURE_H

/* Processes beside the test's own, like a server and its tools. Fork before a store is opened. */

#include "unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* The work of a forked process, which opens everything itself. The result is its exit code. */
typedef int (*fixture_child_t)(const char *dir, int ready_fd);

/* Starts a child and waits until it wrote a byte to ready_fd, or ended. */
static inline pid_t fixture_fork(fixture_child_t run, const char *dir)
{
    int fds[2];
    char byte;
    pid_t pid;

    ck_assert_int_eq(pipe(fds), 0);
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        close(fds[0]);
        _exit(run(dir, fds[1]));
    }
    close(fds[1]);
    (void)!read(fds[0], &byte, 1);
    close(fds[0]);
    return pid;
}

static inline int fixture_wait(pid_t pid)
{
    int status = 0;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
