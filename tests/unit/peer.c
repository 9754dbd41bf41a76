/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 512
#define LINE_MAX_LEN 1023
#define DRIP_MS 10
#define FLOOD_BLOCKS 1600
#define FLOOD_BLOCK 65536

typedef struct connection_t {
    struct peer_t *peer;
    int fd;
    pthread_t thread;
} connection_t;

struct peer_t {
    int listener;
    int port;
    int stop[2]; /* a pipe: its end becomes readable when the peer is stopped */
    int go[2];   /* likewise, when it is released */
    pthread_t thread;
    void (*serve)(struct peer_t *peer, int fd);
    peer_http_t http;
    peer_smtp_t smtp;
    connection_t connections[CONNECTIONS_MAX];
    atomic_int count;
    atomic_int requests;
    atomic_int closed;
    atomic_int cuts;  /* answers that were cut */
    atomic_int stuck; /* connections without further action, or with a byte now and then */
    pthread_mutex_t mutex;
    char text[PEER_TEXT_MAX + 1];
    size_t text_len;
};

/* Returns 0 if the peer is stopped, or if `ms` are over and not negative. */
static int wait_readable(peer_t *peer, int fd, int ms)
{
    struct pollfd fds[2] = {{.fd = peer->stop[0], .events = POLLIN}, {.fd = fd, .events = POLLIN}};

    return poll(fds, 2, ms) > 0 && !fds[0].revents;
}

static void hang(peer_t *peer)
{
    atomic_fetch_add(&peer->stuck, 1);
    (void)wait_readable(peer, -1, -1);
}

static int send_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t sent = send(fd, data, len, MSG_NOSIGNAL);

        if (sent <= 0) {
            return 0;
        }
        data += sent;
        len -= (size_t)sent;
    }
    return 1;
}

static void text_add(peer_t *peer, const char *data, size_t len, int anew)
{
    pthread_mutex_lock(&peer->mutex);
    if (anew) {
        peer->text_len = 0;
    }
    if (len > PEER_TEXT_MAX - peer->text_len) {
        len = PEER_TEXT_MAX - peer->text_len;
    }
    memcpy(peer->text + peer->text_len, data, len);
    peer->text_len += len;
    peer->text[peer->text_len] = '\0';
    pthread_mutex_unlock(&peer->mutex);
}

/* ---- HTTP */

/* Reads one request into `text`; returns 0 if the connection has ended. */
static int request_read(peer_t *peer, int fd, char text[PEER_TEXT_MAX + 1])
{
    size_t len = 0;
    size_t want = 0; /* with the body, once the head is complete */

    while (!want || len < want) {
        ssize_t got;
        const char *end;

        if (len == PEER_TEXT_MAX || !wait_readable(peer, fd, -1)) {
            return 0;
        }
        got = recv(fd, text + len, PEER_TEXT_MAX - len, 0);
        if (got <= 0) {
            return 0;
        }
        len += (size_t)got;
        text[len] = '\0';
        end = strstr(text, "\r\n\r\n");
        if (end && !want) {
            const char *length = strstr(text, "Content-Length: ");

            want = (size_t)(end + 4 - text) + (length ? strtoul(length + 16, NULL, 10) : 0);
        }
    }
    text_add(peer, text, len, 1);
    return 1;
}

static void drip(peer_t *peer, int fd, const char *text)
{
    atomic_fetch_add(&peer->stuck, 1);
    for (; *text; text++) {
        if (!send_all(fd, text, 1)
            || poll(&(struct pollfd){.fd = peer->stop[0], .events = POLLIN}, 1, DRIP_MS) != 0) {
            return;
        }
    }
}

static void flood(int fd)
{
    static const char block[FLOOD_BLOCK];
    int i;

    for (i = 0; i < FLOOD_BLOCKS; i++) {
        if (!send_all(fd, block, sizeof(block))) {
            return;
        }
    }
}

static void reset(int fd)
{
    (void)connect(fd, &(struct sockaddr){.sa_family = AF_UNSPEC}, sizeof(struct sockaddr));
}

