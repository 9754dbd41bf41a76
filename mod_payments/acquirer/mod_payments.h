/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MOD_PAYMENTS_H
#define MOD_PAYMENTS_H

/*
 * The interface for connectors: modules of httpd that pass charges and refunds to an acquirer
 * (docs/live-mode.md, "Connectors"; docs/example-connector.c is a whole one). A connector registers
 * one static const vtable:
 *   ap_register_provider(p, PAYMENTS_ACQUIRER_GROUP, "name", PAYMENTS_ACQUIRER_VERSION, &vtable);
 * and a virtual host uses it by  PaymentsAcquirer live name [URL] [parameter=value ...]
 *
 * What a connector may rely on: the charge or refund is durable before it is asked; no transaction
 * of the store is open; a reference is sent at most once; strings given live as long as the call.
 * What it owes:
 * - slots are called by any thread of a child process, many at once, and return within `timeout`;
 * - they never retry and never follow a redirection: what was sent once is asked about, not resent;
 * - all that they allocate for an answer comes from `p`; nothing else of `p` is kept;
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
 * Of charge and refund: provably no byte of the request left this process (name, connect, TLS, or
 * the connector refused by itself). The reference is then free again. Any other status but
 * APR_SUCCESS is an unknown outcome: money may have moved.
 */
#define PAYMENTS_NOT_SENT (APR_OS_START_USERERR + 101)

typedef enum payments_verdict_t {
    PAYMENTS_UNKNOWN = 0, /* it may have been done or not: it is asked about later */
    PAYMENTS_APPROVED,    /* the payer was charged; the money was given back */
    PAYMENTS_DECLINED,    /* final: it was not, and will not be */
    PAYMENTS_PENDING,     /* the acquirer has it and has not decided */
    /* Of a query: the acquirer says in its own form, naming the reference, that there is none. An
     * error page, a refused login or a time-out says nothing of the kind. */
    PAYMENTS_ABSENT,
    /* The acquirer has something under the reference that is not what was asked for: another
     * amount, currency or mode, or older than it. A person must look. */
    PAYMENTS_DIFFERENT
} payments_verdict_t;

/* Why the acquirer cannot be used just now, beside the verdict. */
typedef enum payments_trouble_t {
    PAYMENTS_NO_TROUBLE = 0,
    PAYMENTS_CREDENTIALS, /* it refuses our key: nothing else is sent until a query goes through */
    PAYMENTS_BUSY         /* it asks for patience: nothing is sent for retry_after */
} payments_trouble_t;

/* How long the parts of a call took, from its start; 0: not known, or there was none (a connection
 * that was kept alive needs neither connect nor TLS). */
typedef struct payments_times_t {
    apr_interval_time_t connect;
    apr_interval_time_t tls;
    apr_interval_time_t first_byte;
    apr_interval_time_t total;
} payments_times_t;

/* What a virtual host's PaymentsAcquirer says. */
typedef struct payments_settings_t {
    apr_uint32_t struct_size;
    const char *url; /* the word behind the connector's name; NULL: there is none */
    /* parameter=value. Of a secret: in `check` where it is, file:PATH or exec:PROGRAM, in `open`
     * what was found there. */
    const apr_table_t *given;
    const char *account;
    int live;
    apr_interval_time_t timeout; /* of one call */
} payments_settings_t;

typedef struct payments_charge_t {
    apr_uint32_t struct_size;
    /* By which the acquirer knows it: 32 lower-case hex digits in Live Mode, used once, and the
     * same for ever for one reference of the shop's, which it does not tell. */
    const char *reference;
    const char *token;
    apr_int64_t amount_minor; /* in the currency's smallest unit */
    const char *currency;     /* ISO 4217, upper case */
    const char *amount;       /* the same in major units: "10.50" */
    const char *email;
    const char *first_name; /* "" when not given, as the next */
    const char *last_name;
    const char *card_first6; /* "" when the card is not known here, as the next */
    const char *card_last4;
    apr_time_t opened_at; /* by the clock of now, as far as that is known; 0: what the acquirer has
                           * under this name is ours, however old it is (of a store that was put
                           * back) */
    int live;
    apr_int64_t refunded_minor;        /* of it, as far as is known here */
    apr_int64_t refunds_pending_minor; /* as well, but for the refund that is asked about */
} payments_charge_t;

