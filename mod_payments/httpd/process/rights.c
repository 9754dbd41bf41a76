/* SPDX-License-Identifier: Apache-2.0 */
#include "httpd/process/rights.h"

#include "base/log.h"

#include <errno.h>
#include <http_log.h>
#include <mpm_common.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <unixd.h>

APLOG_USE_MODULE(payments);

/* Returns 1 if every user and group of the process is the server's, and root cannot be regained. */
static int is_for_good(void)
{
    uid_t real, effective, saved;
    gid_t real_group, effective_group, saved_group;

    if (getresuid(&real, &effective, &saved) != 0
        || getresgid(&real_group, &effective_group, &saved_group) != 0) {
        return 0;
    }
    return real != 0 && effective == real && saved == real && real_group == ap_unixd_config.group_id
           && effective_group == real_group && saved_group == real_group && setuid(0) != 0
           && seteuid(0) != 0;
}

int pay_rights_give_up(server_rec *main_server, apr_pool_t *p)
{
    if (geteuid() != 0) {
        return 1;
    }
    if (ap_run_drop_privileges(p, main_server) != 0 || !is_for_good()) {
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, main_server,
                     PAYLOGNO(00640) "A process that prepares or checks stores could not give up "
                                     "root's rights, and opens no store with them. The child "
                                     "processes open the stores by themselves: load mod_unixd, "
                                     "and set User to another user than root");
        return 0;
    }
    /* It holds master keys, and is a process of a user who may have others. */
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    return 1;
}
