// SPDX-License-Identifier: Apache-2.0
// Refunds of a range of days.

import { el } from './dom.js';
import { dateFields, exportLinks, filterForm, rangeOf } from './filter.js';
import { field } from './form.js';
import { emptyState, list } from './list.js';
import { formatMoney } from './money.js';
import { dayBefore, timeElement } from './time.js';
import { badge } from './words.js';

export const title = 'Refunds';
export const actions = (view) => exportLinks(view, 'refunds');

const DAYS = 30; // that are shown when none are asked for

function charge(view, row) {
  if (!row.transactionReference) {
    return '–';
  }
  const href = row.chargeId
    ? view.link(['charges', String(row.chargeId)])
    : view.link(['charges'], { reference: row.transactionReference });
  return el('a', { href }, row.transactionReference);
}

function note(row) {
  const text = [row.customerNote, row.merchantNote].filter(Boolean).join(' / ');
  return text ? el('span', { class: 'small' }, text) : null;
}

const columns = (view) => [
  {
    title: 'Refund',
    kind: 'text',
    cell: (row) => [el('code', null, row.refundReference), note(row)],
  },
  { title: 'Charge', kind: 'text', cell: (row) => charge(view, row) },
  { title: 'Amount', kind: 'number', cell: (row) => formatMoney(row.amount, row.currency) },
  { title: 'Status', cell: (row) => badge(row.status) },
  { title: 'Channel', cell: (row) => row.channel ?? '–' },
  { title: 'Created', cell: (row) => timeElement(row.createdAt) },
];

export function draw(view) {
  if (!view.params.from && !view.params.to) {
    view.params.from = dayBefore(DAYS - 1);
    view.params.to = dayBefore(0);
  }
  const { from, to } = view.params;
  return [
    filterForm(view, 'Range of days', dateFields(view, field)),
    list(view, {
      caption: 'Refunds of the range, oldest first',
      params: { from, to },
      columns: columns(view),
      ask: (page) => view.getScope(['refunds'], { ...rangeOf({ from, to }), ...page }),
      empty: () =>
        emptyState(
          'No refunds in these days',
          el('p', null, 'To refund a payment, open a successful charge and press Refund.'),
          el(
            'p',
            null,
            el(
              'a',
              { class: 'button secondary', href: view.link(['charges'], { state: 'successful' }) },
              'Show successful charges',
            ),
          ),
        ),
    }),
  ];
}
