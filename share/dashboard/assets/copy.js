// SPDX-License-Identifier: Apache-2.0
// Text that is to be taken elsewhere: shown whole, with a button that copies it.

import { append, el, newId } from './dom.js';
import { icon } from './icons.js';
import { say } from './notice.js';

const SHOWN_MS = 2500;

// The clipboard is only there on https and on this machine; elsewhere the text is marked, which
// leaves one key to press.
async function copyText(text, field) {
  try {
    await navigator.clipboard.writeText(text);
    return 'Copied';
  } catch {
    getSelection().selectAllChildren(field);
    return 'Marked: press Ctrl+C';
  }
}

// `label`: what it is, such as "secret key".
export function copyButton(label, text, field) {
  const face = el('span', null, 'Copy');
  // Its name holds the word that it shows, also while that is the outcome.
  const button = el(
    'button',
    { type: 'button', class: 'secondary small' },
    icon('copy'),
    face,
    el('span', { class: 'hidden' }, ` ${label}`),
  );
  button.addEventListener('click', async () => {
    const outcome = await copyText(text, field);
    face.textContent = outcome;
    say(`${label}: ${outcome}`);
    setTimeout(() => {
      face.textContent = 'Copy';
    }, SHOWN_MS);
  });
  return button;
}

export function copyBox(label, text) {
  const id = newId('copy');
  const field = el(
    'pre',
    { class: 'copied', tabindex: '0', role: 'region', 'aria-labelledby': id },
    el('code', null, text),
  );
  const box = el('div', { class: 'copybox' });
  return append(
    box,
    el(
      'div',
      { class: 'copybox-head' },
      el('span', { id, class: 'label' }, label),
      copyButton(label, text, field),
    ),
    field,
  );
}
