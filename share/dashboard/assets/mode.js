// SPDX-License-Identifier: Apache-2.0
// The account's mode: its switch, which stands at the bottom left of every page, and the question
// before it is turned.

import { postConfirmed } from './confirm.js';
import { el } from './dom.js';
import { formDialog, openDialog } from './dialog.js';
import { field } from './form.js';
import { callout, tell } from './notice.js';
import { modeWord } from './words.js';

export function missingList(missing) {
  const needed = missing.filter(({ essential }) => essential !== false);
  const advice = missing.filter(({ essential }) => essential === false);
  const lines = (list) =>
    el(
      'ul',
      null,
      list.map(({ what, how }) => el('li', null, el('strong', null, what), how ? ` ${how}` : '')),
    );
  return [
    needed.length
      ? callout('warn', el('p', null, 'What is missing for Live Mode:'), lines(needed))
      : null,
    advice.length
      ? callout('plain', el('p', null, 'Recommended before you go live:'), lines(advice))
      : null,
  ];
}

function notReady(account) {
  openDialog(
    'Not ready to go live',
    (close) => [
      missingList(account.live.missing ?? []),
      el(
        'div',
        { class: 'actions' },
        el('button', { type: 'button', on: { click: close } }, 'Close'),
      ),
    ],
    undefined,
    false,
  );
}

function goLive(view, account, done) {
  if (account.live?.ready === false) {
    notReady(account);
    return;
  }
  formDialog('Go live?', {
    intro: [
      el('p', null, 'In Live Mode the live keys start charges and refunds: real money moves.'),
      missingList(account.live?.missing ?? []),
    ],
    fields: field('account', `Type the account’s name, ${view.account}, to go live`, {
      attributes: { autocapitalize: 'none', spellcheck: 'false' },
    }),
    submit: 'Go live',
    tone: 'danger',
    judge: ({ account: typed }) =>
      typed === view.account ? {} : { account: `Type ${view.account}, exactly.` },
    send: ({ account: typed }) =>
      postConfirmed(view, view.accountPath('mode'), {
        mode: 'live',
        confirm: { account: typed },
      }),
    done,
  });
}

function goTest(view, done) {
  formDialog('Go back to Test Mode?', {
    intro: el(
      'p',
      null,
      'Live keys then start no more charges and refunds: calls of shops that take real ' +
      'payments are refused. Work that was begun is finished.',
    ),
    submit: 'Go to Test Mode',
    tone: 'danger',
    send: () => view.api.post(view.accountPath('mode'), { mode: 'test' }),
    done,
  });
}

async function ask(view, changed) {
  const done = async () => {
    await view.session.refresh();
    changed();
    tell(`The account is now in ${modeWord(view.accountMode === 'live' ? 'test' : 'live')}.`);
  };
  if (view.accountMode === 'live') {
    goTest(view, done);
    return;
  }
  try {
    goLive(view, await view.getAccount(['account']), done);
  } catch (error) {
    if (!view.signal.aborted) {
      tell(error.message, false);
    }
  }
}

// changed(): the switch was turned.
export function modeSwitch(view, changed) {
  const live = view.accountMode === 'live';
  const owner = view.can('owner');
  const reason = owner ? null : 'Only owners can switch.';
  const button = el(
    'button',
    {
      type: 'button',
      role: 'switch',
      id: 'mode-switch',
      class: `switch ${view.accountMode}`,
      'aria-checked': live ? 'true' : 'false',
      'aria-label': 'Live Mode',
      'aria-disabled': owner ? null : 'true',
      'aria-describedby': 'mode-says',
    },
    el('span', { class: 'knob', 'aria-hidden': 'true' }),
  );
  button.addEventListener('click', () => owner && ask(view, changed));
  return el(
    'div',
    { class: 'mode-switch' },
    button,
    el(
      'div',
      { id: 'mode-says' },
      el('strong', null, modeWord(view.accountMode)),
      el('span', { class: 'small' }, reason ?? (live ? 'Real money moves.' : 'No money moves.')),
    ),
  );
}

// Where the other mode shows the same: its records have other numbers.
function placeOf(route) {
  return route.args.length ? [route.section] : route.name.split('/');
}

// The line at the top: Test Mode, and looking at the other mode than the account is in.
export function modeBanner(view) {
  const other = view.mode !== view.accountMode;
  if (view.mode === 'live' && !other) {
    return null;
  }
  const back = other
    ? el(
        'a',
        { href: view.link(placeOf(view.route), {}, view.accountMode) },
        `Back to ${modeWord(view.accountMode)}`,
      )
    : null;
  return el(
    'p',
    null,
    el('strong', null, modeWord(view.mode)),
    view.mode === 'test' ? ' – test records, no money moves. ' : ' – real payments. ',
    other ? `The account itself is in ${modeWord(view.accountMode)}. ` : null,
    back,
  );
}
