/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_METRICS_H
#define PAY_METRICS_H

/* PaymentsMetrics: what this server counts, for Prometheus (docs/operations.md, "Watching it"). */

#include "httpd/pay_site_path.h"

extern const pay_site_path_t pay_metrics;

#endif
