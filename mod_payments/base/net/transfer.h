/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_NET_TRANSFER_H
#define PAY_BASE_NET_TRANSFER_H

/*
 * Outgoing requests, many at once, over libcurl's multi interface: HTTP GET, POST and SMTP. A set
 * belongs to one thread and is made after fork; it keeps connections alive between transfers. It
 * follows no redirection, retries nothing, takes nothing from the environment or a .netrc, and
 * never uses proxies.
 */

#include <apr_errno.h>
#include <apr_pools.h>
#include <apr_tables.h>

#define PAY_TRANSFER_CONNECT_MS 5000       /* name resolution, connect, TLS */
#define PAY_TRANSFER_TOTAL_MS 15000        /* the whole transfer; slower ones are ended */
#define PAY_TRANSFER_ANSWER_MAX 1024       /* bytes of the response body that are kept */
#define PAY_TRANSFER_READ_MAX (64 * 1024)  /* bytes of the response body that are read */
#define PAY_TRANSFER_RETRY_AFTER_MAX 86400 /* seconds; longer ones are cut to it */

typedef struct pay_transfers_t pay_transfers_t;

typedef enum pay_transfer_end_t {
    PAY_TRANSFER_ANSWERED,  /* `status` is the peer's; its body is complete, or longer than
                             * READ_MAX */
    PAY_TRANSFER_FORBIDDEN, /* the address is not permitted; nothing was sent */
    /* No byte of the request left, provably: name, connect or TLS failed. For a mail, no byte of
     * the message: `status` is 400 or above if the server refused the greeting, the login or the
     * sender. */
    PAY_TRANSFER_NOT_SENT,
    PAY_TRANSFER_BROKEN /* anything may have reached the peer */
} pay_transfer_end_t;

/* One part of a message (multipart/alternative if there are two). */
typedef struct pay_transfer_part_t {
    const char *media_type; /* "text/plain; charset=utf-8" */
    const char *text;
} pay_transfer_part_t;

typedef struct pay_transfer_t {
    void *baton; /* the caller's own */

    /* HTTP POST, or GET if `body` is NULL: url is http or https. */
    const char *url;
    const apr_array_header_t *headers; /* of const char * "Name: value"; no CR or LF */
    const char *body;
    apr_size_t body_len;
    int judged; /* 1: the address must be permitted by pay_network_permits(allowed) */
    const apr_array_header_t *allowed;

    /* SMTP: url is smtp or smtps. `headers` are the message's, already encoded. */
    const char *mail_from; /* addr-spec, like mail_to; NULL for HTTP */
    const char *mail_to;
    const pay_transfer_part_t *parts; /* of the message, at most PAY_TRANSFER_PARTS_MAX */
    int parts_count;
    const char *user; /* NULL: no login. With a login TLS is required, without one it is used if
                       * offered */
    const char *password;

    const char *ca_file; /* certificates to trust; NULL: the system's */

    /* Longest response if the caller wants the whole body instead of READ_MAX bytes; a longer one
     * is PAY_TRANSFER_BROKEN. 0: PAY_TRANSFER_ANSWER_MAX bytes are kept. A response that states no
     * length and ends with its connection may be cut without notice: its text must show that, as
     * JSON does. */
    apr_size_t content_max;
    apr_pool_t *pool; /* in which the body is kept */

    /* Set when the transfer has ended. */
    pay_transfer_end_t end;
    int status;        /* HTTP status, or the SMTP reply that accepted or refused; 0: no reply */
    const char *error; /* a sentence, "" if the peer answered; contains no secret */
    char answer[PAY_TRANSFER_ANSWER_MAX + 1]; /* body or last SMTP reply; any bytes, then a NUL */
    apr_size_t answer_len;
    const char *content; /* with content_max: the body and a NUL; NULL: no complete body */
    apr_size_t content_len;
    int too_long;    /* 1: broken because the body is longer than content_max */
    int retry_after; /* seconds of Retry-After (RFC 9110, delay-seconds); -1: absent */
    int replayed;    /* 1: the response has "Idempotent-Replayed: true" */
    apr_time_t date; /* the response's Date; 0: absent, repeated or invalid */
    /*
     * From the start; 0 if the step did not happen: a reused connection has neither of the first
     * two.
     */
    apr_interval_time_t connect_time, tls_time, first_byte_time;
    apr_interval_time_t time; /* the whole transfer */
} pay_transfer_t;

#define PAY_TRANSFER_PARTS_MAX 2

/* Called once per process while single-threaded, before any other call; safe to repeat. */
apr_status_t pay_transfer_init(void);

/* Closed with `p`, which ends all running transfers. */
apr_status_t pay_transfers_create(pay_transfers_t **out, apr_pool_t *p);

/*
 * Sets other times than PAY_TRANSFER_CONNECT_MS and PAY_TRANSFER_TOTAL_MS for transfers that start
 * later.
 */
void pay_transfers_limits(pay_transfers_t *set, int connect_ms, int total_ms);

/* Starts a transfer; it and everything that it points to must live until pay_transfers_next returns
 * it. APR_EINVAL: a header or address could break out of its line. */
apr_status_t pay_transfer_start(pay_transfers_t *set, pay_transfer_t *transfer);

/* Works on all transfers until one has ended or `wait` is over; does not wait if `wait` is 0. */
void pay_transfers_run(pay_transfers_t *set, apr_interval_time_t wait);

/* Returns a transfer that has ended; NULL if none exists. */
pay_transfer_t *pay_transfers_next(pay_transfers_t *set);

/*
 * Returns 0 if data waits on the connection that the last ended transfer has left: its peer is
 * closing it. libcurl does not notice this under TLS, and a request sent there would be neither
 * answered nor sent again. For sets with one connection.
 */
int pay_transfers_quiet(const pay_transfers_t *set);

/* Returns how many were started and have not yet been returned by pay_transfers_next. */
int pay_transfers_count(const pay_transfers_t *set);

#endif
