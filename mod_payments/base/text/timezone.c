/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/timezone.h"

#include "base/text/tzrule.h"

#include <apr_file_info.h>
#include <apr_file_io.h>
#include <apr_lib.h>
#include <apr_strings.h>
#include <string.h>

#define ZONEINFO_DIR "/usr/share/zoneinfo"
#define FILE_SIZE_MAX (64 * 1024) /* the largest of today's files has 4 KiB */
#define HEADER_LEN 44
#define TRANSITIONS_MAX 2000 /* as zic(8) */
#define TYPES_MAX 256
#define FOOTER_LEN_MAX 100
#define OFFSET_MIN (-25 * 3600 + 1) /* RFC 8536 section 3.2 */
#define OFFSET_MAX (26 * 3600 - 1)
#define SECONDS_PER_DAY 86400
#define DAYS_AHEAD_MAX 2             /* no zone's date is further ahead of UTC's */
#define LONG_AGO (APR_INT64_MIN / 4) /* before all times, with room for an offset */

struct pay_timezone_t {
    apr_int64_t first_offset; /* seconds east of Greenwich before the first change */
    int count;
    const pay_tzrule_change_t *changes; /* ascending */
    int has_rule;
    pay_tzrule_t rule; /* for the time after the last change */
};

/* The rest of a file's bytes. */
typedef struct bytes_t {
    const unsigned char *at;
    apr_size_t left;
} bytes_t;

/* The counts of a TZif header, in its order. */
typedef struct header_t {
    int version;
    apr_uint32_t isut, isstd, leap, time, type, chars;
} header_t;

static const pay_timezone_t utc;

static const unsigned char *take(bytes_t *bytes, apr_size_t len)
{
    const unsigned char *at = bytes->at;

    if (len > bytes->left) {
        return NULL;
    }
    bytes->at += len;
    bytes->left -= len;
    return at;
}

static apr_int64_t big_endian(const unsigned char *at, int len)
{
    apr_uint64_t value = at[0] & 0x80 ? APR_UINT64_MAX : 0;
    int i;

    for (i = 0; i < len; i++) {
        value = value << 8 | at[i];
    }
    return (apr_int64_t)value;
}

static int take_header(header_t *header, bytes_t *bytes)
{
    const unsigned char *at = take(bytes, HEADER_LEN);
    apr_uint32_t *counts[] = {&header->isut, &header->isstd, &header->leap,
                              &header->time, &header->type,  &header->chars};
    size_t i;

    if (!at || memcmp(at, "TZif", 4) != 0 || (at[4] && (at[4] < '2' || at[4] > '9'))) {
        return 0;
    }
    header->version = at[4] ? at[4] - '0' : 1;
    for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        *counts[i] = (apr_uint32_t)big_endian(at + 20 + i * 4, 4);
    }
    return header->time <= TRANSITIONS_MAX && header->type >= 1 && header->type <= TYPES_MAX
           && header->chars <= FILE_SIZE_MAX && header->leap <= FILE_SIZE_MAX
           && header->isut <= TYPES_MAX && header->isstd <= TYPES_MAX;
}

/* Returns the bytes of the block after a header, whose times have `time_len` bytes. */
static apr_size_t block_len(const header_t *header, apr_size_t time_len)
{
    return header->time * (time_len + 1) + header->type * 6 + header->chars
           + header->leap * (time_len + 4) + header->isstd + header->isut;
}

/* Reads changes and first offset from a block of TZif. */
static int read_block(pay_timezone_t *zone, const header_t *header, const unsigned char *block,
                      int time_len, apr_pool_t *p)
{
    const unsigned char *kinds = block + header->time * (apr_size_t)time_len;
    const unsigned char *types = kinds + header->time;
    pay_tzrule_change_t *changes = apr_pcalloc(p, (header->time + 1) * sizeof(*changes));
    apr_uint32_t i;

    for (i = 0; i < header->type; i++) {
        apr_int64_t offset = big_endian(types + i * 6, 4);

        if (offset < OFFSET_MIN || offset > OFFSET_MAX) {
            return 0;
        }
    }
    for (i = 0; i < header->time; i++) {
        if (kinds[i] >= header->type) {
            return 0;
        }
        changes[i].at = big_endian(block + i * (apr_size_t)time_len, time_len);
        changes[i].offset = big_endian(types + kinds[i] * 6, 4);
        if (i && changes[i].at <= changes[i - 1].at) {
            return 0;
        }
    }
    zone->first_offset = big_endian(types, 4);
    zone->changes = changes;
    zone->count = (int)header->time;
    return 1;
}

