/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_RIGHTS_H
#define PAY_HTTPD_PROCESS_RIGHTS_H

#include <httpd.h>

/*
 * Gives up root for good in a process of its own: it becomes the server's user like child
 * processes, with that user's groups and inside of ChrootDir, and leaves no core file. Returns 1 if
 * there is no way back to root, or if it was not root; 0: the log says why not.
 */
int pay_rights_give_up(server_rec *main_server, apr_pool_t *p);

#endif
