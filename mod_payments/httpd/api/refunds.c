/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/writer.h"
#include "httpd/api/api.h"
#include "httpd/call/reply.h"
#include "httpd/call/stream.h"
#include "service/refund/refunds.h"

#define RECORD_SIZE_HINT 1024

/* A refund list while it is sent: one chunk of it in memory at a time. */
typedef struct list_t {
    pay_stream_t stream; /* must be the first member */
    const pay_call_t *call;
    pay_time_range_t range;
    pay_refund_cursor_t cursor;
} list_t;

int pay_api_refund_get(request_rec *r, const pay_call_t *call)
{
    const pay_problem_t *problem;
    pay_refund_t *refund;
    pay_writer_t *w;

    problem = pay_refund_get(&refund, call->service, &call->key->scope, call->segment[0], r->pool);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    apr_table_setn(r->subprocess_env, "PAYMENTS_REFERENCE", refund->refund_reference);
    w = pay_writer_make(RECORD_SIZE_HINT, r->pool);
    pay_refund_to_json(w, NULL, refund);
    return pay_reply_json(r, HTTP_OK, w);
}

static int create(request_rec *r, const pay_call_t *call, int partial)
{
    const pay_caller_t caller = pay_caller_of_key(call->key, call->idempotency_key);
    pay_refund_request_t *request;
    const pay_problem_t *problem;
    pay_refund_t *refund;
    pay_writer_t *w;
    int replayed;

    problem = pay_refund_request_from_json(&request, call->body, partial, r->pool);
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    apr_table_setn(r->subprocess_env, "PAYMENTS_REFERENCE", request->reference);
    problem = pay_refund_create(&refund, &replayed, call->service, &caller, request, r->pool);
    if (replayed) {
        pay_reply_mark_replayed(r); /* refusals are repeated too */
    }
    if (problem) {
        return pay_reply_problem(r, problem);
    }
    w = pay_writer_make(RECORD_SIZE_HINT, r->pool);
    /* The first answer too: the acquirer may have reversed the refund before it is written. */
    pay_refund_answer_to_json(w, refund);
    return pay_reply_json(r, HTTP_OK, w);
}

int pay_api_refund_create(request_rec *r, const pay_call_t *call)
{
    return create(r, call, 0);
}

int pay_api_refund_create_partial(request_rec *r, const pay_call_t *call)
{
    return create(r, call, 1);
}

/* The chunk itself is sent, not a copy. */
static const pay_problem_t *next_chunk(pay_stream_t *stream, apr_bucket_brigade *bb, apr_pool_t *p)
{
    list_t *list = (list_t *)stream;
    char *chunk = apr_bucket_alloc(PAY_STORE_CHUNK_SIZE, bb->bucket_alloc);
    const pay_problem_t *problem;
    apr_size_t count;

    problem =
        pay_refunds_scan(&list->cursor, &stream->length, &count, list->call->service,
                         &list->call->key->scope, &list->range, chunk, PAY_STORE_CHUNK_SIZE, p);
    if (problem) {
        apr_bucket_free(chunk);
        return problem;
    }
    APR_BRIGADE_INSERT_TAIL(
        bb, apr_bucket_heap_create(chunk, stream->length, apr_bucket_free, bb->bucket_alloc));
    stream->done = list->cursor.done;
    return NULL;
}

int pay_api_refund_list(request_rec *r, const pay_call_t *call)
{
    list_t list = {.stream = {.r = r, .what = "a refund list", .next = next_chunk}, .call = call};
    const pay_problem_t *problem;

    problem = pay_api_range(&list.range, r, call, call->service->policy.refund_days_max);
    return problem ? pay_reply_problem(r, problem) : pay_stream_send(&list.stream);
}
