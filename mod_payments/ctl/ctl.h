/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTL_H
#define CTL_H

/* What the files of paymentsctl share. One command runs per process, in one thread. */

#include "base/pay_problem.h"
#include "store/pay_store.h"

#include <apr_pools.h>

#define CTL_ARGS_MAX 2
#define CTL_COMMIT_WAIT_SECONDS 30 /* a person rather waits for a busy server than tries again */

/* docs/paymentsctl.8, "EXIT STATUS"; the numbers mean what they mean for htpasswd. */
typedef enum ctl_exit_t {
    CTL_OK = 0,
    CTL_EXIT_ACCESS = 1,    /* store or file cannot be used now; also: store check found faults */
    CTL_EXIT_USAGE = 2,     /* the command line is wrong */
    CTL_EXIT_REFUSED = 3,   /* well formed, but what is stored says no: absent, taken, spent */
    CTL_EXIT_UNKNOWN = 4,   /* interrupted: whether it was done is not known */
    CTL_EXIT_TOO_LONG = 5,  /* a value is too long */
    CTL_EXIT_ILLEGAL = 6,   /* a value is not of the form wanted */
    CTL_EXIT_NOT_VALID = 7, /* store or file is damaged, or not what it should be */
} ctl_exit_t;

typedef enum ctl_option_id_t {
    CTL_OPTION_STORE,
    CTL_OPTION_JSON,
    CTL_OPTION_HELP,
    CTL_OPTION_MODE,
    CTL_OPTION_KIND,
    CTL_OPTION_OVERLAP,
    CTL_OPTION_KEY_PREFIX,
    CTL_OPTION_CURRENCY,
    CTL_OPTION_TIMEZONE,
    CTL_OPTION_CARD,
    CTL_OPTION_EMAIL,
    CTL_OPTION_TOKEN,
    CTL_OPTION_REFERENCE,
    CTL_OPTION_AMOUNT,
    CTL_OPTION_CUSTOMER_NOTE,
    CTL_OPTION_MERCHANT_NOTE,
    CTL_OPTION_FROM,
    CTL_OPTION_TO,
    CTL_OPTION_LIMIT,
    CTL_OPTION_BY,
    CTL_OPTION_FORMAT,
    CTL_OPTION_DRY_RUN,
    CTL_OPTION_COUNT
} ctl_option_id_t;

#define CTL_O(id) (1U << CTL_OPTION_##id)

/* How a command wants its store. */
typedef enum ctl_open_t {
    CTL_OPEN_READ,     /* it must exist, nothing is written */
    CTL_OPEN_WRITE,    /* it must exist */
    CTL_OPEN_CREATE,   /* made when missing */
    CTL_OPEN_BY_ITSELF /* it must exist; the command opens it */
} ctl_open_t;

typedef struct ctl_t ctl_t;

typedef struct ctl_command_t {
    const char *noun;
    const char *verb;     /* "" for a command of one word, which is then the noun's only one */
    const char *synopsis; /* arguments and the required options, for --help */
    const char *summary;  /* one line */
    const char *details;  /* more lines for the command's own --help, or NULL */
    int args_min;
    int args_max;
    unsigned int required; /* CTL_O() bits */
    unsigned int optional; /* CTL_O() bits; store, json and help need not be named */
    ctl_open_t open;
    ctl_exit_t (*run)(ctl_t *ctl);
} ctl_command_t;

struct ctl_t {
    const ctl_command_t *command;
    const char *option[CTL_OPTION_COUNT]; /* NULL: not given; "" for a flag */
    const char *arg[CTL_ARGS_MAX];        /* NULL: not given */
    int json;
    int csv;            /* neither: a table for people */
    pay_store_t *store; /* NULL with CTL_OPEN_BY_ITSELF */
    pay_store_options_t store_options;
    apr_pool_t *pool;
};

/* Opens the store as the command wants it, as its owner when run by root (ctl_open.c). */
ctl_exit_t ctl_open(ctl_t *ctl);

/*
 * Root again after ctl_open became the store's owner, for the caller's own files. Open files of
 * the store stay open; nothing may be created in its directory from here on.
 */
ctl_exit_t ctl_caller_resume(void);

/* No core file of this process is ever written; nobody but root may attach. */
void ctl_core_disable(void);

/* The account ARG names (ctl_account.c). */
ctl_exit_t ctl_account_find(pay_account_t **out, ctl_t *ctl, const char *name);

/* Account of the first argument with --mode. */
ctl_exit_t ctl_scope_find(pay_scope_t *out, pay_account_t **account, ctl_t *ctl);

/* The commands' run functions, by file. */
#define CTL_RUN(name) ctl_exit_t ctl_##name(ctl_t *ctl)
CTL_RUN(account_create); /* ctl_account.c */
CTL_RUN(account_list);
CTL_RUN(account_show);
CTL_RUN(account_set);
CTL_RUN(key_create); /* ctl_key.c */
CTL_RUN(key_import);
CTL_RUN(key_list);
CTL_RUN(key_revoke);
CTL_RUN(key_rotate);
CTL_RUN(token_create); /* ctl_token.c */
CTL_RUN(token_list);
CTL_RUN(token_revoke);
CTL_RUN(charge_list); /* ctl_charge.c */
CTL_RUN(charge_show);
CTL_RUN(refund_create); /* ctl_refund.c */
CTL_RUN(refund_import);
CTL_RUN(refund_list); /* ctl_refund_list.c */
CTL_RUN(totals);      /* ctl_totals.c */
CTL_RUN(store_check); /* ctl_store.c */
CTL_RUN(store_stat);
CTL_RUN(store_backup);
CTL_RUN(store_upgrade);
#undef CTL_RUN

#endif
