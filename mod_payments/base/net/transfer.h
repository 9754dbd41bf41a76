/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_NET_TRANSFER_H
#define PAY_BASE_NET_TRANSFER_H

/*
 * Outgoing requests, many at once, over libcurl's multi interface: HTTP GET, POST and SMTP. A set
 * belongs to one thread and is made after fork; it keeps connections alive between transfers.
 * Nothing is followed, retried, taken from the environment or a .netrc; proxies are never used.
 */

#include <apr_errno.h>
#include <apr_pools.h>
#include <apr_tables.h>

#define PAY_TRANSFER_CONNECT_MS 5000       /* name resolution, connect, TLS */
#define PAY_TRANSFER_TOTAL_MS 15000        /* the whole transfer; slower ones are ended */
#define PAY_TRANSFER_ANSWER_MAX 1024       /* bytes of the answer's body that are kept */
#define PAY_TRANSFER_READ_MAX (64 * 1024)  /* bytes of the answer's body that are read */
#define PAY_TRANSFER_RETRY_AFTER_MAX 86400 /* seconds; more is cut to it */

typedef struct pay_transfers_t pay_transfers_t;

typedef enum pay_transfer_end_t {
    PAY_TRANSFER_ANSWERED,  /* `status` is the peer's; its body came whole, or past READ_MAX */
    PAY_TRANSFER_FORBIDDEN, /* the address dialled is not permitted; nothing was sent */
    /* Provably no byte of the request left: name, connect, TLS. Of a mail: of the message itself;
     * `status` is 400 or above when the server refused its greeting, the login or the sender. */
    PAY_TRANSFER_NOT_SENT,
    PAY_TRANSFER_BROKEN /* anything may have reached the peer */
} pay_transfer_end_t;

/* One part of a message (multipart/alternative when there are two). */
typedef struct pay_transfer_part_t {
    const char *media_type; /* "text/plain; charset=utf-8" */
    const char *text;
} pay_transfer_part_t;

typedef struct pay_transfer_t {
    void *baton; /* the caller's own */

    /* HTTP POST, or GET where `body` is NULL: url is http or https. */
    const char *url;
    const apr_array_header_t *headers; /* of const char * "Name: value"; no CR or LF */
    const char *body;
    apr_size_t body_len;
    int judged; /* 1: the address dialled must be permitted by pay_network_permits(allowed) */
    const apr_array_header_t *allowed;

    /* SMTP: url is smtp or smtps. `headers` are the message's, already encoded. */
    const char *mail_from; /* addr-spec, as the next; NULL: it is HTTP */
    const char *mail_to;
    const pay_transfer_part_t *parts; /* of the message, at most PAY_TRANSFER_PARTS_MAX */
    int parts_count;
    const char *user; /* NULL: no login. With one TLS is required, else it is used when offered */
    const char *password;

    const char *ca_file; /* certificates to trust; NULL: the system's */

    /* Where the whole body of the answer is wanted, instead of READ_MAX of it: the longest one;
     * beyond it the transfer is PAY_TRANSFER_BROKEN. 0: PAY_TRANSFER_ANSWER_MAX bytes are kept. Of
     * an answer that states no length and ends with its connection it cannot be told that it was
     * cut: its text has to show it, as JSON does. */
    apr_size_t content_max;
    apr_pool_t *pool; /* that it is kept in */

    /* Set when it has ended. */
    pay_transfer_end_t end;
    int status;        /* HTTP status, or the SMTP reply that accepted or refused; 0: none */
    const char *error; /* a sentence, "" when the peer answered; names no secret */
    char answer[PAY_TRANSFER_ANSWER_MAX + 1]; /* body or last SMTP reply; any bytes, then a NUL */
    apr_size_t answer_len;
    const char *content; /* with content_max: the body, a NUL behind it; NULL: none came whole */
    apr_size_t content_len;
    int too_long;    /* 1: it is broken because the body is longer than content_max */
    int retry_after; /* seconds of the answer's Retry-After (RFC 9110, delay-seconds); -1: none */
    int replayed;    /* 1: the answer says "Idempotent-Replayed: true" */
    apr_time_t date; /* the answer's Date; 0: it has none, more than one, or one that is no date */
    /* From the start; 0 where there was none: a kept connection has neither of the first two. */
    apr_interval_time_t connect_time, tls_time, first_byte_time;
    apr_interval_time_t time; /* the whole transfer */
} pay_transfer_t;

#define PAY_TRANSFER_PARTS_MAX 2

/* Once per process while single-threaded, before any other call; safe to repeat. */
apr_status_t pay_transfer_init(void);

/* Closed with `p`, which ends what still runs. */
apr_status_t pay_transfers_create(pay_transfers_t **out, apr_pool_t *p);

/* Other times than PAY_TRANSFER_CONNECT_MS and PAY_TRANSFER_TOTAL_MS for what is started later. */
void pay_transfers_limits(pay_transfers_t *set, int connect_ms, int total_ms);

/* Starts a transfer; it and what it points at live until it has come out of pay_transfers_next.
 * APR_EINVAL: a header or address that could break out of its line. */
apr_status_t pay_transfer_start(pay_transfers_t *set, pay_transfer_t *transfer);

/* Works on all of them until one has ended or `wait` is over; 0: does not wait. */
void pay_transfers_run(pay_transfers_t *set, apr_interval_time_t wait);

/* One that has ended; NULL: none has. */
pay_transfer_t *pay_transfers_next(pay_transfers_t *set);

/*
 * 0 when something waits on the connection that the transfer which ended last has left: its peer
 * is closing it. libcurl does not notice where TLS says so, and a request sent there would be
 * neither answered nor sent again. For sets with one connection.
 */
int pay_transfers_quiet(const pay_transfers_t *set);

/* How many were started and have not come out of pay_transfers_next. */
int pay_transfers_count(const pay_transfers_t *set);

#endif
