// SPDX-License-Identifier: Apache-2.0
// The filters above a list, and the links that take the same records away as a file.

import { apiAddress } from './api.js';
import { el } from './dom.js';
import { valuesOf } from './form.js';
import { icon } from './icons.js';
import { go } from './router.js';
import { timeZone } from './time.js';

// A form whose values become the fragment. read(values) -> parameters.
export function filterForm(view, name, fields, read = (values) => values) {
  const form = el(
    'form',
    { class: 'filter', role: 'search', 'aria-label': name },
    el('div', { class: 'fields' }, fields),
    el(
      'div',
      { class: 'actions' },
      el('button', { type: 'submit', id: 'filter-apply' }, 'Show'),
      el('a', { class: 'button ghost', href: view.here({}) }, 'Clear'),
    ),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    go(view.here(read(valuesOf(form))));
  });
  return form;
}

export function dateFields(view, field) {
  const day = { type: 'date' };
  return [
    field('from', 'From', { ...day, id: 'filter-from', value: view.params.from }),
    field('to', 'To', { ...day, id: 'filter-to', value: view.params.to }),
  ];
}

// What the lists and exports are asked with.
export function rangeOf(params) {
  return { from: params.from, to: params.to, tz: timeZone() };
}

export function exportLinks(view, what) {
  const range = rangeOf(view.params);
  const link = (form) =>
    el(
      'a',
      {
        class: 'button secondary small',
        href: apiAddress(view.scopePath('export', `${what}.${form}`), range),
        download: `${what}-${view.mode}.${form}`,
        'aria-label': `Export ${what} as ${form.toUpperCase()}`,
      },
      icon('download'),
      form.toUpperCase(),
    );
  return el(
    'div',
    { class: 'export', role: 'group', 'aria-label': 'Export' },
    link('csv'),
    link('json'),
  );
}
