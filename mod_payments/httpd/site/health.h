/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_SITE_HEALTH_H
#define PAY_HTTPD_SITE_HEALTH_H

/* PaymentsHealth: 200 or 503 for load balancers, without a key and without a body. */

#include "httpd/site/answer.h"

extern const pay_site_path_t pay_health;

#endif
