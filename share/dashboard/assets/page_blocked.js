// SPDX-License-Identifier: Apache-2.0
// What is refused for a while because too many payments failed.

import { confirmDialog } from './dialog.js';
import { el } from './dom.js';
import { emptyState, list } from './list.js';
import { tell } from './notice.js';
import { timeElement } from './time.js';

export const title = 'Temporarily blocked';

const KINDS = {
  card: 'Card or payer',
  link: 'Payment link',
  address: 'Payer’s address',
  account: 'Account',
};

const nameOf = (row) => row.hint || 'all visitors';

function lift(view, row) {
  const send = () =>
    confirmDialog('Lift this block?', {
      text:
        `Payments of ${nameOf(row)} are accepted again at once. If somebody is trying out ` +
        'cards, that can continue too.',
      submit: 'Lift',
      send: () => view.api.post(view.scopePath('blocked', row.id, 'lift')),
      done: () => {
        tell('The block is lifted.');
        view.redraw();
      },
    });
  return el(
    'button',
    {
      type: 'button',
      class: 'secondary small',
      disabled: !view.can('operator'),
      'aria-label': `Lift ${nameOf(row)}`,
      on: { click: send },
    },
    'Lift',
  );
}

export function draw(view) {
  return [
    el(
      'p',
      { class: 'intro' },
      'Too many payments of these failed: somebody may be trying out cards. More are ' +
      'refused until the time shown. Lift the block for a payer you know.',
      view.can('operator') ? null : ' Operators and owners can do that.',
    ),
    list(view, {
      caption: 'Blocked after failed payments',
      columns: [
        { title: 'What', kind: 'text', cell: nameOf },
        { title: 'Kind', cell: (row) => KINDS[row.kind] ?? row.kind },
        { title: 'Until', cell: (row) => timeElement(row.until) },
        { title: 'Action', kind: 'action', cell: (row) => lift(view, row) },
      ],
      ask: (page) => view.getScope(['blocked'], page),
      empty: () =>
        emptyState(
          'Nothing is blocked',
          el('p', null, 'No more payments fail than usual.'),
        ),
    }),
  ];
}
