/* SPDX-License-Identifier: Apache-2.0 */
#include "base/net/transfer.h"

#include "base/log.h"
#include "base/net/descriptor.h"
#include "base/net/transfer_slot.h"
#include "base/text/time.h"

#include <curl/curl.h>

#include <assert.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define IDLE_MAX 64       /* handles kept for the next transfers */
#define KEPT_MAX 128      /* connections kept alive between transfers */
#define POLL_MS_MAX 60000 /* one sleep */

struct pay_transfers_t {
    CURLM *multi;
    apr_pool_t *pool;
    apr_pool_t *scratch;
    apr_array_header_t *slots; /* all that were ever made, of pay_transfer_slot_t * */
    pay_transfer_slot_t *idle; /* with a handle, free */
    pay_transfer_slot_t *bare; /* without one, free */
    pay_transfer_slot_t *ended;
    pay_transfer_slot_t **ended_last;
    int idle_count;
    int running;
    int count; /* running and ended ones */
    int connect_ms;
    int total_ms;
    int last_fd;  /* of the last ended transfer */
    int looks_up; /* a lookup began, for which libcurl opens a pair of sockets */
};

apr_status_t pay_transfer_init(void)
{
    static int done;
    const curl_version_info_data *version;
    CURLcode code;

    if (done) {
        return APR_SUCCESS;
    }
    code = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (code != CURLE_OK) {
        return code == CURLE_OUT_OF_MEMORY ? APR_ENOMEM : APR_EGENERAL;
    }
    done = 1;
    version = curl_version_info(CURLVERSION_NOW);
    if (!(version->features & CURL_VERSION_ASYNCHDNS)) {
        pay_log(PAY_LOG_WARNING, APR_SUCCESS,
                PAYLOGNO(00010) "libcurl %s resolves names one at a time: a slow name server "
                                "delays every delivery",
                version->version);
    }
    return APR_SUCCESS;
}

/*
 * A peer that has gone raises SIGPIPE if libcurl leaves writing to the TLS library, and with
 * CURLOPT_NOSIGNAL libcurl does not prevent it. It is blocked for this thread while libcurl works,
 * and removed if it came.
 */
typedef struct pipe_guard_t {
    sigset_t before;
    int was_pending;
} pipe_guard_t;

static void guard_begin(pipe_guard_t *guard)
{
    sigset_t pending;
    sigset_t pipe;

    sigemptyset(&pending);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    (void)sigpending(&pending);
    guard->was_pending = sigismember(&pending, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipe, &guard->before);
}

static void guard_end(const pipe_guard_t *guard)
{
    static const struct timespec at_once;
    sigset_t pipe;

    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    if (!guard->was_pending) {
        (void)sigtimedwait(&pipe, NULL, &at_once);
    }
    (void)pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}

static void slot_stop(pay_transfers_t *set, pay_transfer_slot_t *slot)
{
    if (slot->running) {
        (void)curl_multi_remove_handle(set->multi, slot->easy);
        slot->running = 0;
        set->running--;
    }
}

/* Runs before the pool's children are destroyed, while the transfers' data still exists. */
static apr_status_t transfers_cleanup(void *baton)
{
    pay_transfers_t *set = baton;
    pipe_guard_t guard;
    int i;

    guard_begin(&guard);
    for (i = 0; i < set->slots->nelts; i++) {
        pay_transfer_slot_t *slot = APR_ARRAY_IDX(set->slots, i, pay_transfer_slot_t *);

        if (slot->running && slot->mail) {
            pay_transfer_mail_cut(slot);
        }
        slot_stop(set, slot);
        pay_transfer_slot_clear(slot);
        curl_easy_cleanup(slot->easy);
        slot->easy = NULL;
    }
    (void)curl_multi_cleanup(set->multi);
    guard_end(&guard);
    return APR_SUCCESS;
}

