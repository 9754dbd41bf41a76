/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OUTPUT_H
#define OUTPUT_H

/* The output of a command of paymentsctl. */

#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define OUTPUT_MAX 200000

/* Redirects a stream to a file; output_back undoes it. */
static inline const char *output_away(FILE *stream, int *before)
{
    const char *path = apr_pstrcat(unit_pool, unit_dir(), "/output", NULL);
    const int fd = open(path, O_CREAT | O_RDWR, 0600);

    ck_assert_int_ge(fd, 0);
    (void)fflush(stream);
    *before = dup(fileno(stream));
    ck_assert_int_eq(dup2(fd, fileno(stream)), fileno(stream));
    (void)close(fd);
    return path;
}

static inline const char *output_back(FILE *stream, const char *path, int before)
{
    char text[OUTPUT_MAX] = "";
    FILE *file;

    (void)fflush(stream);
    ck_assert_int_eq(dup2(before, fileno(stream)), fileno(stream));
    (void)close(before);
    file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    (void)fread(text, 1, sizeof(text) - 1, file);
    (void)fclose(file);
    return apr_pstrdup(unit_pool, text);
}

/* Standard output. */
static inline const char *output_open(int *before)
{
    return output_away(stdout, before);
}

static inline const char *output_read(const char *path, int before)
{
    return output_back(stdout, path, before);
}

#endif
