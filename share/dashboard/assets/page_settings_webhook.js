// SPDX-License-Identifier: Apache-2.0
// The webhook of this mode: where it goes, its secret, and how deliveries go.

import { postConfirmed } from './confirm.js';
import { copyBox } from './copy.js';
import { deliveryFacts } from './delivery.js';
import { sendTest } from './delivery_test.js';
import { confirmDialog, formDialog, onceDialog } from './dialog.js';
import { el } from './dom.js';
import { field, radios } from './form.js';
import { load } from './loading.js';
import { callout, tell } from './notice.js';
import { ownersOnly, settingsTabs } from './settings_tabs.js';
import { timeElement } from './time.js';
import { badge, modeWord } from './words.js';

export const title = 'Webhooks';
export const before = settingsTabs;

const OVERLAPS = [
  ['24h', 'In a day', 'Until then both sign each webhook.'],
  ['0s', 'At once'],
];

function showSecret(view, secret) {
  onceDialog(
    'The webhook’s secret',
    [
      callout(
        'warn',
        el(
          'p',
          null,
          'Your receiver checks the signature of each webhook with it. Store it there ' +
            'before you close this.',
        ),
      ),
      copyBox('Secret', secret),
    ],
    'I have stored it',
    view.redraw,
  );
}

function changeDialog(view, webhook) {
  formDialog(webhook.url ? 'Change the address' : 'Set a webhook', {
    fields: field('url', 'Address', {
      value: webhook.url,
      type: 'url',
      hint: 'An https address of your shop that answers 200 to 204',
      attributes: { placeholder: 'https://shop.example/payments/hook', spellcheck: 'false' },
    }),
    submit: 'Save',
    judge: ({ url }) =>
      /^https?:\/\/[^\s/]+/.test(url)
        ? {}
        : { url: 'Enter the complete address, with https:// in front.' },
    send: ({ url }) => postConfirmed(view, view.scopePath('webhook'), { url }),
    done: ({ secret }) => {
      if (secret) {
        showSecret(view, secret);
      } else {
        tell('The webhook is set.');
        view.redraw();
      }
    },
  });
}

function offDialog(view) {
  confirmDialog('Switch the webhook off?', {
    text:
      'Changes meanwhile are not reported. Events that wait now keep waiting, and are due ' +
      'once there is an address again.',
    submit: 'Switch off',
    send: () => view.api.post(view.scopePath('webhook'), { url: null }),
    done: () => {
      tell('The webhook is off.');
      view.redraw();
    },
  });
}

function rotateDialog(view) {
  formDialog('Rotate the secret', {
    fields: radios('overlap', 'The old secret ends', OVERLAPS, '24h'),
    submit: 'Rotate',
    send: ({ overlap }) =>
      postConfirmed(view, view.scopePath('webhook', 'secret'), { overlap }),
    done: ({ secret }) => showSecret(view, secret),
  });
}

function button(word, tone, act, attributes) {
  const node = el('button', { type: 'button', class: tone, ...attributes }, word);
  node.addEventListener('click', () => act(node));
  return node;
}

function drawWebhook(view, webhook) {
  const owner = view.can('owner');
  if (!webhook.url || !webhook.enabled) {
    return el(
      'section',
      { class: 'card empty' },
      el('h2', null, `No webhook in ${modeWord(view.mode)}`),
      webhook.url
        ? el('p', null, 'It is switched off: waiting events are sent once it has an address again.')
        : null,
      el(
        'p',
        null,
        'With one, your shop gets the outcome of each payment at once: a signed POST to an ' +
        'address of yours, tried for three days. docs/notifications.md has receivers in ' +
        'PHP and shell.',
      ),
      owner
        ? el(
            'p',
            null,
            button('Set a webhook', 'primary', () => changeDialog(view, webhook), {
              id: 'set-webhook',
            }),
          )
        : ownersOnly(view, 'set it'),
    );
  }
  return el(
    'section',
    { class: 'card' },
    el(
      'div',
      { class: 'card-head' },
      el('h2', null, `Webhook of ${modeWord(view.mode)}`),
      badge('active', 'On'),
    ),
    deliveryFacts(webhook, [
      ['Address', el('code', null, webhook.url)],
      ['Secret', webhook.secretSet ? 'set' : 'none'],
      [
        'Old secret signs until',
        webhook.oldSecretUntil ? timeElement(webhook.oldSecretUntil) : null,
      ],
    ]),
    el(
      'div',
      { class: 'actions start' },
      view.can('operator')
        ? button('Send a test', 'secondary', (node) => sendTest(view, node, 'webhook'), {
            id: 'test-webhook',
          })
        : null,
      owner
        ? [
            button('Change the address', 'secondary', () => changeDialog(view, webhook), {
              id: 'set-webhook',
            }),
            button('Rotate the secret', 'secondary', () => rotateDialog(view), {
              id: 'rotate-secret',
            }),
            button('Switch off', 'ghost danger', () => offDialog(view), { id: 'webhook-off' }),
          ]
        : ownersOnly(view, 'change it'),
    ),
  );
}

export function draw(view) {
  const box = el('div', { class: 'stack' });
  load(
    box,
    view.signal,
    () => view.getScope(['webhook']),
    (webhook) => drawWebhook(view, webhook),
  );
  return box;
}
