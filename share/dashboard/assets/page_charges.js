// SPDX-License-Identifier: Apache-2.0
// Charges: found by reference or e-mail, filtered, newest first.

import { copyBox } from './copy.js';
import { el } from './dom.js';
import { exportLinks, dateFields, filterForm, rangeOf } from './filter.js';
import { field } from './form.js';
import { emptyState, list } from './list.js';
import { formatMoney, isZero } from './money.js';
import { timeElement } from './time.js';
import { badge, cardWord, firstChargeLine, stateWord } from './words.js';

export const title = 'Charges';
export const actions = (view) => exportLinks(view, 'charges');

const STATES = ['successful', 'open', 'pending', 'failed', 'reversed', 'abandoned', 'void'];

function filters(view) {
  const { params } = view;
  const find = params.email || params.reference;
  return filterForm(
    view,
    'Find charges',
    [
      field('find', 'Reference or e-mail', {
        id: 'filter-find',
        value: find,
        type: 'search',
        attributes: {
          placeholder: 'order-1001 or ada@example.com',
          spellcheck: 'false',
          autocapitalize: 'none',
        },
        wide: true,
      }),
      field('state', 'Status', {
        id: 'filter-state',
        value: params.state ?? '',
        choices: [['', 'All'], ...STATES.map((state) => [state, stateWord(state)])],
      }),
      field('currency', 'Currency', {
        id: 'filter-currency',
        value: params.currency,
        attributes: { maxlength: 3, placeholder: 'NGN', autocapitalize: 'characters' },
      }),
      ...dateFields(view, field),
    ],
    ({ find: text, currency, ...rest }) => ({
      ...rest,
      currency: currency.toUpperCase(),
      ...(text.includes('@') ? { email: text } : { reference: text }),
    }),
  );
}

// The exact word: a voided checkout has not failed, and one that nobody has paid is not pending.
export function chargeStatus(charge) {
  const { paymentStatus, open, held, refundedAmount } = charge;
  const word = badge(open ? 'open' : paymentStatus);
  if (held) {
    return [word, ' ', badge('held')];
  }
  if (paymentStatus === 'successful' && refundedAmount && !isZero(refundedAmount)) {
    return [word, ' ', badge('reversed', 'Partly refunded')];
  }
  return word;
}

const columns = (view) => [
  {
    title: 'Reference',
    kind: 'text',
    cell: (row) => el('a', { href: view.link(['charges', String(row.id)]) }, row.reference),
  },
  {
    title: 'Amount',
    kind: 'number',
    cell: (row) => [
      formatMoney(row.amount, row.currency),
      row.card?.last4Digits ? el('span', { class: 'small' }, cardWord(row.card)) : null,
    ],
  },
  { title: 'Status', cell: chargeStatus },
  {
    title: 'Payer',
    kind: 'text',
    cell: (row) => [row.name, el('span', { class: row.name ? 'small' : null }, row.email || '–')],
  },
  { title: 'Created', cell: (row) => timeElement(row.createdAt) },
];

function empty(view, filtered) {
  if (filtered) {
    return emptyState(
      'No such charges',
      el('p', null, 'No charge matches. References and e-mails must be complete.'),
      el(
        'p',
        null,
        el('a', { class: 'button secondary', href: view.here({}) }, 'Show all charges'),
      ),
    );
  }
  if (view.mode === 'live') {
    return emptyState(
      'No live charges yet',
      el(
        'p',
        null,
        'They appear here as soon as your shop makes them with a live key. ' +
        'docs/live-mode.md describes how to go live.',
      ),
    );
  }
  return emptyState(
    'No charges yet',
    el(
      'p',
      null,
      'Make a first one in a shell. Replace YOUR_KEY by your test secret key; you get one under ',
      el('a', { href: view.link(['settings', 'keys']) }, 'Settings, API Keys'),
      '.',
    ),
    copyBox('First charge', firstChargeLine(view)),
  );
}

export function draw(view) {
  const { reference, email, state, currency, from, to } = view.params;
  const params = { reference, email, state, currency, from, to };
  const filtered = Object.values(params).some(Boolean);
  return [
    filters(view),
    list(view, {
      caption: 'Charges, newest first',
      params,
      columns: columns(view),
      ask: (page) => view.getScope(['charges'], { ...params, ...rangeOf(params), ...page }),
      empty: () => empty(view, filtered),
    }),
  ];
}
