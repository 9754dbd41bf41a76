/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PROCESS_RIGHTS_H
#define PAY_HTTPD_PROCESS_RIGHTS_H

#include <httpd.h>

/*
 * Gives up root for good in a process of its own: it becomes the server's user as child processes
 * do, with that user's groups and inside of ChrootDir, and leaves no core file. 1: there is no way
 * back to root, or there was none to give up; 0: the log says why not.
 */
int pay_rights_give_up(server_rec *main_server, apr_pool_t *p);

#endif
