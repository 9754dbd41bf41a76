/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/writer.h"
#include "httpd/api/api.h"
#include "httpd/call/reply.h"
#include "model/card.h"

#define ANSWER_SIZE_HINT 256

/*
 * The banks from which a payer of a transfer can choose. Clients request the list to see whether
 * their keys are valid. No connector has a list of banks yet, so it is empty in Live Mode.
 */
int pay_api_bank_list(request_rec *r, const pay_call_t *call)
{
    pay_writer_t *w = pay_writer_make(ANSWER_SIZE_HINT, r->pool);

    pay_writer_object_open(w, NULL);
    pay_writer_bool(w, "status", 1);
    pay_writer_string(w, "message", "Successful");
    pay_writer_object_open(w, "data");
    pay_writer_array_open(w, "bankDetails");
    if (call->key->scope.mode == PAY_TEST) {
        pay_writer_object_open(w, NULL);
        pay_writer_string(w, "bank_name", PAY_TEST_BANK_NAME);
        pay_writer_string(w, "bank_code", PAY_TEST_BANK_CODE);
        pay_writer_string(w, "ussd_string", "");
        pay_writer_object_close(w);
    }
    pay_writer_array_close(w);
    pay_writer_object_close(w);
    pay_writer_object_close(w);
    return pay_reply_json(r, HTTP_OK, w);
}
