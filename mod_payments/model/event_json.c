/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/writer.h"
#include "model/event.h"

#include <assert.h>
#include <string.h>

pay_charge_t pay_event_charge(const pay_event_t *event)
{
    pay_charge_t then;

    assert(event->charge);
    then = *event->charge;
    if (event->kind == PAY_EVENT_TRANSACTION) {
        then.state = (pay_charge_state_t)event->state;
        then.updated_at = event->created_at;
        then.refunded_minor = event->refunded_minor;
        then.refunded_there_minor = 0;
        then.spent = 0;
        then.refunds_pending_minor = event->refunds_pending_minor;
        if (!event->decided) { /* a checkout that was abandoned, but paid after all */
            then.code = "";
            then.message = "";
            then.authorization_code = "";
        }
    }
    return then;
}

pay_refund_t pay_event_refund(const pay_event_t *event)
{
    pay_refund_t then;

    assert(event->refund);
    then = *event->refund;
    then.state = (pay_refund_state_t)event->state;
    then.updated_at = event->created_at;
    return then;
}

static void data_to_json(pay_writer_t *w, const pay_event_t *event)
{
    pay_charge_t charge;
    pay_refund_t refund;

    if (event->kind == PAY_EVENT_TRANSACTION) {
        charge = pay_event_charge(event);
        pay_charge_to_json(w, "data", &charge, PAY_VIEW_SECRET);
    } else if (event->kind == PAY_EVENT_REFUND) {
        refund = pay_event_refund(event);
        pay_refund_to_json(w, "data", &refund);
    } else {
        pay_writer_object_open(w, "data");
        pay_writer_string(w, "domain", pay_mode_name(event->scope.mode));
        pay_writer_time(w, "createdAt", event->created_at);
        pay_writer_object_close(w);
    }
}

void pay_event_body_to_json(pay_writer_t *w, const pay_event_t *event)
{
    pay_writer_object_open(w, NULL);
    pay_writer_string(w, "notify", pay_event_notify(event));
    pay_writer_string(w, "notifyType", pay_event_notify_type(event));
    pay_writer_integer(w, "sequence", (apr_int64_t)event->sequence);
    data_to_json(w, event);
    pay_writer_object_close(w);
}

void pay_event_members_to_json(pay_writer_t *w, const pay_event_t *event)
{
    pay_writer_string(w, "id", pay_event_id(event, w->pool));
    pay_writer_string(w, "notify", pay_event_notify(event));
    pay_writer_string(w, "notifyType", pay_event_notify_type(event));
    pay_writer_string(w, "to", pay_endpoint_kind_name(event->endpoint));
    pay_writer_string(w, "domain", pay_mode_name(event->scope.mode));
    pay_writer_integer(w, "transaction", (apr_int64_t)pay_event_charge_seq(event));
    pay_writer_integer(w, "sequence", (apr_int64_t)event->sequence);
    pay_writer_string(w, "standing", pay_event_standing(event));
    pay_writer_time(w, "createdAt", event->created_at);
    pay_writer_integer(w, "tries", (apr_int64_t)event->failures);
    pay_writer_time(w, "firstTryAt", event->first_try_at);
    pay_writer_time(w, "dueAt", event->due_at);
    pay_writer_time(w, "parkedAt", event->parked_at);
    pay_writer_time(w, "answeredAt", event->answered_at);
    pay_writer_integer(w, "status", event->status);
    pay_writer_string(w, "error", event->error ? event->error : "");
    pay_writer_string(w, "answer", event->answer ? event->answer : "");
}
