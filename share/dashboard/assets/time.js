// SPDX-License-Identifier: Apache-2.0
// Times, in the reader's own zone and language.

import { el } from './dom.js';

export function timeZone() {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return zone && zone !== 'Etc/Unknown' ? zone : 'UTC';
}

// A day, yyyy-mm-dd, is the same day wherever it is read.
export function formatDay(text, locale, style = 'medium') {
  const at = new Date(`${text}T00:00:00Z`);
  if (Number.isNaN(at.getTime())) {
    return text;
  }
  const shape = style === 'short' ? { day: 'numeric', month: 'short' } : { dateStyle: style };
  return new Intl.DateTimeFormat(locale, { ...shape, timeZone: 'UTC' }).format(at);
}

// The date and the hour, each of which stays on one line.
export function timeElement(text) {
  if (!text || Number.isNaN(Date.parse(text))) {
    return '–';
  }
  const at = new Date(text);
  const part = (style) => el('span', null, new Intl.DateTimeFormat(undefined, style).format(at));
  return el(
    'time',
    { datetime: text, title: text },
    part({ dateStyle: 'medium' }),
    ' ',
    part({ timeStyle: 'short' }),
  );
}

// Today in the reader's zone, or `back` days before, as yyyy-mm-dd.
export function dayBefore(back, now = new Date()) {
  const at = new Date(now.getFullYear(), now.getMonth(), now.getDate() - back);
  const two = (n) => String(n).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
