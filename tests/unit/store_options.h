/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STORE_OPTIONS_H
#define STORE_OPTIONS_H

/* How unit tests open a store if the options are not the subject. */

#include "store/store.h"

#include <apr_time.h>

/* 1 GiB with 1 MiB in reserve, made if missing; the writer lock is obtained in the end, also in
 * valgrind and on a busy machine. */
static inline pay_store_options_t unit_store_options(void)
{
    pay_store_options_t options = pay_store_options_default;

    options.create = 1;
    options.map_bytes = 1024 * 1024 * 1024;
    options.reserve_bytes = 1024 * 1024;
    options.commit_wait = apr_time_from_sec(30);
    return options;
}

#endif
