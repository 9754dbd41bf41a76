/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_H
#define RECORD_H

/*
 * A record of all writes to a store, the syncs and the answers in between: a file of records, each
 * a head and `len` bytes, appended by one system call, so that all processes share one order. A
 * write is recorded before it is made, the end of a sync after it has returned, an answer after it
 * was read: everything that an answer depends on precedes it.
 */

#include <stdint.h>

#define RECORD_WRITE 1        /* bytes for `offset` */
#define RECORD_WRITE_SYNCED 2 /* the same through O_DSYNC; durable once its end is recorded */
#define RECORD_WRITE_END 3
#define RECORD_SYNC 4 /* a sync begins; all before it is durable once its end is recorded */
#define RECORD_SYNC_END 5
#define RECORD_MARK 6  /* the bytes are a text: an answer to a client, or a call to an acquirer */
#define RECORD_NAMED 7 /* the file has its name; without this record it had it from the start */

typedef struct record_head_t {
    uint32_t kind;
    uint32_t thread;
    uint64_t offset;
    uint64_t len;
} record_head_t;

#endif
