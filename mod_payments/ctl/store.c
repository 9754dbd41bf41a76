/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/message.h"
#include "ctl/output.h"

#include <stdio.h>

typedef struct stats_t {
    pay_store_stat_t store;
    pay_event_stat_t events;
} stats_t;

#define OF_STORE(member) CTL_NUMBER, CTL_FIELD(stats_t, store.member)
#define OF_EVENTS(member) CTL_NUMBER, CTL_FIELD(stats_t, events.member)
#define SHOWN (CTL_DETAILS | CTL_JSON)

static const ctl_column_t columns[] = {
    {SHOWN, "schema version", "schemaVersion", OF_STORE(schema_version)},
    {SHOWN, "accounts", "accounts", OF_STORE(accounts)},
    {SHOWN, "keys", "keys", OF_STORE(api_keys)},
    {SHOWN, "tokens", "tokens", OF_STORE(tokens)},
    {SHOWN, "charges", "charges", OF_STORE(charges)},
    {SHOWN, "refunds", "refunds", OF_STORE(refunds)},
    {SHOWN, "pending at an acquirer", "pending", OF_STORE(pending)},
    {SHOWN, "checkouts not paid yet", "checkoutsOpen", OF_STORE(checkouts_open)},
    {SHOWN, "waiting for a person", "held", OF_STORE(held)},
    {SHOWN, "Idempotency-Keys kept", "kept", OF_STORE(idempotency_records)},
    {SHOWN, "events not delivered", "events", OF_EVENTS(events)},
    {SHOWN, "of these parked", "parked", OF_EVENTS(parked)},
    {SHOWN, "bytes of the map", "mapBytes", OF_STORE(map_bytes)},
    {SHOWN, "bytes used of it", "usedBytes", OF_STORE(used_bytes)},
    {SHOWN, "bytes of the file", "fileBytes", OF_STORE(file_bytes)},
    {SHOWN, "bytes free on the disk", "diskFreeBytes", OF_STORE(disk_free_bytes)},
    {SHOWN, "readers", "readers", OF_STORE(readers)},
    {SHOWN, "readers at most", "readersMax", OF_STORE(readers_max)},
    {0},
};

static const char *const stat_heads[] = {"WHAT", "VALUE"};

static const ctl_view_t stat_view = {.columns = columns, .is_details = 1, .heads = stat_heads};

ctl_exit_t ctl_store_stat(ctl_t *ctl)
{
    stats_t stats;
    apr_status_t rv;

    rv = pay_store_stat(&stats.store, ctl->service.store, ctl->pool);
    if (rv == APR_SUCCESS) {
        rv = pay_store_event_stat(&stats.events, ctl->service.store, ctl->pool);
    }
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot measure the store");
    }
    ctl_row_print(ctl, &stat_view, &stats);
    return CTL_OK;
}

/* For people one line per fault and nothing else; an array of strings in JSON. */
static void fault_json(pay_writer_t *w, const void *row)
{
    pay_writer_string(w, NULL, row);
}

static const ctl_view_t fault_view = {.json = fault_json};

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

    rv = pay_store_check(&faults, ctl->service.store, fault_print, list, ctl->pool);
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
    rv = pay_store_backup(ctl->service.store, path, ctl->pool);
    if (APR_STATUS_IS_EEXIST(rv)) {
        return ctl_fail(CTL_EXIT_ACCESS, "%s exists already; a backup needs a new directory", path);
    }
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot create the backup");
    }
    if (ctl->json) {
        w = ctl_object_open(ctl);
        pay_writer_string(w, "backup", path);
        ctl_object_print(w);
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
        w = ctl_object_open(ctl);
        pay_writer_bool(w, "dryRun", dry_run);
        pay_writer_string(w, "result", text);
        ctl_object_print(w);
    } else {
        puts(text);
    }
    return CTL_OK;
}
