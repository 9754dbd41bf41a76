/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/exec_line.h"

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* Secrets that a program prints: its first line, or why it prints none. */

#define SIZE 9 /* a line of 8 bytes and its NUL */

/* A shell program of these lines. */
static const char *program_of(const char *lines)
{
    const char *path = apr_pstrcat(unit_pool, unit_dir(), "/program", NULL);
    const char *text = apr_pstrcat(unit_pool, "#!/bin/sh\n", lines, "\n", NULL);
    const int fd = open(path, O_CREAT | O_WRONLY, 0700);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    (void)close(fd);
    return path;
}

static const struct {
    const char *name, *lines;
    apr_status_t want;
    const char *text;
} rows[] = {
    {"a line", "echo secret", APR_SUCCESS, "secret"},
    {"the first of two", "echo one; echo two", APR_SUCCESS, "one"},
    {"a line without an end", "printf secret", APR_SUCCESS, "secret"},
    {"one byte", "echo a", APR_SUCCESS, "a"},
    {"the longest", "echo 12345678", APR_SUCCESS, "12345678"},
    {"one byte more", "echo 123456789", APR_ENOSPC, ""},
    {"far too long", "echo 12345678901234567890", APR_ENOSPC, ""},
    {"an empty line", "echo", APR_EGENERAL, ""},
    {"nothing", "exit 0", APR_EGENERAL, ""},
};

START_TEST(test_lines)
{
    char text[SIZE + 1];
    apr_size_t len = 77;
    apr_status_t rv;

    memset(text, 'x', sizeof(text));
    rv = pay_exec_line(&len, text, SIZE, program_of(rows[_i].lines), unit_pool);
    ck_assert_msg(rv == rows[_i].want, "%s: %d", rows[_i].name, (int)rv);
    ck_assert_msg(strcmp(text, rows[_i].text) == 0, "%s: %s", rows[_i].name, text);
    ck_assert_msg(rv != APR_SUCCESS || len == strlen(text), "%s: %d", rows[_i].name, (int)len);
    ck_assert_int_eq(text[SIZE], 'x');
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
}
END_TEST

START_TEST(test_no_program)
{
    char text[SIZE] = "x";
    apr_size_t len = 77;

    ck_assert_int_eq(pay_exec_line(&len, text, SIZE, "/nowhere/program", unit_pool), APR_EGENERAL);
    ck_assert_uint_eq(len, 0);
    ck_assert_str_eq(text, "");
}
END_TEST

/* A program that goes on after its line is not waited for, and does not stay. */
START_TEST(test_what_goes_on_is_ended)
{
    const char *file = apr_pstrcat(unit_pool, unit_dir(), "/pid", NULL);
    const char *lines =
        apr_pstrcat(unit_pool, "echo $$ >", file, "; echo line; exec sleep 1000", NULL);
    char text[SIZE], number[20] = "";
    apr_size_t len;
    int fd, i;

    ck_assert_int_eq(pay_exec_line(&len, text, SIZE, program_of(lines), unit_pool), APR_SUCCESS);
    ck_assert_str_eq(text, "line");
    fd = open(file, O_RDONLY);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_gt(read(fd, number, sizeof(number) - 1), 0);
    (void)close(fd);
    for (i = 0; i < 1000 && kill((pid_t)atoi(number), 0) == 0; i++) {
        apr_sleep(apr_time_from_msec(10)); /* a moment until it is gone */
    }
    ck_assert_int_lt(i, 1000);
}
END_TEST

static void ignore(int number)
{
    (void)number;
}

/* A signal does not interrupt: neither while the line is waited for, nor at the program's end. */
START_TEST(test_signals_are_no_answer)
{
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = ignore};
    char text[SIZE];
    apr_size_t len;
    apr_status_t rv;

    sigaction(SIGALRM, &action, NULL);
    (void)setitimer(ITIMER_REAL, &often, NULL);
    rv = pay_exec_line(&len, text, SIZE, program_of("sleep 0.1; echo late"), unit_pool);
    (void)setitimer(ITIMER_REAL, &never, NULL);
    ck_assert_int_eq(rv, APR_SUCCESS);
    ck_assert_str_eq(text, "late");
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

/* ---- programs that others may change */

START_TEST(test_faults)
{
    const char *program = program_of("echo a");
    const char *link = apr_pstrcat(unit_pool, unit_dir(), "/link", NULL), *fault;

    ck_assert_ptr_null(pay_exec_fault("The program", program, unit_pool));
    ck_assert_int_eq(chmod(program, 0722), 0);
    fault = pay_exec_fault("The program", program, unit_pool);
    ck_assert_ptr_nonnull(fault);
    ck_assert_int_eq(strncmp(fault, "The program", 11), 0);
    ck_assert_ptr_nonnull(strstr(fault, program));
    fault = pay_exec_fault("The program", unit_dir(), unit_pool);
    ck_assert_ptr_nonnull(fault);
    ck_assert_ptr_nonnull(strstr(fault, "is not a regular file"));
    ck_assert_ptr_nonnull(pay_exec_fault("The program", link, unit_pool));
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_lines, 0, UNIT_ROWS(rows));
    tcase_add_test(tcase, test_no_program);
    tcase_add_test(tcase, test_what_goes_on_is_ended);
    tcase_add_test(tcase, test_signals_are_no_answer);
    tcase_add_test(tcase, test_faults);
}

UNIT_PROGRAM(add)
