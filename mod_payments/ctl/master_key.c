/* SPDX-License-Identifier: Apache-2.0 */

/*
 * store rotate-master-key. Adds a new first key to the file, seals everything again under it, and
 * removes the other keys. Whenever it is killed, the file contains every key that something is
 * sealed under, and the next run continues from there.
 */

#include "ctl/commands.h"
#include "ctl/keyring.h"
#include "ctl/message.h"
#include "ctl/output.h"

#include "service/account/upkeep.h"

#include <apr_strings.h>
#include <stdio.h>

#define PASSES_MAX 10 /* over all secrets, while others change them */

typedef struct rotation_t {
    ctl_t *ctl;
    pay_keyring_t *ring;
    pay_reseal_t done;
} rotation_t;

static ctl_exit_t ring_load(rotation_t *rotation)
{
    ctl_t *ctl = rotation->ctl;
    const char *reason;
    apr_status_t rv;
    int made;

    rv = pay_keyring_load(&rotation->ring, &made, &reason, ctl->keyring_path, 0, ctl->store_owner,
                          ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_keyring_fail(ctl, rv, reason);
    }
    ctl->service.keyring = rotation->ring;
    return CTL_OK;
}

/* Seals everything under the file's first key and removes the others from the file. */
static ctl_exit_t reseal_all(rotation_t *rotation)
{
    ctl_t *ctl = rotation->ctl;
    const pay_problem_t *problem;
    const char *reason;
    ctl_exit_t failed;
    apr_status_t rv;
    int passes = 0;

    failed = ring_load(rotation);
    if (failed) {
        return failed;
    }
    do {
        if (passes++ == PASSES_MAX) {
            return ctl_fail(CTL_EXIT_ACCESS, "others kept changing secrets meanwhile; the old keys "
                                             "stay in the file: run it again");
        }
        problem = pay_secrets_reseal(&rotation->done, &ctl->service, ctl->pool);
        if (problem && rotation->done.closed) {
            return ctl_secret_fail(ctl, problem->cause, rotation->done.closed);
        }
        if (problem) {
            return ctl_fail_service(problem, "cannot seal all secrets again", ctl->pool);
        }
    } while (rotation->done.behind > 0);
    rv = pay_keyring_prune(&reason, ctl->keyring_path, rotation->ring, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_keyring_fail(ctl, rv, reason);
    }
    return CTL_OK;
}

static void rotation_print(const rotation_t *rotation)
{
    const ctl_t *ctl = rotation->ctl;
    pay_writer_t *w;

    if (!ctl->json) {
        printf("%" APR_UINT64_T_FMT " sealed anew\n", rotation->done.resealed);
        ctl_note("Reload the server now: until then it cannot open them, and events that need "
                 "them wait.");
        return;
    }
    w = ctl_object_open(ctl);
    pay_writer_string(w, "masterKey", ctl->keyring_path);
    pay_writer_integer(w, "resealed", (apr_int64_t)rotation->done.resealed);
    ctl_object_print(w);
}

ctl_exit_t ctl_store_rotate_master_key(ctl_t *ctl)
{
    rotation_t rotation = {.ctl = ctl};
    const char *reason;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = ctl_keyring_need(ctl, 0);
    if (failed) {
        return failed;
    }
    failed = ctl_caller_resume(); /* the file belongs to the caller */
    if (failed) {
        return failed;
    }
    failed = reseal_all(&rotation); /* finishes an interrupted run; makes room in the file too */
    if (failed) {
        return failed;
    }
    rv = pay_keyring_add(&reason, ctl->keyring_path, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_keyring_fail(ctl, rv, reason);
    }
    rotation.done.resealed = 0;
    failed = reseal_all(&rotation);
    if (failed) {
        return failed;
    }
    rv = pay_secrets_note(&ctl->service, rotation.done.resealed, ctl->pool);
    if (rv != APR_SUCCESS) {
        failed = ctl_fail_status(rv, "it was done, but its audit entry cannot be written");
    }
    rotation_print(&rotation);
    return failed;
}
