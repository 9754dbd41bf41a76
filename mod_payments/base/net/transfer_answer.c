/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/transfer_slot.h"

#include "base/shared/clock.h"

#include <apr_date.h>
#include <apr_lib.h>
#include <assert.h>
#include <string.h>
#include <strings.h>

#define DATE_LEN_MAX 80         /* with blanks around it */
#define CONTENT_SIZE_FIRST 4096 /* of the buffer for a whole body; doubled as it fills */

void pay_transfer_answer_begin(pay_transfer_slot_t *slot)
{
    slot->begun_us = pay_clock_us();
    slot->retry_after = -1;
    slot->replayed = 0;
    slot->dates = 0;
}

void pay_transfer_answer_heard(pay_transfer_slot_t *slot)
{
    if (!slot->heard_us) {
        slot->heard_us = pay_clock_us();
    }
}

/* ---- the head */

/* Returns the value of a header, without the blanks around it; NULL if it is another header. */
static const char *value_of(apr_size_t *len, const char *line, apr_size_t line_len,
                            const char *name)
{
    const apr_size_t name_len = strlen(name);

    if (line_len <= name_len || strncasecmp(line, name, name_len) != 0) {
        return NULL;
    }
    line += name_len;
    line_len -= name_len;
    while (line_len > 0 && (*line == ' ' || *line == '\t')) {
        line++;
        line_len--;
    }
    while (line_len > 0 && apr_isspace(line[line_len - 1])) {
        line_len--;
    }
    *len = line_len;
    return line;
}

/* A date, or anything other than seconds, counts as absent. */
static int retry_after_parse(const char *text, apr_size_t len)
{
    int seconds = 0;

    if (len == 0) {
        return -1;
    }
    for (; len > 0; text++, len--) {
        if (!apr_isdigit(*text)) {
            return -1;
        }
        seconds = seconds * 10 + (*text - '0');
        if (seconds > PAY_TRANSFER_RETRY_AFTER_MAX) {
            seconds = PAY_TRANSFER_RETRY_AFTER_MAX;
        }
    }
    return seconds;
}

/* Parses the value of "Date:"; returns 0 if it is not a date. */
static apr_time_t date_parse(const char *text, apr_size_t len)
{
    char line[DATE_LEN_MAX + 1];
    apr_time_t date;

    if (len > DATE_LEN_MAX) {
        return 0;
    }
    memcpy(line, text, len);
    line[len] = '\0';
    date = apr_date_parse_http(line + strspn(line, " \t"));
    return date == APR_DATE_BAD ? 0 : date;
}

static void header_take(pay_transfer_slot_t *slot, const char *line, apr_size_t line_len)
{
    const char *value;
    apr_size_t len;

    value = value_of(&len, line, line_len, "Retry-After:");
    if (value) {
        slot->retry_after = retry_after_parse(value, len);
    }
    value = value_of(&len, line, line_len, "Idempotent-Replayed:");
    if (value) {
        slot->replayed = len == 4 && strncasecmp(value, "true", len) == 0;
    }
    value = value_of(&len, line, line_len, "Date:");
    if (value && slot->dates++ == 0) {
        slot->date = date_parse(value, len);
    }
}

size_t pay_transfer_answer_head(char *data, size_t size, size_t count, void *baton)
{
    pay_transfer_slot_t *slot = baton;
    apr_size_t len = size * count;

    pay_transfer_answer_heard(slot);
    slot->head_len += len;
    if (len >= 5 && memcmp(data, "HTTP/", 5) == 0) {
        slot->head_whole = 0;
        slot->retry_after = -1; /* the headers of an interim answer do not apply to this one */
        slot->replayed = 0;
        slot->dates = 0;
    } else if (len > 0 && (data[0] == '\r' || data[0] == '\n')) {
        slot->head_whole = 1;
    } else if (!slot->head_whole) {
        header_take(slot, data, len);
    }
    return slot->head_len > PAY_TRANSFER_HEAD_MAX ? 0 : len;
}

/* ---- the body */

static void answer_keep(pay_transfer_t *transfer, const char *data, apr_size_t len)
{
    apr_size_t room = PAY_TRANSFER_ANSWER_MAX - transfer->answer_len;

    if (len > room) {
        len = room;
    }
    memcpy(transfer->answer + transfer->answer_len, data, len);
    transfer->answer_len += len;
    transfer->answer[transfer->answer_len] = '\0';
}

/* Makes room for `want` bytes and a NUL. Doubles the size: the memory left behind in the pool is
 * never more than the memory in use. */
static void content_grow(pay_transfer_slot_t *slot, apr_size_t want)
{
    const pay_transfer_t *transfer = slot->transfer;
    apr_size_t size = slot->content_size ? slot->content_size : CONTENT_SIZE_FIRST;
    char *larger;

    while (size < want) {
        size = size > transfer->content_max / 2 ? transfer->content_max : size * 2;
    }
    if (size > transfer->content_max) {
        size = transfer->content_max;
    }
    larger = apr_palloc(transfer->pool, size + 1);
    if (slot->body_len > 0) {
        memcpy(larger, slot->content, slot->body_len);
    }
    slot->content = larger;
    slot->content_size = size;
}

/* Returns 0 if it is longer than allowed. */
static int content_keep(pay_transfer_slot_t *slot, const char *data, apr_size_t len)
{
    const apr_size_t max = slot->transfer->content_max;

    assert(slot->body_len <= max);
    if (len > max - slot->body_len) {
        return 0;
    }
    if (!slot->content || slot->body_len + len > slot->content_size) {
        content_grow(slot, slot->body_len + len);
    }
    memcpy(slot->content + slot->body_len, data, len);
    slot->body_len += len;
    slot->content[slot->body_len] = '\0';
    return 1;
}

size_t pay_transfer_answer_body(char *data, size_t size, size_t count, void *baton)
{
    pay_transfer_slot_t *slot = baton;
    apr_size_t len = size * count;

    if (len == 0) {
        return 0;
    }
    answer_keep(slot->transfer, data, len);
    if (slot->transfer->content_max > 0) {
        if (!content_keep(slot, data, len)) {
            slot->transfer->too_long = 1;
            return 0;
        }
        return len;
    }
    slot->body_len += len;
    if (slot->body_len > PAY_TRANSFER_READ_MAX) {
        slot->body_beyond = 1;
        return 0;
    }
    return len;
}

/* ---- the end */

void pay_transfer_answer_whole(pay_transfer_slot_t *slot)
{
    pay_transfer_t *transfer = slot->transfer;

    transfer->retry_after = slot->retry_after;
    transfer->replayed = slot->replayed;
    transfer->date = slot->dates == 1 ? slot->date : 0;
    if (transfer->content_max > 0) {
        transfer->content = slot->content ? slot->content : "";
        transfer->content_len = slot->body_len;
    }
}

apr_interval_time_t pay_transfer_answer_heard_after(const pay_transfer_slot_t *slot)
{
    return slot->heard_us ? slot->heard_us - slot->begun_us : 0;
}