static void cut(peer_t *peer, int fd, const char *answer)
{
    size_t len = (size_t)atomic_fetch_add(&peer->cuts, 1);

    (void)send_all(fd, answer, len < strlen(answer) ? len : strlen(answer));
}

static int keeps(peer_then_t then)
{
    return then == PEER_KEEP || then == PEER_KEEP_RESET || then == PEER_HOLD
           || then == PEER_CUT_KEPT;
}

static void http_serve(peer_t *peer, int fd)
{
    char text[PEER_TEXT_MAX + 1];
    const peer_http_t *script = &peer->http;
    int use = 0;

    while (request_read(peer, fd, text)) {
        int number = atomic_fetch_add(&peer->requests, 1) + 1;

        use++;
        if (script->close_from && number >= script->close_from) {
            if (script->then == PEER_KEEP_RESET) {
                reset(fd);
            }
            return;
        }
        if (script->then == PEER_CUT || (script->then == PEER_CUT_KEPT && use > 1)) {
            cut(peer, fd, script->answer);
            return;
        }
        if (script->then == PEER_HOLD && !wait_readable(peer, peer->go[0], -1)) {
            return;
        }
        if (script->then == PEER_DRIP) {
            drip(peer, fd, script->answer);
            (void)wait_readable(peer, -1, -1);
            return;
        }
        if (!send_all(fd, script->answer, strlen(script->answer))) {
            return;
        }
        if (script->then == PEER_FLOOD) {
            flood(fd);
        }
        if (script->then == PEER_HANG) {
            hang(peer);
        }
        if (script->then == PEER_RESET) {
            reset(fd);
        }
        if (!keeps(script->then)) {
            return;
        }
    }
}

/* ---- SMTP */

/* Reads a line without its end; returns 0 if the connection has ended. */
static int line_read(peer_t *peer, int fd, char line[LINE_MAX_LEN + 1])
{
    size_t len = 0;

    for (;;) {
        if (len == LINE_MAX_LEN || !wait_readable(peer, fd, -1)
            || recv(fd, line + len, 1, 0) != 1) {
            return 0;
        }
        if (line[len++] == '\n') {
            line[len] = '\0';
            text_add(peer, line, len, 0);
            return 1;
        }
    }
}

/* Returns 0 if the connection ends here. */
static int reply(peer_t *peer, int fd, const char *text, const char *usual)
{
    text = text ? text : usual;
    if (strcmp(text, "hang") == 0) {
        hang(peer);
        return 0;
    }
    return *text && send_all(fd, text, strlen(text)) && send_all(fd, "\r\n", 2);
}

static int message_read(peer_t *peer, int fd)
{
    char line[LINE_MAX_LEN + 1];

    do {
        if (!line_read(peer, fd, line)) {
            return 0;
        }
    } while (strcmp(line, ".\r\n") != 0);
    atomic_fetch_add(&peer->requests, 1);
    return 1;
}

static void smtp_serve(peer_t *peer, int fd)
{
    const peer_smtp_t *script = &peer->smtp;
    const struct {
        const char *command, *reply, *usual;
    } rows[] = {
        {"EHLO", script->ehlo, "250-peer\r\n250 8BITMIME"},
        {"HELO", script->helo, "250 peer"},
        {"STARTTLS", script->starttls, "454 not now"},
        {"MAIL", script->mail, "250 sender"},
        {"RCPT", script->rcpt, "250 recipient"},
        {"DATA", script->data, "354 go on"},
        {"QUIT", script->quit, "221 bye"},
        {"", NULL, "500 what"},
    };
    char line[LINE_MAX_LEN + 1];
    int i;

    if (!reply(peer, fd, script->greeting, "220 peer")) {
        return;
    }
    if (script->greeting && strncmp(script->greeting, "HTTP", 4) == 0) {
        hang(peer); /* each waits for the other */
    }
    while (line_read(peer, fd, line)) {
        for (i = 0; strncmp(line, rows[i].command, strlen(rows[i].command)) != 0; i++) {
        }
        if (!reply(peer, fd, rows[i].reply, rows[i].usual)
            || strcmp(rows[i].command, "QUIT") == 0) {
            return;
        }
        if (strcmp(rows[i].command, "DATA") == 0
            && strncmp(rows[i].reply ? rows[i].reply : rows[i].usual, "354", 3) == 0
            && (!message_read(peer, fd) || !reply(peer, fd, script->end, "250 queued"))) {
            return;
        }
    }
}

