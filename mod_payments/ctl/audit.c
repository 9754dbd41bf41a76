/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/audit.h"

#include "ctl/message.h"

#include <apr_strings.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utmpx.h>

#define DEVICES "/dev/"
#define TERMINAL_NAME_MAX 64

/* "root (uid 0, sudo by ada)". Only root's word is taken for who stands behind it. */
static const char *who_calls(apr_pool_t *p)
{
    const uid_t uid = getuid();
    const struct passwd *user = getpwuid(uid);
    const char *name = user ? apr_pstrdup(p, user->pw_name) : "unknown";
    const char *sudo = uid == 0 ? getenv("SUDO_USER") : NULL;

    return apr_psprintf(p, "%s (uid %lu%s%s)", name, (unsigned long)uid,
                        sudo && *sudo ? ", sudo by " : "", sudo ? sudo : "");
}

/* The host that the terminal was opened from, as who(1) tells it; NULL: none, or nobody knows. */
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

/* "paymentsctl 192.0.2.7" for who came by SSH, which sudo hides, while the terminal stays. */
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

ctl_exit_t ctl_audit_begin(ctl_t *ctl)
{
    pay_audit_t *entry = apr_pcalloc(ctl->pool, sizeof(*entry));
    pay_actor_t *actor = apr_pcalloc(ctl->pool, sizeof(*actor));
    apr_status_t rv;

    entry->who = who_calls(ctl->pool);
    entry->from = from_where(ctl->pool);
    entry->what = ctl->command->name;
    actor->who = entry->who;
    actor->from = entry->from;
    ctl->service.actor = actor;
    ctl->audit = entry;
    rv = pay_store_audited(&ctl->store, ctl->store, entry, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot begin the audit's entry");
    }
    return CTL_OK;
}

void ctl_audit_say(ctl_t *ctl, const char *subject, const char *detail)
{
    if (!ctl->audit) {
        return;
    }
    if (subject) {
        ctl->audit->subject = subject;
    }
    if (detail) {
        ctl->audit->detail = detail;
    }
}

apr_status_t ctl_audit_next(pay_store_t **out, const ctl_t *ctl, pay_audit_t *entry, apr_pool_t *p)
{
    *entry = *ctl->audit;
    return pay_store_audited(out, ctl->store, entry, p);
}

ctl_exit_t ctl_audit_note(ctl_t *ctl)
{
    apr_status_t rv;

    rv = pay_store_audit_note(ctl->store);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "it was done, but the audit's entry of it cannot be written");
    }
    return CTL_OK;
}
