/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_KEYRING_H
#define PAY_CTL_KEYRING_H

/* The master key and the secrets sealed under it. */

#include "base/crypto/keyring.h"
#include "ctl/ctl.h"

/*
 * Prepares the keyring as the command's row says, before ctl_open becomes the store's owner: the
 * caller reads the file. A missing or faulty file is an error only once it is needed.
 */
ctl_exit_t ctl_keyring_load(ctl_t *ctl, const char *dir, apr_uid_t owner);

/*
 * Ensures that ctl->keyring is loaded. Creates it if `create` is 1 and the store contains nothing
 * sealed under another key; else prints the error.
 */
ctl_exit_t ctl_keyring_need(ctl_t *ctl, int create);

/* The same, but a missing keyring is no error if the store contains nothing sealed. */
ctl_exit_t ctl_keyring_need_if_sealed(ctl_t *ctl);

/* Prints the fault of the file; `reason` is a sentence. */
ctl_exit_t ctl_keyring_fail(const ctl_t *ctl, apr_status_t status, const char *reason);

/* Opens a secret of an endpoint; "" stays "". Prints errors. */
ctl_exit_t ctl_secret_open(const char **text, ctl_t *ctl, const pay_scope_t *scope,
                           const char *sealed);

/* Prints the error of a secret that cannot be opened; `what` names the secret. */
ctl_exit_t ctl_secret_fail(const ctl_t *ctl, apr_status_t status, const char *what);

#endif
