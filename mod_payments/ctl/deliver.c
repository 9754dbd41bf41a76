/* SPDX-License-Identifier: Apache-2.0 */
#include "ctl/commands.h"
#include "ctl/keyring.h"
#include "ctl/message.h"
#include "ctl/output.h"

#include "base/net/transfer.h"
#include "base/text/time.h"
#include "service/outbox/outbox.h"

#include <apr_time.h>
#include <signal.h>
#include <stdio.h>

#define STEP_MAX_SECONDS 10
#define IDLE_STEPS 2
#define IDLE_WAIT apr_time_from_msec(150) /* more than the store postpones an event */

static volatile sig_atomic_t stopped;

static void stop_note(int number)
{
    (void)number;
    stopped = 1;
}

static int stop_asked(void *baton)
{
    (void)baton;
    return stopped;
}

/* If interrupted, it stores the results it has; attempts in progress are repeated later. */
static void stop_watch(void)
{
    struct sigaction action = {.sa_handler = stop_note, .sa_flags = SA_RESETHAND};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/*
 * Steps until nothing is due and nothing in progress. A step that delivered nothing may leave
 * events that found no slot next to failing ones and are due again a moment later: one more step
 * shows whether there are any.
 */
static apr_status_t due_deliver(int *delivered, pay_outbox_t *outbox)
{
    apr_int64_t began_ms;
    apr_status_t rv;
    int count;
    int idle = 0; /* steps in a row that ended early and delivered nothing */

    *delivered = 0;
    do {
        if (idle > 0) {
            apr_sleep(IDLE_WAIT);
        }
        began_ms = pay_time_boot_ms();
        rv = pay_outbox_step(&count, outbox, apr_time_from_sec(STEP_MAX_SECONDS), stop_asked, NULL);
        *delivered += count;
        if (rv != APR_SUCCESS) {
            return rv;
        }
        idle = count > 0 || pay_outbox_in_flight(outbox) > 0
                       || pay_time_boot_ms() - began_ms >= STEP_MAX_SECONDS * 1000
                   ? 0
                   : idle + 1;
    } while (idle < IDLE_STEPS && !stopped);
    return APR_SUCCESS;
}

static void result_print(const ctl_t *ctl, int delivered, const pay_event_stat_t *stat)
{
    const apr_uint64_t waiting = stat->events - stat->parked;
    pay_writer_t *w;

    if (!ctl->json) {
        printf("%d delivered, %" APR_UINT64_T_FMT " waiting, %" APR_UINT64_T_FMT " parked\n",
               delivered, waiting, stat->parked);
        return;
    }
    w = ctl_object_open(ctl);
    pay_writer_integer(w, "delivered", delivered);
    pay_writer_integer(w, "waiting", (apr_int64_t)waiting);
    pay_writer_integer(w, "parked", (apr_int64_t)stat->parked);
    ctl_object_print(w);
}

ctl_exit_t ctl_event_deliver(ctl_t *ctl)
{
    pay_outbox_t *outbox;
    pay_event_stat_t stat;
    ctl_exit_t failed;
    apr_status_t rv;
    int delivered;

    /* Without the key a step would postpone sealed events, also for processes that have it. */
    failed = ctl_keyring_need_if_sealed(ctl);
    if (failed) {
        return failed;
    }
    rv = pay_transfer_init();
    if (rv == APR_SUCCESS) {
        rv = pay_outbox_create(&outbox, ctl->service.store, ctl->keyring, ctl->pool);
    }
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot start to deliver");
    }
    stop_watch();
    rv = due_deliver(&delivered, outbox);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot deliver");
    }
    rv = pay_store_event_stat(&stat, ctl->service.store, ctl->pool);
    if (rv != APR_SUCCESS) {
        return ctl_fail_status(rv, "cannot count the waiting events");
    }
    result_print(ctl, delivered, &stat);
    return stopped ? CTL_EXIT_UNKNOWN : CTL_OK;
}
