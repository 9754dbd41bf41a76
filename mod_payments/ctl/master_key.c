/* SPDX-License-Identifier: Apache-2.0 */

/*
 * store rotate-master-key. The file gets a new first key, everything is sealed anew under it, the
 * other keys go. Whenever it is killed the file holds every key that something is sealed under, and
 * the next run goes on from there.
 */

#include "ctl/audit.h"
#include "ctl/commands.h"
#include "ctl/keyring.h"
#include "ctl/message.h"
#include "ctl/output.h"

#include "base/text/time.h"

#include <apr_strings.h>
#include <stdio.h>

#define PASSES_MAX 10 /* over all secrets, while others change them */

typedef struct rotation_t {
    ctl_t *ctl;
    pay_keyring_t *ring;
    apr_uint64_t resealed;
    int behind; /* secrets of this pass that were not under the current key */
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
    return CTL_OK;
}

/* *fresh NULL: it failed, or `sealed` is under the current key already, or empty. */
static ctl_exit_t seal_anew(const char **fresh, const rotation_t *rotation, const char *context,
                            const char *sealed, const char *what, apr_pool_t *p)
{
    const char *text;
    apr_status_t rv;

    *fresh = NULL;
    if (!*sealed || pay_keyring_is_current(rotation->ring, sealed)) {
        return CTL_OK;
    }
    rv = pay_keyring_open(&text, rotation->ring, context, sealed, p);
    if (rv != APR_SUCCESS) {
        return ctl_secret_fail(rotation->ctl, rv, what);
    }
    rv = pay_keyring_seal(fresh, rotation->ring, context, text, p);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, apr_pstrcat(p, what, " cannot be sealed", NULL));
    }
    return CTL_OK;
}

static ctl_exit_t secret_reseal(rotation_t *rotation, const pay_endpoint_t *endpoint,
                                const char *sealed, apr_pool_t *p)
{
    const char *what = apr_psprintf(p, "the webhook secret of account %u in %s mode",
                                    endpoint->scope.account, pay_mode_name(endpoint->scope.mode));
    const char *fresh;
    ctl_exit_t failed;
    apr_status_t rv;
    int changed;

    failed = seal_anew(&fresh, rotation, pay_endpoint_secret_context(&endpoint->scope, p), sealed,
                       what, p);
    if (!fresh) {
        return failed;
    }
    rotation->behind++;
    rv = pay_store_endpoint_reseal(&changed, rotation->ctl->store, endpoint, sealed, fresh, p);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot store a secret that was sealed anew");
    }
    rotation->resealed += changed != 0;
    return CTL_OK;
}

static ctl_exit_t endpoint_reseal(rotation_t *rotation, const pay_endpoint_t *endpoint,
                                  apr_pool_t *p)
{
    ctl_exit_t failed;

    failed = secret_reseal(rotation, endpoint, endpoint->secret, p);
    if (failed || endpoint->old_secret_until <= pay_time_now()) { /* nobody reads it again */
        return failed;
    }
    return secret_reseal(rotation, endpoint, endpoint->old_secret, p);
}

static ctl_exit_t endpoints_reseal(rotation_t *rotation)
{
    pay_store_t *store = rotation->ctl->store;
    pay_endpoint_t last; /* where the batch before ended */
    const pay_endpoint_t *after = NULL;
    apr_array_header_t *endpoints;
    ctl_exit_t failed = CTL_OK;
    apr_pool_t *batch;
    apr_status_t rv;
    int i;

    apr_pool_create(&batch, rotation->ctl->pool);
    do {
        apr_pool_clear(batch);
        rv = pay_store_endpoint_list(&endpoints, store, after, PAY_STORE_ROWS_MAX, batch);
        if (rv != APR_SUCCESS) {
            return ctl_fail_status(rv, "cannot list the webhooks");
        }
        for (i = 0; i < endpoints->nelts && !failed; i++) {
            const pay_endpoint_t *endpoint = APR_ARRAY_IDX(endpoints, i, const pay_endpoint_t *);

            failed = endpoint_reseal(rotation, endpoint, batch);
            last = (pay_endpoint_t){.scope = endpoint->scope, .kind = endpoint->kind};
            after = &last;
        }
    } while (endpoints->nelts > 0 && !failed);
    apr_pool_destroy(batch);
    return failed;
}

