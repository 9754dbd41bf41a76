// SPDX-License-Identifier: Apache-2.0
// Forms: a label above each input, a hint, and the fault beside it that the input is at.

import { append, el, newId, replace } from './dom.js';
import { showError } from './notice.js';

// One input. options: hint, type, value, choices [[value, text]], required, rows, and attributes.
export function field(name, label, options = {}) {
  const { hint, choices, rows, value, type = 'text', attributes = {}, wide } = options;
  const id = options.id ?? newId(name);
  const hintId = `${id}-hint`;
  const faultId = `${id}-fault`;
  const common = {
    id,
    name,
    value,
    required: options.required,
    ...attributes,
    'aria-describedby': hint ? `${hintId} ${faultId}` : faultId,
  };
  let input;
  if (choices) {
    input = el(
      'select',
      common,
      choices.map(([key, text]) => el('option', { value: key }, text)),
    );
  } else if (rows) {
    input = el('textarea', { rows, ...common });
  } else {
    input = el('input', { type, autocomplete: 'off', ...common });
  }
  return el(
    'div',
    { class: `field${wide ? ' wide' : ''}` },
    el('label', { for: id }, label),
    hint ? el('span', { class: 'hint', id: hintId }, hint) : null,
    el('span', { class: 'fault', id: faultId }),
    input,
  );
}

// A choice of one among few, each with its word.
export function radios(name, legend, choices, chosen) {
  return el(
    'fieldset',
    { class: 'choices' },
    el('legend', null, legend),
    choices.map(([value, text, more]) => {
      const id = newId(name);
      const input = el('input', { type: 'radio', name, id, value, checked: value === chosen });
      return el(
        'div',
        { class: 'choice' },
        input,
        el('label', { for: id }, text, more ? el('span', { class: 'hint' }, more) : null),
      );
    }),
  );
}

export function checkbox(name, label, checked, hint) {
  const id = newId(name);
  const hintId = `${id}-hint`;
  return el(
    'div',
    { class: 'choice' },
    el('input', { type: 'checkbox', name, id, checked, 'aria-describedby': hint ? hintId : null }),
    el('label', { for: id }, label, hint ? el('span', { class: 'hint', id: hintId }, hint) : null),
  );
}

export function valuesOf(form) {
  const values = {};
  for (const input of form.elements) {
    if (!input.name) {
      continue;
    }
    if (input.type === 'checkbox') {
      values[input.name] = input.checked;
    } else if (input.type !== 'radio' || input.checked) {
      values[input.name] = input.type === 'password' ? input.value : input.value.trim();
    }
  }
  return values;
}

// Shows the faults {name: sentence}, goes to the first; true if nothing is at fault.
export function showFaults(form, faults) {
  let first = null;
  for (const input of form.elements) {
    const place = input.id && document.getElementById(`${input.id}-fault`);
    if (!place) {
      continue;
    }
    const fault = faults[input.name];
    place.textContent = fault ?? '';
    if (fault) {
      input.setAttribute('aria-invalid', 'true');
      first ??= input;
    } else {
      input.removeAttribute('aria-invalid');
    }
  }
  first?.focus();
  return !first;
}

// The server's errors [{field: "/amount", reason}] beside the inputs of that name; true when each
// had one.
function showErrors(form, error) {
  const faults = {};
  const errors = error.errors ?? [];
  for (const { field: pointer, reason } of errors) {
    faults[String(pointer).split('/').pop()] = reason;
  }
  const placed = errors.length > 0 && Object.keys(faults).every((name) => form.elements[name]);
  showFaults(form, placed ? faults : {});
  return placed;
}

// A form that does its work once: while it is under way it cannot be sent again.
// judge(values) -> faults; send(values) -> promise; failed(error), optional, after it is shown.
export function workingForm({ fields, submit, tone, judge, send, failed, beside }) {
  const fault = el('div', { class: 'form-fault' });
  const button = el('button', { type: 'submit', class: tone }, submit);
  const form = el(
    'form',
    { novalidate: true },
    fault,
    fields,
    el('div', { class: 'actions' }, beside, button),
  );
  let busy = false;

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const values = valuesOf(form);
    if (busy || !showFaults(form, judge?.(values) ?? {})) {
      return;
    }
    busy = true;
    replace(fault);
    button.setAttribute('aria-disabled', 'true');
    button.textContent = 'One moment';
    form.setAttribute('aria-busy', 'true');
    try {
      await send(values);
    } catch (error) {
      if (!showErrors(form, error)) {
        showError(fault, error).focus();
      }
      failed?.(error, form);
    } finally {
      busy = false;
      form.removeAttribute('aria-busy');
      button.removeAttribute('aria-disabled');
      button.textContent = submit;
    }
  });
  form.isBusy = () => busy;
  return form;
}

export function fieldRow(...fields) {
  return append(el('div', { class: 'fields' }), ...fields);
}
