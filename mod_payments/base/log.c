/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#define LINE_LEN_MAX 1000

static pay_log_sink_t log_sink;
static void *log_baton;

void pay_log_set_sink(pay_log_sink_t sink, void *baton)
{
    log_sink = sink;
    log_baton = baton;
}

void pay_log(pay_log_level_t level, apr_status_t status, const char *format, ...)
{
    char line[LINE_LEN_MAX + 1];
    va_list args;
    char *c;

    if (!log_sink) {
        return;
    }
    line[0] = '\0';
    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    /* A control character could forge a line of its own or drive a terminal. */
    for (c = line; *c; c++) {
        if ((unsigned char)*c < ' ' || *c == 0x7f) {
            *c = ' ';
        }
    }
    log_sink(log_baton, level, status, line);
}
