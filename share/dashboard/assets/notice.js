// SPDX-License-Identifier: Apache-2.0
// What has just happened: said aloud, and shown for a while where it was done.

import { el, replace } from './dom.js';
import { icon } from './icons.js';

const SHOWN_MS = 8000;

// Said by a screen reader when it is done with what it says; nothing is shown.
export function say(text) {
  const box = document.getElementById('said');
  box.textContent = '';
  setTimeout(() => {
    box.textContent = text;
  }, 50); // the same text twice is said twice
}

let timer = 0;

// A line at the foot of the page that goes away by itself. `worked` false: something did not.
export function tell(text, worked = true) {
  document.getElementById('notice')?.remove();
  clearTimeout(timer);
  const close = el(
    'button',
    { type: 'button', class: 'ghost icon-only', 'aria-label': 'Close the notice' },
    icon('close'),
  );
  const box = el(
    'div',
    { class: 'notice', id: 'notice' },
    icon(worked ? 'done' : 'warn'),
    el('p', null, text),
    close,
  );
  close.addEventListener('click', () => box.remove());
  document.getElementById('notices').append(box);
  timer = setTimeout(() => {
    if (!box.contains(document.activeElement)) box.remove();
  }, SHOWN_MS);
  say(text);
}

// A box that says what went wrong, with the lines of its fields.
export function errorBox(error, title = 'This did not work') {
  return el(
    'div',
    { class: 'callout bad', role: 'alert', tabindex: '-1' },
    icon('warn'),
    el(
      'div',
      null,
      el('p', null, el('strong', null, `${title}. `), error.message),
      error.errors?.length
        ? el(
            'ul',
            null,
            error.errors.map((fault) =>
              el('li', null, `${fault.field ?? ''}: ${fault.reason ?? ''}`),
            ),
          )
        : null,
      error.requestId
        ? el(
            'p',
            { class: 'small' },
            'For the administrator: request ',
            el('code', null, error.requestId),
          )
        : null,
    ),
  );
}

export function callout(tone, ...content) {
  return el(
    'div',
    { class: `callout ${tone}` },
    tone === 'plain' ? null : icon('warn'),
    el('div', null, content),
  );
}

export function showError(box, error, title) {
  const shown = errorBox(error, title);
  replace(box, shown);
  return shown;
}
