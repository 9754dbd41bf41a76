/* SPDX-License-Identifier: Apache-2.0 */
#include "base/crypto/secret_memory.h"

#include "base/crypto/crypto.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

/* Precedes the bytes of the caller. */
typedef struct secret_memory_t {
    apr_size_t size; /* including this */
    max_align_t bytes[];
} secret_memory_t;

static secret_memory_t *memory_of(void *bytes)
{
    return (secret_memory_t *)(void *)((char *)bytes - offsetof(secret_memory_t, bytes));
}

static apr_status_t memory_wipe(void *baton)
{
    secret_memory_t *memory = baton;
    apr_size_t size = memory->size;

    (void)mprotect(memory, size, PROT_READ | PROT_WRITE);
    pay_wipe(memory, size);
    munmap(memory, size);
    return APR_SUCCESS;
}

apr_status_t pay_secret_memory_make(void **out, apr_size_t size, apr_pool_t *p)
{
    secret_memory_t *memory;
    apr_status_t rv;
    void *at;

    *out = NULL;
    if (size == 0 || size > SIZE_MAX - sizeof(*memory)) {
        return APR_EINVAL;
    }
    size += sizeof(*memory);
    /* cppcheck-suppress invalidFunctionArg */
    at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        return errno;
    }
    if (madvise(at, size, MADV_DONTDUMP) != 0) {
        rv = errno;
        munmap(at, size);
        return rv;
    }
    memory = at;
    memory->size = size;
    apr_pool_cleanup_register(p, memory, memory_wipe, apr_pool_cleanup_null);
    *out = memory->bytes;
    return APR_SUCCESS;
}

apr_status_t pay_secret_memory_seal(void *bytes)
{
    secret_memory_t *memory = memory_of(bytes);

    return mprotect(memory, memory->size, PROT_READ) == 0 ? APR_SUCCESS : errno;
}

void pay_secret_memory_free(void *bytes, apr_pool_t *p)
{
    apr_pool_cleanup_run(p, memory_of(bytes), memory_wipe);
}
