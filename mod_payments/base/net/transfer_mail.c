/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/transfer_slot.h"

#include <curl/curl.h>

#include <apr_lib.h>
#include <apr_strings.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY_LINE_MIN 4 /* "250 " */

/* ---- libcurl's callbacks */

/*
 * Reads the lines of the server's replies. They are counted from the first command of the mail on,
 * MAIL, so that it is known what a refusal refused; the last reply is kept.
 */
static size_t reply_read(char *data, size_t size, size_t count, void *baton)
{
    pay_transfer_slot_t *slot = baton;
    pay_transfer_t *transfer = slot->transfer;
    apr_size_t len = size * count;
    apr_size_t keep = len;

    pay_transfer_answer_heard(slot);
    slot->head_len += len;
    if (slot->head_len > PAY_TRANSFER_HEAD_MAX) {
        return 0;
    }
    if (slot->quit) {
        return len;
    }
    if (!slot->reply_open) {
        transfer->answer_len = 0;
    }
    if (keep > PAY_TRANSFER_ANSWER_MAX - transfer->answer_len) {
        keep = PAY_TRANSFER_ANSWER_MAX - transfer->answer_len;
    }
    memcpy(transfer->answer + transfer->answer_len, data, keep);
    transfer->answer_len += keep;
    transfer->answer[transfer->answer_len] = '\0';

    slot->reply_open = len >= REPLY_LINE_MIN && data[3] == '-';
    if (!slot->reply_open && len >= REPLY_LINE_MIN && apr_isdigit(data[0]) && apr_isdigit(data[1])
        && apr_isdigit(data[2])) {
        slot->reply = (data[0] - '0') * 100 + (data[1] - '0') * 10 + (data[2] - '0');
        slot->replies += slot->requested;
    }
    return len;
}

void pay_transfer_mail_socket(pay_transfer_slot_t *slot, int fd)
{
    if (slot->sockets_count < PAY_TRANSFER_SOCKETS_MAX) {
        slot->sockets[slot->sockets_count++] = fd;
    }
}

static int socket_close(void *baton, curl_socket_t fd)
{
    pay_transfer_slot_t *slot = baton;
    int i;

    for (i = 0; i < slot->sockets_count; i++) {
        if (slot->sockets[i] == fd) {
            slot->sockets[i] = slot->sockets[--slot->sockets_count];
        }
    }
    return close(fd);
}

static void sockets_shut(const pay_transfer_slot_t *slot, int how)
{
    int i;

    for (i = 0; i < slot->sockets_count; i++) {
        (void)shutdown(slot->sockets[i], how);
    }
}

void pay_transfer_mail_cut(pay_transfer_slot_t *slot)
{
    sockets_shut(slot, SHUT_RDWR);
}

/*
 * libcurl ends a session with QUIT and waits for the reply, for minutes, while everything else
 * stands still. Nothing depends on that reply, so it does not wait.
 */
static int quit_watch(CURL *easy, curl_infotype type, char *data, size_t len, void *baton)
{
    pay_transfer_slot_t *slot = baton;

    (void)easy;
    if (type == CURLINFO_HEADER_OUT && len >= 4 && memcmp(data, "QUIT", 4) == 0) {
        slot->quit = 1;
        sockets_shut(slot, SHUT_RD);
    }
    return 0;
}

/* ---- options */

/* Returns 1 for an addr-spec that cannot end the brackets or the line that contains it. */
static int address_safe(const char *address)
{
    return *address && pay_transfer_line_safe(address) && !strpbrk(address, " \t<>");
}

/* Lines of a message end with CRLF; the encoder treats a lone LF as an ordinary character. */
static const char *lines_ended(const char *text, apr_pool_t *p)
{
    char *out = apr_palloc(p, strlen(text) * 2 + 1);
    char *end = out;
    char before = '\0';

    for (; *text; text++) {
        if (*text == '\n' && before != '\r') {
            *end++ = '\r';
        }
        *end++ = *text;
        before = *text;
    }
    *end = '\0';
    return out;
}

static apr_status_t part_add(curl_mime *mime, const pay_transfer_part_t *part, apr_pool_t *scratch)
{
    curl_mimepart *out;
    int bad = 0;

    if (!pay_transfer_line_safe(part->media_type)) {
        return APR_EINVAL;
    }
    out = curl_mime_addpart(mime);
    if (!out) {
        return APR_ENOMEM;
    }
    bad |= curl_mime_data(out, lines_ended(part->text, scratch), CURL_ZERO_TERMINATED);
    bad |= curl_mime_type(out, part->media_type);
    bad |= curl_mime_encoder(out, "quoted-printable");
    return bad ? APR_ENOMEM : APR_SUCCESS;
}

