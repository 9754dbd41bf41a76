/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_HTTPD_SITE_METRICS_H
#define PAY_HTTPD_SITE_METRICS_H

/*
 * PaymentsMetrics: the counters of this server, for Prometheus (docs/operations.md, "Monitoring").
 */

#include "httpd/site/answer.h"

extern const pay_site_path_t pay_metrics;

#endif
