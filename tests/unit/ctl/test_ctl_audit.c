/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/audit.h"

#include "lmdb_fixture.h"
#include "unit.h"

#include <stdlib.h>
#include <utmpx.h>

#define DEVICES "/dev/"

/* Makes our standard input a terminal; returns its name below /dev. */
static const char *terminal_open(void)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    const char *name;
    int slave;

    ck_assert_int_ge(master, 0);
    ck_assert_int_eq(grantpt(master), 0);
    ck_assert_int_eq(unlockpt(master), 0);
    name = apr_pstrdup(unit_pool, ptsname(master));
    slave = open(name, O_RDWR | O_NOCTTY);
    ck_assert_int_ge(slave, 0);
    ck_assert_int_eq(dup2(slave, STDIN_FILENO), STDIN_FILENO);
    ck_assert_int_eq(strncmp(name, DEVICES, strlen(DEVICES)), 0);
    return name + strlen(DEVICES);
}

/* A login there, from `host`, according to a file of logins of our own. */
static void login_add(const char *line, const char *host)
{
    const char *file = apr_pstrcat(unit_pool, unit_dir(), "/utmp", NULL);
    struct utmpx login;

    ck_assert_int_ge(open(file, O_CREAT | O_WRONLY, 0600), 0);
    ck_assert_int_eq(utmpxname(file), 0);
    memset(&login, 0, sizeof(login));
    login.ut_type = USER_PROCESS;
    login.ut_pid = getpid();
    apr_cpystrn(login.ut_line, line, sizeof(login.ut_line));
    apr_cpystrn(login.ut_host, host, sizeof(login.ut_host));
    setutxent();
    ck_assert_ptr_nonnull(pututxline(&login));
    endutxent();
}

static const struct {
    const char *name;
    const char *ssh;  /* SSH_CONNECTION; NULL: unset */
    const char *line; /* of the login; NULL: our terminal */
    const char *host;
    const char *want;
} from_rows[] = {
    {"a login from elsewhere", NULL, NULL, "192.0.2.7", "paymentsctl 192.0.2.7"},
    {"a login on the machine itself", NULL, NULL, "", "paymentsctl"},
    {"a login on another terminal", NULL, "pts/none", "192.0.2.7", "paymentsctl"},
    {"SSH says it first", "192.0.2.8 50000 198.51.100.1 22", NULL, "192.0.2.7",
     "paymentsctl 192.0.2.8"},
    {"SSH says nothing", "", NULL, "192.0.2.7", "paymentsctl 192.0.2.7"},
};

START_TEST(test_from_where)
{
    ctl_t ctl = {.pool = unit_pool};
    const char *line = terminal_open();

    unsetenv("SSH_CONNECTION");
    if (from_rows[_i].ssh) {
        setenv("SSH_CONNECTION", from_rows[_i].ssh, 1);
    }
    login_add(from_rows[_i].line ? from_rows[_i].line : line, from_rows[_i].host);
    ctl_audit_begin(&ctl);
    ck_assert_msg(strcmp(ctl.service.actor->from, from_rows[_i].want) == 0, "%s: %s",
                  from_rows[_i].name, ctl.service.actor->from);
    ck_assert_int_eq(ctl.service.actor->has_quota, 0);
}
END_TEST

static void add(TCase *tcase)
{
    tcase_add_loop_test(tcase, test_from_where, 0, UNIT_ROWS(from_rows));
}

UNIT_PROGRAM(add)
