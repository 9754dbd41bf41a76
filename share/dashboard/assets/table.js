// SPDX-License-Identifier: Apache-2.0
// Tables: a caption, heads with scope, a row's first cell as its head. On a narrow screen each row
// is a card, so the roles, which that display would take away, are named.

import { el } from './dom.js';

// columns: [{title, cell(row) -> child, kind}]; kind: "number", "action" or nothing. The first is
// the head of its row.
export function table(caption, columns, rows, options = {}) {
  const head = el(
    'tr',
    { role: 'row' },
    columns.map((column) =>
      el('th', { role: 'columnheader', scope: 'col', class: column.kind }, column.title),
    ),
  );
  const body = rows.map((row) =>
    el(
      'tr',
      { role: 'row' },
      columns.map((column, i) => cell(column, row, i)),
    ),
  );
  return el(
    'table',
    { role: 'table', class: options.class },
    el('caption', { class: options.showCaption ? null : 'hidden' }, caption),
    el('thead', { role: 'rowgroup' }, head),
    el('tbody', { role: 'rowgroup' }, body),
  );
}

function cell(column, row, index) {
  const content = el('span', { class: 'cell' }, column.cell(row));
  const attributes = {
    class: column.kind,
    'data-title': column.kind === 'action' ? null : column.title,
  };
  return index === 0
    ? el('th', { role: 'rowheader', scope: 'row', ...attributes }, content)
    : el('td', { role: 'cell', ...attributes }, content);
}

// Pairs of a name and what it is; empty ones are left out.
export function facts(pairs) {
  return el(
    'dl',
    { class: 'facts' },
    pairs
      .filter(([, value]) => value !== null && value !== undefined && value !== '')
      .map(([name, value]) => el('div', null, el('dt', null, name), el('dd', null, value))),
  );
}
