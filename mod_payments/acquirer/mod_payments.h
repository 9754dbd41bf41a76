/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MOD_PAYMENTS_H
#define MOD_PAYMENTS_H

/*
 * The interface for connectors: modules of httpd that pass charges and refunds to an acquirer
 * (docs/live-mode.md, "Connectors"; docs/example-connector.c is a complete one). A connector
 * registers one static const vtable:
 *   ap_register_provider(p, PAYMENTS_ACQUIRER_GROUP, "name", PAYMENTS_ACQUIRER_VERSION, &vtable);
 * and a virtual host uses it by  PaymentsAcquirer live name [URL] [parameter=value ...]
 *
 * Guarantees to a connector: the charge or refund is durable before the call; no transaction of the
 * store is open; a reference is sent at most once; strings that are passed live as long as the
 * call. Duties of a connector:
 * - slots are called by any thread of a child process, many at once, and return within `timeout`;
 * - they never retry and never follow a redirection: what was sent once is queried, not resent;
 * - everything that they allocate for an answer comes from `p`; nothing else of `p` is kept;
 * - no token, key or personal data goes into logs or into `message`.
 * There is no request_rec: reconciliation calls from threads that have none. Structures carry their
 * size, because later versions append members: neither side reads or writes beyond it.
 */

#include <apr_errno.h>
#include <apr_pools.h>
#include <apr_tables.h>
#include <apr_time.h>

#define PAYMENTS_ACQUIRER_GROUP "payments-acquirer"
#define PAYMENTS_ACQUIRER_VERSION "1"
#define PAYMENTS_ACQUIRER_ABI 1

/*
 * Of charge and refund: no byte of the request left this process, provably (name, connect or TLS
 * failed, or the connector itself refused). The reference is then free again. Any other status
 * except APR_SUCCESS is an unknown outcome: money may have moved.
 */
#define PAYMENTS_NOT_SENT (APR_OS_START_USERERR + 101)

typedef enum payments_verdict_t {
    PAYMENTS_UNKNOWN = 0, /* it may or may not have been done: it is queried later */
    PAYMENTS_APPROVED,    /* a charge: the payer was charged; a refund: it was made */
    PAYMENTS_DECLINED,    /* final: not done, and will not be */
    PAYMENTS_PENDING,     /* the acquirer has it and has not decided */
    /* Of a query: the acquirer reports in its own form, naming the reference, that it does not
     * exist. An error page, a refused login or a time-out is not such a report. */
    PAYMENTS_ABSENT,
    /* The acquirer has something else under the reference: another amount, currency or mode, or an
     * older payment. A person must look. */
    PAYMENTS_DIFFERENT
} payments_verdict_t;

/* Why the acquirer cannot be used at the moment, in addition to the verdict. */
typedef enum payments_trouble_t {
    PAYMENTS_NO_TROUBLE = 0,
    PAYMENTS_CREDENTIALS, /* it refuses our key: nothing else is sent until a query succeeds */
    PAYMENTS_BUSY         /* it asks us to wait: nothing is sent for retry_after */
} payments_trouble_t;

/* Times of the parts of a call, from its start; 0: not known, or the part did not happen (a reused
 * connection needs neither connect nor TLS). */
typedef struct payments_times_t {
    apr_interval_time_t connect, tls, first_byte, total;
} payments_times_t;

/* The arguments of a virtual host's PaymentsAcquirer. */
typedef struct payments_settings_t {
    apr_uint32_t struct_size;
    const char *url; /* the word after the connector's name; NULL: absent */
    /* parameter=value. The value of a secret is its place in `check`, file:PATH or exec:PROGRAM,
     * and the secret itself in `open`. */
    const apr_table_t *given;
    const char *account;
    int live;
    apr_interval_time_t timeout; /* of one call */
} payments_settings_t;

