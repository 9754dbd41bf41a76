/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_SCRIPT_H
#define STORE_SCRIPT_H

/*
 * Units of work of the store that a test replaces: the linker sends every call from another file to
 * store_script.c (ld's --wrap; tests/Makefile.am reads the names here), which calls the function
 * that the test has set here, or else the store. Nothing is set at the start of a test.
 */

#include "store/store.h"

/* clang-format off */
#define STORE_SCRIPT(X) \
    X(account_get) \
    X(account_list) \
    X(account_rows) \
    X(account_set) \
    X(audit_list) \
    X(audit_note) \
    X(charge_find) \
    X(charge_late) \
    X(charge_list) \
    X(charge_look) \
    X(charge_open) \
    X(charge_resolve) \
    X(charge_search) \
    X(charge_void) \
    X(charge_withdraw) \
    X(delivery_get) \
    X(due_take) \
    X(encryption_key_get) \
    X(encryption_key_list) \
    X(encryption_key_put) \
    X(endpoint_get) \
    X(endpoint_list) \
    X(epoch_find) \
    X(epoch_synced) \
    X(event_drop) \
    X(event_finish) \
    X(event_get) \
    X(event_list) \
    X(event_retry) \
    X(event_stat) \
    X(event_take) \
    X(event_test) \
    X(grant_list) \
    X(grant_put) \
    X(held_list) \
    X(history_ask) \
    X(history_get) \
    X(history_put) \
    X(import_abort) \
    X(import_begin) \
    X(import_finish) \
    X(import_rows) \
    X(idempotency_find) \
    X(idempotency_put) \
    X(key_find) \
    X(key_list) \
    X(key_touch) \
    X(link_get) \
    X(link_list) \
    X(payer_erase) \
    X(refund_claim) \
    X(refund_find) \
    X(refund_late) \
    X(refund_link) \
    X(refund_open) \
    X(refund_page) \
    X(refund_resolve) \
    X(refund_scan) \
    X(refund_waiting) \
    X(scope_reset) \
    X(stat) \
    X(token_get) \
    X(token_list) \
    X(total_list) \
    X(transaction_find) \
    X(waiting_count)
/* clang-format on */

/* The store's own function, whatever is set. */
#define STORE_REAL(name) __real_pay_store_##name

#define STORE_SCRIPT_DECLARE(name) __typeof__(pay_store_##name) STORE_REAL(name);
STORE_SCRIPT(STORE_SCRIPT_DECLARE)
#undef STORE_SCRIPT_DECLARE

typedef struct store_script_t {
#define STORE_SCRIPT_MEMBER(name) __typeof__(pay_store_##name) *name; /* NULL: the store's own */
    STORE_SCRIPT(STORE_SCRIPT_MEMBER)
#undef STORE_SCRIPT_MEMBER
} store_script_t;

extern store_script_t store_script;

/* How many read transactions began since the start of the test. */
extern _Atomic int store_reads;

/* A store of which only replaced units can be used. */
#define STORE_NONE ((pay_store_t *)(void *)&store_script)

#endif
