/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/transfer_slot.h"

#include "base/net/network.h"

#include <curl/curl.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONTENT_TYPE "Content-Type:"
#define IDLE_SECONDS_MAX 60L /* a connection that is idle for longer is not used again */

int pay_transfer_line_safe(const char *text)
{
    for (; *text; text++) {
        unsigned char byte = (unsigned char)*text;

        if ((byte < ' ' && byte != '\t') || byte == 0x7f) {
            return 0;
        }
    }
    return 1;
}

/*
 * Returns 1 for "Name: value" with a name that libcurl accepts as it is and a value that is not
 * empty.
 */
static int header_safe(const char *header)
{
    apr_size_t name_len = strspn(header, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                         "0123456789-_");

    return name_len > 0 && header[name_len] == ':' && header[name_len + 1] == ' '
           && header[name_len + 2] != '\0' && pay_transfer_line_safe(header);
}

/* ---- libcurl's callbacks */

/* Judges the address of the connection, after every lookup and redirection of names. */
static curl_socket_t socket_open(void *baton, curlsocktype purpose, struct curl_sockaddr *address)
{
    pay_transfer_slot_t *slot = baton;
    pay_transfer_t *transfer = slot->transfer;
    int fd;

    (void)purpose;
    /* The request began a second time: see request_permit. */
    if (slot->requested) {
        return CURL_SOCKET_BAD;
    }
    if (transfer->judged && !pay_network_permits(&address->addr, transfer->allowed)) {
        slot->forbidden = 1;
        return CURL_SOCKET_BAD;
    }
    slot->dialled = 1;
    /* Programs that the server starts must not inherit it. */
    fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0) {
        return CURL_SOCKET_BAD;
    }
    if (slot->mail) {
        pay_transfer_mail_socket(slot, fd);
    }
    return fd;
}

static int peer_permitted(const pay_transfer_t *transfer, const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

    if (!transfer->judged) {
        return 1;
    }
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        return pay_network_permits((const struct sockaddr *)&v4, transfer->allowed);
    }
    if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
        return pay_network_permits((const struct sockaddr *)&v6, transfer->allowed);
    }
    return 0;
}

/*
 * Called when the connection is there and no byte of the request was sent. A reused connection was
 * judged for the transfer that opened it, so its peer is judged again for this one. And libcurl
 * repeats a request on a new connection if a reused one closes without an answer; the receiver may
 * have acted on it, so the caller must decide that.
 */
static int request_permit(void *baton, char *peer, char *local, int peer_port, int local_port)
{
    pay_transfer_slot_t *slot = baton;

    (void)local;
    (void)peer_port;
    (void)local_port;
    if (slot->requested) {
        return CURL_PREREQFUNC_ABORT;
    }
    if (!peer_permitted(slot->transfer, peer)) {
        slot->forbidden = 1;
        slot->dialled = 0;
        return CURL_PREREQFUNC_ABORT;
    }
    slot->requested = 1;
    return CURL_PREREQFUNC_OK;
}

/* Sends the rest of the request's body. */
static size_t request_send(char *data, size_t size, size_t count, void *baton)
{
    pay_transfer_slot_t *slot = baton;
    const pay_transfer_t *transfer = slot->transfer;
    apr_size_t len = transfer->body_len - slot->sent_len;

    if (len > size * count) {
        len = size * count;
    }
    if (len > 0) {
        memcpy(data, transfer->body + slot->sent_len, len);
        slot->sent_len += len;
    }
    return len;
}

/* libcurl rewinds a body for one reason: to send it again. See request_permit. */
static int request_rewind(void *baton, curl_off_t offset, int origin)
{
    (void)baton;
    (void)offset;
    (void)origin;
    return CURL_SEEKFUNC_FAIL;
}

/* ---- options */

/* NULL: a scheme for another kind of transfer. */
static const char *scheme_of(const pay_transfer_t *transfer)
{
    static const char *const schemes[2][2] = {{"https", "http"}, {"smtps", "smtp"}};
    int mail = transfer->mail_from != NULL;
    int i;

    for (i = 0; i < 2; i++) {
        apr_size_t len = strlen(schemes[mail][i]);

        if (strncmp(transfer->url, schemes[mail][i], len) == 0
            && strncmp(transfer->url + len, "://", 3) == 0) {
            return schemes[mail][i];
        }
    }
    return NULL;
}

static apr_status_t headers_set(pay_transfer_slot_t *slot)
{
    const pay_transfer_t *transfer = slot->transfer;
    const apr_array_header_t *list = transfer->headers;
    struct curl_slist *longer;
    int typed = 0;
    int i;

    for (i = 0; list && i < list->nelts; i++) {
        const char *header = APR_ARRAY_IDX(list, i, const char *);

        if (!header_safe(header)) {
            return APR_EINVAL;
        }
        longer = curl_slist_append(slot->headers, header);
        if (!longer) {
            return APR_ENOMEM;
        }
        slot->headers = longer;
        typed |= strncasecmp(header, CONTENT_TYPE, strlen(CONTENT_TYPE)) == 0;
    }
    if (!slot->mail && transfer->body && !typed) {
        /* Otherwise libcurl would declare it as a form. */
        longer = curl_slist_append(slot->headers, CONTENT_TYPE);
        if (!longer) {
            return APR_ENOMEM;
        }
        slot->headers = longer;
    }
    if (!slot->mail) {
        /* Does not pause for a 100 Continue, which many receivers never send. */
        longer = curl_slist_append(slot->headers, "Expect:");
        if (!longer) {
            return APR_ENOMEM;
        }
        slot->headers = longer;
    }
    return APR_SUCCESS;
}

