// SPDX-License-Identifier: Apache-2.0
// What stands around every page: name, navigation, mode.

import { el, replace } from './dom.js';
import { icon } from './icons.js';
import { modeBanner, modeSwitch } from './mode.js';
import { formatFragment, go } from './router.js';
import { modeWord } from './words.js';

const SECTIONS = [
  ['overview', 'Overview'],
  ['charges', 'Charges'],
  ['refunds', 'Refunds'],
  ['events', 'Events'],
  ['links', 'Links'],
  ['settings', 'Settings'],
];

const byId = (id) => document.getElementById(id);

function openMenu(open) {
  byId('shell').classList.toggle('menu-open', open);
  byId('menu-button')?.setAttribute('aria-expanded', open ? 'true' : 'false');
}

function brand() {
  return el(
    'span',
    { class: 'brand' },
    el('img', { src: 'assets/icon.svg', alt: '', width: 28, height: 28 }),
    'Payments',
  );
}

function topBar() {
  const button = el(
    'button',
    {
      type: 'button',
      class: 'ghost icon-only',
      id: 'menu-button',
      'aria-label': 'Menu',
      'aria-expanded': 'false',
      'aria-controls': 'side',
    },
    icon('menu'),
  );
  button.addEventListener('click', () => openMenu(button.getAttribute('aria-expanded') !== 'true'));
  return [brand(), button];
}

// With one account its name; with more a choice.
function accountPart(view) {
  const { accounts } = view.session;
  if (accounts.length === 1) {
    return el('p', { class: 'account' }, view.account);
  }
  const select = el(
    'select',
    { id: 'account', value: view.account },
    accounts.map(({ name }) => el('option', { value: name }, name)),
  );
  select.addEventListener('change', () => {
    openMenu(false);
    go(formatFragment(['overview'], { account: select.value }));
  });
  return el(
    'div',
    { class: 'account' },
    el('label', { for: 'account', class: 'hidden' }, 'Account'),
    select,
  );
}

function navigation(view) {
  const items = SECTIONS.map(([section, name]) => {
    const here = view.route.section === section;
    return el(
      'li',
      null,
      el(
        'a',
        {
          href: view.link(
            [section === 'settings' ? 'settings/keys' : section].flatMap((p) => p.split('/')),
          ),
          'aria-current': here ? (view.route.name === section ? 'page' : 'true') : null,
          on: { click: () => openMenu(false) },
        },
        icon(section),
        name,
      ),
    );
  });
  return el('nav', { 'aria-label': 'Main' }, el('ul', null, items));
}

function person(view) {
  return el(
    'p',
    { class: 'person small' },
    'Signed in as ',
    el('strong', null, view.session.user),
    `, ${view.role}`,
  );
}

// The parts that stay the same are made anew each time: they are small, and nothing in them can be
// out of date. The focus stays where it was.
export function drawShell(view, changed) {
  const focused = document.activeElement?.id;

  document.documentElement.dataset.mode = view.mode;
  if (!byId('menu-button')) {
    replace(byId('top'), topBar());
  }
  replace(byId('side'), brand(), accountPart(view), navigation(view), person(view));
  replace(byId('banner'), modeBanner(view));
  byId('banner').hidden = !byId('banner').hasChildNodes();
  byId('banner').classList.toggle('live', view.mode === 'live');
  replace(byId('modebar'), modeSwitch(view, changed));
  openMenu(false);
  if (focused && document.activeElement?.id !== focused) {
    byId(focused)?.focus();
  }
}

// Nobody is there for whom it could be drawn.
export function clearShell() {
  for (const id of ['top', 'side', 'banner', 'modebar']) {
    replace(byId(id));
  }
  byId('banner').hidden = true;
}

export function titleOf(view, title) {
  return `${title} – ${view.account}, ${modeWord(view.mode)}`;
}

export function prepareShell() {
  byId('skip').addEventListener('click', (event) => {
    event.preventDefault(); // the fragment is the page's address
    byId('main').focus();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape' && byId('shell').classList.contains('menu-open')) {
      openMenu(false);
      byId('menu-button').focus();
    }
  });
}
