/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CURL_CLOCK_H
#define CURL_CLOCK_H

/*
 * libcurl measures its limits by CLOCK_MONOTONIC. A test that lets time pass there waits for
 * nothing, and everything that must happen before a limit is over has happened, however slow the
 * machine is.
 */

#include <apr.h>

/*
 * Lets this much time pass on CLOCK_MONOTONIC, for all of this process, until curl_clock_restore.
 */
void curl_clock_pass(apr_int64_t ms);
void curl_clock_restore(void);

#endif
