/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_H
#define FUZZ_H

/*
 * The common part of the fuzz targets. A target is one source with LLVMFuzzerTestOneInput. It is
 * built as
 *   libFuzzer  clang -fsanitize=fuzzer,address,undefined fuzz_x.c libpayments.a (./dev fuzz)
 *   AFL++      by afl-clang-fast likewise, or with fuzz_main.c: input from @@ or standard input
 *   a replay   with fuzz_main.c, by any compiler (make check, ./dev test fuzz-replay)
 * No input may end the process: a crash, a sanitizer's report and a broken CHECK are findings.
 */

#include <apr_general.h>
#include <apr_pools.h>
#include <apr_strings.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Must hold for every input. Always on, unlike assert. */
#define CHECK(what) ((what) ? (void)0 : fuzz_broken(#what, __FILE__, __LINE__))

static inline _Noreturn void fuzz_broken(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, what);
    abort();
}

#define FUZZ_COPIES_MAX 8

/*
 * Of the current input; not in its pool, because LeakSanitizer does not look into a pool's memory.
 */
static char *fuzz_copies[FUZZ_COPIES_MAX];
static int fuzz_copies_count;

/*
 * Makes a copy with a NUL, in a block of exactly that size: AddressSanitizer detects reads beyond
 * it, which it cannot in a pool's memory.
 */
static inline char *fuzz_copy(const void *data, size_t size)
{
    char *copy = malloc(size + 1);

    CHECK(copy && fuzz_copies_count < FUZZ_COPIES_MAX);
    if (size) {
        memcpy(copy, data, size);
    }
    copy[size] = '\0';
    fuzz_copies[fuzz_copies_count++] = copy;
    return copy;
}

/* Returns the input up to its first NUL. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;

    return fuzz_copy(data, end ? (size_t)(end - data) : size);
}

/* Runs one input with a pool of its own, and leaves nothing of it behind. */
static inline int fuzz_run(void (*run)(const uint8_t *data, size_t size, apr_pool_t *p),
                           const uint8_t *data, size_t size)
{
    static apr_pool_t *pool;

    if (!pool) {
        CHECK(apr_initialize() == APR_SUCCESS);
        CHECK(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    }
    run(data, size, pool);
    apr_pool_clear(pool);
    while (fuzz_copies_count > 0) {
        free(fuzz_copies[--fuzz_copies_count]);
    }
    return 0;
}

#endif
