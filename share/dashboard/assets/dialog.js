// SPDX-License-Identifier: Apache-2.0
// Dialogs: modal, closed by Escape, the focus goes back to where it was.

import { el, newId } from './dom.js';
import { workingForm } from './form.js';
import { icon } from './icons.js';

// Opens a dialog with `title`; fill(close) -> content. `stays`() true: it cannot be closed now.
// `cross` false: it has no button of its own for that.
export function openDialog(title, fill, stays = () => false, cross = true) {
  const before = document.activeElement;
  const id = newId('dialog');
  const dialog = el('dialog', { 'aria-labelledby': id, class: 'dialog' });
  const close = () => {
    if (!stays()) {
      dialog.close();
    }
  };
  const closer = el(
    'button',
    { type: 'button', class: 'ghost icon-only', 'aria-label': 'Close', on: { click: close } },
    icon('close'),
  );

  dialog.append(
    el(
      'div',
      { class: 'dialog-head' },
      el('h2', { id, tabindex: '-1' }, title),
      cross ? closer : '',
    ),
    el(
      'div',
      { class: 'dialog-body' },
      fill(() => dialog.close()),
    ),
  );
  const hold = (event) => {
    if (stays()) {
      event.preventDefault();
    }
  };
  dialog.addEventListener('cancel', hold);
  // The second Escape in a row closes a dialog whatever `cancel` says, unless its key did nothing.
  dialog.addEventListener('keydown', (event) => event.key === 'Escape' && hold(event));
  dialog.addEventListener('close', () => {
    dialog.remove();
    const back = before?.isConnected ? before : document.querySelector('main h1');
    back?.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
  (
    dialog.querySelector('[autofocus]') ??
    dialog.querySelector('form :is(input, select, textarea)') ??
    dialog.querySelector('h2')
  ).focus();
  return dialog;
}

// A form in a dialog, which is returned. options: as of workingForm, and intro; send's answer goes
// to done.
export function formDialog(title, options) {
  let form = null;
  const stays = () => form?.isBusy() ?? false;

  return openDialog(
    title,
    (close) => {
      const cancel = el(
        'button',
        { type: 'button', class: 'secondary', on: { click: () => stays() || close() } },
        options.cancel ?? 'Cancel',
      );
      form = workingForm({
        ...options,
        beside: cancel,
        send: async (values) => {
          const answer = await options.send(values);
          close();
          await options.done?.(answer, values);
        },
      });
      return [options.intro, form];
    },
    stays,
  );
}

// A question with one consequence.
export function confirmDialog(title, { text, submit, tone = 'danger', send, done }) {
  formDialog(title, {
    intro: [text].flat().map((line) => (line instanceof Node ? line : el('p', null, line))),
    submit,
    tone,
    send,
    done,
  });
}

// Something that is shown this once. It is closed by its one button only.
export function onceDialog(title, content, button, done) {
  let may = false;
  openDialog(
    title,
    (close) => [
      content,
      el(
        'div',
        { class: 'actions' },
        el(
          'button',
          {
            type: 'button',
            autofocus: true,
            on: {
              click: () => {
                may = true;
                close();
                done?.();
              },
            },
          },
          button,
        ),
      ),
    ],
    () => !may,
    false,
  );
}