/* Reads the line after the last block; empty if there is no rule. */
static int read_footer(pay_timezone_t *zone, bytes_t *bytes)
{
    char text[FOOTER_LEN_MAX + 1];
    const unsigned char *start = take(bytes, 1);
    const unsigned char *end;
    apr_size_t len;
    apr_status_t rv;

    if (!start || *start != '\n') {
        return 0;
    }
    end = memchr(bytes->at, '\n', bytes->left);
    if (!end || end - bytes->at > FOOTER_LEN_MAX) {
        return 0;
    }
    len = (apr_size_t)(end - bytes->at);
    if (!len) {
        return 1;
    }
    memcpy(text, bytes->at, len);
    text[len] = '\0';
    rv = pay_tzrule_parse(&zone->rule, text);
    zone->has_rule = rv == APR_SUCCESS && strlen(text) == len;
    if (zone->has_rule && !zone->count) {
        zone->first_offset = zone->rule.offset;
    }
    return zone->has_rule;
}

apr_status_t pay_timezone_parse(const pay_timezone_t **out, const void *data, apr_size_t len,
                                apr_pool_t *p)
{
    pay_timezone_t *zone = apr_pcalloc(p, sizeof(*zone));
    bytes_t bytes = {data, len};
    header_t header;
    const unsigned char *block;
    int time_len = 4;

    *out = NULL;
    if (!take_header(&header, &bytes)) {
        return APR_EGENERAL;
    }
    /* From version 2 on the first block is for old readers, and one with wider times follows. */
    if (header.version >= 2) {
        time_len = 8;
        if (!take(&bytes, block_len(&header, 4)) || !take_header(&header, &bytes)) {
            return APR_EGENERAL;
        }
    }
    block = take(&bytes, block_len(&header, (apr_size_t)time_len));
    if (!block || header.leap || !read_block(zone, &header, block, time_len, p)) {
        return APR_EGENERAL;
    }
    if (time_len == 8 && !read_footer(zone, &bytes)) {
        return APR_EGENERAL;
    }
    *out = zone;
    return APR_SUCCESS;
}

/*
 * Returns 1 for Area/Location names: each part begins with a capital and has neither dot nor blank.
 * This keeps out "..", absolute paths, the tables beside the zones, "right/" and "localtime".
 */
static int is_zone_name(const char *name)
{
    const char *c;

    if (!*name || strlen(name) > PAY_TIMEZONE_NAME_MAX) {
        return 0;
    }
    for (c = name; *c; c++) {
        if (c == name || c[-1] == '/') {
            if (*c < 'A' || *c > 'Z') {
                return 0;
            }
        } else if (!apr_isalnum(*c) && !strchr("_+-/", *c)) {
            return 0;
        }
    }
    return c[-1] != '/';
}

