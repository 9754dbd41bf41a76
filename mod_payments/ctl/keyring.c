/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/keyring.h"

#include "base/pager.h"

#include "base/text/time.h"
#include "ctl/message.h"

#include <apr_strings.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_STEP apr_time_from_msec(50)

/*
 * Serialises commands that write secrets: none may seal under a key that another removes from the
 * file, or restore something sealed under it. The lock is on the store's directory and ends with
 * the process.
 */
static ctl_exit_t secrets_lock(const char *dir)
{
    const apr_int64_t until_ms = pay_time_boot_ms() + CTL_COMMIT_WAIT_SECONDS * 1000;
    int fd, locked;

    fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        if (errno == EACCES) {
            return CTL_OK; /* not the owner: opening the store says more */
        }
        return ctl_fail(CTL_EXIT_ACCESS, "cannot open %s: %s", dir, strerror(errno));
    }
    locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    while (!locked && errno == EWOULDBLOCK) {
        if (pay_time_boot_ms() >= until_ms) {
            close(fd);
            return ctl_fail(CTL_EXIT_ACCESS,
                            "another paymentsctl has been writing secrets of this "
                            "store for %d seconds; try again later",
                            CTL_COMMIT_WAIT_SECONDS);
        }
        apr_sleep(LOCK_STEP);
        locked = flock(fd, LOCK_EX | LOCK_NB) == 0;
    }
    if (!locked) {
        close(fd);
        return ctl_fail(CTL_EXIT_ACCESS, "cannot lock %s: %s", dir, strerror(errno));
    }
    return CTL_OK;
}

ctl_exit_t ctl_keyring_load(ctl_t *ctl, const char *dir, apr_uid_t owner)
{
    pay_keyring_t *ring;
    const char *reason;
    ctl_exit_t failed;
    apr_status_t rv;
    int made;

    ctl->keyring_path = ctl->option[CTL_OPTION_MASTER_KEY];
    if (!ctl->keyring_path) {
        ctl->keyring_path = pay_keyring_path(ctl->option[CTL_OPTION_STORE], ctl->pool);
    }
    ctl->store_owner = owner;
    if (ctl->command->keyring == CTL_KEYRING_NONE) {
        return CTL_OK;
    }
    if (ctl->command->keyring == CTL_KEYRING_WRITE) {
        failed = secrets_lock(dir);
        if (failed) {
            return failed;
        }
    }
    rv = pay_keyring_load(&ring, &made, &reason, ctl->keyring_path, 0, owner, ctl->pool);
    if (rv != APR_SUCCESS) {
        ctl->keyring_status = rv;
        ctl->keyring_fault = reason;
        return CTL_OK;
    }
    ctl->keyring = ring;
    return CTL_OK;
}

ctl_exit_t ctl_keyring_fail(const ctl_t *ctl, apr_status_t status, const char *reason)
{
    char buffer[200];

    return ctl_fail(status == APR_EINVAL ? CTL_EXIT_NOT_VALID : CTL_EXIT_ACCESS, "%s",
                    reason
                        ? reason
                        : apr_pstrcat(ctl->pool, "cannot read the master key ", ctl->keyring_path,
                                      ": ", apr_strerror(status, buffer, sizeof(buffer)), NULL));
}

static apr_status_t endpoints_list(apr_array_header_t **rows, void *baton, const void *after,
                                   apr_pool_t *p)
{
    const ctl_t *ctl = baton;

    return pay_store_endpoint_list(rows, ctl->service.store, after, PAY_STORE_ROWS_MAX, p);
}

/* EEXIST: the endpoint has a secret. */
static apr_status_t secret_seek(void *baton, const void *endpoint, apr_pool_t *p)
{
    (void)baton;
    (void)p;
    return *((const pay_endpoint_t *)endpoint)->secret ? APR_EEXIST : APR_SUCCESS;
}

