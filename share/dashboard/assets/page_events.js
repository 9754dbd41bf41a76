// SPDX-License-Identifier: Apache-2.0
// Events that are not delivered: webhooks and e-mails on their way, or given up.

import { el } from './dom.js';
import { eventButtons } from './event_actions.js';
import { filterForm } from './filter.js';
import { field } from './form.js';
import { emptyState, list } from './list.js';
import { timeElement } from './time.js';
import { badge, endpointWord, eventWord, stateWord } from './words.js';

export const title = 'Events';

const STANDINGS = ['waiting', 'behind', 'parked'];

function answer(row) {
  if (!row.answeredAt) {
    return 'Not tried yet';
  }
  const tries = row.failures === 1 ? '1 failed attempt' : `${row.failures} failed attempts`;
  return [row.error || String(row.status || '–'), el('span', { class: 'small' }, tries)];
}

function charge(view, row) {
  return row.chargeId
    ? el('a', { href: view.link(['charges', String(row.chargeId)]) }, row.reference)
    : row.reference || '–';
}

function standing(row) {
  return [
    badge(row.standing),
    row.dueAt ? el('span', { class: 'small' }, 'next attempt ', timeElement(row.dueAt)) : null,
  ];
}

const columns = (view) => [
  {
    title: 'Event',
    cell: (row) => [
      el('a', { href: view.link(['events', row.id]) }, eventWord(row)),
      el('span', { class: 'small' }, endpointWord(row.endpoint)),
    ],
  },
  { title: 'Charge', kind: 'text', cell: (row) => charge(view, row) },
  { title: 'Standing', cell: standing },
  { title: 'Last answer', kind: 'text', cell: answer },
  { title: 'Created', cell: (row) => timeElement(row.createdAt) },
  { title: 'Action', kind: 'action', cell: (row) => eventButtons(view, row, view.redraw) },
];

export function draw(view) {
  const chosen = view.params.standing;
  return [
    el(
      'p',
      { class: 'intro' },
      'Delivered events are not listed. Events that a receiver does not accept are tried ' +
      'for three days, then given up and kept here.',
    ),
    filterForm(view, 'Filter events', [
      field('standing', 'Standing', {
        id: 'filter-standing',
        value: chosen ?? '',
        choices: [['', 'All'], ...STANDINGS.map((one) => [one, stateWord(one)])],
      }),
    ]),
    list(view, {
      caption: 'Undelivered events',
      params: { standing: chosen },
      columns: columns(view),
      ask: (page) => view.getScope(['events'], { standing: chosen, ...page }),
      empty: () =>
        chosen
          ? emptyState(
              'No such events',
              el(
                'p',
                null,
                el('a', { class: 'button secondary', href: view.here({}) }, 'Show all events'),
              ),
            )
          : emptyState(
              'Everything is delivered',
              el(
                'p',
                null,
                'Each change of a payment is reported to your webhook and by e-mail, if ' +
                'these are set.',
              ),
              el(
                'p',
                null,
                el(
                  'a',
                  { class: 'button secondary', href: view.link(['settings', 'webhook']) },
                  'Go to Webhooks',
                ),
              ),
            ),
    }),
  ];
}
