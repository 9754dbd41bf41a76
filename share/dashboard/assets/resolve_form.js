// SPDX-License-Identifier: Apache-2.0
// A person's decision on a charge or refund that no machine can tell the outcome of.

import { formDialog } from './dialog.js';
import { el } from './dom.js';
import { field, radios } from './form.js';
import { callout, tell } from './notice.js';

const REASON_MAX = 100;
const CODE_MAX = 8;

const OUTCOMES = {
  charge: [
    ['approved', 'Approved', 'The acquirer has the money of this payment.'],
    ['declined', 'Declined', 'The payer was not charged.'],
  ],
  refund: [
    ['processed', 'Processed', 'The payer has received the refund.'],
    ['failed', 'Failed', 'It was not paid out; it can be refunded again.'],
  ],
};

// kind: "charge" or "refund"; id as in the path.
export function resolveDialog(view, kind, id, name, sentence) {
  formDialog(`Decide ${name}`, {
    intro: [
      sentence ? callout('warn', el('p', null, sentence)) : null,
      el(
        'p',
        null,
        'Ask the acquirer first. A decision is final, and is reported to your shop.',
      ),
    ],
    fields: [
      radios('outcome', 'Outcome', OUTCOMES[kind]),
      field('reason', 'Reason', {
        hint: 'Kept in the record, such as the number of the acquirer’s ticket',
        required: true,
        attributes: { maxlength: REASON_MAX },
      }),
      kind === 'charge'
        ? field('code', 'Response code', {
            hint: 'Optional, the acquirer’s code, such as 05',
            attributes: { maxlength: CODE_MAX },
          })
        : null,
    ],
    submit: 'Decide',
    tone: 'danger',
    judge: ({ outcome, reason }) => ({
      ...(reason ? {} : { reason: 'Give a reason.' }),
      ...(outcome ? {} : { reason: 'Choose an outcome above, and give a reason.' }),
    }),
    send: ({ outcome, reason, code }) =>
      view.api.post(view.scopePath(`${kind}s`, id, 'resolve'), {
        outcome,
        reason,
        ...(code ? { code } : {}),
      }),
    done: () => {
      view.redraw();
      tell(`${name} is decided.`);
    },
  });
}
