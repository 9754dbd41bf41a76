/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_MODEL_ACCOUNT_H
#define PAY_MODEL_ACCOUNT_H

/*
 * An account: the owner of the money, with the settings that tool and server must agree on. Pure.
 */

#include <apr_errno.h>
#include <apr_pools.h>
#include <apr_time.h>

struct pay_writer_t;

#define PAY_ACCOUNT_NAME_MAX 64
#define PAY_KEY_PREFIX_MAX 16
#define PAY_ACCOUNT_SECRET_LEN 32

typedef enum pay_mode_t { PAY_TEST = 0, PAY_LIVE = 1 } pay_mode_t;
#define PAY_MODE_COUNT 2

/* Leads every key of the store: a live key cannot reach test rows, nor those of another account. */
typedef struct pay_scope_t {
    apr_uint32_t account; /* account number, from 1, never reused */
    pay_mode_t mode;
} pay_scope_t;

/* The settings that an account is created with. All strings are set. */
typedef struct pay_account_settings_t {
    const char *key_prefix; /* of new keys */
    const char *currency;   /* ISO 4217, upper case: of charges that name no currency */
    const char *timezone;   /* IANA name: the zone of bare dates */
    const char *shop_name;  /* shown to payers (model/shop.h): "" stands for the account's name */
    const char *shop_logo;  /* "": absent; shop_text likewise */
    const char *shop_text;
    const char *return_hosts; /* of public keys' redirectUrl (model/return_hosts.h); "": any */
    const char *fees;         /* rules of model/fee.h in normal form; "": no fees */
} pay_account_settings_t;

typedef struct pay_account_t {
    apr_uint32_t number;
    const char *name;
    pay_account_settings_t settings;
    pay_mode_t mode; /* the account's switch: while it is PAY_TEST, live keys start nothing */
    apr_time_t created_at;
    apr_time_t updated_at;
    unsigned char secret[PAY_ACCOUNT_SECRET_LEN]; /* of pay_account_reference; never shown */
} pay_account_t;

/* NGN, UTC, "pay"; nothing for payers. */
extern const pay_account_settings_t pay_account_settings_builtin;

/* APR_EINVAL unless 1 to 64 of a-z 0-9 . _ - that begin with a letter or digit. */
apr_status_t pay_account_name_check(const char *name);

/* APR_EINVAL unless 1 to 16 of a-z 0-9 that begin with a letter. */
apr_status_t pay_key_prefix_check(const char *prefix);

const char *pay_mode_name(pay_mode_t mode); /* "test", "live" */
apr_status_t pay_mode_parse(pay_mode_t *out, const char *text);

/*
 * Makes the name by which an acquirer knows the charge with this reference of the shop's:
 * PAY_ACQUIRER_REFERENCE_LEN lower-case hex digits of HMAC-SHA256 over account number, mode and
 * reference under the account's secret. It never changes, and reveals nothing of the reference.
 * APR_EINVAL if the account has no secret.
 */
apr_status_t pay_account_reference(const char **out, const pay_account_t *account, pay_mode_t mode,
                                   const char *reference, apr_pool_t *p);

/* Writes {"name","number","mode","keyPrefix","currency","timezone","shop":{"name","logo","text"},
 * "returnHosts":[...],"fees","createdAt","updatedAt"}. */
void pay_account_to_json(struct pay_writer_t *w, const char *name, const pay_account_t *account);
/* Writes its members into an open object. */
void pay_account_members_to_json(struct pay_writer_t *w, const pay_account_t *account);

#endif