static apr_status_t message_set(pay_transfer_slot_t *slot, apr_pool_t *scratch)
{
    const pay_transfer_t *transfer = slot->transfer;
    struct curl_slist *longer;
    apr_status_t rv;
    int i;

    if (transfer->parts_count < 1 || transfer->parts_count > PAY_TRANSFER_PARTS_MAX) {
        return APR_EINVAL;
    }
    slot->mime = curl_mime_init(slot->easy);
    if (!slot->mime) {
        return APR_ENOMEM;
    }
    for (i = 0; i < transfer->parts_count; i++) {
        rv = part_add(slot->mime, &transfer->parts[i], scratch);
        if (rv != APR_SUCCESS) {
            return rv;
        }
    }
    if (transfer->parts_count > 1) {
        /* libcurl adds the boundary. */
        longer = curl_slist_append(slot->headers, "Content-Type: multipart/alternative");
        if (!longer) {
            return APR_ENOMEM;
        }
        slot->headers = longer;
    }
    return APR_SUCCESS;
}

/* The machine itself, as written in a configuration. */
static int host_is_loopback(const char *url)
{
    static const char *const hosts[] = {"localhost", "127.", "[::1]"};
    const char *host = strstr(url, "://") + 3;
    apr_size_t i;

    for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        apr_size_t len = strlen(hosts[i]);

        if (strncmp(host, hosts[i], len) == 0) {
            return i == 1 ? strspn(host, "0123456789.") == strcspn(host, ":/?#")
                          : strchr(":/?#", host[len]) != NULL;
        }
    }
    return 0;
}

static int session_set(pay_transfer_slot_t *slot)
{
    const pay_transfer_t *transfer = slot->transfer;
    CURL *easy = slot->easy;
    int bad = 0;

    if (transfer->user) {
        bad |= curl_easy_setopt(easy, CURLOPT_USE_SSL, (long)CURLUSESSL_ALL);
        bad |= curl_easy_setopt(easy, CURLOPT_USERNAME, transfer->user);
        bad |=
            curl_easy_setopt(easy, CURLOPT_PASSWORD, transfer->password ? transfer->password : "");
    } else {
        bad |= curl_easy_setopt(easy, CURLOPT_USE_SSL, (long)CURLUSESSL_TRY);
        if (strncmp(transfer->url, "smtp:", 5) == 0 && host_is_loopback(transfer->url)) {
            /* The relay of this machine has a self-signed certificate, as installed. Connecting to
             * it without TLS would be safe too. */
            bad |= curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
            bad |= curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
        }
    }
    /* A session for each mail: the reply to one cannot affect the next. */
    bad |= curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
    bad |= curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    bad |= curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, reply_read);
    bad |= curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, socket_close);
    bad |= curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, slot);
    bad |= curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, quit_watch);
    bad |= curl_easy_setopt(easy, CURLOPT_DEBUGDATA, slot);
    bad |= curl_easy_setopt(easy, CURLOPT_VERBOSE, 1L);
    return bad;
}

apr_status_t pay_transfer_mail_prepare(pay_transfer_slot_t *slot, apr_pool_t *scratch)
{
    const pay_transfer_t *transfer = slot->transfer;
    CURL *easy = slot->easy;
    apr_status_t rv;
    int bad = 0;

    if (!transfer->mail_to || !address_safe(transfer->mail_from)
        || !address_safe(transfer->mail_to)) {
        return APR_EINVAL;
    }
    if ((transfer->user && !pay_transfer_line_safe(transfer->user))
        || (transfer->password && !pay_transfer_line_safe(transfer->password))) {
        return APR_EINVAL;
    }
    rv = message_set(slot, scratch);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    slot->recipients = curl_slist_append(NULL, transfer->mail_to);
    if (!slot->recipients) {
        return APR_ENOMEM;
    }
    bad |= session_set(slot);
    bad |= curl_easy_setopt(easy, CURLOPT_MAIL_FROM, transfer->mail_from);
    bad |= curl_easy_setopt(easy, CURLOPT_MAIL_RCPT, slot->recipients);
    bad |= curl_easy_setopt(easy, CURLOPT_HTTPHEADER, slot->headers);
    bad |= curl_easy_setopt(easy, CURLOPT_MIMEPOST, slot->mime);
    return bad ? APR_EGENERAL : APR_SUCCESS;
}
