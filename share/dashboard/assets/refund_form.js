// SPDX-License-Identifier: Apache-2.0
// The refund of a charge, whole or part. It is made once: the button sends nothing while a request
// is under way, and what is sent again after a lost answer is the same request under the same id.

import { newRequestId } from './api.js';
import { formDialog } from './dialog.js';
import { el } from './dom.js';
import { field, radios } from './form.js';
import { tell } from './notice.js';
import { compareAmounts, decimalsOf, formatMoney, readAmount } from './money.js';

const NOTE_MAX = 500;

// One id for each different request, kept as long as the dialog is open. After an unknown outcome
// only the same request may go out: another one might be a second refund.
export class OnceKeeper {
  #text = null;
  #id = null;
  #locked = false;

  idFor(body) {
    const text = JSON.stringify(body);
    if (this.#locked && text !== this.#text) {
      return null;
    }
    if (text !== this.#text) {
      this.#text = text;
      this.#id = newRequestId();
    }
    return this.#id;
  }

  lock() {
    this.#locked = true;
  }
}

function judge(values, refundable) {
  if (values.extent !== 'part') {
    return {};
  }
  const { amount, fault } = readAmount(values.amount, decimalsOf(refundable));
  if (fault) {
    return { amount: fault };
  }
  return compareAmounts(amount, refundable) > 0
    ? { amount: `At most ${refundable} is left to refund.` }
    : {};
}

function fields(refundable, currency) {
  const amount = field('amount', `Amount in ${currency}`, {
    hint: `At most ${formatMoney(refundable, currency)}`,
    attributes: { inputmode: 'decimal' },
  });
  const extent = radios(
    'extent',
    'How much',
    [
      ['whole', `All that is left: ${formatMoney(refundable, currency)}`],
      ['part', 'A part of it'],
    ],
    'whole',
  );
  const follow = () => {
    amount.hidden = !extent.querySelector('[value=part]').checked;
  };
  extent.addEventListener('change', () => {
    follow();
    if (!amount.hidden) {
      amount.querySelector('input').focus();
    }
  });
  follow();
  return [
    extent,
    amount,
    field('customerNote', 'Note to the payer', {
      hint: 'Optional',
      attributes: { maxlength: NOTE_MAX },
    }),
    field('merchantNote', 'Internal note', {
      hint: 'Optional, the payer does not see it',
      attributes: { maxlength: NOTE_MAX },
    }),
  ];
}

export function refundDialog(view, charge, refundable) {
  const once = new OnceKeeper();
  const money = (amount) => formatMoney(amount, charge.currency);

  formDialog(`Refund ${charge.reference}`, {
    intro: el(
      'p',
      null,
      view.mode === 'live'
        ? 'The payer gets real money back. A refund cannot be undone.'
        : 'This is Test Mode: no money moves.',
    ),
    fields: fields(refundable, charge.currency),
    submit: 'Refund',
    judge: (values) => judge(values, refundable),
    send: async (values) => {
      const body = {
        amount:
          values.extent === 'part'
            ? readAmount(values.amount, decimalsOf(refundable)).amount
            : null,
        customerNote: values.customerNote || null,
        merchantNote: values.merchantNote || null,
      };
      const requestId = once.idFor(body);
      if (!requestId) {
        throw new Error(
          'It is not known yet whether the first refund was made. Restore the form and ' +
          'send it again, or close this and check the charge.',
        );
      }
      return view.api.post(view.scopePath('charges', String(charge.id), 'refund'), {
        ...body,
        requestId,
      });
    },
    failed: (error) => {
      if (error.outcomeKnown === false) {
        once.lock();
      }
    },
    done: ({ refund }) => {
      view.redraw();
      if (refund.status === 'failed') {
        tell(`The refund of ${money(refund.amount)} was refused by the acquirer.`, false);
      } else {
        tell(`Refund of ${money(refund.amount)}: ${refund.status}.`);
      }
    },
  });
}