static apr_status_t read_file(bytes_t *out, const char *path, apr_pool_t *p)
{
    unsigned char *data = apr_palloc(p, FILE_SIZE_MAX + 1);
    apr_file_t *file;
    apr_status_t rv;

    memset(out, 0, sizeof(*out));
    rv = apr_file_open(&file, path, APR_FOPEN_READ | APR_FOPEN_BINARY, APR_FPROT_OS_DEFAULT, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    out->at = data;
    rv = apr_file_read_full(file, data, FILE_SIZE_MAX + 1, &out->left);
    apr_file_close(file);
    if (rv == APR_SUCCESS) {
        return APR_EGENERAL; /* the buffer is full: too large to be a zone */
    }
    return rv == APR_EOF ? APR_SUCCESS : rv;
}

/* The meaning of a failed read: no such zone, unless there are no zones at all. */
static apr_status_t status_of_read(apr_status_t status, apr_pool_t *p)
{
    apr_finfo_t info;
    apr_status_t rv;

    rv = apr_stat(&info, ZONEINFO_DIR, APR_FINFO_TYPE, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (APR_STATUS_IS_ENOENT(status) || APR_STATUS_IS_ENOTDIR(status) || status == EISDIR) {
        return APR_EINVAL;
    }
    return status;
}

apr_status_t pay_timezone_load(const pay_timezone_t **out, const char *name, apr_pool_t *p)
{
    bytes_t bytes;
    apr_pool_t *ptemp;
    apr_status_t rv;

    *out = NULL;
    if (strcmp(name, "UTC") == 0) {
        *out = &utc;
        return APR_SUCCESS;
    }
    if (!is_zone_name(name)) {
        return APR_EINVAL;
    }
    rv = apr_pool_create(&ptemp, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = read_file(&bytes, apr_pstrcat(ptemp, ZONEINFO_DIR "/", name, NULL), ptemp);
    if (rv != APR_SUCCESS) {
        rv = status_of_read(rv, ptemp);
        goto leave;
    }
    rv = pay_timezone_parse(out, bytes.at, bytes.left, p);
leave:
    apr_pool_destroy(ptemp);
    return rv;
}

/* Searches the first instant whose local time is not before `local`, stretch by stretch. */
typedef struct search_t {
    apr_int64_t local;
    apr_int64_t since; /* start of the current stretch */
    apr_int64_t offset;
} search_t;

static apr_int64_t candidate(const search_t *search)
{
    apr_int64_t at = search->local - search->offset;

    return at > search->since ? at : search->since;
}

/* Returns 1 if it is before `change`; else the stretch after `change` is next. */
static int found_before(search_t *search, const pay_tzrule_change_t *change)
{
    if (candidate(search) < change->at) {
        return 1;
    }
    search->since = change->at;
    search->offset = change->offset;
    return 0;
}

/* Does the same search over the changes that the rule makes about `year`. */
static void search_rule(search_t *search, const pay_timezone_t *zone, int year)
{
    const apr_int64_t last = zone->count ? zone->changes[zone->count - 1].at : LONG_AGO;
    pay_tzrule_change_t changes[2];
    int found = 0;
    int i, half;

    /* The changes of the year before determine the offset at the start of the year. */
    for (i = year - 1; i <= year + 1 && !found; i++) {
        pay_tzrule_year(changes, &zone->rule, i);
        for (half = 0; half < 2 && !found; half++) {
            if (changes[half].at > last) {
                found = found_before(search, &changes[half]);
            }
        }
    }
}

apr_time_t pay_timezone_day_start(const pay_timezone_t *zone, pay_date_t date)
{
    search_t search = {pay_date_days(date) * SECONDS_PER_DAY, LONG_AGO, zone->first_offset};
    int found = 0;
    int i;

    for (i = 0; i < zone->count && !found; i++) {
        found = found_before(&search, &zone->changes[i]);
    }
    if (!found && zone->has_rule && zone->rule.has_summer) {
        search_rule(&search, zone, date.year);
    }
    return apr_time_from_sec(candidate(&search));
}

/* Seconds rounded down, before 1970 too. */
static apr_int64_t seconds_of(apr_time_t when)
{
    return when / APR_USEC_PER_SEC - (when % APR_USEC_PER_SEC < 0);
}

pay_date_t pay_timezone_day(const pay_timezone_t *zone, apr_time_t when)
{
    const apr_int64_t at = seconds_of(when);
    apr_int64_t day = at / SECONDS_PER_DAY - (at % SECONDS_PER_DAY < 0) + DAYS_AHEAD_MAX;

    while (pay_timezone_day_start(zone, pay_date_of_days(day)) > when) {
        day--;
    }
    return pay_date_of_days(day);
}

apr_int64_t pay_timezone_offset(const pay_timezone_t *zone, apr_time_t when)
{
    const apr_int64_t at = seconds_of(when);
    const apr_int64_t last = zone->count ? zone->changes[zone->count - 1].at : LONG_AGO;
    apr_int64_t offset = zone->first_offset;
    pay_tzrule_change_t changes[2];
    int i, half, year;

    for (i = 0; i < zone->count && zone->changes[i].at <= at; i++) {
        offset = zone->changes[i].offset;
    }
    if (i < zone->count || !zone->has_rule || !zone->rule.has_summer) {
        return offset;
    }
    year = pay_date_of_days(at / SECONDS_PER_DAY - (at % SECONDS_PER_DAY < 0)).year;
    for (i = year - 1; i <= year + 1; i++) {
        pay_tzrule_year(changes, &zone->rule, i);
        for (half = 0; half < 2; half++) {
            if (changes[half].at > last && changes[half].at <= at) {
                offset = changes[half].offset;
            }
        }
    }
    return offset;
}
