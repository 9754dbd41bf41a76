// SPDX-License-Identifier: Apache-2.0
// Payment links: addresses that a shop sends to its payers.

import { copyBox, copyButton } from './copy.js';
import { confirmDialog, formDialog, openDialog } from './dialog.js';
import { el } from './dom.js';
import { checkbox, field, fieldRow, radios } from './form.js';
import { icon } from './icons.js';
import { emptyState, list } from './list.js';
import { formatCount, formatNumber, readAmountOf } from './money.js';
import { tell } from './notice.js';
import { timeElement } from './time.js';
import { badge } from './words.js';

export const title = 'Links';
export const actions = (view) => (view.can('operator') ? createButton(view, 'create-link') : null);

const TITLE_MAX = 100;

function createButton(view, id) {
  return el(
    'button',
    { type: 'button', id, on: { click: () => createDialog(view) } },
    icon('plus'),
    'Create a link',
  );
}

function judge({ title: name, open, amount, currency, expires }) {
  const faults = {};
  if (!name) {
    faults.title = 'Enter a title; the payer reads it.';
  }
  if (!/^[A-Za-z]{3}$/.test(currency)) {
    faults.currency = 'Three letters, such as NGN.';
  } else if (open === 'fixed') {
    const { fault } = readAmountOf(amount, currency.toUpperCase());
    if (fault) {
      faults.amount = fault;
    }
  }
  if (expires && new Date(expires) <= new Date()) {
    faults.expires = 'This is in the past.';
  }
  return faults;
}

function bodyOf({ title: name, open, amount, currency, reusable, expires }) {
  const code = currency.toUpperCase();
  return {
    title: name,
    amount: open === 'fixed' ? readAmountOf(amount, code).amount : null,
    currency: code,
    reusable,
    expiresAt: expires ? new Date(expires).toISOString() : null,
  };
}

function createFields() {
  const amount = field('amount', 'Amount', {
    attributes: { inputmode: 'decimal', placeholder: '1500.00' },
  });
  const kind = radios(
    'open',
    'Amount',
    [
      ['fixed', 'Fixed'],
      ['open', 'Open', 'The payer enters the amount.'],
    ],
    'fixed',
  );
  kind.addEventListener('change', () => {
    amount.hidden = kind.querySelector('[value=open]').checked;
  });
  return [
    field('title', 'Title', { attributes: { maxlength: TITLE_MAX } }),
    kind,
    fieldRow(
      amount,
      field('currency', 'Currency', {
        attributes: { maxlength: 3, autocapitalize: 'characters', placeholder: 'NGN' },
      }),
    ),
    field('expires', 'Ends', { type: 'datetime-local', hint: 'Optional, in your time zone' }),
    checkbox(
      'reusable',
      'Can be paid more than once',
      false,
      'For example a collection, or one link for all payers',
    ),
  ];
}

function showLink(link, done) {
  openDialog('The link is ready', (close) => [
    el('p', null, 'Send it to the payer.'),
    copyBox('Payment link', link.url),
    el('div', { class: 'actions' }, el('button', { type: 'button', on: { click: close } }, 'Done')),
  ]).addEventListener('close', done); // by Escape and its cross, too
}

function createDialog(view) {
  formDialog('Create a payment link', {
    fields: createFields(),
    submit: 'Create',
    judge,
    send: (values) => view.api.post(view.scopePath('links'), bodyOf(values)),
    done: ({ link }) => showLink(link, view.redraw),
  });
}

function buttons(view, link) {
  const disable = () =>
    confirmDialog('Disable this link?', {
      text:
        `Nobody can pay through “${link.title}” any more. ` +
        'Payments that were made stay as they are.',
      submit: 'Disable',
      send: () => view.api.post(view.scopePath('links', link.reference, 'disable')),
      done: () => {
        tell('The link is disabled.');
        view.redraw();
      },
    });
  const address = el('code', { class: 'hidden' }, link.url);
  return el(
    'span',
    { class: 'buttons' },
    address,
    copyButton(`link ${link.title}`, link.url, address),
    link.state === 'active' && view.can('operator')
      ? el(
          'button',
          {
            type: 'button',
            class: 'ghost danger small',
            'aria-label': `Disable ${link.title}`,
            on: { click: disable },
          },
          'Disable',
        )
      : null,
  );
}

const columns = (view) => [
  {
    title: 'Link',
    kind: 'text',
    cell: (row) => [
      el(
        'a',
        { href: row.url, target: '_blank', rel: 'noopener noreferrer' },
        row.title || row.reference,
        el('span', { class: 'hidden' }, ' (opens the payment page in a new tab)'),
      ),
      el('span', { class: 'small' }, row.reference),
    ],
  },
  {
    title: 'Amount',
    kind: 'number',
    cell: (row) => [
      row.amount ? formatNumber(row.amount, row.currency) : `Open, ${row.currency}`,
      el('span', { class: 'small' }, row.reusable ? 'any number of times' : 'once'),
    ],
  },
  { title: 'Status', cell: (row) => badge(row.state) },
  { title: 'Paid', kind: 'number', cell: (row) => formatCount(row.paid) },
  { title: 'Ends', cell: (row) => (row.expiresAt ? timeElement(row.expiresAt) : 'Never') },
  { title: 'Created', cell: (row) => timeElement(row.createdAt) },
  { title: 'Action', kind: 'action', cell: (row) => buttons(view, row) },
];

export function draw(view) {
  return list(view, {
    caption: 'Payment links',
    columns: columns(view),
    ask: (page) => view.getScope(['links'], page),
    empty: () =>
      emptyState(
        'No payment links yet',
        el(
          'p',
          null,
          'A link opens a page on which anyone can pay, without a shop: send it by e-mail, ' +
          'in a chat or on a bill.',
        ),
        view.can('operator')
          ? el('p', null, createButton(view, 'create-first-link'))
          : el('p', null, 'Operators and owners can create them.'),
      ),
  });
}