/* ---- both */

static void *connection_run(void *baton)
{
    connection_t *connection = baton;

    connection->peer->serve(connection->peer, connection->fd);
    (void)shutdown(connection->fd, SHUT_RDWR);
    atomic_fetch_add(&connection->peer->closed, 1);
    return NULL;
}

static void *peer_run(void *baton)
{
    peer_t *peer = baton;

    while (wait_readable(peer, peer->listener, -1)) {
        connection_t *connection = &peer->connections[atomic_load(&peer->count)];
        int fd = accept(peer->listener, NULL, NULL);

        if (fd < 0 || atomic_load(&peer->count) == CONNECTIONS_MAX) {
            break;
        }
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        connection->peer = peer;
        connection->fd = fd;
        atomic_fetch_add(&peer->count, 1); /* before it can have answered */
        if (pthread_create(&connection->thread, NULL, connection_run, connection) != 0) {
            abort();
        }
    }
    return NULL;
}

static apr_status_t peer_stop(void *baton)
{
    peer_t *peer = baton;
    int i;

    (void)!write(peer->stop[1], "x", 1);
    pthread_join(peer->thread, NULL);
    for (i = 0; i < atomic_load(&peer->count); i++) {
        (void)shutdown(peer->connections[i].fd, SHUT_RDWR);
        pthread_join(peer->connections[i].thread, NULL);
        close(peer->connections[i].fd);
    }
    close(peer->listener);
    close(peer->stop[0]);
    close(peer->stop[1]);
    close(peer->go[0]);
    close(peer->go[1]);
    return APR_SUCCESS;
}

static peer_t *peer_start(void (*serve)(peer_t *peer, int fd), const peer_http_t *http,
                          const peer_smtp_t *smtp)
{
    peer_t *peer = apr_pcalloc(unit_pool, sizeof(*peer));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);

    peer->serve = serve;
    if (http) {
        peer->http = *http;
    }
    if (smtp) {
        peer->smtp = *smtp;
    }
    pthread_mutex_init(&peer->mutex, NULL);
    ck_assert_int_eq(pipe(peer->stop), 0);
    ck_assert_int_eq(pipe(peer->go), 0);
    peer->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(peer->listener, (struct sockaddr *)&address, len), 0);
    ck_assert_int_eq(getsockname(peer->listener, (struct sockaddr *)&address, &len), 0);
    ck_assert_int_eq(listen(peer->listener, CONNECTIONS_MAX), 0);
    peer->port = ntohs(address.sin_port);
    ck_assert_int_eq(pthread_create(&peer->thread, NULL, peer_run, peer), 0);
    apr_pool_cleanup_register(unit_pool, peer, peer_stop, apr_pool_cleanup_null);
    return peer;
}

peer_t *peer_http(const peer_http_t *script)
{
    return peer_start(http_serve, script, NULL);
}

peer_t *peer_smtp(const peer_smtp_t *script)
{
    return peer_start(smtp_serve, NULL, script);
}

void peer_release(peer_t *peer)
{
    ck_assert_int_eq(write(peer->go[1], "x", 1), 1);
}

int peer_port(const peer_t *peer)
{
    return peer->port;
}

int peer_connections(const peer_t *peer)
{
    return atomic_load(&peer->count);
}

int peer_closed(const peer_t *peer)
{
    return atomic_load(&peer->closed);
}

int peer_requests(const peer_t *peer)
{
    return atomic_load(&peer->requests);
}

int peer_stuck(const peer_t *peer)
{
    return atomic_load(&peer->stuck);
}

const char *peer_text(peer_t *peer)
{
    const char *text;

    pthread_mutex_lock(&peer->mutex);
    text = apr_pstrmemdup(unit_pool, peer->text, peer->text_len);
    pthread_mutex_unlock(&peer->mutex);
    return text;
}

const char *peer_url(const peer_t *peer, const char *scheme)
{
    return apr_psprintf(unit_pool, "%s://127.0.0.1:%d/hook", scheme, peer->port);
}
