/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Preloaded into httpd: the process that reads the configuration gets none of the resources in
 * PAYMENTS_LACKS if mod_payments requests them, as on a system that has run out of them. The words
 * are memory (that processes share), random (numbers), curl (which does not start), names (looked
 * up by libcurl beside other work), processes (of its own) and watchdog (the duties of
 * mod_watchdog's threads, which it does not accept). Its children lack the resources of these
 * words: pools (without a parent), mutexes (of threads) and rights (to see whose rights they have).
 * All other modules lack nothing.
 */

#include <apr_optional.h>
#include <apr_shm.h>
#include <apr_thread_mutex.h>
#include <curl/curl.h>

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define MODULE "/mod_payments.so"
#define TAKES_DUTIES "ap_watchdog_register_callback"

typedef apr_status_t shm_create_t(apr_shm_t **out, apr_size_t size, const char *name,
                                  apr_pool_t *p);
typedef int random_t(unsigned char *out, int len);
typedef CURLcode curl_start_t(long flags);
typedef curl_version_info_data *curl_version_t(CURLversion age);
typedef pid_t fork_t(void);
typedef apr_status_t pool_create_t(apr_pool_t **out, apr_abortfunc_t abort_fn,
                                   apr_allocator_t *allocator);
typedef apr_status_t mutex_create_t(apr_thread_mutex_t **out, unsigned int flags, apr_pool_t *p);
typedef int rights_t(uid_t *real, uid_t *effective, uid_t *saved);
typedef void offer_t(const char *name, apr_opt_fn_t *fn);

EXPORTED int RAND_bytes(unsigned char *out, int len);
EXPORTED int getresuid(uid_t *own, uid_t *effective, uid_t *saved);

static pid_t first;

__attribute__((constructor)) static void prepare(void)
{
    first = getpid();
}

static int is_named(const char *what)
{
    const char *all = getenv("PAYMENTS_LACKS");

    return all && strstr(all, what);
}

static int lacks(const char *what)
{
    return getpid() == first && is_named(what);
}

static int child_lacks(const char *what)
{
    return getpid() != first && is_named(what);
}

static int is_module(const void *caller)
{
    Dl_info info;

    return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, MODULE);
}

/* The system's own, as the caller would find it. */
static void *real(const char *name, const void *caller)
{
    void *found = dlsym(RTLD_NEXT, name);
    void *handle;
    Dl_info info;

    if (!found && dladdr(caller, &info)) {
        handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
        if (handle) {
            found = dlsym(handle, name);
            (void)dlclose(handle); /* the caller has it open */
        }
    }
    if (!found) {
        abort();
    }
    return found;
}

EXPORTED apr_status_t apr_shm_create(apr_shm_t **out, apr_size_t size, const char *name,
                                     apr_pool_t *p)
{
    const void *caller = __builtin_return_address(0);
    shm_create_t *create;

    if (lacks("memory") && is_module(caller)) {
        return APR_ENOMEM;
    }
    *(void **)&create = real("apr_shm_create", caller);
    return create(out, size, name, p);
}

EXPORTED int RAND_bytes(unsigned char *out, int len)
{
    const void *caller = __builtin_return_address(0);
    random_t *bytes;

    if (lacks("random") && is_module(caller)) {
        return 0;
    }
    *(void **)&bytes = real("RAND_bytes", caller);
    return bytes(out, len);
}

EXPORTED CURLcode curl_global_init(long flags)
{
    const void *caller = __builtin_return_address(0);
    curl_start_t *start;

    if (lacks("curl") && is_module(caller)) {
        return CURLE_FAILED_INIT;
    }
    *(void **)&start = real("curl_global_init", caller);
    return start(flags);
}

EXPORTED curl_version_info_data *curl_version_info(CURLversion age)
{
    const void *caller = __builtin_return_address(0);
    static curl_version_info_data slow;
    curl_version_t *version;

    *(void **)&version = real("curl_version_info", caller);
    if (!lacks("names") || !is_module(caller)) {
        return version(age);
    }
    slow = *version(age);
    slow.features &= ~CURL_VERSION_ASYNCHDNS;
    return &slow;
}

EXPORTED pid_t fork(void)
{
    const void *caller = __builtin_return_address(0);
    fork_t *make;

    if (lacks("processes") && is_module(caller)) {
        errno = EAGAIN;
        return -1;
    }
    *(void **)&make = real("fork", caller);
    return make();
}

EXPORTED apr_status_t apr_pool_create_unmanaged_ex(apr_pool_t **out, apr_abortfunc_t abort_fn,
                                                   apr_allocator_t *allocator)
{
    const void *caller = __builtin_return_address(0);
    pool_create_t *create;

    if (child_lacks("pools") && is_module(caller)) {
        *out = NULL;
        return APR_ENOMEM;
    }
    *(void **)&create = real("apr_pool_create_unmanaged_ex", caller);
    return create(out, abort_fn, allocator);
}

EXPORTED apr_status_t apr_thread_mutex_create(apr_thread_mutex_t **out, unsigned int flags,
                                              apr_pool_t *p)
{
    const void *caller = __builtin_return_address(0);
    mutex_create_t *create;

    if (child_lacks("mutexes") && is_module(caller)) {
        return APR_ENOMEM;
    }
    *(void **)&create = real("apr_thread_mutex_create", caller);
    return create(out, flags, p);
}

EXPORTED int getresuid(uid_t *own, uid_t *effective, uid_t *saved)
{
    const void *caller = __builtin_return_address(0);
    rights_t *tell;

    if (child_lacks("rights") && is_module(caller)) {
        errno = EINVAL;
        return -1;
    }
    *(void **)&tell = real("getresuid", caller);
    return tell(own, effective, saved);
}

static apr_status_t no_duty(void)
{
    return APR_EINVAL;
}

/* mod_watchdog offers its functions under their names; callers look them up by name. */
EXPORTED void apr_dynamic_fn_register(const char *name, apr_opt_fn_t *fn)
{
    offer_t *offer;

    *(void **)&offer = real("apr_dynamic_fn_register", __builtin_return_address(0));
    offer(name,
          lacks("watchdog") && strcmp(name, TAKES_DUTIES) == 0 ? (apr_opt_fn_t *)no_duty : fn);
}