typedef struct payments_charge_t {
    apr_uint32_t struct_size;
    /* The name by which the acquirer knows it: in Live Mode 32 lower-case hex digits, used once,
     * always the same for one reference of the shop, which it does not reveal. */
    const char *reference;
    const char *token;
    apr_int64_t amount_minor; /* in the currency's smallest unit */
    const char *currency;     /* ISO 4217, upper case */
    const char *amount;       /* the same in major units: "10.50" */
    const char *email;
    const char *first_name, *last_name;   /* "" if not given */
    const char *card_first6, *card_last4; /* "" if the card is not known here */
    apr_time_t opened_at; /* by the present clock, as far as known; 0: anything that the acquirer
                           * has under this name is ours, however old it is (of a restored store) */
    int live;
    apr_int64_t refunded_minor;        /* of it, as far as known here */
    apr_int64_t refunds_pending_minor; /* likewise, except for the refund of the call */
} payments_charge_t;

typedef struct payments_refund_t {
    apr_uint32_t struct_size;
    const char *reference; /* ours: it leaves this server only in place of the tag, if at all */
    const char *tag;       /* random, in no other refund: finds one with an unknown outcome */
    const char *acquirer_reference; /* the acquirer's name for it; "" while it is not known */
    apr_int64_t amount_minor;       /* the exact amount, also for a full refund */
    const char *currency;
    const char *amount;
    const char *merchant_note, *customer_note; /* as received; "" if not given */
    apr_time_t opened_at;
} payments_refund_t;

/* Strings are "" or NULL if there is no value. Invalid UTF-8 is replaced by '?'; text that contains
 * a card number is discarded. Zeroed before each call. */
typedef struct payments_answer_t {
    apr_uint32_t struct_size;
    payments_verdict_t verdict;
    payments_trouble_t trouble;
    apr_interval_time_t retry_after; /* with PAYMENTS_BUSY */
    const char *code;                /* ISO 8583 response code */
    const char *message;             /* for the shop and its payer; cut to 200 bytes */
    const char *authorization_code;
    const char *acquirer_reference; /* of a refund: the acquirer's name for it */
    int spent;                      /* approved, and reversed since: nothing is left to refund */
    /* As far as the acquirer reports them. */
    const char *card_first6, *card_last4, *card_issuer, *card_country, *card_type;
    payments_times_t times;
    const char *card_token; /* of a checkout paid by card: the acquirer's own, to charge it again */
    apr_int64_t refunded_minor; /* of an approved charge: amount refunded since; 0: not reported */
    /* Of PAYMENTS_UNKNOWN to a query: the acquirer reports absence, but one of the two clocks is
     * wrong, so that it is not believed. */
    int doubted;
    /* Of an absent refund: the acquirer's names of the refunds of the same charge and amount that
     * have no tag, const char *. More than PAYMENTS_SIMILAR_MAX are not listed. NULL: none. */
    const apr_array_header_t *similar;
} payments_answer_t;
#define PAYMENTS_SIMILAR_MAX 16

/* A refund in the acquirer's books. `transaction_reference` is payments_charge_t.reference if we
 * sent the charge; amounts are decimal in major units; times are 0 if not reported. */
typedef struct payments_record_t {
    apr_uint32_t struct_size;
    const char *id;
    const char *reference; /* the acquirer's name for it */
    const char *tag;       /* ours, if it has one, else "" */
    const char *amount;
    const char *currency;
    const char *channel;
    const char *merchant_note; /* without the tag */
    const char *customer_note;
    const char *status; /* "pending", "processed", "failed" */
    const char *transaction_reference;
    apr_time_t created_at, updated_at;
} payments_record_t;

/* Called for each record, whose strings live as long as the call. Any status except APR_SUCCESS
 * ends the list with that status. */
typedef apr_status_t payments_record_fn(void *baton, const payments_record_t *record);

/* A page of the acquirer on which a payer pays. */
typedef struct payments_checkout_t {
    apr_uint32_t struct_size;
    const char *reference; /* like payments_charge_t's: charge_query returns its outcome */
    apr_int64_t amount_minor;
    const char *currency;
    const char *amount;
    const char *email;
    const char *first_name, *last_name;
    const char *phone;        /* "" if not given; the following likewise */
    const char *redirect_url; /* where the payer returns to */
    const char *description;
    apr_time_t opened_at;
    int live;
} payments_checkout_t;

