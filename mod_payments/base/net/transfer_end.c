/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/transfer_slot.h"

#include <curl/curl.h>

#include <errno.h>

#define STATUS_FINAL 200 /* this and above: final */
#define SMTP_REFUSED 400 /* this and above */

/* The command of a mail that a reply answers, counted from the first. */
enum { REPLY_SENDER = 1, REPLY_RECIPIENT = 2, REPLY_DATA = 3 };

static const char *connect_sentence(const pay_transfer_slot_t *slot)
{
    long cause = 0;

    if (slot->requested) {
        return "The connection was closed before an answer came.";
    }
    (void)curl_easy_getinfo(slot->easy, CURLINFO_OS_ERRNO, &cause);
    switch (cause) {
    case ECONNREFUSED:
        return "The connection was refused.";
    case EHOSTUNREACH:
    case ENETUNREACH:
        return "The host cannot be reached.";
    default:
        return "No connection could be made.";
    }
}

/* The values are OpenSSL's X509_V_ERR_*. */
static const char *certificate_sentence(const pay_transfer_slot_t *slot)
{
    long cause = 0;

    (void)curl_easy_getinfo(slot->easy, CURLINFO_SSL_VERIFYRESULT, &cause);
    switch (cause) {
    case 0: /* this and the following: libcurl compared the names itself */
    case 1:
    case 62:
    case 64:
        return "The certificate is for another host.";
    case 9:
        return "The certificate is not valid yet.";
    case 10:
        return "The certificate has expired.";
    case 2:
    case 18:
    case 19:
    case 20:
    case 21:
        return "The certificate was not issued by a trusted authority.";
    default:
        return "The certificate is not trusted.";
    }
}

/* The progress so far shows which of the time limits expired. */
static const char *timeout_sentence(const pay_transfer_slot_t *slot)
{
    if (slot->requested) {
        return "No complete answer came in time.";
    }
    if (slot->reply) {
        return "The mail server did not continue in time.";
    }
    return "No connection was made in time.";
}

static const char *sentence_of(const pay_transfer_slot_t *slot, CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return "The host's name could not be resolved.";
    case CURLE_COULDNT_CONNECT:
    case CURLE_ABORTED_BY_CALLBACK:
        return connect_sentence(slot);
    case CURLE_OPERATION_TIMEDOUT:
        return timeout_sentence(slot);
    case CURLE_PEER_FAILED_VERIFICATION:
        return certificate_sentence(slot);
    case CURLE_SSL_CONNECT_ERROR:
        return "No TLS connection could be made.";
    case CURLE_SSL_CACERT_BADFILE:
        return "The file of trusted certificates cannot be read.";
    case CURLE_REMOTE_ACCESS_DENIED: /* EHLO was refused, and so was HELO, or HELO has no TLS */
        if (!slot->transfer->user) {
            return "The mail server refused the connection.";
        }
        /* falls through */
    case CURLE_USE_SSL_FAILED:
        return "The mail server offers no TLS, and the login is not sent without it.";
    case CURLE_LOGIN_DENIED:
        return "The mail server refused the login.";
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_FAIL_REWIND: /* a reused one, on which the body was not sent again */
        return "The connection was closed before an answer came.";
    case CURLE_PARTIAL_FILE:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
        return "The connection broke before the answer was complete.";
    case CURLE_WRITE_ERROR:
        return "The answer is too long.";
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_WEIRD_SERVER_REPLY:
        return "The answer does not belong to this protocol.";
    default:
        return curl_easy_strerror(code);
    }
}

static void end_set(pay_transfer_t *transfer, pay_transfer_end_t end, long status,
                    const char *error)
{
    transfer->end = end;
    transfer->status = (int)status;
    transfer->error = error;
}

static void http_end(pay_transfer_slot_t *slot, CURLcode code)
{
    pay_transfer_t *transfer = slot->transfer;
    long status = 0;

    /* libcurl accepts a head that was cut off, and an interim answer alone. */
    (void)curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK && (!slot->head_whole || status < STATUS_FINAL)) {
        code = CURLE_PARTIAL_FILE;
    }
    /* The status precedes the body: an endless body does not revoke it. */
    if (code == CURLE_OK || slot->body_beyond) {
        end_set(transfer, PAY_TRANSFER_ANSWERED, status, "");
        pay_transfer_answer_whole(slot);
        return;
    }
    end_set(transfer, slot->requested ? PAY_TRANSFER_BROKEN : PAY_TRANSFER_NOT_SENT, 0,
            sentence_of(slot, code));
}

/*
 * A refused greeting, login or sender concerns the operators of the two servers: the mail itself
 * was not judged, and no byte of it was sent. It is sent after the reply to DATA.
 */
static void mail_end(pay_transfer_slot_t *slot, CURLcode code)
{
    pay_transfer_t *transfer = slot->transfer;
    int refused = slot->reply >= SMTP_REFUSED;
    int status = refused ? slot->reply : 0;

    if (code == CURLE_OK) {
        end_set(transfer, PAY_TRANSFER_ANSWERED, slot->reply, "");
    } else if (refused && slot->replies >= REPLY_RECIPIENT) {
        end_set(transfer, PAY_TRANSFER_ANSWERED, status, "");
    } else if (refused && slot->replies == REPLY_SENDER) {
        end_set(transfer, PAY_TRANSFER_NOT_SENT, status, "The mail server refused the sender.");
    } else if (slot->replies >= REPLY_DATA) {
        end_set(transfer, PAY_TRANSFER_BROKEN, 0, sentence_of(slot, code));
    } else if (refused && code == CURLE_WEIRD_SERVER_REPLY) {
        end_set(transfer, PAY_TRANSFER_NOT_SENT, status, "The mail server refused the connection.");
    } else {
        end_set(transfer, PAY_TRANSFER_NOT_SENT, status, sentence_of(slot, code));
    }
}

static void times_set(const pay_transfer_slot_t *slot)
{
    pay_transfer_t *transfer = slot->transfer;
    curl_off_t connected = 0;
    curl_off_t encrypted = 0;
    curl_off_t total = 0;

    (void)curl_easy_getinfo(slot->easy, CURLINFO_TOTAL_TIME_T, &total);
    transfer->time = total;
    transfer->first_byte_time = pay_transfer_answer_heard_after(slot);
    if (transfer->first_byte_time > total) {
        /* It counts from an earlier moment than libcurl does. */
        transfer->first_byte_time = total;
    }
    if (!slot->dialled) {
        return; /* a reused connection, for which some versions of libcurl report times too */
    }
    (void)curl_easy_getinfo(slot->easy, CURLINFO_CONNECT_TIME_T, &connected);
    (void)curl_easy_getinfo(slot->easy, CURLINFO_APPCONNECT_TIME_T, &encrypted);
    transfer->connect_time = connected;
    transfer->tls_time = encrypted;
}

void pay_transfer_slot_end(pay_transfer_slot_t *slot, int code)
{
    pay_transfer_t *transfer = slot->transfer;

    slot->failed = code != CURLE_OK;
    times_set(slot);
    if (slot->forbidden && !slot->dialled && !slot->requested) {
        end_set(transfer, PAY_TRANSFER_FORBIDDEN, 0, "The host's address is not permitted.");
    } else if (slot->mail) {
        mail_end(slot, (CURLcode)code);
    } else {
        http_end(slot, (CURLcode)code);
    }
}
