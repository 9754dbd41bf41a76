// SPDX-License-Identifier: Apache-2.0
// The public key under which a shop may send its orders encrypted, in the forms that clients use.

import { copyBox } from './copy.js';
import { el } from './dom.js';
import { workingForm } from './form.js';
import { load } from './loading.js';
import { tell } from './notice.js';
import { ownersOnly, settingsTabs } from './settings_tabs.js';
import { timeElement } from './time.js';
import { modeWord } from './words.js';

export const title = 'Encryption key';
export const before = settingsTabs;

function base64(text) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function none(view) {
  const form = workingForm({
    fields: [],
    submit: 'Create the key',
    send: async () => {
      await view.api.post(view.scopePath('encryption-key'));
      tell('The encryption key is created.');
      view.redraw();
    },
  });
  return el(
    'section',
    { class: 'card empty' },
    el('h2', null, `No encryption key in ${modeWord(view.mode)}`),
    el(
      'p',
      null,
      'A shop that creates orders with encrypted data needs one. Plain orders work without.',
    ),
    view.can('owner') ? form : ownersOnly(view, 'make it'),
  );
}

function drawKey(view, key) {
  if (!key.pem) {
    return none(view);
  }
  return el(
    'section',
    { class: 'card' },
    el('h2', null, `Public encryption key of ${modeWord(view.mode)}`),
    el(
      'p',
      null,
      'RSA of 4096 bits, for the field data of orders and payment links. The private half ' +
        'never leaves the server. ',
      key.createdAt ? ['Made ', timeElement(key.createdAt), '.'] : null,
    ),
    copyBox('PEM', key.pem),
    key.xml ? [copyBox('XML', key.xml), copyBox('XML in base64', base64(key.xml))] : null,
  );
}

export function draw(view) {
  const box = el('div', { class: 'stack' });
  load(
    box,
    view.signal,
    () => view.getScope(['encryption-key']),
    (key) => drawKey(view, key),
  );
  return box;
}
