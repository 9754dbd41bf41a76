// SPDX-License-Identifier: Apache-2.0
// Who may look at this account, and do what.

import { postConfirmed } from './confirm.js';
import { confirmDialog, formDialog } from './dialog.js';
import { el } from './dom.js';
import { field, radios } from './form.js';
import { icon } from './icons.js';
import { load } from './loading.js';
import { tell } from './notice.js';
import { ownersOnly, settingsTabs } from './settings_tabs.js';
import { table } from './table.js';
import { timeElement } from './time.js';
import { ROLE_WORDS, ROLES } from './words.js';

export const title = 'Team';
export const before = settingsTabs;
export const actions = (view) =>
  view.can('owner')
    ? el(
        'button',
        { type: 'button', id: 'add-person', on: { click: () => grantDialog(view, null) } },
        icon('plus'),
        'Add a person',
      )
    : null;

const name = (role) => role[0].toUpperCase() + role.slice(1);

async function changed(view, text) {
  await view.session.refresh();
  tell(text);
  view.redraw();
}

// grant: whose role is changed, or null for somebody new.
function grantDialog(view, grant) {
  formDialog(grant ? `Role of ${grant.user}` : 'Add a person', {
    fields: [
      grant
        ? null
        : field('user', 'User', {
            hint: `The name with which this person signs in at ${view.session.host}`,
            attributes: { autocapitalize: 'none', spellcheck: 'false' },
          }),
      radios(
        'role',
        'Role',
        ROLES.map((role) => [role, name(role), ROLE_WORDS[role]]),
        grant?.role ?? 'viewer',
      ),
    ],
    submit: grant ? 'Change' : 'Add',
    judge: ({ user }) => (grant || user ? {} : { user: 'Whom?' }),
    send: ({ user, role }) =>
      postConfirmed(view, view.accountPath('team'), { user: grant?.user ?? user, role }),
    done: (_, { user, role }) => changed(view, `${grant?.user ?? user} is ${role} now.`),
  });
}

function revokeDialog(view, grant) {
  const self = grant.user === view.session.user;
  confirmDialog(self ? 'Leave this account?' : `Remove ${grant.user}?`, {
    text: self
      ? 'You will not see this account any more. Another owner can add you again.'
      : `${grant.user} will not see this account any more.`,
    submit: self ? 'Leave' : 'Remove',
    send: () => view.api.post(view.accountPath('team', 'revoke'), { user: grant.user }),
    done: () => changed(view, `${grant.user} is removed.`),
  });
}

function buttons(view, grant) {
  if (!view.can('owner') || grant.host !== view.session.host) {
    return '';
  }
  return el(
    'span',
    { class: 'buttons' },
    el(
      'button',
      {
        type: 'button',
        class: 'secondary small',
        'aria-label': `Change role of ${grant.user}`,
        on: { click: () => grantDialog(view, grant) },
      },
      'Change role',
    ),
    el(
      'button',
      {
        type: 'button',
        class: 'ghost danger small',
        'aria-label': `Remove ${grant.user}`,
        on: { click: () => revokeDialog(view, grant) },
      },
      'Remove',
    ),
  );
}

const columns = (view) => [
  {
    title: 'User',
    kind: 'text',
    cell: (row) => [
      row.user,
      row.user === view.session.user ? el('span', { class: 'small' }, 'that is you') : null,
    ],
  },
  { title: 'Role', cell: (row) => name(row.role) },
  { title: 'Signs in at', cell: (row) => row.host },
  { title: 'Since', cell: (row) => timeElement(row.grantedAt) },
  { title: 'Action', kind: 'action', cell: (row) => buttons(view, row) },
];

export function draw(view) {
  const box = el('div', { class: 'list' });
  load(
    box,
    view.signal,
    () => view.getAccount(['team']),
    ({ grants }) =>
      el('div', { class: 'card flush' }, table('Who may use this account', columns(view), grants)),
  );
  return [
    el(
      'p',
      { class: 'intro' },
      ROLES.map((role, i) => [
        i ? ' ' : null,
        el('strong', null, name(role)),
        ` ${ROLE_WORDS[role]}.`,
      ]),
      ' ',
      ownersOnly(view, 'change the team')?.textContent,
    ),
    box,
  ];
}
