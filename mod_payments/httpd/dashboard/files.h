/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_DASHBOARD_FILES_H
#define PAY_HTTPD_DASHBOARD_FILES_H

/*
 * The files of the dashboard. The parent reads them into memory once, at start: no request names a
 * file, and none is opened for one. Children share the memory.
 */

#include "httpd/dashboard/dashboard.h"

#define PAY_DASHBOARD_FILES_MAX 128              /* of one directory with its assets */
#define PAY_DASHBOARD_FILE_MAX (2 * 1024 * 1024) /* bytes of one */
#define PAY_DASHBOARD_NAME_MAX 64

/* Reads the files of every host that has a dashboard. Failures are logged. */
void pay_dashboard_files_load(server_rec *main_server, apr_pool_t *pconf);

/* Answers with the file at dashboard->path; returns what a handler returns. */
int pay_dashboard_files_serve(request_rec *r, const pay_dashboard_t *dashboard);

#endif
