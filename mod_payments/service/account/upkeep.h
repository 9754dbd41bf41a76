/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_SERVICE_ACCOUNT_UPKEEP_H
#define PAY_SERVICE_ACCOUNT_UPKEEP_H

/*
 * Work of an administrator on a store as a whole, or on all rows of a payer or of Test Mode; and
 * what the server writes there by itself. Changes by people leave an entry in the audit
 * (service/change.h).
 */

#include "service/service.h"

/* --- removing rows --- */

/* The result in one mode. */
typedef struct pay_purge_t {
    int is_done; /* 0: not reached, or failed before its end */
    apr_uint64_t charges, refunds, events, tokens, answers;
    apr_uint64_t left; /* charges that cannot be touched now: run it again later */
} pay_purge_t;

/*
 * Erases the payer `email` (as pay_email_normalize makes it) in the modes from `first` to `last`
 * (pay_store_payer_erase), in many short transactions: after a problem, run it again.
 */
const pay_problem_t *pay_payer_erase(pay_purge_t out[PAY_MODE_COUNT], const pay_service_t *service,
                                     const pay_account_t *account, const char *email,
                                     pay_mode_t first, pay_mode_t last, apr_pool_t *p);

/* Empties the account's Test Mode (pay_store_scope_reset), likewise. */
const pay_problem_t *pay_account_reset(pay_purge_t *out, const pay_service_t *service,
                                       const pay_account_t *account, apr_pool_t *p);

/* --- a store that was restored from a copy --- */

/* Ends its hold (pay_store_epoch_confirm). If *unsynced is set, nothing was done, because the
 * refunds of that account have not been fetched since. */
const pay_problem_t *pay_restore_confirm(int *was_held, const pay_account_t **unsynced,
                                         const pay_service_t *service, int allow_unsynced,
                                         apr_pool_t *p);

/* --- another master key --- */

/* One pass over all secrets. */
typedef struct pay_reseal_t {
    apr_uint64_t resealed; /* including earlier passes */
    int behind;            /* secrets that were not under the ring's current key */
    const char *closed;    /* the secret that does not open, for people; NULL: all opened */
} pay_reseal_t;

/*
 * Seals everything that is not under the first key of service->keyring again under that key. Other
 * processes may change secrets meanwhile: repeat it until none was behind. Leaves no entry by
 * itself.
 */
const pay_problem_t *pay_secrets_reseal(pay_reseal_t *out, const pay_service_t *service,
                                        apr_pool_t *p);

/* Writes the entry of the whole rotation, at its end. */
apr_status_t pay_secrets_note(const pay_service_t *service, apr_uint64_t resealed, apr_pool_t *p);

/* --- done by the server itself; not a person's change --- */

/* Stores the defaults of new accounts; `name` "" for any account. */
apr_status_t pay_server_defaults_put(pay_store_t *store, const char *name,
                                     const pay_account_settings_t *settings, apr_pool_t *p);

/* Stores how it delivers; writes nothing if that is as it `was` (NULL: not known). */
apr_status_t pay_server_delivery_put(pay_store_t *store, const pay_delivery_t *was,
                                     const pay_delivery_t *delivery, apr_pool_t *p);

/* Purge expired idempotency records (pay_store_idempotency_expire), and checkouts that nobody paid
 * (pay_store_checkout_sweep). *count is the number of examined rows, at most `limit`. */
apr_status_t pay_server_expire_keys(int *count, pay_store_t *store, apr_time_t now, int limit,
                                    apr_pool_t *p);
apr_status_t pay_server_sweep_checkouts(int *count, pay_store_t *store, apr_time_t now, int limit,
                                        apr_pool_t *p);

#endif
