/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PAY_STORE_OUTBOX_EVENT_RECORDS_H
#define PAY_STORE_OUTBOX_EVENT_RECORDS_H

#include "model/event.h"
#include "store/rows.h"

/*
 * Fills in the charge and the refund that the event is about, and the event that a notice reports
 * as parked, unless that no longer exists. A missing charge or refund makes the event a bad row.
 */
int pay_store_event_records(pay_event_t *event, pay_rows_txn_t *txn, apr_pool_t *p);

#endif