static ctl_exit_t encryption_key_reseal(rotation_t *rotation, const pay_encryption_key_t *key,
                                        apr_pool_t *p)
{
    const char *what = apr_psprintf(p, "the encryption key of account %u in %s mode",
                                    key->scope.account, pay_mode_name(key->scope.mode));
    const char *fresh;
    ctl_exit_t failed;
    apr_status_t rv;
    int changed;

    failed = seal_anew(&fresh, rotation, pay_encryption_key_context(&key->scope, p), key->sealed,
                       what, p);
    if (!fresh) {
        return failed;
    }
    rotation->behind++;
    rv = pay_store_encryption_key_reseal(&changed, rotation->ctl->store, &key->scope, key->sealed,
                                         fresh, p);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot store an encryption key that was sealed anew");
    }
    rotation->resealed += changed != 0;
    return CTL_OK;
}

static ctl_exit_t encryption_keys_reseal(rotation_t *rotation)
{
    pay_store_t *store = rotation->ctl->store;
    pay_scope_t last; /* where the batch before ended */
    const pay_scope_t *after = NULL;
    ctl_exit_t failed = CTL_OK;
    apr_array_header_t *keys;
    apr_pool_t *batch;
    apr_status_t rv;
    int i;

    apr_pool_create(&batch, rotation->ctl->pool);
    do {
        apr_pool_clear(batch);
        rv = pay_store_encryption_key_list(&keys, store, after, PAY_STORE_ROWS_MAX, batch);
        if (rv != APR_SUCCESS) {
            return ctl_fail_status(rv, "cannot list the encryption keys");
        }
        for (i = 0; i < keys->nelts && !failed; i++) {
            const pay_encryption_key_t *key = APR_ARRAY_IDX(keys, i, const pay_encryption_key_t *);

            failed = encryption_key_reseal(rotation, key, batch);
            last = key->scope;
            after = &last;
        }
    } while (keys->nelts > 0 && !failed);
    apr_pool_destroy(batch);
    return failed;
}

static ctl_exit_t login_reseal(rotation_t *rotation)
{
    ctl_t *ctl = rotation->ctl;
    pay_delivery_t *delivery;
    const char *fresh;
    ctl_exit_t failed;
    apr_status_t rv;

    rv = pay_store_delivery_get(&delivery, ctl->store, ctl->pool);
    if (rv == APR_NOTFOUND) {
        return CTL_OK;
    }
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot read how the server delivers");
    }
    failed = seal_anew(&fresh, rotation, PAY_DELIVERY_LOGIN_CONTEXT, delivery->mail_login,
                       "the login of the mail relay", ctl->pool);
    if (!fresh) {
        return failed;
    }
    rotation->behind++;
    delivery->mail_login = fresh;
    rv = pay_store_delivery_put(ctl->store, delivery, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot store the login of the mail relay");
    }
    rotation->resealed++;
    return CTL_OK;
}

/* Everything is under the file's first key, and the others are taken out of it. */
static ctl_exit_t reseal_all(rotation_t *rotation)
{
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
        rotation->behind = 0;
        failed = endpoints_reseal(rotation);
        if (!failed) {
            failed = encryption_keys_reseal(rotation);
        }
        if (!failed) {
            failed = login_reseal(rotation);
        }
        if (failed) {
            return failed;
        }
    } while (rotation->behind > 0);
    rv = pay_keyring_prune(&reason, rotation->ctl->keyring_path, rotation->ring,
                           rotation->ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_keyring_fail(rotation->ctl, rv, reason);
    }
    return CTL_OK;
}

static void rotation_print(const rotation_t *rotation)
{
    const ctl_t *ctl = rotation->ctl;
    pay_writer_t *w;

    if (!ctl->json) {
        printf("%" APR_UINT64_T_FMT " sealed anew\n", rotation->resealed);
        ctl_note("Reload the server now: until then it cannot open them, and what needs them "
                 "waits.");
        return;
    }
    w = pay_writer_make(128, ctl->pool);
    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "masterKey", ctl->keyring_path);
    pay_writer_integer(w, "resealed", (apr_int64_t)rotation->resealed);
    pay_writer_object_close(w);
    ctl_json_print(w);
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
    failed = ctl_caller_resume(); /* the file is the caller's */
    if (failed) {
        return failed;
    }
    failed = reseal_all(&rotation); /* what an interrupted run left; makes room in the file too */
    if (failed) {
        return failed;
    }
    rv = pay_keyring_add(&reason, ctl->keyring_path, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_keyring_fail(ctl, rv, reason);
    }
    rotation.resealed = 0;
    failed = reseal_all(&rotation);
    if (failed) {
        return failed;
    }
    ctl_audit_say(ctl, "master key",
                  apr_psprintf(ctl->pool, "%" APR_UINT64_T_FMT " sealed anew", rotation.resealed));
    failed = ctl_audit_note(ctl);
    rotation_print(&rotation);
    return failed;
}
