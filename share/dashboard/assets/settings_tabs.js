// SPDX-License-Identifier: Apache-2.0
// The tabs of Settings: each is a page with an address of its own, so they are links.

import { el } from './dom.js';

const TABS = [
  ['keys', 'API Keys'],
  ['webhook', 'Webhooks'],
  ['mail', 'E-mail'],
  ['encryption', 'Encryption key'],
  ['team', 'Team'],
  ['account', 'Account'],
];

export function settingsTabs(view) {
  return el(
    'nav',
    { class: 'tabs', 'aria-label': 'Settings' },
    el(
      'ul',
      null,
      TABS.map(([tab, name]) =>
        el(
          'li',
          null,
          el(
            'a',
            {
              href: view.link(['settings', tab]),
              'aria-current': view.route.name === `settings/${tab}` ? 'page' : null,
            },
            name,
          ),
        ),
      ),
    ),
  );
}

export function ownersOnly(view, what) {
  return view.can('owner') ? null : el('p', { class: 'small' }, `Owners can ${what}.`);
}
