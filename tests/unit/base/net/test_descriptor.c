/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/descriptor.h"

#include "child_fixture.h"
#include "inherited.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

START_TEST(test_one)
{
    const int before = inherited_count();
    int fd = open("/dev/null", O_RDWR);

    ck_assert_int_eq(inherited_count(), before + 1);
    ck_assert_int_eq(pay_descriptor_close_on_exec(fd), 0);
    ck_assert_int_eq(pay_descriptor_close_on_exec(fd), 0);
    ck_assert_int_eq(inherited_count(), before);
    close(fd);
    ck_assert_int_eq(pay_descriptor_close_on_exec(fd), EBADF);
}
END_TEST

/* ---- pairs of sockets */

static void make_pair(int fds[2])
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

static void close_both(const int fds[2])
{
    close(fds[0]);
    close(fds[1]);
}

static void make_datagram_pair(int fds[2])
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds), 0);
}

static void make_pipe(int fds[2])
{
    ck_assert_int_eq(pipe(fds), 0);
}

static void make_files(int fds[2])
{
    fds[0] = open("/dev/null", O_RDONLY);
    fds[1] = open("/dev/null", O_WRONLY);
}

static void make_unconnected(int fds[2])
{
    fds[0] = socket(AF_UNIX, SOCK_STREAM, 0);
    fds[1] = socket(AF_INET, SOCK_STREAM, 0);
}

static void make_named(int fds[2])
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};

    /* The empty name after a NUL: an abstract name that the kernel chooses. */
    fds[0] = socket(AF_UNIX, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(fds[0], (struct sockaddr *)&name, sizeof(name.sun_family)), 0);
    ck_assert_int_eq(listen(fds[0], 1), 0);
    fds[1] = open("/dev/null", O_RDONLY);
}

static const struct {
    const char *name;
    void (*make)(int fds[2]);
    int left; /* that a program still inherits */
} pair_rows[] = {
    {"a pair", make_pair, 0},
    {"of datagrams", make_datagram_pair, 2},
    {"a pipe", make_pipe, 2},
    {"files", make_files, 2},
    {"single ones", make_unconnected, 2},
    {"one with a name", make_named, 2},
};

START_TEST(test_pairs)
{
    const int before = inherited_count();
    int fds[2];

    pair_rows[_i].make(fds);
    ck_assert_int_eq(inherited_count(), before + 2);
    pay_descriptor_pairs_close_on_exec();
    ck_assert_msg(inherited_count() == before + pair_rows[_i].left, "%s", pair_rows[_i].name);
    close_both(fds);
}
END_TEST

static int look_at_the_parents(const char *dir, int ready_fd)
{
    const int before = inherited_count();

    (void)dir;
    (void)ready_fd;
    pay_descriptor_pairs_close_on_exec();
    return inherited_count() == before ? 0 : 1;
}

/* A pair that the parent process made is not one of ours. */
START_TEST(test_the_pair_of_another_process)
{
    int fds[2];

    make_pair(fds);
    ck_assert_int_eq(fixture_wait(fixture_fork(look_at_the_parents, "")), 0);
    close_both(fds);
}
END_TEST

START_TEST(test_many)
{
    const int before = inherited_count();
    int fds[100][2];
    int i;

    for (i = 0; i < 100; i++) {
        make_pair(fds[i]);
    }
    pay_descriptor_pairs_close_on_exec();
    ck_assert_int_eq(inherited_count(), before);
    for (i = 0; i < 100; i++) {
        close_both(fds[i]);
    }
}
END_TEST

/* ---- what is forked while something is being opened */

static int count_inherited(const char *dir, int ready_fd)
{
    (void)dir;
    (void)ready_fd;
    return inherited_count();
}

START_TEST(test_guard)
{
    int fd = open("/dev/null", O_RDWR);
    const int all = inherited_count() + 1; /* and the pipe of the fixture */

    ck_assert_int_eq(fixture_wait(fixture_fork(count_inherited, "")), all);
    pay_descriptor_guard_begin();
    pay_descriptor_guard_begin();
    ck_assert_int_eq(fixture_wait(fixture_fork(count_inherited, "")), 0);
    pay_descriptor_guard_end();
    ck_assert_int_eq(fixture_wait(fixture_fork(count_inherited, "")), 0);
    pay_descriptor_guard_end();
    ck_assert_int_eq(fixture_wait(fixture_fork(count_inherited, "")), all);
    ck_assert_int_eq(fcntl(fd, F_GETFD), 0); /* the process itself changes nothing */
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_test(tcase, test_one);
    tcase_add_loop_test(tcase, test_pairs, 0, UNIT_ROWS(pair_rows));
    tcase_add_test(tcase, test_the_pair_of_another_process);
    tcase_add_test(tcase, test_many);
    tcase_add_test(tcase, test_guard);
}

UNIT_PROGRAM(add)
