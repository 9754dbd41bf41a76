// SPDX-License-Identifier: Apache-2.0
// One charge: what it is, what happened to it, and what can be done.

import { copyButton } from './copy.js';
import { el } from './dom.js';
import { icon } from './icons.js';
import { load } from './loading.js';
import { decimalsOf, formatMoney, fromNumber, isZero } from './money.js';
import { callout } from './notice.js';
import { chargeStatus } from './page_charges.js';
import { refundDialog } from './refund_form.js';
import { resolveDialog } from './resolve_form.js';
import { facts, table } from './table.js';
import { timeElement } from './time.js';
import { badge, cardWord, endpointWord, eventWord } from './words.js';

export const title = (view) => `Charge ${view.args[0]}`;

export const before = (view) =>
  el('p', { class: 'crumb' }, el('a', { href: view.link(['charges']) }, icon('back'), 'Charges'));

// What the list would show of it, with amounts as strings.
function itemOf({ item, charge, held, refundable }) {
  const digits = decimalsOf(refundable);
  return (
    item ?? {
      ...charge,
      amount: fromNumber(charge.amount, digits),
      refundedAmount: fromNumber(charge.refundedAmount, digits),
      email: charge.customer?.email,
      name: charge.customer?.name,
      held: held?.reason ?? '',
    }
  );
}

function head(view, answer, item) {
  const reference = el('code', null, item.reference);
  const canRefund = item.paymentStatus === 'successful' && !isZero(answer.refundable);
  const refund = canRefund
    ? el(
        'button',
        {
          type: 'button',
          id: 'refund',
          disabled: !view.can('operator'),
          on: { click: () => refundDialog(view, item, answer.refundable) },
        },
        icon('refunds'),
        'Refund',
      )
    : null;
  return el(
    'section',
    { class: 'card charge-head', 'aria-label': 'Summary' },
    el(
      'div',
      null,
      el('p', { class: 'amount' }, formatMoney(item.amount, item.currency)),
      el('p', null, chargeStatus(item)),
      el(
        'p',
        { class: 'reference' },
        reference,
        ' ',
        copyButton('reference', item.reference, reference),
      ),
    ),
    el(
      'div',
      { class: 'actions' },
      refund,
      refund && !view.can('operator')
        ? el('p', { class: 'small' }, 'Operators and owners can refund.')
        : null,
    ),
  );
}

function heldPart(view, answer, item) {
  if (!answer.held) {
    return null;
  }
  return callout(
    'warn',
    el('p', null, el('strong', null, 'This needs you. '), answer.held.sentence),
    view.can('operator')
      ? el(
          'p',
          null,
          el(
            'button',
            {
              type: 'button',
              id: 'resolve',
              on: {
                click: () =>
                  resolveDialog(
                    view,
                    'charge',
                    String(item.id),
                    item.reference,
                    answer.held.sentence,
                  ),
              },
            },
            'Decide',
          ),
        )
      : el('p', { class: 'small' }, 'Operators and owners can decide it.'),
  );
}

function details(charge, item, refundable) {
  const money = (amount) => formatMoney(amount, item.currency);
  const fee = fromNumber(charge.transactionFee, decimalsOf(item.amount));
  return el(
    'section',
    { class: 'card' },
    el('h2', null, 'Details'),
    facts([
      ['Payer', item.name],
      ['E-mail', item.email],
      ['Paid with', item.card?.last4Digits ? cardWord(item.card) : null],
      ['Channel', item.channel],
      ['Fee', isZero(fee) ? null : money(fee)],
      ['Refunded', isZero(item.refundedAmount) ? null : money(item.refundedAmount)],
      ['Left to refund', refundable && !isZero(refundable) ? money(refundable) : null],
      [
        'Answer',
        [charge.gatewayResponseCode, charge.gatewayResponseMessage].filter(Boolean).join(' – '),
      ],
      ['Authorization code', charge.authorizationCode],
      ['Created', timeElement(charge.createdAt)],
      ['Updated', timeElement(charge.updatedAt)],
      ['Number', String(charge.id)],
    ]),
  );
}

