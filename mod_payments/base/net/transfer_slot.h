/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_NET_TRANSFER_SLOT_H
#define PAY_BASE_NET_TRANSFER_SLOT_H

/*
 * Inside of base/pay_transfer*.c: the state of one running transfer. Handles of libcurl are void *
 * here, because only the .c files include curl.h.
 */

#include "base/net/transfer.h"

struct curl_slist;

#define PAY_TRANSFER_HEAD_MAX (64 * 1024) /* bytes of a response's status line and headers */
#define PAY_TRANSFER_SOCKETS_MAX 4        /* that one transfer has open at a time */

typedef struct pay_transfer_slot_t {
    struct pay_transfer_slot_t *next; /* in its list */
    pay_transfer_t *transfer;         /* NULL: the slot is free */
    void *easy;
    struct curl_slist *headers;
    struct curl_slist *recipients;
    void *mime;
    int running; /* it is in the multi handle */
    int mail;    /* an SMTP transfer */

    int requested;       /* the request itself has begun: bytes of it may have left since then */
    int failed;          /* the handle's own report of how it ended */
    int forbidden;       /* an address was refused */
    int dialled;         /* another one was not refused */
    apr_size_t sent_len; /* of the request's body, passed to libcurl so far */
    apr_size_t head_len; /* read so far */
    apr_size_t body_len; /* likewise; the first bytes are in transfer->answer */
    int head_whole;      /* the blank line after the last status line was read */
    int body_beyond;     /* the body is longer than PAY_TRANSFER_READ_MAX */
    char *content;       /* the whole body, if the transfer has a content_max */
    apr_size_t content_size; /* room in it, without the NUL */
    int retry_after;         /* of the last head so far, -1: absent */
    int replayed;            /* likewise; the response says that it repeats an earlier one */
    int dates;               /* number of Date headers in it */
    apr_time_t date;         /* the first of them; 0: invalid */
    apr_int64_t begun_us;    /* a clock that never steps */
    apr_int64_t heard_us;    /* likewise, the time of the first byte of the response; 0: not yet */
    int reply;               /* the last complete SMTP reply, 0: none yet */
    int replies;             /* complete ones since the request began */
    int reply_open;          /* the next line belongs to the same reply */
    int quit;                /* QUIT was sent: later replies do not count */
    int sockets[PAY_TRANSFER_SOCKETS_MAX]; /* open ones of an SMTP transfer */
    int sockets_count;
} pay_transfer_slot_t;

/* Sets the options of all transfers, and of an HTTP request. APR_EINVAL: see pay_transfer_start. */
apr_status_t pay_transfer_slot_prepare(pay_transfer_slot_t *slot, int connect_ms, int total_ms,
                                       apr_pool_t *scratch);

/* Sets the options of an e-mail. libcurl copies what it needs from `scratch`. */
apr_status_t pay_transfer_mail_prepare(pay_transfer_slot_t *slot, apr_pool_t *scratch);

/* Notes that `fd` was opened for the transfer. */
void pay_transfer_mail_socket(pay_transfer_slot_t *slot, int fd);

/*
 * Breaks the connection of an e-mail that is to be stopped in the middle. Otherwise libcurl would
 * end the message as if it were complete, and wait for the reply.
 */
void pay_transfer_mail_cut(pay_transfer_slot_t *slot);

/* Returns 1 if `text` has no control characters, so that it cannot end its line. */
int pay_transfer_line_safe(const char *text);

/* libcurl's callbacks for a response: lines of its head, pieces of its body. */
size_t pay_transfer_answer_head(char *data, size_t size, size_t count, void *slot);
size_t pay_transfer_answer_body(char *data, size_t size, size_t count, void *slot);

/*
 * Note that the transfer begins, and that the first byte of its response has come. The second may
 * be called more than once.
 */
void pay_transfer_answer_begin(pay_transfer_slot_t *slot);
void pay_transfer_answer_heard(pay_transfer_slot_t *slot);

/*
 * Returns the time between the two, 0 if nothing came. libcurl's own value is wrong after a body
 * was sent.
 */
apr_interval_time_t pay_transfer_answer_heard_after(const pay_transfer_slot_t *slot);

/* Copies the kept part of a complete response to the transfer. */
void pay_transfer_answer_whole(pay_transfer_slot_t *slot);

/* Sets how the transfer ended, from a CURLcode. */
void pay_transfer_slot_end(pay_transfer_slot_t *slot, int code);

/* Frees everything that the last transfer needed; the handle and its connections stay. */
void pay_transfer_slot_clear(pay_transfer_slot_t *slot);

#endif
