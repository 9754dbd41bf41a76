// SPDX-License-Identifier: Apache-2.0
// What no machine can decide: charges and refunds that wait for a person.

import { el } from './dom.js';
import { emptyState, list } from './list.js';
import { formatMoney } from './money.js';
import { resolveDialog } from './resolve_form.js';
import { timeElement } from './time.js';

export const title = 'Waiting for you';

function name(view, row) {
  const id = row.kind === 'charge' ? row.id : row.chargeId;
  const href = id
    ? view.link(['charges', String(id)])
    : view.link(['charges'], { reference: row.reference });
  return row.reference ? el('a', { href }, row.reference) : String(row.id);
}

function decide(view, row) {
  return el(
    'button',
    {
      type: 'button',
      class: 'secondary small',
      disabled: !view.can('operator'),
      'aria-label': `Decide ${row.kind} ${row.reference ?? row.id}`,
      on: {
        click: () =>
          resolveDialog(
            view,
            row.kind,
            String(row.id),
            `${row.kind} ${row.reference ?? row.id}`,
            row.sentence,
          ),
      },
    },
    'Decide',
  );
}

export function draw(view) {
  return [
    el(
      'p',
      { class: 'intro' },
      'Ask the acquirer for the outcome of these payments, then decide. If the acquirer ' +
      'decides one meanwhile, it leaves the list by itself.',
      view.can('operator') ? null : ' Operators and owners can decide.',
    ),
    list(view, {
      caption: 'Charges and refunds that wait for a decision',
      columns: [
        { title: 'Reference', kind: 'text', cell: (row) => name(view, row) },
        { title: 'Kind', cell: (row) => (row.kind === 'charge' ? 'Charge' : 'Refund') },
        { title: 'Amount', kind: 'number', cell: (row) => formatMoney(row.amount, row.currency) },
        { title: 'Why', kind: 'text', cell: (row) => row.sentence },
        { title: 'Created', cell: (row) => timeElement(row.createdAt) },
        { title: 'Action', kind: 'action', cell: (row) => decide(view, row) },
      ],
      ask: (page) => view.getScope(['held'], page),
      empty: () =>
        emptyState(
          'Nothing waits for you',
          el('p', null, 'Every payment has an outcome, or gets one automatically.'),
        ),
    }),
  ];
}
