/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_CTL_COMMANDS_H
#define PAY_CTL_COMMANDS_H

/* The table of commands, and the functions that run them. */

#include "ctl/ctl.h"

#define CTL_WORDS_MAX 3 /* of a command's name */

/* The i-th command in the order of --help, NULL after the last. */
const ctl_command_t *ctl_command_at(int i);

/* Commands for webhooks, events and mail (ctl/commands_notify.c). */
extern const ctl_command_t ctl_commands_notify[];
extern const int ctl_commands_notify_count;

/* Checkout commands (ctl/commands_checkout.c). */
extern const ctl_command_t ctl_commands_checkout[];
extern const int ctl_commands_checkout_count;

/* Erasure commands (ctl/commands_erase.c). */
extern const ctl_command_t ctl_commands_erase[];
extern const int ctl_commands_erase_count;

/* Returns 1 if its name begins with these words; sets *all to 1 if it also ends with them. */
int ctl_command_begins(int *all, const ctl_command_t *command, const char *const *words, int count);

/*
 * Returns the command with exactly this name, or NULL. Sets *known to 1 if a command has this name
 * or one that begins with these words.
 */
const ctl_command_t *ctl_command_find(int *known, const char *const *words, int count);

/* The commands' run functions, by file. */
#define CTL_RUN(name) ctl_exit_t ctl_##name(ctl_t *ctl)
CTL_RUN(account_create); /* ctl/account.c */
CTL_RUN(account_list);
CTL_RUN(account_show);
CTL_RUN(account_set);
CTL_RUN(account_mode);
CTL_RUN(account_grant); /* ctl/grant.c */
CTL_RUN(account_revoke);
CTL_RUN(account_grants);
CTL_RUN(key_create); /* ctl/key.c */
CTL_RUN(key_import);
CTL_RUN(key_list);
CTL_RUN(key_revoke);
CTL_RUN(key_rotate);
CTL_RUN(token_create); /* ctl/token.c */
CTL_RUN(token_list);
CTL_RUN(token_revoke);
CTL_RUN(charge_list); /* ctl/charge.c */
CTL_RUN(charge_show);
CTL_RUN(charge_resolve); /* ctl/decision.c */
CTL_RUN(refund_create);  /* ctl/refund.c */
CTL_RUN(refund_import);
CTL_RUN(refund_list);    /* ctl/refund_list.c */
CTL_RUN(refund_show);    /* ctl/refund_show.c */
CTL_RUN(refund_resolve); /* ctl/decision.c */
CTL_RUN(refund_link);    /* ctl/refund_link.c */
CTL_RUN(refund_sync);    /* ctl/refund_sync.c */
CTL_RUN(held_list);      /* ctl/held_list.c */
CTL_RUN(link_create);    /* ctl/link.c */
CTL_RUN(link_list);
CTL_RUN(link_show);
CTL_RUN(link_disable);
CTL_RUN(totals);      /* ctl/totals.c */
CTL_RUN(payer_erase); /* ctl/erase.c */
CTL_RUN(account_reset);
CTL_RUN(webhook_set); /* ctl/webhook.c */
CTL_RUN(webhook_show);
CTL_RUN(webhook_test);        /* ctl/test.c */
CTL_RUN(webhook_secret_show); /* ctl/webhook_secret.c */
CTL_RUN(webhook_secret_rotate);
CTL_RUN(event_list); /* ctl/event_list.c */
CTL_RUN(event_show); /* ctl/event.c */
CTL_RUN(event_retry);
CTL_RUN(event_drop);
CTL_RUN(event_deliver); /* ctl/deliver.c */
CTL_RUN(mail_set);      /* ctl/mail.c */
CTL_RUN(mail_show);
CTL_RUN(mail_test);           /* ctl/test.c */
CTL_RUN(encryption_key_show); /* ctl/encryption_key.c */
CTL_RUN(encryption_key_renew);
CTL_RUN(audit_list);  /* ctl/audit_list.c */
CTL_RUN(store_check); /* ctl/store.c */
CTL_RUN(store_stat);
CTL_RUN(store_backup);
CTL_RUN(store_upgrade);
CTL_RUN(store_confirm);           /* ctl/store_confirm.c */
CTL_RUN(store_rotate_master_key); /* ctl/master_key.c */
#undef CTL_RUN

#endif
