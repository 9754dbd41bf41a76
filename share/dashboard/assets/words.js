// SPDX-License-Identifier: Apache-2.0
// What the states are called, and in which tone: a word always says what the colour says.

import { el } from './dom.js';

const STATES = {
  successful: ['Successful', 'good'],
  pending: ['Pending', 'warn'],
  open: ['Open', 'plain'],
  failed: ['Failed', 'bad'],
  reversed: ['Refunded', 'plain'],
  void: ['Voided', 'plain'],
  abandoned: ['Abandoned', 'plain'],
  processed: ['Processed', 'good'],
  held: ['Needs you', 'warn'],
  waiting: ['Waiting', 'plain'],
  behind: ['Behind another', 'plain'],
  parked: ['Given up', 'bad'],
  delivered: ['Delivered', 'good'],
  valid: ['Valid', 'good'],
  ending: ['Ending', 'warn'],
  revoked: ['Revoked', 'plain'],
  active: ['Active', 'good'],
  expired: ['Expired', 'plain'],
  disabled: ['Disabled', 'plain'],
  used: ['Used', 'plain'],
  test: ['Test', 'test'],
  live: ['Live', 'accent'],
};

export function stateWord(state) {
  return STATES[state]?.[0] ?? String(state ?? '–');
}

export function badge(state, word) {
  return el('span', { class: `badge ${STATES[state]?.[1] ?? 'plain'}` }, word ?? stateWord(state));
}

export function modeWord(mode) {
  return mode === 'live' ? 'Live Mode' : 'Test Mode';
}

export const ROLES = ['viewer', 'operator', 'owner'];

export const ROLE_WORDS = {
  viewer: 'sees everything',
  operator: 'also refunds, decides held payments, retries events, creates links',
  owner: 'also keys, webhooks, e-mail, the team and the mode',
};

export function roleIsAtLeast(role, wanted) {
  return ROLES.indexOf(role) >= ROLES.indexOf(wanted);
}

const ENDPOINTS = { webhook: 'Webhook', receipt: 'Receipt by e-mail', notice: 'Notice by e-mail' };

export function endpointWord(endpoint) {
  return ENDPOINTS[endpoint] ?? String(endpoint ?? '–');
}

export function eventWord(event) {
  const kinds = { transaction: 'Charge', refund: 'Refund', test_assess: 'Test' };
  const what = kinds[event.notify] ?? event.notify;
  return event.notify === 'test_assess' ? 'Test' : `${what} ${event.notifyType}`;
}

export function cardWord(card) {
  if (!card?.last4Digits) {
    return '–';
  }
  return `${card.issuer || 'Card'} …${card.last4Digits}`;
}

// What a shop's developer types first.
export function firstChargeLine(view) {
  const body = JSON.stringify({
    token: 'tok_test_success',
    amount: '10.00',
    email: 'ada@example.com',
    reference: 'first-1',
  });
  return (
    `curl -s ${location.origin}${view.session.basePath}/api/v1/tokenized-card-charge` +
    ` -H 'Authorization: Bearer YOUR_KEY' -H 'Content-Type: application/json' -d '${body}'`
  );
}
