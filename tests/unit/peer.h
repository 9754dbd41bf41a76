/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PEER_H
#define PEER_H

/* Servers on loopback, in threads of the test, with scripted answers and failures. */

#include "unit.h"

#define PEER_TEXT_MAX (128 * 1024)

/* The action of a connection after it has read a request; a step of an answer ends with it. */
typedef enum peer_then_t {
    PEER_KEEP,       /* reads the next request */
    PEER_CLOSE,      /* closes */
    PEER_HANG,       /* does nothing more until the peer is stopped */
    PEER_DRIP,       /* sends the rest of the answer by the byte, one each 10 ms */
    PEER_FLOOD,      /* sends 100 MB after the answer */
    PEER_RESET,      /* ends the connection with a reset */
    PEER_KEEP_RESET, /* reads the next request; resets the connections that `close_from` would
                      * close */
    PEER_HOLD,       /* answers after peer_release was called, then reads the next request */
    PEER_CUT, /* sends none of the answer to the first request, a byte to the second...; closes */
    PEER_CUT_KEPT /* the first one of a connection is answered completely, the second as by
                   * PEER_CUT */
} peer_then_t;

/* An HTTP server: reads a request, sends `answer`, then does `then`. */
typedef struct peer_http_t {
    const char *answer;
    peer_then_t then;
    int close_from; /* from this request on, counted from 1, it closes without an answer; 0:
                     * never */
} peer_http_t;

/*
 * An SMTP server: its replies, NULL for the usual one; "" closes, "hang" hangs. `greeting`, EHLO
 * and HELO, MAIL, RCPT, DATA, the end of the message, QUIT.
 */
typedef struct peer_smtp_t {
    const char *greeting, *ehlo, *helo, *starttls, *mail, *rcpt, *data, *end, *quit;
} peer_smtp_t;

typedef struct peer_t peer_t;

/* Stopped with unit_pool. */
peer_t *peer_http(const peer_http_t *script);
peer_t *peer_smtp(const peer_smtp_t *script);

void peer_release(peer_t *peer);

int peer_port(const peer_t *peer);
int peer_connections(const peer_t *peer);
int peer_closed(const peer_t *peer);   /* connections that have ended */
int peer_requests(const peer_t *peer); /* complete ones; of SMTP: messages */
int peer_stuck(
    const peer_t *peer); /* connections that have reached PEER_HANG, PEER_DRIP or "hang" */
/* The last request, or all lines of the SMTP client; a copy. */
const char *peer_text(peer_t *peer);

/* "http://127.0.0.1:PORT/hook". */
const char *peer_url(const peer_t *peer, const char *scheme);

#endif