// What a step is called; and its text, unless that is only a reference.
const STEPS = {
  opened: ['Charge opened'],
  absent: ['', 'warn'],
  decided: ['Decided'],
  contradicted: ['The acquirer contradicts', 'bad'],
  resolved: ['Decided by a person', 'good'],
  'refund-opened': ['Refund opened'],
  'refund-processed': ['Refund processed', 'good'],
  'refund-failed': ['Refund failed', 'bad'],
};

function stepWords({ what, text }, refunded) {
  const word = STEPS[what]?.[0] ?? what;
  if (what === 'opened') {
    return word;
  }
  const refund = refunded.find(({ refundReference }) => refundReference === text);
  const more = refund ? formatMoney(refund.amount, refund.currency) : text;
  return [word, more].filter(Boolean).join(': ');
}

function stepTone({ what, text }) {
  if (what === 'decided') {
    return /^(successful|approved)/i.test(text) ? 'good' : 'bad';
  }
  return STEPS[what]?.[1] ?? 'plain';
}

function timeline(steps, refunded) {
  const inOrder = [...steps].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  return el(
    'section',
    { class: 'card' },
    el('h2', null, 'Timeline'),
    el(
      'ol',
      { class: 'timeline' },
      inOrder.map((step) =>
        el(
          'li',
          { class: stepTone(step) },
          el('p', null, stepWords(step, refunded)),
          el('p', { class: 'small' }, timeElement(step.at)),
        ),
      ),
    ),
  );
}

function refunds(records, complete) {
  if (!records.length) {
    return null;
  }
  return el(
    'section',
    { class: 'card flush' },
    el('h2', null, 'Refunds'),
    table(
      'Refunds of this charge',
      [
        { title: 'Refund', kind: 'text', cell: (row) => el('code', null, row.refundReference) },
        { title: 'Amount', kind: 'number', cell: (row) => formatMoney(row.amount, row.currency) },
        { title: 'Status', cell: (row) => badge(row.status) },
        { title: 'Channel', cell: (row) => row.channel ?? '–' },
        {
          title: 'Notes',
          kind: 'text',
          cell: (row) => [row.customerNote, row.merchantNote].filter(Boolean).join(' / ') || '–',
        },
        { title: 'Created', cell: (row) => timeElement(row.createdAt) },
      ],
      records,
    ),
    complete
      ? null
      : el(
          'p',
          { class: 'small more' },
          'There are more: see Refunds, by their days.',
        ),
  );
}

function events(view, items) {
  if (!items.length) {
    return null;
  }
  return el(
    'section',
    { class: 'card flush' },
    el('h2', null, 'Undelivered notifications'),
    table(
      'Undelivered events of this charge',
      [
        {
          title: 'Event',
          cell: (row) => el('a', { href: view.link(['events', row.id]) }, eventWord(row)),
        },
        { title: 'To', cell: (row) => endpointWord(row.endpoint) },
        { title: 'Standing', cell: (row) => badge(row.standing) },
        { title: 'Failed attempts', kind: 'number', cell: (row) => String(row.failures) },
        {
          title: 'Last answer',
          kind: 'text',
          cell: (row) => row.error || (row.status ? String(row.status) : '–'),
        },
      ],
      items,
    ),
  );
}

export function draw(view) {
  const box = el('div', { class: 'stack' });
  load(
    box,
    view.signal,
    () => view.getScope(['charges', view.args[0]]),
    (answer) => {
      const item = itemOf(answer);
      return [
        head(view, answer, item),
        heldPart(view, answer, item),
        el(
          'div',
          { class: 'two' },
          details(answer.charge, item, answer.refundable),
          timeline(answer.timeline ?? [], answer.refunds ?? []),
        ),
        refunds(answer.refunds ?? [], answer.refundsComplete !== false),
        events(view, answer.events ?? []),
      ];
    },
  );
  return box;
}