apr_status_t pay_transfers_create(pay_transfers_t **out, apr_pool_t *p)
{
    pay_transfers_t *set;
    apr_status_t rv;

    *out = NULL;
    rv = pay_transfer_init();
    if (rv != APR_SUCCESS) {
        return rv;
    }
    set = apr_pcalloc(p, sizeof(*set));
    rv = apr_pool_create(&set->scratch, p);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    set->pool = p;
    set->slots = apr_array_make(p, IDLE_MAX, sizeof(pay_transfer_slot_t *));
    set->ended_last = &set->ended;
    set->last_fd = -1;
    set->connect_ms = PAY_TRANSFER_CONNECT_MS;
    set->total_ms = PAY_TRANSFER_TOTAL_MS;
    pay_descriptor_guard_begin();
    set->multi = curl_multi_init();
    pay_descriptor_pairs_close_on_exec(); /* it has a pair of its own, for wake-ups */
    pay_descriptor_guard_end();
    if (!set->multi) {
        return APR_ENOMEM;
    }
    apr_pool_pre_cleanup_register(p, set, transfers_cleanup);
    (void)curl_multi_setopt(set->multi, CURLMOPT_MAXCONNECTS, (long)KEPT_MAX);
    /* One request at a time on a connection: a failure breaks no other request. */
    (void)curl_multi_setopt(set->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    *out = set;
    return APR_SUCCESS;
}

void pay_transfers_limits(pay_transfers_t *set, int connect_ms, int total_ms)
{
    assert(connect_ms > 0);
    assert(total_ms > 0);
    set->connect_ms = connect_ms;
    set->total_ms = total_ms;
}

static pay_transfer_slot_t *slot_take(pay_transfers_t *set)
{
    pay_transfer_slot_t *slot = set->idle;

    if (slot) {
        set->idle = slot->next;
        set->idle_count--;
        return slot;
    }
    slot = set->bare;
    if (slot) {
        set->bare = slot->next;
    } else {
        slot = apr_pcalloc(set->pool, sizeof(*slot));
        APR_ARRAY_PUSH(set->slots, pay_transfer_slot_t *) = slot;
    }
    slot->easy = curl_easy_init();
    return slot;
}

static void slot_give_back(pay_transfers_t *set, pay_transfer_slot_t *slot)
{
    /* A failed handle remembers that a body is to be sent again, and would refuse the next transfer
     * for that reason. The connections belong to the set, so they are not lost with it. */
    const int keep = slot->easy && !slot->failed && set->idle_count < IDLE_MAX;

    pay_transfer_slot_clear(slot);
    if (keep) {
        slot->next = set->idle;
        set->idle = slot;
        set->idle_count++;
        return;
    }
    curl_easy_cleanup(slot->easy);
    slot->easy = NULL;
    slot->next = set->bare;
    set->bare = slot;
}

static void transfer_reset(pay_transfer_t *transfer)
{
    transfer->end = PAY_TRANSFER_NOT_SENT;
    transfer->status = 0;
    transfer->error = "";
    transfer->answer[0] = '\0';
    transfer->answer_len = 0;
    transfer->content = NULL;
    transfer->content_len = 0;
    transfer->too_long = 0;
    transfer->retry_after = -1;
    transfer->replayed = 0;
    transfer->connect_time = 0;
    transfer->tls_time = 0;
    transfer->first_byte_time = 0;
    transfer->time = 0;
}

static apr_status_t multi_status(CURLMcode code)
{
    switch (code) {
    case CURLM_OK:
        return APR_SUCCESS;
    case CURLM_OUT_OF_MEMORY:
        return APR_ENOMEM;
    default:
        return APR_EGENERAL;
    }
}

/* Called before each lookup of a name. */
static int lookup_begins(void *resolver, void *reserved, void *baton)
{
    (void)resolver;
    (void)reserved;
    *(int *)baton = 1;
    return 0;
}

/* Each handle is set up again for each transfer. */
static apr_status_t lookups_watch(pay_transfers_t *set, CURL *easy)
{
    int bad = 0;

    bad |= curl_easy_setopt(easy, CURLOPT_RESOLVER_START_FUNCTION, lookup_begins);
    bad |= curl_easy_setopt(easy, CURLOPT_RESOLVER_START_DATA, &set->looks_up);
    return bad ? APR_EGENERAL : APR_SUCCESS;
}

apr_status_t pay_transfer_start(pay_transfers_t *set, pay_transfer_t *transfer)
{
    pay_transfer_slot_t *slot;
    apr_status_t rv;

    assert(transfer->content_max == 0 || transfer->pool);
    assert(transfer->content_max < APR_SIZE_MAX); /* a NUL follows it */
    transfer_reset(transfer);
    slot = slot_take(set);
    if (!slot->easy) {
        slot_give_back(set, slot);
        return APR_ENOMEM;
    }
    slot->transfer = transfer;
    rv = pay_transfer_slot_prepare(slot, set->connect_ms, set->total_ms, set->scratch);
    apr_pool_clear(set->scratch);
    if (rv == APR_SUCCESS) {
        rv = lookups_watch(set, slot->easy);
    }
    if (rv == APR_SUCCESS) {
        rv = multi_status(curl_multi_add_handle(set->multi, slot->easy));
    }
    if (rv != APR_SUCCESS) {
        slot_give_back(set, slot);
        return rv;
    }
    slot->running = 1;
    set->running++;
    set->count++;
    return APR_SUCCESS;
}

/* Lets libcurl do all work that it can do now. */
static CURLMcode step(pay_transfers_t *set)
{
    CURLMcode code;
    int running;

    set->looks_up = 0;
    pay_descriptor_guard_begin();
    code = curl_multi_perform(set->multi, &running);
    if (set->looks_up) {
        pay_descriptor_pairs_close_on_exec();
    }
    pay_descriptor_guard_end();
    return code;
}

/*
 * Returns the socket of the idle connection, -1 if none exists. Called before the handle leaves
 * its set.
 */
static int socket_of(CURL *easy)
{
    curl_socket_t fd = CURL_SOCKET_BAD;

    (void)curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &fd);
    return fd == CURL_SOCKET_BAD ? -1 : (int)fd;
}

