/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DISK_H
#define DISK_H

/*
 * A disk that replays a record (record.h): what is durable on it, what is on its way, and what may
 * be found on it when the power fails. A call that goes wrong ends the program.
 */

#include "record.h"

#include <stddef.h>

#define DISK_SECTOR 512 /* what a disk writes as a whole or not at all */
#define DISK_PAGE 4096

typedef struct image_t {
    unsigned char *bytes;
    size_t len, room;
} image_t;

typedef struct disk_record_t {
    record_head_t head;
    const unsigned char *bytes;
} disk_record_t;

/* What a disk says of itself that is not so. */
typedef enum disk_lie_t {
    DISK_HONEST,
    DISK_LIES_OF_SYNCS, /* a sync makes nothing durable, O_DSYNC does */
    DISK_LIES_OF_ALL
} disk_lie_t;

/* What becomes of that which is on its way. */
typedef enum disk_cut_t {
    DISK_DROP,    /* nothing lands */
    DISK_KEEP,    /* all of it does */
    DISK_TORN,    /* what came first, up to a sector of a write */
    DISK_SOME,    /* some writes as a whole */
    DISK_PAGES,   /* each page as one of its writes left it */
    DISK_SECTORS, /* each sector likewise */
    DISK_CUT_COUNT
} disk_cut_t;

typedef struct disk_t {
    disk_record_t *records;
    size_t count;
    disk_lie_t lie;
    size_t at; /* the records before it have happened */
    image_t durable;
    int named;       /* 0: nobody finds the file yet */
    size_t *pending; /* the writes on their way, by their place among the records */
    size_t pending_count;
} disk_t;

/* `base`: the image at the record's start, or NULL for none. */
void disk_load(disk_t *disk, const char *record, const char *base, disk_lie_t lie);

/* Lets the records before `at` happen. */
void disk_advance(disk_t *disk, size_t at);

/* What is found after a cut now. out->bytes is used again from call to call. */
void disk_cut(image_t *out, const disk_t *disk, disk_cut_t how);

/* 1 when record `i` is the end of a sync. */
int disk_is_sync_end(const disk_t *disk, size_t i);

void disk_seed(uint64_t seed);
/* 0 to `below` - 1 */
uint64_t disk_random(uint64_t below);

void disk_die(const char *why, const char *what) __attribute__((noreturn));

#endif
