// SPDX-License-Identifier: Apache-2.0
// E-mails: receipts to payers, notices to the merchant.

import { postConfirmed } from './confirm.js';
import { deliveryFacts } from './delivery.js';
import { sendTest } from './delivery_test.js';
import { el } from './dom.js';
import { checkbox, field, workingForm } from './form.js';
import { load } from './loading.js';
import { callout, tell } from './notice.js';
import { ownersOnly, settingsTabs } from './settings_tabs.js';
import { facts } from './table.js';
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
          'Of successful and failed charges, of refunds, and of events that were given up. ' +
          'Empty: none.',
      }),
      checkbox('receipts', 'Payers get a receipt', mail.receipts, 'Of each charge and refund'),
    ],
    submit: 'Save',
    send: async ({ merchantAddress, receipts }) => {
      await postConfirmed(view, view.scopePath('mail'), {
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
    el('p', { class: 'small' }, 'For both modes; in Test Mode the subject begins with [TEST].'),
    view.can('owner') ? form : [shown, ownersOnly(view, 'change this')],
  );
}

function testButton(view) {
  const test = el(
    'button',
    { type: 'button', class: 'secondary', id: 'test-mail' },
    'Send a test to the merchant',
  );
  test.addEventListener('click', () => sendTest(view, test, 'mail'));
  return el('div', { class: 'actions start' }, test);
}

function deliveries(view, mail) {
  const ours = mail.deliveries.filter(({ mode, enabled }) => mode === view.mode && enabled);
  return el(
    'section',
    { class: 'card' },
    el('h2', null, `Deliveries in ${modeWord(view.mode)}`),
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
    ours.map((one) => [el('h3', null, endpointWord(one.kind)), deliveryFacts(one)]),
    mail.merchantAddress && view.can('operator') ? testButton(view) : null,
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
