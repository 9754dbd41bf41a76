/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_BASE_TEXT_TIMEZONE_H
#define PAY_BASE_TEXT_TIMEZONE_H

/*
 * IANA time zones, read from the system's TZif files (RFC 8536, versions 1 to 3, with the footer's
 * POSIX TZ rule). libc offers no thread-safe conversion for a zone other than the process's own.
 */

#include "base/text/time.h"

#include <apr_pools.h>

#define PAY_TIMEZONE_NAME_MAX 63

typedef struct pay_timezone_t pay_timezone_t;

/*
 * Loads zone `name` ("UTC", "Africa/Lagos"); "UTC" needs no file. The result lives in `p`, is
 * immutable and may be shared by threads. APR_EINVAL: not the name of a zone (also for names that
 * leave the zoneinfo directory); other codes: the file could not be read.
 */
apr_status_t pay_timezone_load(const pay_timezone_t **out, const char *name, apr_pool_t *p);

/*
 * Loads the zone from the bytes of a TZif file. APR_EGENERAL: not such a file, or one with leap
 * seconds ("right/..."), whose times are not POSIX times.
 */
apr_status_t pay_timezone_parse(const pay_timezone_t **out, const void *data, apr_size_t len,
                                apr_pool_t *p);

/* Returns the first instant of the local day `date`, or the first one after the gap if midnight, or
 * all of the day, is skipped. */
apr_time_t pay_timezone_day_start(const pay_timezone_t *zone, pay_date_t date);

/* Returns the local day of the instant `when`. */
pay_date_t pay_timezone_day(const pay_timezone_t *zone, apr_time_t when);

/* Returns the seconds east of Greenwich at the instant `when`. */
apr_int64_t pay_timezone_offset(const pay_timezone_t *zone, apr_time_t when);

#endif