/* *found 1: something in the store is sealed. */
static apr_status_t sealed_find(int *found, ctl_t *ctl)
{
    static const pay_pager_t pager = {.list = endpoints_list, .each = secret_seek};
    apr_array_header_t *keys;
    pay_delivery_t *delivery;
    apr_status_t rv;

    *found = 0;
    rv = pay_store_encryption_key_list(&keys, ctl->service.store, NULL, 1, ctl->pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = pay_store_delivery_get(&delivery, ctl->service.store, ctl->pool);
    if (rv != APR_SUCCESS && rv != APR_NOTFOUND) {
        return rv;
    }
    *found = keys->nelts > 0 || (rv == APR_SUCCESS && *delivery->mail_login);
    if (*found) {
        return APR_SUCCESS;
    }
    rv = pay_pager_walk(&pager, ctl, ctl->pool);
    *found = rv == APR_EEXIST;
    return *found ? APR_SUCCESS : rv;
}

/* Runs as root if root called: the file then belongs to root, next to the store or at
 * --master-key. */
static ctl_exit_t keyring_make(ctl_t *ctl)
{
    pay_keyring_t *ring;
    const char *reason;
    ctl_exit_t failed;
    apr_status_t rv;
    int made;

    failed = ctl_caller_resume();
    if (failed) {
        return failed;
    }
    rv = pay_keyring_load(&ring, &made, &reason, ctl->keyring_path, 1, ctl->store_owner, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_keyring_fail(ctl, rv, reason);
    }
    ctl->keyring = ring;
    ctl->service.keyring = ring;
    if (made) {
        ctl_note("The master key %s was created. Stored secrets cannot be opened without it, and "
                 "it is in no backup of the store: keep a copy elsewhere.",
                 ctl->keyring_path);
    }
    return ctl_owner_resume(ctl);
}

ctl_exit_t ctl_keyring_need(ctl_t *ctl, int create)
{
    apr_status_t rv;
    int found;

    if (ctl->keyring) {
        return CTL_OK;
    }
    if (!create || !APR_STATUS_IS_ENOENT(ctl->keyring_status)) {
        return ctl_keyring_fail(ctl, ctl->keyring_status, ctl->keyring_fault);
    }
    rv = sealed_find(&found, ctl);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot read the sealed secrets");
    }
    if (found) { /* with a second key in place of the right one the server could not open the secret
                  */
        return ctl_fail(CTL_EXIT_ACCESS,
                        "there is no master key %s, and the store has secrets that are sealed "
                        "under one; name it with --master-key",
                        ctl->keyring_path);
    }
    return keyring_make(ctl);
}

ctl_exit_t ctl_keyring_need_if_sealed(ctl_t *ctl)
{
    apr_status_t rv;
    int found;

    if (ctl->keyring) {
        return CTL_OK;
    }
    rv = sealed_find(&found, ctl);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot read the sealed secrets");
    }
    return found ? ctl_keyring_need(ctl, 0) : CTL_OK;
}

ctl_exit_t ctl_secret_fail(const ctl_t *ctl, apr_status_t status, const char *what)
{
    if (status == APR_NOTFOUND) {
        return ctl_fail(CTL_EXIT_NOT_VALID,
                        "%s is sealed under a key that the master key file %s does not hold; name "
                        "the right one with --master-key",
                        what, ctl->keyring_path);
    }
    if (status == APR_EINVAL) {
        return ctl_fail(CTL_EXIT_NOT_VALID, "%s is damaged", what);
    }
    return ctl_fail_status(status, apr_psprintf(ctl->pool, "%s cannot be opened", what));
}

ctl_exit_t ctl_secret_open(const char **text, ctl_t *ctl, const pay_scope_t *scope,
                           const char *sealed)
{
    apr_status_t rv;

    *text = "";
    if (!*sealed) {
        return CTL_OK;
    }
    rv = pay_keyring_open(text, ctl->keyring, pay_endpoint_secret_context(scope, ctl->pool), sealed,
                          ctl->pool);
    if (rv != APR_SUCCESS) {
        *text = "";
        return ctl_secret_fail(ctl, rv, "the webhook's secret");
    }
    return CTL_OK;
}