typedef struct payments_refund_t {
    apr_uint32_t struct_size;
    const char *reference; /* ours: it leaves this server only in the tag's place, if at all */
    const char *tag;       /* random, part of no other refund: what an unknown one is found by */
    const char *acquirer_reference; /* what the acquirer called it; "" while that is not known */
    apr_int64_t amount_minor;       /* the exact amount, also of a full refund */
    const char *currency;
    const char *amount;
    const char *merchant_note; /* as it was given; "" when it was not */
    const char *customer_note;
    apr_time_t opened_at;
} payments_refund_t;

/* Strings are "" or NULL where there is nothing to tell. What is no plain UTF-8 is kept with
 * question marks in its place, text with a card number in it not at all. Zeroed before each call.
 */
typedef struct payments_answer_t {
    apr_uint32_t struct_size;
    payments_verdict_t verdict;
    payments_trouble_t trouble;
    apr_interval_time_t retry_after; /* with PAYMENTS_BUSY */
    const char *code;                /* ISO 8583 response code */
    const char *message;             /* for the shop and its payer; cut to 200 bytes */
    const char *authorization_code;
    const char *acquirer_reference; /* of a refund: what the acquirer calls it */
    int spent;                      /* approved, and reversed since: nothing is left to refund */
    const char *card_first6;        /* as far as the acquirer tells it, as the rest */
    const char *card_last4;
    const char *card_issuer;
    const char *card_country;
    const char *card_type;
    payments_times_t times;
    /* Of a checkout that was paid by card: the acquirer's own token of it, by which its payer can
     * be charged again. */
    const char *card_token;
    apr_int64_t refunded_minor; /* of an approved charge: what was given back since; 0: not told */
    /* Of PAYMENTS_UNKNOWN to a query: the acquirer answers that there is none, and one of the two
     * clocks is wrong, so that this is not believed. */
    int doubted;
    /* Of an absent refund: how the acquirer calls those of its charge and amount that carry no tag,
     * const char *. More than PAYMENTS_SIMILAR_MAX are too many to tell. NULL: there are none. */
    const apr_array_header_t *similar;
} payments_answer_t;
#define PAYMENTS_SIMILAR_MAX 16

/* A refund in the acquirer's books. `transaction_reference` is payments_charge_t.reference where we
 * sent the charge; amounts are decimal in major units; times are 0 when not told. */
typedef struct payments_record_t {
    apr_uint32_t struct_size;
    const char *id;
    const char *reference; /* what the acquirer calls it */
    const char *tag;       /* ours, if it carries one, else "" */
    const char *amount;
    const char *currency;
    const char *channel;
    const char *merchant_note; /* without the tag */
    const char *customer_note;
    const char *status; /* "pending", "processed", "failed" */
    const char *transaction_reference;
    apr_time_t created_at;
    apr_time_t updated_at;
} payments_record_t;

/* Called for each record, whose strings live as long as the call. Anything but APR_SUCCESS ends the
 * list with that status. */
typedef apr_status_t payments_record_fn(void *baton, const payments_record_t *record);

/* A page of the acquirer's on which a payer pays. */
typedef struct payments_checkout_t {
    apr_uint32_t struct_size;
    const char *reference; /* as payments_charge_t's: charge_query tells what became of it */
    apr_int64_t amount_minor;
    const char *currency;
    const char *amount;
    const char *email;
    const char *first_name;
    const char *last_name;
    const char *phone;        /* "" when not given, as the next */
    const char *redirect_url; /* where the payer returns to */
    const char *description;
    apr_time_t opened_at;
    int live;
} payments_checkout_t;

