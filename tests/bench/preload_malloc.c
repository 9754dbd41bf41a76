/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Counts what a program asks of the C library's heap, over all processes that share the file which
 * BENCH_MALLOC_FILE names (8 bytes). For tests/bench/costs.py, preloaded into httpd; glibc only.
 */

#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

EXPORT void *malloc(size_t size);
EXPORT void *calloc(size_t count, size_t size);
EXPORT void *realloc(void *memory, size_t size);

static _Atomic uint64_t *calls;

__attribute__((constructor)) static void map_counter(void)
{
    const char *name = getenv("BENCH_MALLOC_FILE");
    void *memory;
    int file;

    if (!name) {
        return;
    }
    file = open(name, O_RDWR | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    memory = mmap(NULL, sizeof(*calls), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED) {
        calls = memory;
    }
    close(file);
}

static void count(void)
{
    if (calls) {
        atomic_fetch_add_explicit(calls, 1, memory_order_relaxed);
    }
}

void *malloc(size_t size)
{
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size)
{
    count();
    return __libc_realloc(memory, size);
}
