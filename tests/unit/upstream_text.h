/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UPSTREAM_TEXT_H
#define UPSTREAM_TEXT_H

/* Answers of the relay's upstream, as string literals. */

#define REF "0123456789abcdef0123456789abcdef"
#define TAG "tag0tag1tag2tag3tag4tag5"
#define WHEN "2027-01-15T08:00:00.000Z"

#define ENVELOPE(good, message, data)                                                              \
    "{\"status\":" good ",\"message\":\"" message "\",\"data\":" data "}"

/* `amount` and `more` are JSON. */
#define TOLD(status, state, reference, amount, currency, domain, created, more)                    \
    "{\"reference\":\"" reference "\",\"transactionReference\":\"" reference                       \
    "\",\"paymentStatus\":\"" state "\",\"status\":\"" status "\",\"amount\":" amount              \
    ",\"currency\":\"" currency "\",\"domain\":\"" domain "\",\"createdAt\":\"" created "\"" more  \
    "}"
#define CHARGE(state, reference, amount, currency, domain, created, more)                          \
    TOLD(state, state, reference, amount, currency, domain, created, more)
#define OURS(state) CHARGE(state, REF, "10.50", "NGN", "test", WHEN, "")
/* A checkout that was closed: it may still be paid. */
#define CLOSED(state) TOLD("failed", state, REF, "10.50", "NGN", "test", WHEN, "")

#define APPROVED ENVELOPE("true", "Charge successful", OURS("successful"))
#define DECLINED ENVELOPE("false", "Do not honor", OURS("failed"))

#define ERROR(code, message)                                                                       \
    ENVELOPE("false", message,                                                                     \
             "{\"responseCode\":\"" code "\",\"responseMessage\":\"" message "\"}")
#define FAULT(field, reason)                                                                       \
    ENVELOPE("false", "Invalid request parameter.",                                                \
             "{\"responseCode\":\"T1\",\"errors\":[{\"field\":\"" field "\",\"reason\":\"" reason  \
             "\"},{\"field\":\"/email\",\"reason\":\"is none\"}]}")
#define UNKNOWN_OF(reference)                                                                      \
    ERROR("N1", "no record found for transaction with reference " reference)

/* `note` is JSON. */
#define REFUND(reference, state, amount, currency, note, charge, created)                          \
    "{\"id\":\"id_" reference "\",\"refundReference\":\"" reference "\",\"amount\":\"" amount      \
    "\",\"currency\":\"" currency                                                                  \
    "\",\"domain\":\"test\",\"channel\":\"API\",\"merchantNote\":" note                            \
    ",\"customerNote\":null,\"status\":\"" state "\",\"transactionReference\":\"" charge           \
    "\",\"createdAt\":\"" created "\",\"updatedAt\":\"" created "\"}"
#define NOTE "\"late [payments:" TAG "]\""
#define REFUNDED(state) REFUND("re_1", state, "2.50", "NGN", NOTE, REF, WHEN)

#endif
