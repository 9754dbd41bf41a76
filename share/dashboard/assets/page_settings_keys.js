// SPDX-License-Identifier: Apache-2.0
// API keys: made, rotated and revoked here; the key itself is shown once.

import { postConfirmed } from './confirm.js';
import { copyBox } from './copy.js';
import { confirmDialog, formDialog, onceDialog } from './dialog.js';
import { el } from './dom.js';
import { radios } from './form.js';
import { icon } from './icons.js';
import { emptyState, list } from './list.js';
import { callout, tell } from './notice.js';
import { ownersOnly, settingsTabs } from './settings_tabs.js';
import { timeElement } from './time.js';
import { badge } from './words.js';

export const title = 'API Keys';
export const before = settingsTabs;
export const actions = (view) => (view.can('owner') ? createButton(view, 'create-key') : null);

const MODES = [
  ['test', 'Test', 'No money moves.'],
  ['live', 'Live', 'Real payments, while the account is in Live Mode.'],
];
const KINDS = [
  ['secret', 'Secret', 'May do everything. It belongs on your shop’s server only.'],
  ['public', 'Public', 'For front-end code: starts payments and queries their outcome.'],
];
const OVERLAPS = [
  ['0s', 'At once', 'The old key stops working now.'],
  ['1h', 'In an hour'],
  ['24h', 'In a day', 'Time to put the new key in place.'],
  ['7d', 'In a week'],
];

function createButton(view, id) {
  return el(
    'button',
    { type: 'button', id, on: { click: () => createDialog(view) } },
    icon('plus'),
    'Create a key',
  );
}

function showSecret(secret, done) {
  onceDialog(
    'Your new key',
    [
      callout(
        'warn',
        el(
          'p',
          null,
          el('strong', null, 'It is shown this once. '),
          'Only a digest is stored: save the key where your shop reads it before you close this.',
        ),
      ),
      copyBox('Key', secret),
    ],
    'I have stored it',
    done,
  );
}

function createDialog(view) {
  formDialog('Create an API key', {
    fields: [radios('mode', 'Mode', MODES, view.mode), radios('kind', 'Kind', KINDS, 'secret')],
    submit: 'Create',
    send: ({ mode, kind }) => postConfirmed(view, view.accountPath('keys'), { kind, mode }),
    done: ({ secret }) => showSecret(secret, view.redraw),
  });
}

function rotateDialog(view, key) {
  formDialog(`Rotate ${key.id}`, {
    intro: el('p', null, 'Creates a new key of the same kind and mode to replace this one.'),
    fields: radios('overlap', 'The old key ends', OVERLAPS, '24h'),
    submit: 'Rotate',
    send: ({ overlap }) =>
      postConfirmed(view, view.accountPath('keys', key.id, 'rotate'), { overlap }),
    done: ({ secret }) => showSecret(secret, view.redraw),
  });
}

function revokeDialog(view, key) {
  confirmDialog(`Revoke ${key.id}?`, {
    text: 'Calls with this key are refused from now on. This cannot be undone.',
    submit: 'Revoke',
    send: () => view.api.post(view.accountPath('keys', key.id, 'revoke')),
    done: () => {
      tell('The key is revoked.');
      view.redraw();
    },
  });
}

function buttons(view, key) {
  if (key.state === 'revoked' || !view.can('owner')) {
    return '';
  }
  return el(
    'span',
    { class: 'buttons' },
    key.state === 'valid'
      ? el(
          'button',
          {
            type: 'button',
            class: 'secondary small',
            'aria-label': `Rotate ${key.id}`,
            on: { click: () => rotateDialog(view, key) },
          },
          'Rotate',
        )
      : null,
    el(
      'button',
      {
        type: 'button',
        class: 'ghost danger small',
        'aria-label': `Revoke ${key.id}`,
        on: { click: () => revokeDialog(view, key) },
      },
      'Revoke',
    ),
  );
}

function ends(key) {
  return key.revokedAt ?? key.endsAt;
}

const columns = (view) => [
  {
    title: 'Key',
    cell: (row) => [
      el('code', null, row.id),
      el(
        'span',
        { class: 'small' },
        row.kind === 'secret' ? 'Secret' : 'Public',
        row.name ? `, ${row.name}` : null,
      ),
    ],
  },
  { title: 'Mode', cell: (row) => badge(row.mode) },
  { title: 'State', cell: (row) => badge(row.state) },
  { title: 'Last used', cell: (row) => (row.lastUsedAt ? timeElement(row.lastUsedAt) : 'Never') },
  { title: 'Created', cell: (row) => timeElement(row.createdAt) },
  { title: 'Ends', cell: (row) => (ends(row) ? timeElement(ends(row)) : '–') },
  { title: 'Action', kind: 'action', cell: (row) => buttons(view, row) },
];

export function draw(view) {
  return [
    el(
      'p',
      { class: 'intro' },
      'Your shop’s server sends a key with each call. A test key sees test records only, ' +
        'a live key live ones. ',
      ownersOnly(view, 'create, rotate and revoke keys')?.textContent,
    ),
    list(view, {
      caption: 'API keys of both modes',
      columns: columns(view),
      ask: (page) => view.getAccount(['keys'], page),
      empty: () =>
        emptyState(
          'No keys yet',
          el(
            'p',
            null,
            'Create a test key first: with it your shop can try everything, and no money moves.',
          ),
          view.can('owner')
            ? el('p', null, createButton(view, 'create-first-key'))
            : el('p', null, 'Ask an owner of this account to create one.'),
        ),
    }),
  ];
}
