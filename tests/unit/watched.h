/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WATCHED_H
#define WATCHED_H

/* The log lines that a test's code writes, by any thread. */

#include "base/log.h"
#include "unit.h"

#include <pthread.h>
#include <string.h>

#define LINES_MAX 4096
#define LINE_LEN 400

static struct {
    pthread_mutex_t mutex;
    int count;
    pay_log_level_t level[LINES_MAX];
    char text[LINES_MAX][LINE_LEN];
} lines = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static inline void line_add(void *baton, pay_log_level_t level, apr_status_t status,
                            const char *text)
{
    (void)baton, (void)status;
    pthread_mutex_lock(&lines.mutex);
    ck_assert_int_lt(lines.count, LINES_MAX);
    lines.level[lines.count] = level;
    apr_cpystrn(lines.text[lines.count], text, LINE_LEN);
    lines.count++;
    pthread_mutex_unlock(&lines.mutex);
}

/* How many lines of the level contain the text. */
static inline int said(pay_log_level_t level, const char *text)
{
    int i, count = 0;

    pthread_mutex_lock(&lines.mutex);
    for (i = 0; i < lines.count; i++) {
        count += lines.level[i] == level && strstr(lines.text[i], text) != NULL;
    }
    pthread_mutex_unlock(&lines.mutex);
    return count;
}

/* How many lines of any level have that number, "PAY00427: ". */
static inline int logged(const char *number)
{
    int i, count = 0;

    pthread_mutex_lock(&lines.mutex);
    for (i = 0; i < lines.count; i++) {
        count += !strncmp(lines.text[i], number, strlen(number));
    }
    pthread_mutex_unlock(&lines.mutex);
    return count;
}

/* From now on lines are counted, from zero. */
static inline void watch(void)
{
    lines.count = 0;
    pay_log_set_sink(line_add, NULL);
}

#endif
