// SPDX-License-Identifier: Apache-2.0
// Changes that the server wants confirmed: the password, or the code that it has sent, is asked for
// here, and goes with this one request and nowhere else.

import { formDialog } from './dialog.js';
import { el } from './dom.js';
import { field } from './form.js';

const WANTED = 'C3';

// What the server may ask for, by the member that it says is missing.
const WAYS = {
  '/confirm/password': {
    name: 'password',
    label: 'Your password',
    missing: 'Enter your password.',
    options: {
      type: 'password',
      hint: 'The one with which you signed in',
      attributes: { autocomplete: 'current-password' },
    },
  },
  '/confirm/code': {
    name: 'code',
    label: 'Code',
    missing: 'Enter the code that was sent.',
    options: {
      hint: 'Eight letters and digits, from the e-mail about this change',
      attributes: {
        autocomplete: 'one-time-code',
        autocapitalize: 'characters',
        spellcheck: 'false',
        maxlength: 20,
      },
    },
  },
};

function wayOf(error) {
  return error.code === WANTED ? WAYS[error.errors[0]?.field] : undefined;
}

// For programs that keep passwords: whose it is.
function userName(view) {
  return el('input', {
    type: 'text',
    autocomplete: 'username',
    value: view.session.user,
    readonly: true,
    hidden: true,
  });
}

function ask(view, path, body, way, text) {
  const { name, label, missing, options } = way;
  return new Promise((resolve, reject) => {
    const dialog = formDialog('Confirm that it is you', {
      intro: el('p', null, text),
      fields: [field(name, label, options), name === 'password' ? userName(view) : null],
      submit: 'Confirm',
      judge: (values) => (values[name] ? {} : { [name]: missing }),
      send: async (values) => {
        const more = { ...body, confirm: { ...body.confirm, [name]: values[name] } };
        try {
          return { answer: await view.api.post(path, more) };
        } catch (error) {
          const other = wayOf(error);
          if (other && other !== way) {
            return { more, other, text: error.message }; // a password that says nothing: a code
          }
          throw error;
        }
      },
      done: ({ answer, more, other, text: next }) =>
        resolve(other ? ask(view, path, more, other, next) : answer),
    });
    dialog.addEventListener('close', () =>
      reject(new Error('It was not confirmed: nothing was changed.')),
    );
  });
}

// A change, as view.api.post. The server says whether it must be confirmed, and how.
export async function postConfirmed(view, path, body = {}) {
  try {
    return await view.api.post(path, body);
  } catch (error) {
    const way = wayOf(error);
    if (!way) {
      throw error;
    }
    return ask(view, path, body, way, error.message);
  }
}