typedef struct payments_page_t {
    apr_uint32_t struct_size;
    const char *url; /* https, to which the payer's browser is sent */
    payments_trouble_t trouble;
    apr_interval_time_t retry_after;
    payments_times_t times;
} payments_page_t;

/* The connector keeps card tokens of its own: one that the store does not hold is passed on. */
#define PAYMENTS_OWN_TOKENS 0x1
/*
 * It decides inside this process, from the charge alone, without waiting and without a trace: asked
 * twice it says the same. Charge and decision are then one transaction. For Test Mode's simulator
 * alone: a module that says so is refused.
 */
#define PAYMENTS_PURE 0x2

typedef struct payments_acquirer_t {
    apr_uint32_t struct_size; /* sizeof(payments_acquirer_t) of the connector's build */
    apr_uint32_t abi;         /* PAYMENTS_ACQUIRER_ABI */
    const char *name;         /* as in PaymentsAcquirer */
    apr_uint32_t flags;
    /* Parameters that are secrets, NULL-terminated; NULL: none. They are given as file:PATH or
     * exec:PROGRAM, read by root, and never shown. */
    const char *const *secrets;

    /* While the configuration is read, `httpd -t` too: a sentence on what is wrong, or NULL. No
     * files, no network; parameters it does not know are an error. */
    const char *(*check)(const payments_settings_t *settings, apr_pool_t *p);
    /* Once in each child process, before threads start: *context is given to the slots below. `p`
     * lives as long as the process. *fault is a sentence that names no secret. */
    apr_status_t (*open)(void **context, const char **fault, const payments_settings_t *settings,
                         apr_pool_t *p);
    /* The process ends: calls under way return within a second, as unknown. Once, from any thread
     * or a signal's handler: it sets a flag and takes no lock. May be NULL. */
    void (*stop)(void *context);

    apr_status_t (*charge)(payments_answer_t *out, void *context, const payments_charge_t *charge,
                           apr_interval_time_t timeout, apr_pool_t *p);
    /* What became of a charge, or a checkout, that may have been sent before. */
    apr_status_t (*charge_query)(payments_answer_t *out, void *context,
                                 const payments_charge_t *charge, apr_interval_time_t timeout,
                                 apr_pool_t *p);
    /* Gives the amount back. PAYMENTS_APPROVED: processed; PAYMENTS_DECLINED: failed. */
    apr_status_t (*refund)(payments_answer_t *out, void *context, const payments_refund_t *refund,
                           const payments_charge_t *charge, apr_interval_time_t timeout,
                           apr_pool_t *p);
    /* By acquirer_reference, else by tag. ABSENT: the acquirer's books hold no refund with it. */
    apr_status_t (*refund_query)(payments_answer_t *out, void *context,
                                 const payments_refund_t *refund, const payments_charge_t *charge,
                                 apr_interval_time_t timeout, apr_pool_t *p);
    /* All refunds created in the range, both ends inclusive, at most 7 days; whole or an error.
     * May be NULL, or a shorter table end before it or a later slot: there is no such list. */
    apr_status_t (*refund_list)(void *context, apr_time_t from, apr_time_t to,
                                payments_record_fn *found, void *baton, apr_interval_time_t timeout,
                                apr_pool_t *p);
    /* May be NULL: the acquirer has no such page. Statuses as of charge; APR_SUCCESS without a URL
     * only when the acquirer itself says that it opens none for this checkout, APR_EEXIST only when
     * it says that it knows the reference already: charge_query is then called at once. */
    apr_status_t (*checkout)(payments_page_t *out, void *context,
                             const payments_checkout_t *checkout, apr_interval_time_t timeout,
                             apr_pool_t *p);
} payments_acquirer_t;

#endif
