/* SPDX-License-Identifier: Apache-2.0 */
#include "disk.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define IMAGE_LEN_MAX ((uint64_t)1 << 30)

static uint64_t random_state;

void disk_die(const char *why, const char *what)
{
    (void)fprintf(stderr, "%s: %s\n", why, what);
    exit(2);
}

void disk_seed(uint64_t seed)
{
    random_state = seed;
}

/* splitmix64: the same cuts on every machine from the same seed. */
uint64_t disk_random(uint64_t below)
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % below;
}

static void *reserve(void *old, size_t len)
{
    void *memory = realloc(old, len ? len : 1);

    if (!memory) {
        disk_die("out of memory", "disk");
    }
    return memory;
}

static void image_grow(image_t *image, size_t len)
{
    if (len > IMAGE_LEN_MAX) {
        disk_die("a write lies too far behind", "record");
    }
    if (len > image->room) {
        image->room = len * 2;
        image->bytes = reserve(image->bytes, image->room);
    }
    if (len > image->len) {
        memset(image->bytes + image->len, 0, len - image->len);
        image->len = len;
    }
}

static void image_write(image_t *image, size_t offset, const void *bytes, size_t len)
{
    image_grow(image, offset + len);
    memcpy(image->bytes + offset, bytes, len);
}

static const unsigned char *map(size_t *len, const char *path)
{
    struct stat info;
    void *memory;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &info) != 0 || info.st_size == 0) {
        disk_die("cannot be read, or is empty", path);
    }
    *len = (size_t)info.st_size;
    memory = mmap(NULL, *len, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED) {
        disk_die("cannot be mapped", path);
    }
    (void)close(fd);
    return memory;
}

void disk_load(disk_t *disk, const char *record, const char *base, disk_lie_t lie)
{
    size_t len, at, room = 0;
    const unsigned char *bytes = map(&len, record);
    disk_record_t *next;

    memset(disk, 0, sizeof(*disk));
    disk->named = 1;
    disk->lie = lie;
    for (at = 0; at < len; at += sizeof(record_head_t) + next->head.len) {
        if (disk->count == room) {
            room = room * 2 + 1024;
            disk->records = reserve(disk->records, room * sizeof(*disk->records));
        }
        next = &disk->records[disk->count++];
        if (len - at < sizeof(record_head_t)) {
            disk_die("ends within a head", record);
        }
        memcpy(&next->head, bytes + at, sizeof(record_head_t));
        next->bytes = bytes + at + sizeof(record_head_t);
        if (next->head.kind == RECORD_NAMED) {
            disk->named = 0;
        }
        if (next->head.len > len - at - sizeof(record_head_t)) {
            disk_die("ends within a record", record);
        }
    }
    disk->pending = reserve(NULL, disk->count * sizeof(*disk->pending));
    if (base) {
        bytes = map(&len, base);
        image_write(&disk->durable, 0, bytes, len);
    }
}

int disk_is_sync_end(const disk_t *disk, size_t i)
{
    return disk->records[i].head.kind == RECORD_SYNC_END
           || disk->records[i].head.kind == RECORD_WRITE_END;
}

/* Returns the position of the record before `at` that this end belongs to. */
static size_t begin_of(const disk_t *disk, size_t at)
{
    const record_head_t *end = &disk->records[at].head;
    const uint32_t kind = end->kind == RECORD_SYNC_END ? RECORD_SYNC : RECORD_WRITE_SYNCED;

    while (at-- > 0) {
        const record_head_t *head = &disk->records[at].head;

        if (head->kind == kind && head->thread == end->thread && head->offset == end->offset) {
            return at;
        }
    }
    disk_die("an end without a beginning", "record");
}

/* Makes the writes on their way from `from` to `to` durable, in their order. */
static void settle(disk_t *disk, size_t from, size_t to)
{
    size_t i, left = 0;

    for (i = 0; i < disk->pending_count; i++) {
        const disk_record_t *write = &disk->records[disk->pending[i]];

        if (disk->pending[i] >= from && disk->pending[i] < to) {
            image_write(&disk->durable, write->head.offset, write->bytes, write->head.len);
        } else {
            disk->pending[left++] = disk->pending[i];
        }
    }
    disk->pending_count = left;
}

