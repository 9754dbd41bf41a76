/* SPDX-License-Identifier: Apache-2.0 */
#include <httpd.h>

#include "httpd/process/exec_line.h"

#include "base/crypto/trusted_path.h"
#include "base/text/time.h"

#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

const char *pay_exec_fault(const char *what, const char *program, apr_pool_t *p)
{
    const char *reason;
    struct stat info;
    int fd;

    if (pay_trusted_path_open(&fd, &info, &reason, what, program, NULL, p) != APR_SUCCESS) {
        return reason;
    }
    close(fd);
    if (!S_ISREG(info.st_mode)) {
        return apr_psprintf(p, "%s %s is not a regular file: name one that is", what, program);
    }
    return NULL;
}

/* httpd's own way to run a program has no time limit: it runs in a process that has one. */
static void run(int fd, const char *program, apr_pool_t *p)
{
    const char *const words[] = {program, NULL};
    const char *line;
    apr_size_t left;
    ssize_t written;

    setpgid(0, 0);
    line = ap_get_exec_line(p, program, words);
    left = line ? strlen(line) : 0;
    while (left > 0) {
        written = write(fd, line, left);
        if (written < 0 && errno != EINTR) {
            break;
        }
        line += written > 0 ? written : 0;
        left -= written > 0 ? (apr_size_t)written : 0;
    }
    _exit(0);
}

/* Reads up to `size` bytes, until the other side closes. */
static apr_status_t collect(apr_size_t *len, char *text, apr_size_t size, int fd)
{
    const apr_int64_t until_ms = pay_time_boot_ms() + PAY_EXEC_TIME_MAX_S * 1000;
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    apr_int64_t left_ms;
    ssize_t got = 1;
    int ready;

    *len = 0;
    while (got != 0 && *len < size) {
        left_ms = until_ms - pay_time_boot_ms();
        ready = left_ms > 0 ? poll(&wait, 1, (int)left_ms) : 0;
        if (ready == 0) {
            return APR_TIMEUP;
        }
        got = ready > 0 ? read(fd, text + *len, size - *len) : -1;
        if (got < 0 && errno != EINTR) {
            return errno;
        }
        *len += got > 0 ? (apr_size_t)got : 0;
    }
    return APR_SUCCESS;
}

apr_status_t pay_exec_line(apr_size_t *len, char *text, apr_size_t size, const char *program,
                           apr_pool_t *p)
{
    apr_status_t rv;
    int fds[2];
    pid_t pid;

    *len = 0;
    text[0] = '\0';
    /* The program itself must not hold it open. */
    if (pipe2(fds, O_CLOEXEC) != 0) {
        return errno;
    }
    pid = fork();
    if (pid == 0) {
        close(fds[0]);
        run(fds[1], program, p);
    }
    rv = pid < 0 ? errno : APR_SUCCESS;
    close(fds[1]);
    if (rv == APR_SUCCESS) {
        rv = collect(len, text, size, fds[0]);
        /* The whole group, because the program may have left processes behind. */
        kill(-pid, SIGKILL);
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    close(fds[0]);
    if (rv == APR_SUCCESS && *len == size) {
        rv = APR_ENOSPC;
    } else if (rv == APR_SUCCESS && *len == 0) {
        rv = APR_EGENERAL;
    }
    text[rv == APR_SUCCESS ? *len : 0] = '\0';
    return rv;
}
