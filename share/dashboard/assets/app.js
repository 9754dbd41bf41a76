// SPDX-License-Identifier: Apache-2.0
// Starts here: who is there, then the page that the fragment names, and again whenever it changes.

import { Api } from './api.js';
import { append, el, replace } from './dom.js';
import { offerFocus, wantFocus } from './focus.js';
import { callout, errorBox } from './notice.js';
import { findRoute, formatFragment, go, HOME, parseFragment } from './router.js';
import { Session, View } from './session.js';
import { clearShell, drawShell, prepareShell, titleOf } from './shell.js';

const main = document.getElementById('main');
const api = new Api();
let session = null;
let leave = new AbortController();
let shownPath = null;

function plainPage(title, ...content) {
  document.title = title;
  replace(main, el('div', { class: 'page narrow' }, el('h1', { tabindex: '-1' }, title), content));
}

function noAccount() {
  const { user, host } = session;
  clearShell();
  plainPage(
    'No account yet',
    el('p', null, `You are signed in as ${user}, and you have no account on this server.`),
    callout(
      'plain',
      el('p', null, 'Ask the server’s administrator to run:'),
      el(
        'pre',
        { class: 'copied', tabindex: '0' },
        el('code', null, `paymentsctl account grant ACCOUNT ${user} --host ${host} --role owner`),
      ),
    ),
    el('p', null, 'Then load this page again.'),
  );
}

function notFound(what, href) {
  plainPage(
    'Not found',
    el('p', null, what),
    el('p', null, el('a', { class: 'button', href }, 'Go to the overview')),
  );
}

function failed(error, again) {
  const button = el('button', { type: 'button', on: { click: again } }, 'Try again');
  plainPage('The dashboard could not be loaded', errorBox(error), el('p', null, button));
}

// The head of a page: its name, and what can be done on it.
function pageHead(page, view) {
  return el(
    'div',
    { class: 'page-head' },
    el('h1', { tabindex: '-1' }, typeof page.title === 'function' ? page.title(view) : page.title),
    page.actions ? el('div', { class: 'actions' }, page.actions(view)) : null,
  );
}

// Where the focus goes: to the heading of another page; on the same one it stays where it was, at
// the control of the same id if that was made anew.
function placeFocus(path, focused) {
  const heading = main.querySelector('h1');
  if (shownPath !== null && shownPath !== path) {
    scrollTo(0, 0);
    heading.focus({ preventScroll: true });
  } else if (shownPath !== null && document.activeElement === document.body) {
    wantFocus(focused, heading);
    offerFocus(main);
  }
  shownPath = path;
}

async function showPage(view, path) {
  const page = await import(`./${view.route.module}.js`);
  if (view.signal.aborted) {
    return;
  }
  const focused = document.activeElement?.id;
  const box = el('div', { class: 'page' });
  const title = typeof page.title === 'function' ? page.title(view) : page.title;

  append(box, page.before?.(view), pageHead(page, view), page.draw(view));
  replace(main, box);
  document.title = titleOf(view, title);
  placeFocus(path, focused);
}

async function show() {
  const { parts, params } = parseFragment(location.hash);
  if (!parts.length) {
    go(formatFragment(HOME, params), true);
    return;
  }
  leave.abort();
  leave = new AbortController();
  for (const dialog of document.querySelectorAll('dialog')) {
    dialog.close();
  }
  if (!session.accounts.length) {
    noAccount();
    return;
  }
  const route = findRoute(parts);
  const account = session.accountOf(params);
  const home = formatFragment(HOME);
  if (!account) {
    notFound(`There is no account ${params.account}, or you may not see it.`, home);
    return;
  }
  const view = new View(
    session,
    route ?? { name: '', section: '', args: [] },
    params,
    account,
    leave.signal,
  );
  view.redraw = show;
  drawShell(view, show);
  if (!route) {
    notFound('There is no such page.', view.link(HOME));
    return;
  }
  try {
    await showPage(view, `${parts.join('/')} ${view.account}`);
  } catch (error) {
    console.error(error);
    failed(error, () => location.reload());
  }
}

async function start() {
  try {
    session = new Session(api, await api.session());
  } catch (error) {
    failed(error, start);
    return;
  }
  addEventListener('hashchange', show);
  await show();
}

prepareShell();
start();