void disk_advance(disk_t *disk, size_t at)
{
    for (; disk->at < at; disk->at++) {
        const size_t here = disk->at;

        switch (disk->records[here].head.kind) {
        case RECORD_WRITE:
        case RECORD_WRITE_SYNCED:
            disk->pending[disk->pending_count++] = here;
            break;
        case RECORD_SYNC_END:
            if (disk->lie == DISK_HONEST) {
                settle(disk, 0, begin_of(disk, here));
            }
            break;
        case RECORD_WRITE_END:
            if (disk->lie != DISK_LIES_OF_ALL) {
                const size_t begin = begin_of(disk, here);

                settle(disk, begin, begin + 1);
            }
            break;
        case RECORD_NAMED:
            disk->named = 1;
            break;
        default:
            break;
        }
    }
}

static size_t pending_end(const disk_t *disk)
{
    size_t end = 0, i;

    for (i = 0; i < disk->pending_count; i++) {
        const record_head_t *head = &disk->records[disk->pending[i]].head;

        end = head->offset + head->len > end ? head->offset + head->len : end;
    }
    return end;
}

/* Returns the piece of a write in unit `unit`; 0 if none exists. */
static size_t piece(size_t *from, const record_head_t *head, size_t unit, size_t size)
{
    const size_t begin = unit * size, end = begin + size;
    const size_t last = head->offset + head->len < end ? head->offset + head->len : end;

    *from = head->offset > begin ? head->offset : begin;
    return last > *from ? last - *from : 0;
}

/* Each unit of `size` bytes is as one of the writes to it left it, or as it was before. */
static void cut_units(image_t *out, const disk_t *disk, size_t size)
{
    const size_t units = pending_end(disk) / size + 1;
    uint32_t *writes = reserve(NULL, units * sizeof(*writes));
    size_t pass, i, unit, from, len;

    memset(writes, 0, units * sizeof(*writes));
    for (pass = 0; pass < 2; pass++) {
        for (i = 0; i < disk->pending_count; i++) {
            const disk_record_t *write = &disk->records[disk->pending[i]];

            for (unit = write->head.offset / size; unit < units; unit++) {
                len = piece(&from, &write->head, unit, size);
                if (len == 0) {
                    break;
                }
                if (pass == 0) {
                    writes[unit]++;
                } else if (writes[unit] > 0) {
                    writes[unit]--;
                    image_write(out, from, write->bytes + (from - write->head.offset), len);
                }
            }
        }
        for (unit = 0; pass == 0 && unit < units; unit++) {
            writes[unit] = (uint32_t)disk_random((uint64_t)writes[unit] + 1);
        }
    }
    free(writes);
}

static void cut_writes(image_t *out, const disk_t *disk, disk_cut_t how)
{
    const size_t torn = disk_random(disk->pending_count);
    size_t i, from, len;

    for (i = 0; i < disk->pending_count; i++) {
        const disk_record_t *write = &disk->records[disk->pending[i]];
        size_t unit = write->head.offset / DISK_SECTOR;
        size_t units = (write->head.len + DISK_SECTOR - 1) / DISK_SECTOR;

        if (how == DISK_TORN && i == torn) {
            units = disk_random(units + 1);
        }
        if ((how == DISK_TORN && i > torn) || (how == DISK_SOME && disk_random(2))) {
            continue;
        }
        for (; units-- > 0; unit++) {
            len = piece(&from, &write->head, unit, DISK_SECTOR);
            image_write(out, from, write->bytes + (from - write->head.offset), len);
        }
    }
}

void disk_cut(image_t *out, const disk_t *disk, disk_cut_t how)
{
    out->len = 0;
    image_write(out, 0, disk->durable.bytes, disk->durable.len);
    if (disk->pending_count == 0) {
        return;
    }
    if (how == DISK_PAGES || how == DISK_SECTORS) {
        cut_units(out, disk, how == DISK_PAGES ? DISK_PAGE : DISK_SECTOR);
    } else if (how != DISK_DROP) {
        cut_writes(out, disk, how);
    }
    if (disk_random(2)) {
        image_grow(out, pending_end(disk)); /* the length was written, the data was not */
    }
}
