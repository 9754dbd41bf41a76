/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_CTL_H
#define PAY_CTL_CTL_H

/* What the files of paymentsctl share. One command runs per process, in one thread. */

#include "base/problem.h"
#include "ctl/option_id.h"
#include "service/change.h"

#include <apr_pools.h>
#include <apr_user.h>

#define CTL_ARGS_MAX 2
#define CTL_COMMIT_WAIT_SECONDS 30 /* a person would rather wait for a busy server than retry */

/* docs/paymentsctl.8, "EXIT STATUS"; the numbers have the same meaning as for htpasswd. */
typedef enum ctl_exit_t {
    CTL_OK = 0,
    CTL_EXIT_ACCESS = 1,    /* store or file cannot be used now; also: store check found faults */
    CTL_EXIT_USAGE = 2,     /* the command line is wrong */
    CTL_EXIT_REFUSED = 3,   /* well formed, but the stored state forbids it: absent, taken, spent */
    CTL_EXIT_UNKNOWN = 4,   /* interrupted: the outcome is unknown */
    CTL_EXIT_TOO_LONG = 5,  /* a value is too long */
    CTL_EXIT_ILLEGAL = 6,   /* a value is malformed */
    CTL_EXIT_NOT_VALID = 7, /* store or file is damaged, or of the wrong kind */
} ctl_exit_t;

/* How a command opens its store. */
typedef enum ctl_open_t {
    CTL_OPEN_READ,     /* it must exist, nothing is written */
    CTL_OPEN_WRITE,    /* it must exist; the change leaves an entry in the audit (ctl/audit.h) */
    CTL_OPEN_CREATE,   /* like CTL_OPEN_WRITE, and created if missing */
    CTL_OPEN_SERVE,    /* it must exist; the command does the server's work, without an entry */
    CTL_OPEN_BY_ITSELF /* it must exist; the command opens it itself */
} ctl_open_t;

/* How a command uses the master key (ctl/keyring.h). */
typedef enum ctl_keyring_use_t {
    CTL_KEYRING_NONE,
    CTL_KEYRING_READ, /* the keyring is loaded if it exists */
    CTL_KEYRING_WRITE /* the same, and no other command of this kind uses the store meanwhile */
} ctl_keyring_use_t;

/* 1 if the command's changes leave an entry in the audit. */
static inline int ctl_open_is_audited(ctl_open_t how)
{
    return how == CTL_OPEN_WRITE || how == CTL_OPEN_CREATE;
}

typedef struct ctl_t ctl_t;

typedef struct ctl_command_t {
    const char *name;     /* its words, separated by blanks: "webhook secret show" */
    const char *synopsis; /* arguments and the required options, for --help */
    const char *summary;  /* one line */
    const char *details;  /* further lines for the command's own --help, or NULL */
    int args_min;
    int args_max;
    apr_uint64_t required; /* CTL_O() bits */
    apr_uint64_t optional; /* CTL_O() bits; CTL_OPTIONS_COMMON need not be named */
    ctl_open_t open;
    ctl_keyring_use_t keyring;
    ctl_exit_t (*run)(ctl_t *ctl);
} ctl_command_t;

struct ctl_t {
    const ctl_command_t *command;
    const char *option[CTL_OPTION_COUNT]; /* NULL: not given; "" for a flag */
    const char *arg[CTL_ARGS_MAX];        /* NULL: not given */
    int json;
    int csv;               /* neither json nor csv: a table for people */
    pay_service_t service; /* makes changes in the caller's name; its store is NULL with
                            * CTL_OPEN_BY_ITSELF */
    pay_store_options_t store_options;
    apr_uid_t store_owner;
    const struct pay_keyring_t *keyring; /* NULL: not loaded; the next two members say why */
    apr_status_t keyring_status;
    const char *keyring_fault;
    const char *keyring_path;
    apr_pool_t *pool;
};

/* Opens the store as the command requires, as its owner if run by root (ctl/open.c). */
ctl_exit_t ctl_open(ctl_t *ctl);

/*
 * Becomes root again after ctl_open became the store's owner, for the caller's own files. Open
 * files of the store stay open; nothing may be created in its directory from here on.
 */
ctl_exit_t ctl_caller_resume(void);

/* Becomes the store's owner again after ctl_caller_resume. */
ctl_exit_t ctl_owner_resume(ctl_t *ctl);

/* Prevents core files of this process; only root may attach to it. */
void ctl_core_disable(void);

/* Finds the account that ARG names (ctl/account.c). */
ctl_exit_t ctl_account_find(pay_account_t **out, ctl_t *ctl, const char *name);

/* The scope of the account that the first argument names, and --mode. */
ctl_exit_t ctl_scope_find(pay_scope_t *out, pay_account_t **account, ctl_t *ctl);

/*
 * The same, and *reference, the second argument, of at most `max` characters; a wrong one is
 * refused as `name`, with `want`, the form that it must have.
 */
ctl_exit_t ctl_reference_find(const char **reference, pay_scope_t *out, pay_account_t **account,
                              ctl_t *ctl, const char *name, int max, const char *want);

#endif
