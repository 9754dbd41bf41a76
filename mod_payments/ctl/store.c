/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/output.h"

#include <stdio.h>

static const char *const stat_titles[] = {"WHAT", "VALUE", NULL};
static const char *const fault_titles[] = {"FAULT", NULL};

typedef struct stat_row_t {
    const char *title;
    const char *name; /* in JSON */
    apr_int64_t value;
} stat_row_t;

#define STAT_ROWS 18

typedef struct stats_t {
    pay_store_stat_t store;
    pay_event_stat_t events;
} stats_t;

static void stat_rows(stat_row_t rows[STAT_ROWS], const stats_t *stats)
{
    const pay_store_stat_t *stat = &stats->store;
    const stat_row_t all[STAT_ROWS] = {
        {"schema version", "schemaVersion", stat->schema_version},
        {"accounts", "accounts", (apr_int64_t)stat->accounts},
        {"keys", "keys", (apr_int64_t)stat->api_keys},
        {"tokens", "tokens", (apr_int64_t)stat->tokens},
        {"charges", "charges", (apr_int64_t)stat->charges},
        {"refunds", "refunds", (apr_int64_t)stat->refunds},
        {"pending at an acquirer", "pending", (apr_int64_t)stat->pending},
        {"checkouts not paid yet", "checkoutsOpen", (apr_int64_t)stat->checkouts_open},
        {"waiting for a person", "held", (apr_int64_t)stat->held},
        {"Idempotency-Keys kept", "kept", (apr_int64_t)stat->kept},
        {"events not delivered", "events", (apr_int64_t)stats->events.events},
        {"of these parked", "parked", (apr_int64_t)stats->events.parked},
        {"bytes of the map", "mapBytes", stat->map_bytes},
        {"bytes used of it", "usedBytes", stat->used_bytes},
        {"bytes of the file", "fileBytes", stat->file_bytes},
        {"bytes free on the disk", "diskFreeBytes", stat->disk_free_bytes},
        {"readers", "readers", stat->readers},
        {"readers at most", "readersMax", stat->readers_max},
    };
    int i;

    for (i = 0; i < STAT_ROWS; i++) {
        rows[i] = all[i];
    }
}

static void stat_cells(ctl_table_t *table, const void *row)
{
    stat_row_t rows[STAT_ROWS];
    int i;

    stat_rows(rows, row);
    for (i = 0; i < STAT_ROWS; i++) {
        ctl_table_cell(table, rows[i].title);
        ctl_table_number(table, (apr_uint64_t)rows[i].value);
    }
}

static void stat_json(pay_writer_t *w, const void *row)
{
    stat_row_t rows[STAT_ROWS];
    int i;

    stat_rows(rows, row);
    pay_writer_object_open(w, NULL);
    for (i = 0; i < STAT_ROWS; i++) {
        pay_writer_integer(w, rows[i].name, rows[i].value);
    }
    pay_writer_object_close(w);
}

static const ctl_view_t stat_view = {.titles = stat_titles, .cells = stat_cells, .json = stat_json};

ctl_exit_t ctl_store_stat(ctl_t *ctl)
{
    stats_t stats;
    apr_status_t rv;

    rv = pay_store_stat(&stats.store, ctl->store, ctl->pool);
    if (rv == APR_SUCCESS) {
        rv = pay_store_event_stat(&stats.events, ctl->store, ctl->pool);
    }
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot measure the store");
    }
    ctl_row_print(ctl, &stat_view, &stats);
    return CTL_OK;
}

/* A line a fault, and nothing else, for people; an array of strings in JSON. */
static void fault_json(pay_writer_t *w, const void *row)
{
    pay_writer_string(w, NULL, row);
}

static const ctl_view_t fault_view = {.titles = fault_titles, .json = fault_json};

static void fault_print(void *baton, const char *text)
{
    ctl_list_t *list = baton;

    if (list) {
        ctl_list_row(list, text);
    } else {
        puts(text);
    }
}

ctl_exit_t ctl_store_check(ctl_t *ctl)
{
    ctl_list_t *list = ctl->json ? ctl_list_open(ctl, &fault_view, 0) : NULL;
    apr_size_t faults = 0;
    apr_status_t rv;

    rv = pay_store_check(&faults, ctl->store, fault_print, list, ctl->pool);
    if (rv != APR_SUCCESS) {
        ctl_fail_status(rv, "the check could not be finished");
        return CTL_EXIT_ACCESS;
    }
    if (list) {
        ctl_list_close(list);
    }
    return faults ? CTL_EXIT_ACCESS : CTL_OK;
}

ctl_exit_t ctl_store_backup(ctl_t *ctl)
{
    const char *path = ctl->arg[0];
    pay_writer_t *w;
    ctl_exit_t failed;
    apr_status_t rv;

    failed = ctl_caller_resume(); /* the backup is the caller's, wherever the caller may write */
    if (failed) {
        return failed;
    }
    rv = pay_store_backup(ctl->store, path, ctl->pool);
    if (APR_STATUS_IS_EEXIST(rv)) {
        return ctl_fail(CTL_EXIT_ACCESS, "%s exists already; a backup needs a new directory", path);
    }
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot create the backup");
    }
    if (ctl->json) {
        w = pay_writer_make(256, ctl->pool);
        pay_writer_object_open(w, NULL);
        pay_writer_string(w, "backup", path);
        pay_writer_object_close(w);
        ctl_json_print(w);
    } else {
        puts(path);
    }
    return CTL_OK;
}

ctl_exit_t ctl_store_upgrade(ctl_t *ctl)
{
    const int dry_run = ctl->option[CTL_OPTION_DRY_RUN] != NULL;
    const char *text = NULL;
    pay_writer_t *w;
    apr_status_t rv;

    rv = pay_store_upgrade(&text, ctl->option[CTL_OPTION_STORE], &ctl->store_options, dry_run,
                           ctl->pool);
    if (rv != APR_SUCCESS) {
        if (text) {
            return ctl_fail(ctl_exit_of_status(rv), "%s", text);
        }
        return ctl_fail_status(rv, "cannot upgrade the store");
    }
    if (ctl->json) {
        w = pay_writer_make(256, ctl->pool);
        pay_writer_object_open(w, NULL);
        pay_writer_bool(w, "dryRun", dry_run);
        pay_writer_string(w, "result", text);
        pay_writer_object_close(w);
        ctl_json_print(w);
    } else {
        puts(text);
    }
    return CTL_OK;
}
