// SPDX-License-Identifier: Apache-2.0
// Lists of any length, a page at a time. The cursor stands in the fragment, so that reload, a
// bookmark and the back button show the same page.

import { el } from './dom.js';
import { icon } from './icons.js';
import { load } from './loading.js';
import { say } from './notice.js';
import { table } from './table.js';

const PAGE_ROWS = 25;
const ASKS_MAX = 8; // of one page: a search answers what it found, and where to go on

async function readPage(ask, after) {
  const items = [];
  let next = after || null;
  let asks = 0;

  do {
    const answer = await ask({ limit: PAGE_ROWS - items.length, after: next });
    items.push(...answer.items);
    next = answer.next;
    asks += 1;
  } while (next && items.length < PAGE_ROWS && asks < ASKS_MAX);
  return { items, next, complete: !next || items.length >= PAGE_ROWS };
}

function pager(view, params, page) {
  const links = [];
  if (params.after) {
    links.push(
      el(
        'a',
        { class: 'button secondary', href: view.here({ ...params, after: '' }) },
        icon('back'),
        'First page',
      ),
    );
  }
  if (page.next) {
    links.push(
      el(
        'a',
        { class: 'button secondary next', href: view.here({ ...params, after: page.next }) },
        page.complete ? 'Next page' : 'Search on',
        icon('forward'),
      ),
    );
  }
  return links.length ? el('nav', { class: 'pager', 'aria-label': 'Pages' }, links) : null;
}

// options: caption, columns, ask({limit, after}) -> {items, next}, empty -> child, params (of the
// fragment, without account and mode), before(items) -> child.
export function list(view, options) {
  const { caption, columns, ask, empty, params = {}, before } = options;
  const box = el('div', { class: 'list' });

  load(
    box,
    view.signal,
    () => readPage(ask, view.params.after),
    (page) => {
      const count = page.items.length;
      say(count === 1 ? '1 row' : `${count} rows`);
      const shown = { ...params, after: view.params.after };
      if (count === 0 && page.complete && !view.params.after) {
        return empty();
      }
      return [
        before?.(page.items),
        count
          ? el('div', { class: 'card flush' }, table(caption, columns, page.items))
          : el(
              'p',
              { class: 'empty' },
              page.complete
                ? 'There is nothing more.'
                : 'Nothing found so far; you can continue the search.',
            ),
        pager(view, shown, page),
      ];
    },
  );
  return box;
}

export function emptyState(title, ...content) {
  return el('div', { class: 'card empty' }, el('h2', null, title), content);
}
