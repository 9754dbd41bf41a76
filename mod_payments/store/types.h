/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_TYPES_H
#define PAY_STORE_TYPES_H

/* Values that pass between the store and its users. Include store/store.h instead. */

#include "model/account.h"
#include "model/api_key.h"
#include "model/audit.h"
#include "model/charge.h"
#include "model/delivery.h"
#include "model/encryption_key.h"
#include "model/endpoint.h"
#include "model/epoch.h"
#include "model/event.h"
#include "model/grant.h"
#include "model/history.h"
#include "model/idempotency.h"
#include "model/refund.h"
#include "model/token.h"
#include "model/total.h"
#include "model/transaction.h"

#include <apr_tables.h>

typedef struct pay_store_t pay_store_t;

/* The decision of refund_open. */
typedef enum pay_refund_verdict_t {
    PAY_REFUND_OPENED,
    PAY_REFUND_REFUSED_STATE,    /* R1: the charge is not successful */
    PAY_REFUND_REFUSED_ABOVE,    /* R2: above the remainder */
    PAY_REFUND_REFUSED_FULL,     /* R3: there is no remainder */
    PAY_REFUND_REFUSED_BUSY,     /* R4: another refund of it is pending */
    PAY_REFUND_REFUSED_REPEATED, /* R5: the same partial refund was just made; *out is that row */
    PAY_REFUND_REFUSED_HELD,     /* the store was restored, and nobody confirmed it */
    PAY_REFUND_REFUSED_FETCHED   /* R5: it equals one made before the store was restored; *out */
} pay_refund_verdict_t;

/* The result for a refund that had no charge here. */
typedef enum pay_refund_link_t {
    PAY_REFUND_LINKED,         /* it has one now */
    PAY_REFUND_LINK_KNOWN,     /* it had one already */
    PAY_REFUND_LINK_NONE,      /* the acquirer's name leads to no charge */
    PAY_REFUND_LINK_DIFFERENT, /* its charge has another currency, or too little left */
} pay_refund_link_t;

/* The decision of grant_put and grant_delete. */
typedef enum pay_grant_verdict_t {
    PAY_GRANT_DONE,
    PAY_GRANT_UNCHANGED,    /* the user already has that role */
    PAY_GRANT_REFUSED_FULL, /* the account or the user has PAY_GRANTS_MAX grants */
    PAY_GRANT_REFUSED_OWNER /* the account would have no owner */
} pay_grant_verdict_t;

/* The charges to search for: those that match every given member. */
typedef struct pay_charge_filter_t {
    const char *reference; /* NULL: any */
    const char *email;     /* as pay_email_normalize makes it; NULL: any */
    const char *currency;  /* NULL: any */
    unsigned int words;    /* 1U << pay_charge_word() each; 0: any */
    pay_time_range_t range;
} pay_charge_filter_t;

/*
 * The position of a search. Zero it before the first call. A client that goes on later needs only
 * the first two members, with started 1.
 */
typedef struct pay_charge_cursor_t {
    apr_time_t created_at; /* of the last examined charge */
    apr_uint64_t seq;
    int started;
    int done; /* 1: there are no more */
} pay_charge_cursor_t;

/* The content of an idempotency record: one of charge, refund, refusal and text is set. */
typedef struct pay_idempotency_record_t {
    int same_request; /* 0: the key belongs to a different request, and nothing below is set */
    pay_charge_t *charge;
    pay_refund_t *refund;
    pay_refund_verdict_t refusal; /* R1 to R3; PAY_REFUND_OPENED: no refusal */
    const char *text;             /* a whole answer */
} pay_idempotency_record_t;

/* One row that is due at its acquirer: exactly one of the two is set. */
typedef struct pay_due_t {
    const pay_charge_t *charge;
    const pay_refund_t *refund; /* `charge` of it is set too if it is known */
} pay_due_t;

/* The position of a refund list. Zero it before the first chunk; opaque otherwise. */
typedef struct pay_refund_cursor_t {
    unsigned char key[32];
    apr_size_t key_len;
    apr_uint64_t view_seq;    /* rows created later are not part of the view */
    apr_uint32_t view_import; /* neither are rows of imports that finished later */
    int started;
    int done; /* 1: the last chunk was returned */
} pay_refund_cursor_t;

/*
 * The position of a list of rows, newest first. Zero it before the first call; to go on later, its
 * first two members with started 1 are enough.
 */
typedef struct pay_page_cursor_t {
    apr_time_t created_at; /* of the last examined row */
    apr_uint64_t seq;
    int started;
    int done; /* 1: there are no more */
} pay_page_cursor_t;

/* The waiting work of a scope. */
typedef struct pay_waiting_t {
    int pending;  /* charges that were sent to an acquirer */
    int open;     /* checkouts that nobody has paid yet */
    int held;     /* charges and refunds */
    int webhooks; /* undelivered events, including parked ones */
    int parked;   /* transactions whose webhooks were given up */
    int charges;  /* 1: there has ever been a charge */
    int events;   /* undelivered, of all endpoints */
    int tokens;   /* including revoked ones */
} pay_waiting_t;

typedef struct pay_import_t {
    pay_scope_t scope;
    apr_uint32_t number;
    apr_uint64_t written;
    apr_uint64_t skipped; /* same id and same content: exist already */

    apr_uint64_t unlinked; /* of those written: they have no charge here */
    /* Set by the caller after import_begin. 1: rows name their charge by the acquirer's name,
     * acquirer_charge ("": none); 0: by its reference. */
    int by_acquirer;
    /* Of an acquirer's list: its name, which the rows keep. Processed refunds of charges that were
     * made here before them, created at `tell_since` or later, make events like ours. NULL: of a
     * file, without events. */
    const char *acquirer;
    apr_time_t tell_since;
    apr_array_header_t *told; /* the store's: those refunds */
} pay_import_t;

typedef struct pay_store_stat_t {
    apr_uint64_t accounts, api_keys, tokens, charges, refunds, held, idempotency_records, events,
        parked;
    apr_uint64_t pending;        /* sent to an acquirer and not decided */
    apr_uint64_t checkouts_open; /* not paid yet */
    apr_int64_t map_bytes, used_bytes, file_bytes, disk_free_bytes;
    unsigned int readers, readers_max;
    unsigned int schema_version;
} pay_store_stat_t;

#define PAY_STORE_LEASES_MAX 100       /* events of one take or finish */
#define PAY_STORE_LEASE_MS (60 * 1000) /* more than twice the longest attempt */

typedef struct pay_event_stat_t {
    apr_uint64_t events; /* undelivered, including parked ones and those behind them */
    apr_uint64_t parked;
    apr_interval_time_t overdue; /* how long the first due one has been due; 0: none is due */
} pay_event_stat_t;

/* A fault found by check; `text` names table and key. */
typedef void (*pay_store_fault_t)(void *baton, const char *text);

#endif
