// SPDX-License-Identifier: Apache-2.0
// What can be done about an event that is not delivered.

import { confirmDialog } from './dialog.js';
import { el } from './dom.js';
import { tell } from './notice.js';
import { eventWord } from './words.js';

export function retry(view, event, done) {
  confirmDialog('Send it now?', {
    text:
      `${eventWord(event)} is due at once, as if it had never been tried. Events behind it ` +
      'follow in order.',
    submit: 'Retry',
    tone: 'primary',
    send: () => view.api.post(view.scopePath('events', event.id, 'retry')),
    done: () => {
      tell('It is being sent.');
      done();
    },
  });
}

export function drop(view, event, done) {
  confirmDialog('Give it up for good?', {
    text: `${eventWord(event)} is never sent again. The next one of its transaction is due then.`,
    submit: 'Drop',
    send: () => view.api.post(view.scopePath('events', event.id, 'drop')),
    done: () => {
      tell('It was given up.');
      done();
    },
  });
}

export function eventButtons(view, event, done, size = 'small') {
  const what = `${eventWord(event)}, ${event.reference ?? 'test'}`;
  const button = (word, tone, act) =>
    el(
      'button',
      {
        type: 'button',
        class: `${tone} ${size}`,
        disabled: !view.can('operator'),
        'aria-label': `${word} ${what}`,
        on: { click: () => act(view, event, done) },
      },
      word,
    );
  return el(
    'span',
    { class: 'buttons' },
    event.standing === 'behind' ? null : button('Retry', 'secondary', retry),
    button('Drop', 'ghost danger', drop),
  );
}
