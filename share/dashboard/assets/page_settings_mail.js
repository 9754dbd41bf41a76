// SPDX-License-Identifier: Apache-2.0
// E-mails: receipts to payers, notices to the merchant.

import { deliveryFacts, sendTest } from './delivery_test.js';
import { el } from './dom.js';
import { checkbox, field, workingForm } from './form.js';
import { load } from './loading.js';
import { callout, tell } from './notice.js';
import { ownersOnly, settingsTabs } from './settings_tabs.js';
import { facts } from './table.js';
import { timeElement } from './time.js';
import { endpointWord, modeWord } from './words.js';

export const title = 'E-mail';
export const before = settingsTabs;

function settings(view, mail) {
  const form = workingForm({
    fields: [
      field('merchantAddress', 'Notices to the merchant go to', {
        type: 'email',
        value: mail.merchantAddress,
        hint:
          'Of successful and failed charges, of refunds, and of what was given up. ' +
          'Empty: none.',
      }),
      checkbox('receipts', 'Payers get a receipt', mail.receipts, 'Of each charge and refund'),
    ],
    submit: 'Save',
    send: async ({ merchantAddress, receipts }) => {
      await view.api.post(view.scopePath('mail'), {
        merchantAddress: merchantAddress || null,
        receipts,
      });
      tell('The e-mail settings are saved.');
      view.redraw();
    },
  });
  const shown = facts([
    ['Notices go to', mail.merchantAddress ?? 'nobody'],
    ['Payers get a receipt', mail.receipts ? 'yes' : 'no'],
  ]);
  return el(
    'section',
    { class: 'card' },
    el('h2', null, 'Who gets e-mails'),
    el('p', { class: 'small' }, 'For both modes; in Test Mode the subject says so.'),
    view.can('owner') ? form : [shown, ownersOnly(view, 'change this')],
  );
}

function deliveries(view, mail) {
  const test = el(
    'button',
    { type: 'button', class: 'secondary', id: 'test-mail' },
    'Send a test to the merchant',
  );
  test.addEventListener('click', () => sendTest(view, test, ['mail', 'test']));
  return el(
    'section',
    { class: 'card' },
    el('h2', null, 'How they go'),
    mail.relay
      ? facts([
          ['Relay', mail.relay],
          ['Sender', mail.sender],
        ])
      : callout(
          'warn',
          el(
            'p',
            null,
            'The server has no mail relay, so no e-mail is sent. Its administrator sets ' +
              'PaymentsMailRelay and PaymentsMailFrom.',
          ),
        ),
    (mail.deliveries ?? [])
      .filter(({ mode }) => mode === view.mode)
      .map((one) => [
        el('h3', null, `${endpointWord(one.kind)}, ${modeWord(one.mode)}`),
        facts(deliveryFacts(one, timeElement)),
      ]),
    mail.merchantAddress && view.can('operator')
      ? el('div', { class: 'actions start' }, test)
      : null,
  );
}

export function draw(view) {
  const box = el('div', { class: 'stack' });
  load(
    box,
    view.signal,
    () => view.getScope(['mail']),
    (mail) => [settings(view, mail), deliveries(view, mail)],
  );
  return box;
}
