/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/ctl.h"

#include "ctl/audit.h"
#include "ctl/keyring.h"
#include "ctl/message.h"

#include <apr_strings.h>
#include <assert.h>
#include <errno.h>
#include <grp.h>
#include <libgen.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define URL_PREFIX "lmdb:"
#define DATA_FILE "data.mdb"
#define GROUPS_MAX 1024

/* The caller while this process runs as the store's owner, and that owner. */
static struct {
    int switched;
    int switches; /* 0: caller and owner are the same */
    struct stat owner;
    gid_t gid;
    gid_t groups[GROUPS_MAX];
    int groups_count;
} caller;

void ctl_core_disable(void)
{
    const struct rlimit none = {0, 0};

    /* A pipe in core_pattern ignores the limit, but not the dumpable flag. */
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static const char *user_name(uid_t uid, apr_pool_t *p)
{
    const struct passwd *user = getpwuid(uid);

    return user ? apr_pstrdup(p, user->pw_name) : apr_psprintf(p, "%lu", (unsigned long)uid);
}

/* Root becomes the owner of the store, so that every file it creates there belongs to the owner. */
static ctl_exit_t owner_become(const struct stat *owner, apr_pool_t *p)
{
    int failed;

    assert(!caller.switched);
    caller.gid = getegid();
    caller.groups_count = getgroups(GROUPS_MAX, caller.groups);
    failed = caller.groups_count < 0 || setgroups(1, &owner->st_gid) != 0
             || setegid(owner->st_gid) != 0 || seteuid(owner->st_uid) != 0;
    if (failed) {
        return ctl_fail(CTL_EXIT_ACCESS, "cannot become the store's owner %s: %s",
                        user_name(owner->st_uid, p), strerror(errno));
    }
    caller.switched = 1;
    caller.switches = 1;
    caller.owner = *owner;
    ctl_core_disable(); /* a change of user turns core files on again */
    return CTL_OK;
}

ctl_exit_t ctl_caller_resume(void)
{
    int failed;

    if (!caller.switched) {
        return CTL_OK;
    }
    failed = seteuid(0) != 0 || setegid(caller.gid) != 0
             || setgroups((size_t)caller.groups_count, caller.groups) != 0;
    if (failed) {
        return ctl_fail(CTL_EXIT_ACCESS, "cannot become root again: %s", strerror(errno));
    }
    caller.switched = 0;
    ctl_core_disable();
    return CTL_OK;
}

ctl_exit_t ctl_owner_resume(ctl_t *ctl)
{
    struct stat owner;

    if (!caller.switches || caller.switched) {
        return CTL_OK;
    }
    owner = caller.owner;
    return owner_become(&owner, ctl->pool);
}

/*
 * Finds the user who owns, or will own, the store's files: the directory's owner, or the owner of
 * its parent if the directory is not created yet.
 */
static ctl_exit_t owner_find(struct stat *owner, const char *dir, ctl_open_t how, apr_pool_t *p)
{
    const int cause = stat(dir, owner) == 0 ? 0 : errno;
    struct stat data;

    if (cause && cause != ENOENT) {
        return ctl_fail(CTL_EXIT_ACCESS, "cannot look at %s: %s", dir, strerror(cause));
    }
    if (!cause && !S_ISDIR(owner->st_mode)) {
        return ctl_fail(CTL_EXIT_ACCESS,
                        "%s is not a directory; --store wants lmdb: and a "
                        "directory",
                        dir);
    }
    if (how != CTL_OPEN_CREATE) {
        if (cause || (stat(apr_pstrcat(p, dir, "/" DATA_FILE, NULL), &data) && errno == ENOENT)) {
            return ctl_fail(CTL_EXIT_ACCESS,
                            "there is no store in %s; 'paymentsctl account create' creates one",
                            dir);
        }
        return CTL_OK;
    }
    if (cause && stat(dirname(apr_pstrdup(p, dir)), owner) != 0) {
        return ctl_fail(CTL_EXIT_ACCESS, "cannot create %s: %s", dir, strerror(errno));
    }
    return CTL_OK;
}

/* A page that cannot be read ends a process by a signal: this prints the reason and the remedy. */
static void deaths_explain(ctl_t *ctl, const char *url)
{
    const char *words =
        apr_psprintf(ctl->pool,
                     "paymentsctl: store %s is damaged, or its disk cannot be read: stop the "
                     "server and restore a backup\n",
                     url + strlen(URL_PREFIX));

    ctl->store_options.mark = pay_store_mark_at(apr_pcalloc(ctl->pool, pay_store_mark_size()));
    pay_store_deaths_watch(words, CTL_EXIT_NOT_VALID, ctl->pool);
}

static ctl_exit_t store_ready(ctl_t *ctl, const char *url, const struct stat *owner)
{
    const char *reason = NULL;
    char buffer[200];
    apr_status_t rv;

    rv = pay_store_open(&ctl->service.store, url, &ctl->store_options, ctl->pool);
    if (rv == APR_SUCCESS) {
        rv = pay_store_ready(&reason, ctl->service.store, ctl->pool);
    }
    if (rv == APR_SUCCESS) {
        ctl->service.keyring = ctl->keyring;
        if (ctl_open_is_audited(ctl->command->open)) {
            ctl_audit_begin(ctl);
        }
        return CTL_OK;
    }
    if (!reason) {
        reason = pay_store_status_text(rv);
    }
    if (!reason) {
        reason = apr_strerror(rv, buffer, sizeof(buffer));
    }
    if (geteuid() != owner->st_uid) {
        reason = apr_psprintf(ctl->pool,
                              "%s (the store belongs to %s: run this as that user or as "
                              "root)",
                              reason, user_name(owner->st_uid, ctl->pool));
    }
    return ctl_fail(ctl_exit_of_status(rv), "%s", reason);
}

ctl_exit_t ctl_open(ctl_t *ctl)
{
    const char *url = ctl->option[CTL_OPTION_STORE];
    const ctl_open_t how = ctl->command->open;
    const char *fault;
    struct stat owner;
    ctl_exit_t failed;

    fault = pay_store_url_fault(url);
    if (fault) {
        return ctl_fail(CTL_EXIT_ILLEGAL, "--store: %s", fault);
    }
    failed = owner_find(&owner, url + strlen(URL_PREFIX), how, ctl->pool);
    if (failed) {
        return failed;
    }
    failed = ctl_keyring_load(ctl, url + strlen(URL_PREFIX), owner.st_uid);
    if (failed) {
        return failed;
    }
    if (geteuid() == 0 && owner.st_uid != 0) {
        failed = owner_become(&owner, ctl->pool);
        if (failed) {
            return failed;
        }
    }
    ctl->store_options = pay_store_options_default;
    ctl->store_options.create = how == CTL_OPEN_CREATE;
    ctl->store_options.read_only = how == CTL_OPEN_READ;
    ctl->store_options.limits_of_store = 1;
    ctl->store_options.commit_wait = apr_time_from_sec(CTL_COMMIT_WAIT_SECONDS);
    deaths_explain(ctl, url);
    if (how == CTL_OPEN_BY_ITSELF) {
        return CTL_OK;
    }
    return store_ready(ctl, url, &owner);
}
