/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_SHARED_METER_TEXT_H
#define PAY_BASE_SHARED_METER_TEXT_H

/* A meter in Prometheus's text exposition format 0.0.4. Pure. */

#include "base/shared/meter.h"

#include <apr_tables.h>

#define PAY_METER_MEDIA_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Appends a line to an array of const char *; each line ends with a newline. */
void pay_meter_line(apr_array_header_t *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends HELP and TYPE, which precede a family's samples. */
void pay_meter_family(apr_array_header_t *lines, const char *name, const char *type,
                      const char *help);

/* Appends all families of the meter. `operations`: names by number, `count` of them. */
void pay_meter_text(apr_array_header_t *lines, const pay_meter_t *meter,
                    const char *const *operations, int count);

#endif
