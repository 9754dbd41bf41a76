/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/audit.h"

#include <apr_strings.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utmpx.h>

#define DEVICES "/dev/"
#define TERMINAL_NAME_MAX 64

/* "root (uid 0, sudo by ada)". SUDO_USER is trusted only if the caller is root. */
static const char *who_calls(apr_pool_t *p)
{
    const uid_t uid = getuid();
    const struct passwd *user = getpwuid(uid);
    const char *name = user ? apr_pstrdup(p, user->pw_name) : "unknown";
    const char *sudo = uid == 0 ? getenv("SUDO_USER") : NULL;

    return apr_psprintf(p, "%s (uid %lu%s%s)", name, (unsigned long)uid,
                        sudo && *sudo ? ", sudo by " : "", sudo ? sudo : "");
}

/* The host that the terminal was opened from, as who(1) shows it; NULL if local or unknown. */
static const char *terminal_host(apr_pool_t *p)
{
    char name[TERMINAL_NAME_MAX] = "";
    const struct utmpx *login;
    struct utmpx line;
    const char *host = NULL;

    if (ttyname_r(STDIN_FILENO, name, sizeof(name)) != 0
        || strncmp(name, DEVICES, strlen(DEVICES)) != 0) {
        return NULL;
    }
    memset(&line, 0, sizeof(line));
    strncpy(line.ut_line, name + strlen(DEVICES), sizeof(line.ut_line) - 1);
    setutxent();
    login = getutxline(&line);
    if (login && login->ut_host[0]) {
        host = apr_pstrndup(p, login->ut_host, sizeof(login->ut_host));
    }
    endutxent();
    return host;
}

/* "paymentsctl 192.0.2.7" for a user logged in by SSH. sudo hides SSH_CONNECTION, but keeps the
 * terminal. */
static const char *from_where(apr_pool_t *p)
{
    const char *connection = getenv("SSH_CONNECTION");
    const char *host;

    if (connection && *connection) {
        host = apr_pstrndup(p, connection, strcspn(connection, " "));
    } else {
        host = terminal_host(p);
    }
    return host ? apr_pstrcat(p, "paymentsctl ", host, NULL) : "paymentsctl";
}

void ctl_audit_begin(ctl_t *ctl)
{
    pay_actor_t *actor = apr_pcalloc(ctl->pool, sizeof(*actor));

    actor->who = who_calls(ctl->pool);
    actor->from = from_where(ctl->pool);
    ctl->service.actor = actor;
}
