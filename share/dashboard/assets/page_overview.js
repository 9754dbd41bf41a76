// SPDX-License-Identifier: Apache-2.0
// Overview: what needs a person, today and thirty days, a chart for each currency.

import { chart } from './chart.js';
import { copyBox } from './copy.js';
import { el } from './dom.js';
import { icon } from './icons.js';
import { load } from './loading.js';
import {
  currencyDigits,
  formatBounded,
  formatCount,
  formatMoney,
  formatRate,
  isZero,
} from './money.js';
import { table } from './table.js';
import { formatDay, timeZone } from './time.js';
import { firstChargeLine } from './words.js';

export const title = 'Overview';

// [count, one, many, link, whether it is urgent]
function attention(view, data) {
  const lines = [
    [
      data.held,
      'payment waits for your decision',
      'payments wait for your decision',
      view.link(['held']),
      true,
    ],
    [
      data.blocked,
      'card, payer or address is refused after failed payments',
      'cards, payers or addresses are refused after failed payments',
      view.link(['blocked']),
      true,
    ],
    [
      data.parkedWebhooks,
      'notification was given up',
      'notifications were given up',
      view.link(['events'], { standing: 'parked' }),
      true,
    ],
    [
      data.openWebhooks,
      'notification is waiting',
      'notifications are waiting',
      view.link(['events']),
    ],
    [
      data.pending,
      'charge is pending',
      'charges are pending',
      view.link(['charges'], { state: 'pending' }),
    ],
    [
      data.openCheckouts,
      'checkout is open',
      'checkouts are open',
      view.link(['charges'], { state: 'open' }),
    ],
  ].filter(([count]) => count > 0);
  if (!lines.length) {
    return null;
  }
  return el(
    'section',
    { class: 'attention', 'aria-label': 'Open tasks' },
    lines.map(([count, one, many, href, urgent]) =>
      el(
        'a',
        { class: urgent ? 'tile link urgent' : 'tile link', href },
        el('strong', { class: 'figure' }, formatBounded(count)),
        ' ',
        el('span', null, count === 1 ? one : many),
      ),
    ),
  );
}

function step(done, name, text, ...content) {
  return el(
    'li',
    { class: done ? 'done' : 'open' },
    el('span', { class: 'mark', 'aria-hidden': 'true' }, done ? icon('done') : null),
    el(
      'div',
      null,
      el('h3', null, name, done ? el('span', { class: 'hidden' }, ' (done)') : null),
      done ? null : el('p', null, text),
      done ? null : content,
    ),
  );
}

function firstSteps(view, data) {
  if (data.hasKeys && data.hasCharges && data.hasWebhook) {
    return null;
  }
  const keys = view.link(['settings', 'keys']);
  return el(
    'section',
    { class: 'card' },
    el('h2', null, 'First steps'),
    el(
      'ol',
      { class: 'steps' },
      step(
        data.hasKeys,
        'Create an API key',
        'Your shop’s server sends it with each call. It is shown once.',
        el('p', null, el('a', { class: 'button', href: keys }, 'Go to API Keys')),
      ),
      step(
        data.hasCharges,
        'Make a first charge',
        view.mode === 'test'
          ? 'In a shell, with your test secret key instead of YOUR_KEY:'
          : 'From your shop, with your live secret key.',
        view.mode === 'test' ? copyBox('First charge', firstChargeLine(view)) : null,
      ),
      step(
        data.hasWebhook,
        'Set a webhook',
        'It reports the outcome of each payment to your shop.',
        el(
          'p',
          null,
          el(
            'a',
            { class: 'button secondary', href: view.link(['settings', 'webhook']) },
            'Go to Webhooks',
          ),
        ),
      ),
    ),
  );
}

function figure(name, value, more) {
  return el(
    'div',
    { class: 'tile' },
    el('dt', null, name),
    el(
      'dd',
      null,
      el('span', { class: 'figure' }, value),
      more ? el('span', { class: 'small' }, more) : null,
    ),
  );
}

function figures(name, total) {
  return el(
    'section',
    { class: 'figures', 'aria-label': `${name}, ${total.currency}` },
    el('h3', null, name),
    el(
      'dl',
      { class: 'tiles' },
      figure('Volume', formatMoney(total.volume, total.currency)),
      figure(
        'Successful charges',
        formatCount(total.charges),
        total.failed ? `${formatCount(total.failed)} failed` : null,
      ),
      figure('Success rate', formatRate(total.successRate)),
      figure(
        'Refunds',
        formatCount(total.refunds),
        isZero(total.refundVolume) ? null : formatMoney(total.refundVolume, total.currency),
      ),
    ),
  );
}

function dayTable(days, currency) {
  const rows = [...days].reverse();
  const columns = [
    { title: 'Day', cell: (day) => formatDay(day.date) },
    { title: 'Volume', kind: 'number', cell: (day) => formatMoney(day.volume, currency) },
    { title: 'Charges', kind: 'number', cell: (day) => formatCount(day.charges) },
    { title: 'Failed', kind: 'number', cell: (day) => formatCount(day.failed) },
    { title: 'Refunds', kind: 'number', cell: (day) => formatCount(day.refunds) },
    { title: 'Refunded', kind: 'number', cell: (day) => formatMoney(day.refundVolume, currency) },
  ];
  return el(
    'div',
    { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': `Days in ${currency}` },
    table(`Each of the last ${days.length} days in ${currency}, newest first`, columns, rows, {
      class: 'dense keep',
    }),
  );
}

function nothing(currency) {
  const zero = (0).toFixed(currencyDigits(currency));
  return {
    currency,
    charges: 0,
    failed: 0,
    successRate: null,
    refunds: 0,
    volume: zero,
    refundVolume: zero,
  };
}

function currencyCard(view, currency, data) {
  const of = (totals) => totals.find((total) => total.currency === currency) ?? nothing(currency);
  const days = data.chart.find((series) => series.currency === currency)?.days ?? [];
  return el(
    'section',
    { class: 'card', 'aria-label': currency },
    el('h2', null, currency),
    el(
      'div',
      { class: 'two' },
      figures('Today', of(data.today)),
      figures('Last 30 days', of(data.days30)),
    ),
    days.length ? [chart(view, days, currency), dayTable(days, currency)] : null,
  );
}

function drawOverview(view, data) {
  const currencies = [
    ...new Set([...data.days30, ...data.today, ...data.chart].map((one) => one.currency)),
  ];
  return [
    attention(view, data),
    firstSteps(view, data),
    currencies.map((currency) => currencyCard(view, currency, data)),
    currencies.length
      ? null
      : el('p', { class: 'small' }, 'Figures and a chart appear here after the first charge.'),
    el('p', { class: 'small' }, `Days are those of ${data.timezone}.`),
  ];
}

export function draw(view) {
  const box = el('div', { class: 'stack' });
  load(
    box,
    view.signal,
    () => view.getScope(['overview'], { tz: timeZone() }),
    (data) => drawOverview(view, data),
  );
  return box;
}
