/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_NET_TRANSFER_SLOT_H
#define PAY_BASE_NET_TRANSFER_SLOT_H

/*
 * Inside of base/pay_transfer*.c: what one running transfer needs. Handles of libcurl are void *
 * here, as curl.h is for the .c files alone.
 */

#include "base/net/transfer.h"

struct curl_slist;

#define PAY_TRANSFER_HEAD_MAX (64 * 1024) /* bytes of an answer's status line and headers */
#define PAY_TRANSFER_SOCKETS_MAX 4        /* that one transfer has open at a time */

typedef struct pay_transfer_slot_t {
    struct pay_transfer_slot_t *next; /* in the list it stands in */
    pay_transfer_t *transfer;         /* NULL: it is free */
    void *easy;
    struct curl_slist *headers;
    struct curl_slist *recipients;
    void *mime;
    int running; /* the multi handle has it */
    int mail;    /* an SMTP transfer */

    int requested;       /* the request proper was begun: bytes of it may have left since then */
    int failed;          /* the handle's own view of how it ended */
    int forbidden;       /* an address was refused */
    int dialled;         /* another one was not */
    apr_size_t sent_len; /* of the request's body, given to libcurl so far */
    apr_size_t head_len; /* read so far */
    apr_size_t body_len; /* as well; the first of it are in transfer->answer */
    int head_whole;      /* the blank line behind the last status line was read */
    int body_beyond;     /* more than PAY_TRANSFER_READ_MAX of it came */
    char *content;       /* all of the body, where the transfer has a content_max */
    apr_size_t content_size; /* room in it, without the NUL */
    int retry_after;         /* of the last head so far, -1: none */
    int replayed;            /* as well: it says that the answer is an earlier one's */
    int dates;               /* in it */
    apr_time_t date;         /* the first of them; 0: it cannot be read */
    apr_int64_t begun_us;    /* a clock that never steps */
    apr_int64_t heard_us;    /* as well, when the first of the answer came; 0: not yet */
    int reply;               /* the last whole SMTP reply, 0: none yet */
    int replies;             /* whole ones since the request was begun */
    int reply_open;          /* the next line belongs to the same reply */
    int quit;                /* QUIT was sent: replies count no more */
    int sockets[PAY_TRANSFER_SOCKETS_MAX]; /* open ones of an SMTP transfer */
    int sockets_count;
} pay_transfer_slot_t;

/* The options of all transfers, and of an HTTP request. APR_EINVAL: see pay_transfer_start. */
apr_status_t pay_transfer_slot_prepare(pay_transfer_slot_t *slot, int connect_ms, int total_ms,
                                       apr_pool_t *scratch);

/* The options of an e-mail. libcurl copies what it needs of `scratch`. */
apr_status_t pay_transfer_mail_prepare(pay_transfer_slot_t *slot, apr_pool_t *scratch);

/* Keeps in mind that `fd` was opened for it. */
void pay_transfer_mail_socket(pay_transfer_slot_t *slot, int fd);

/*
 * Breaks the connection of an e-mail that is to be ended in the middle. Without that libcurl would
 * end the message as if it were whole, and wait for the reply.
 */
void pay_transfer_mail_cut(pay_transfer_slot_t *slot);

/* 1 when nothing in `text` could end its line: no control characters. */
int pay_transfer_line_safe(const char *text);

/* What came of an answer, for libcurl's callbacks: lines of its head, pieces of its body. */
size_t pay_transfer_answer_head(char *data, size_t size, size_t count, void *slot);
size_t pay_transfer_answer_body(char *data, size_t size, size_t count, void *slot);

/* The transfer begins; the first of its answer came, which may be told again. */
void pay_transfer_answer_begin(pay_transfer_slot_t *slot);
void pay_transfer_answer_heard(pay_transfer_slot_t *slot);

/* Between the two, 0: nothing came. libcurl's own time for it is wrong after a body was sent. */
apr_interval_time_t pay_transfer_answer_heard_after(const pay_transfer_slot_t *slot);

/* Gives the transfer what is kept of an answer that came whole. */
void pay_transfer_answer_whole(pay_transfer_slot_t *slot);

/* Sets how the transfer ended, from a CURLcode. */
void pay_transfer_slot_end(pay_transfer_slot_t *slot, int code);

/* Gives back what the last transfer needed; the handle and its connections stay. */
void pay_transfer_slot_clear(pay_transfer_slot_t *slot);

#endif
