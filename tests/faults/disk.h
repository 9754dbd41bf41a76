/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DISK_H
#define DISK_H

/*
 * A disk that replays a record (record.h): its durable data, the data on its way, and what it may
 * contain after the power fails. A call that goes wrong ends the program.
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

/* False guarantees of a disk. */
typedef enum disk_lie_t {
    DISK_HONEST,
    DISK_LIES_OF_SYNCS, /* a sync makes nothing durable, O_DSYNC does */
    DISK_LIES_OF_ALL
} disk_lie_t;

/* What happens to the data on its way. */
typedef enum disk_cut_t {
    DISK_DROP,    /* nothing is written */
    DISK_KEEP,    /* all of it is written */
    DISK_TORN,    /* the first part of it, up to a sector of a write */
    DISK_SOME,    /* some writes as a whole */
    DISK_PAGES,   /* each page as after one of its writes */
    DISK_SECTORS, /* each sector likewise */
    DISK_CUT_COUNT
} disk_cut_t;

typedef struct disk_t {
    disk_record_t *records;
    size_t count;
    disk_lie_t lie;
    size_t at; /* the records before it have happened */
    image_t durable;
    int named;       /* 0: the file has no name yet */
    size_t *pending; /* the writes on their way, by their positions among the records */
    size_t pending_count;
} disk_t;

/* `base`: the image at the record's start, or NULL for an empty one. */
void disk_load(disk_t *disk, const char *record, const char *base, disk_lie_t lie);

/* Applies the records before `at`. */
void disk_advance(disk_t *disk, size_t at);

/* Makes the image after a cut at this moment. out->bytes is reused from call to call. */
void disk_cut(image_t *out, const disk_t *disk, disk_cut_t how);

/* Returns 1 if record `i` is the end of a sync. */
int disk_is_sync_end(const disk_t *disk, size_t i);

void disk_seed(uint64_t seed);
/* Returns 0 to `below` - 1. */
uint64_t disk_random(uint64_t below);

void disk_die(const char *why, const char *what) __attribute__((noreturn));

#endif
