/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_PATH_REFUSED_H
#define PAY_HTTPD_PATH_REFUSED_H

/*
 * Operations of the deployed API that this server will not have, because card numbers never come
 * here and nothing is paid out: 501 I1, with the alternative (docs/clients.md).
 */

#include "base/problem.h"

/* Returns 1 if `path`, below PaymentsBasePath, is one of them under a version that is not ours. */
int pay_refused_is_elsewhere(const char *path);

/* Returns NULL, or the answer to a call of `path` that no operation has. */
const pay_problem_t *pay_refused_problem(const char *path, apr_pool_t *p);

#endif
