// SPDX-License-Identifier: Apache-2.0
// The account: its defaults, how the shop looks to payers, the two modes, and who changed what.

import { el } from './dom.js';
import { field, fieldRow, workingForm } from './form.js';
import { list } from './list.js';
import { load } from './loading.js';
import { missingList } from './mode.js';
import { tell } from './notice.js';
import { ownersOnly, settingsTabs } from './settings_tabs.js';
import { facts } from './table.js';
import { timeElement } from './time.js';
import { badge, modeWord } from './words.js';

export const title = 'Account';
export const before = settingsTabs;

const TEXT_MAX = 500;
const NAME_MAX = 100;

function saved(view, text) {
  tell(text);
  view.redraw();
}

function defaults(view, account) {
  const shown = facts([
    ['Name', account.name],
    ['Currency of charges without one', account.currency],
    ['Time zone of bare dates', account.timezone],
    ['Prefix of new keys', account.keyPrefix ? el('code', null, `${account.keyPrefix}_`) : null],
    ['Created', timeElement(account.createdAt)],
  ]);
  const form = workingForm({
    fields: fieldRow(
      field('currency', 'Currency', {
        value: account.currency,
        hint: 'For charges without a currency',
        attributes: { maxlength: 3 },
      }),
      field('timezone', 'Time zone', {
        value: account.timezone,
        hint: 'For dates without a time, such as Africa/Lagos',
        attributes: { spellcheck: 'false' },
      }),
    ),
    submit: 'Save defaults',
    judge: ({ currency }) =>
      /^[A-Za-z]{3}$/.test(currency) ? {} : { currency: 'Three letters, such as NGN.' },
    send: async ({ currency, timezone }) => {
      await view.api.post(view.accountPath('account'), {
        currency: currency.toUpperCase(),
        timezone,
      });
      saved(view, 'The defaults are saved.');
    },
  });
  return el(
    'section',
    { class: 'card' },
    el('h2', null, 'Account'),
    shown,
    view.can('owner') ? form : ownersOnly(view, 'change this'),
  );
}

function shop(view, account) {
  const { name = '', logo = '', text = '' } = account.shop ?? {};
  const form = workingForm({
    fields: [
      field('name', 'Name of the shop', {
        value: name,
        hint: `Empty: ${account.name}`,
        attributes: { maxlength: NAME_MAX },
      }),
      field('logo', 'Logo', {
        value: logo,
        hint: 'Address of a picture on the host of the payment page, or its path',
        attributes: { placeholder: '/logo.png', spellcheck: 'false' },
      }),
      field('text', 'Text below the amount', {
        value: text,
        rows: 3,
        hint: 'Plain text',
        attributes: { maxlength: TEXT_MAX },
      }),
    ],
    submit: 'Save the shop',
    send: async (values) => {
      await view.api.post(view.accountPath('account'), { shop: values });
      saved(view, 'The shop is saved.');
    },
  });
  return el(
    'section',
    { class: 'card' },
    el('h2', null, 'Payment page'),
    el('p', { class: 'small' }, 'Shown on the payment page and on payment links.'),
    view.can('owner')
      ? form
      : [
          facts([
            ['Name of the shop', name || account.name],
            ['Logo', logo],
            ['Text', text],
          ]),
          ownersOnly(view, 'change this'),
        ],
  );
}

function modes(view, account) {
  const other = view.mode === 'live' ? 'test' : 'live';
  const missing = account.live?.missing ?? [];
  return el(
    'section',
    { class: 'card' },
    el(
      'div',
      { class: 'card-head' },
      el('h2', null, 'Modes'),
      badge(account.mode, modeWord(account.mode)),
    ),
    el(
      'p',
      null,
      'The switch at the bottom left is the account’s. You can see records of either mode, ' +
      'whatever its position: ',
      el('a', { href: view.link(['overview'], {}, other) }, `see ${other} records`),
      '.',
    ),
    account.mode === 'test' && missing.length ? missingList(missing) : null,
    account.mode === 'test' && !missing.length
      ? el('p', null, 'Nothing is missing for Live Mode.')
      : null,
  );
}

const auditColumns = [
  { title: 'What', cell: (row) => row.what },
  { title: 'Of', kind: 'text', cell: (row) => row.subject || '–' },
  { title: 'Detail', kind: 'text', cell: (row) => row.detail || '–' },
  { title: 'Who', cell: (row) => row.who },
  { title: 'From', cell: (row) => row.from },
  { title: 'When', cell: (row) => timeElement(row.at) },
];

function audit(view) {
  return el(
    'section',
    { class: 'stack', 'aria-label': 'Audit' },
    el('h2', null, 'Changes'),
    list(view, {
      caption: 'Changes of this account, newest first',
      columns: auditColumns,
      ask: (page) => view.getAccount(['audit'], page),
      empty: () => el('p', { class: 'card empty' }, 'Nothing was changed yet.'),
    }),
  );
}

export function draw(view) {
  const box = el('div', { class: 'stack' });
  load(
    box,
    view.signal,
    () => view.getAccount(['account']),
    (account) => [
      el('div', { class: 'two' }, defaults(view, account), shop(view, account)),
      modes(view, account),
    ],
  );
  return [box, audit(view)];
}
