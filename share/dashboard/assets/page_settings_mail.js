// SPDX-License-Identifier: Apache-2.0
// E-mails: receipts to payers, notices to the merchant.

import { deliveryFacts } from './delivery.js';
import { el } from './dom.js';
import { checkbox, field, workingForm } from './form.js';
import { load } from './loading.js';
import { callout, tell } from './notice.js';
import { ownersOnly, settingsTabs } from './settings_tabs.js';
import { facts } from './table.js';
import { modeWord } from './words.js';

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
    el('h2', null, `Who gets e-mails in ${modeWord(view.mode)}`),
    el(
      'p',
      { class: 'small' },
      view.mode === 'test' ? 'Their subjects say that it is a test.' : 'Real payers get them.',
    ),
    view.can('owner') ? form : [shown, ownersOnly(view, 'change this')],
  );
}

function deliveries(view, mail) {
  const parts = [
    ['Notices to the merchant', mail.noticeDelivery],
    ['Receipts to payers', mail.receiptDelivery],
  ].filter(([, delivery]) => delivery);
  return el(
    'section',
    { class: 'card' },
    el('h2', null, 'How they go'),
    mail.relaySet
      ? facts([['Sender', mail.sender]])
      : callout(
          'warn',
          el(
            'p',
            null,
            'The server has no mail relay, so no e-mail is sent. Its administrator sets ' +
              'PaymentsMailRelay and PaymentsMailFrom.',
          ),
        ),
    parts.map(([name, delivery]) => [el('h3', null, name), deliveryFacts(delivery)]),
    parts.length ? null : el('p', null, 'Nothing was sent yet.'),
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
