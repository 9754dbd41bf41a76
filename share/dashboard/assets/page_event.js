// SPDX-License-Identifier: Apache-2.0
// One event: its tries, the last answer, and the body that is sent.

import { copyBox } from './copy.js';
import { el } from './dom.js';
import { eventButtons } from './event_actions.js';
import { icon } from './icons.js';
import { load } from './loading.js';
import { go } from './router.js';
import { facts } from './table.js';
import { timeElement } from './time.js';
import { badge, endpointWord, eventWord } from './words.js';

export const title = 'Event';

export const before = (view) =>
  el('p', { class: 'crumb' }, el('a', { href: view.link(['events']) }, icon('back'), 'Events'));

// Only to be read: what is sent are the bytes as they are.
function readable(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

function drawEvent(view, event) {
  const charge = event.chargeId
    ? el('a', { href: view.link(['charges', String(event.chargeId)]) }, event.reference)
    : event.reference;
  const leave = () => go(view.link(['events']));
  return [
    el(
      'section',
      { class: 'card' },
      el('div', { class: 'card-head' }, el('h2', null, eventWord(event)), badge(event.standing)),
      facts([
        ['Charge', charge],
        ['To', endpointWord(event.endpoint)],
        ['Created', timeElement(event.createdAt)],
        ['Failed attempts', String(event.failures)],
        ['Last attempt', event.answeredAt ? timeElement(event.answeredAt) : 'Not tried yet'],
        ['Status', event.status ? String(event.status) : null],
        ['Error', event.error],
        ['Next attempt', event.dueAt ? timeElement(event.dueAt) : null],
        ['Id', el('code', null, event.id)],
      ]),
      el(
        'div',
        { class: 'actions start' },
        eventButtons(view, event, leave, ''),
        view.can('operator')
          ? null
          : el('span', { class: 'small' }, 'Operators and owners can retry and drop.'),
      ),
    ),
    event.answer
      ? el(
          'section',
          { class: 'card' },
          el('h2', null, 'Start of the last answer'),
          copyBox('Answer', event.answer),
        )
      : null,
    event.body
      ? el(
          'section',
          { class: 'card' },
          el('h2', null, 'Body'),
          copyBox('Body', readable(event.body)),
        )
      : null,
  ];
}

export function draw(view) {
  const box = el('div', { class: 'stack' });
  load(
    box,
    view.signal,
    () => view.getScope(['events', view.args[0]]),
    (event) => drawEvent(view, event),
  );
  return box;
}
