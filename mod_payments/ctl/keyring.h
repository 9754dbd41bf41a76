/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_KEYRING_H
#define PAY_CTL_KEYRING_H

/* The master key and what is sealed under it. */

#include "base/crypto/keyring.h"
#include "ctl/ctl.h"

/*
 * What the command's row says of the keyring, before ctl_open becomes the store's owner: the file
 * is the caller's to read. A file that is missing or at fault is told when it is needed.
 */
ctl_exit_t ctl_keyring_load(ctl_t *ctl, const char *dir, apr_uid_t owner);

/*
 * ctl->keyring is there, or is made when `create` is 1 and the store holds nothing that is sealed
 * under another; else the fault is told.
 */
ctl_exit_t ctl_keyring_need(ctl_t *ctl, int create);

/* The same, but nothing is at fault where the store holds nothing that is sealed. */
ctl_exit_t ctl_keyring_need_if_sealed(ctl_t *ctl);

/* The fault of the file; `reason` is a sentence. */
ctl_exit_t ctl_keyring_fail(const ctl_t *ctl, apr_status_t status, const char *reason);

/* A secret of an endpoint, opened; "" stays "". The fault is told. */
ctl_exit_t ctl_secret_open(const char **text, ctl_t *ctl, const pay_scope_t *scope,
                           const char *sealed);

/* The fault of a secret that does not open; `what` is it. */
ctl_exit_t ctl_secret_fail(const ctl_t *ctl, apr_status_t status, const char *what);

#endif