/* Moves finished transfers to the list of ended ones, in the order of their ends. */
static void ended_collect(pay_transfers_t *set)
{
    const CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(set->multi, &left)) != NULL) {
        CURLcode code = message->data.result;
        pay_transfer_slot_t *slot = NULL;

        if (message->msg != CURLMSG_DONE) {
            continue;
        }
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
        set->last_fd = socket_of(message->easy_handle);
        pay_transfer_slot_end(slot, (int)code);
        slot_stop(set, slot);
        slot->next = NULL;
        *set->ended_last = slot;
        set->ended_last = &slot->next;
    }
}

void pay_transfers_run(pay_transfers_t *set, apr_interval_time_t wait)
{
    /* Both are cut to whole milliseconds: add one, or it would end early. */
    apr_int64_t until_ms = pay_time_boot_ms() + apr_time_as_msec(wait) + 1;
    pipe_guard_t guard;

    guard_begin(&guard);
    for (;;) {
        CURLMcode code = step(set);
        apr_int64_t left_ms;

        ended_collect(set);
        if (code != CURLM_OK || set->ended || !set->running || wait <= 0) {
            break;
        }
        left_ms = until_ms - pay_time_boot_ms();
        if (left_ms <= 0) {
            break;
        }
        if (left_ms > POLL_MS_MAX) {
            left_ms = POLL_MS_MAX;
        }
        code = curl_multi_poll(set->multi, NULL, 0, (int)left_ms, NULL);
        if (code != CURLM_OK) {
            break;
        }
    }
    guard_end(&guard);
}

pay_transfer_t *pay_transfers_next(pay_transfers_t *set)
{
    pay_transfer_slot_t *slot = set->ended;
    pay_transfer_t *transfer;

    if (!slot) {
        return NULL;
    }
    set->ended = slot->next;
    if (!set->ended) {
        set->ended_last = &set->ended;
    }
    transfer = slot->transfer;
    slot_give_back(set, slot);
    set->count--;
    return transfer;
}

/* libcurl does not use a connection that it has closed since: the present meaning of the number
 * does not matter then. */
int pay_transfers_quiet(const pay_transfers_t *set)
{
    struct pollfd last = {.fd = set->last_fd, .events = POLLIN};

    return set->last_fd < 0 || poll(&last, 1, 0) == 0;
}

int pay_transfers_count(const pay_transfers_t *set)
{
    return set->count;
}
