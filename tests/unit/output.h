/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OUTPUT_H
#define OUTPUT_H

/* What a command of paymentsctl prints. */

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define OUTPUT_MAX 200000

/* Redirects standard output to a file; output_read undoes it. */
static inline const char *output_open(int *before)
{
    const char *path = apr_pstrcat(unit_pool, unit_dir(), "/output", NULL);
    const int fd = open(path, O_CREAT | O_RDWR, 0600);

    ck_assert_int_ge(fd, 0);
    (void)fflush(stdout);
    *before = dup(STDOUT_FILENO);
    ck_assert_int_eq(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
    (void)close(fd);
    return path;
}

static inline const char *output_read(const char *path, int before)
{
    char text[OUTPUT_MAX] = "";
    FILE *file;

    (void)fflush(stdout);
    ck_assert_int_eq(dup2(before, STDOUT_FILENO), STDOUT_FILENO);
    (void)close(before);
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    (void)fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    return apr_pstrdup(unit_pool, text);
}

#endif