static int limits_set(CURL *easy, int connect_ms, int total_ms)
{
    int bad = 0;

    bad |= curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    bad |= curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
    bad |= curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)total_ms);
    bad |= curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, IDLE_SECONDS_MAX);
#if LIBCURL_VERSION_NUM >= 0x075700
    /* A lookup that takes too long is abandoned: waiting for its end would delay all transfers. */
    bad |= curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#endif
    return bad;
}

/* Follows nothing, and takes nothing from the environment or from files of the user. */
static int isolation_set(CURL *easy, const char *scheme)
{
    int bad = 0;

    bad |= curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, scheme);
    bad |= curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, scheme);
    bad |= curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    bad |= curl_easy_setopt(easy, CURLOPT_PROXY, "");
    bad |= curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    bad |= curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    return bad;
}

static int tls_set(CURL *easy, const char *ca_file)
{
    const curl_version_info_data *version = curl_version_info(CURLVERSION_NOW);
    int bad = 0;

    bad |= curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    bad |= curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    bad |= curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    if (ca_file) {
        bad |= curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file);
    }
    /* The directory adds nothing to a file, and makes libcurl read the file for each new connection
     * instead of once. */
    if (ca_file || (version->age >= CURLVERSION_SEVENTH && version->cainfo)) {
        bad |= curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    return bad;
}

static int callbacks_set(CURL *easy, pay_transfer_slot_t *slot)
{
    int bad = 0;

    bad |= curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
    bad |= curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, socket_open);
    bad |= curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, slot);
    bad |= curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, request_permit);
    bad |= curl_easy_setopt(easy, CURLOPT_PREREQDATA, slot);
    bad |= curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, pay_transfer_answer_body);
    bad |= curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
    bad |= curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, pay_transfer_answer_head);
    bad |= curl_easy_setopt(easy, CURLOPT_HEADERDATA, slot);
    return bad;
}

/*
 * HTTP/1.1: with one request on a connection it is known which request a broken connection was for.
 * The body is read from a function that cannot rewind: libcurl cannot repeat data of which it has
 * no copy.
 */
static int http_set(CURL *easy, pay_transfer_slot_t *slot)
{
    const pay_transfer_t *transfer = slot->transfer;
    int bad = 0;

    bad |= curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    bad |= curl_easy_setopt(easy, CURLOPT_HTTPHEADER, slot->headers);
    if (!transfer->body) {
        bad |= curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        return bad;
    }
    bad |= curl_easy_setopt(easy, CURLOPT_POST, 1L);
    bad |= curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)transfer->body_len);
    bad |= curl_easy_setopt(easy, CURLOPT_READFUNCTION, request_send);
    bad |= curl_easy_setopt(easy, CURLOPT_READDATA, slot);
    bad |= curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, request_rewind);
    bad |= curl_easy_setopt(easy, CURLOPT_SEEKDATA, slot);
    return bad;
}

apr_status_t pay_transfer_slot_prepare(pay_transfer_slot_t *slot, int connect_ms, int total_ms,
                                       apr_pool_t *scratch)
{
    const pay_transfer_t *transfer = slot->transfer;
    const char *scheme = scheme_of(transfer);
    apr_status_t rv;
    int bad = 0;

    pay_transfer_answer_begin(slot);
    slot->mail = transfer->mail_from != NULL;
    if (!scheme || !pay_transfer_line_safe(transfer->url)) {
        return APR_EINVAL;
    }
    rv = headers_set(slot);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    /* The text is libcurl's own (pay_url_parse), so it connects to the judged address. */
    bad |= curl_easy_setopt(slot->easy, CURLOPT_URL, transfer->url);
    bad |= limits_set(slot->easy, connect_ms, total_ms);
    bad |= isolation_set(slot->easy, scheme);
    bad |= tls_set(slot->easy, transfer->ca_file);
    bad |= callbacks_set(slot->easy, slot);
    if (!slot->mail) {
        bad |= http_set(slot->easy, slot);
    }
    /* An option that was refused would be missing: then there is no transfer. */
    if (bad) {
        return APR_EGENERAL;
    }
    return slot->mail ? pay_transfer_mail_prepare(slot, scratch) : APR_SUCCESS;
}

void pay_transfer_slot_clear(pay_transfer_slot_t *slot)
{
    void *easy = slot->easy;

    if (easy) {
        curl_easy_reset(easy);
    }
    curl_mime_free(slot->mime);
    curl_slist_free_all(slot->headers);
    curl_slist_free_all(slot->recipients);
    memset(slot, 0, sizeof(*slot));
    slot->easy = easy;
}