typedef struct payments_page_t {
    apr_uint32_t struct_size;
    const char *url; /* https; the payer's browser is sent there */
    payments_trouble_t trouble;
    apr_interval_time_t retry_after;
    payments_times_t times;
} payments_page_t;

/* The connector keeps card tokens of its own: a token that is not in the store is passed on. */
#define PAYMENTS_OWN_TOKENS 0x1
/*
 * It decides inside this process, from the charge alone, without waiting and without a trace: the
 * same call always gives the same answer. Charge and decision are then one transaction. For Test
 * Mode's simulator alone: a module that sets this flag is refused.
 */
#define PAYMENTS_PURE 0x2

typedef struct payments_acquirer_t {
    apr_uint32_t struct_size; /* sizeof(payments_acquirer_t) of the connector's build */
    apr_uint32_t abi;         /* PAYMENTS_ACQUIRER_ABI */
    const char *name;         /* as in PaymentsAcquirer */
    apr_uint32_t flags;
    /* Parameters that are secrets, NULL-terminated; NULL: no secrets. They are given as file:PATH
     * or exec:PROGRAM, read by root, and never shown. */
    const char *const *secrets;

    /* Called while the configuration is read, also for `httpd -t`. Returns a sentence that names
     * the fault, or NULL. Uses no files and no network; unknown parameters are an error. */
    const char *(*check)(const payments_settings_t *settings, apr_pool_t *p);
    /* Called once in each child process, before threads start: *context is passed to the slots
     * below. `p` lives as long as the process. *fault is a sentence that names no secret. */
    apr_status_t (*open)(void **context, const char **fault, const payments_settings_t *settings,
                         apr_pool_t *p);
    /* The process ends: calls under way return within a second, as unknown. Called once, from any
     * thread or a signal handler: it sets a flag and takes no lock. May be NULL. */
    void (*stop)(void *context);

    apr_status_t (*charge)(payments_answer_t *out, void *context, const payments_charge_t *charge,
                           apr_interval_time_t timeout, apr_pool_t *p);
    /* Queries the outcome of a charge, or a checkout, that may have been sent before. */
    apr_status_t (*charge_query)(payments_answer_t *out, void *context,
                                 const payments_charge_t *charge, apr_interval_time_t timeout,
                                 apr_pool_t *p);
    /* Refunds the amount. PAYMENTS_APPROVED: processed; PAYMENTS_DECLINED: failed. */
    apr_status_t (*refund)(payments_answer_t *out, void *context, const payments_refund_t *refund,
                           const payments_charge_t *charge, apr_interval_time_t timeout,
                           apr_pool_t *p);
    /* Queries by acquirer_reference, else by tag. ABSENT: the acquirer's books contain no such
     * refund. */
    apr_status_t (*refund_query)(payments_answer_t *out, void *context,
                                 const payments_refund_t *refund, const payments_charge_t *charge,
                                 apr_interval_time_t timeout, apr_pool_t *p);
    /* Lists all refunds created in the range, both ends inclusive, at most 7 days; the whole list
     * or an error. May be NULL, or the table may end before it: then there is no such list. */
    apr_status_t (*refund_list)(void *context, apr_time_t from, apr_time_t to,
                                payments_record_fn *found, void *baton, apr_interval_time_t timeout,
                                apr_pool_t *p);
    /* May be NULL if the acquirer has no such page. Statuses as of charge. Returns APR_SUCCESS
     * without a URL only if the acquirer itself reports that it opens no page for this checkout,
     * and APR_EEXIST only if it reports that it knows the reference already: charge_query is then
     * called at once. */
    apr_status_t (*checkout)(payments_page_t *out, void *context,
                             const payments_checkout_t *checkout, apr_interval_time_t timeout,
                             apr_pool_t *p);
} payments_acquirer_t;

#endif
