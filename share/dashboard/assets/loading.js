// SPDX-License-Identifier: Apache-2.0
// A part of a page that comes from the server: loading, shown, or failed with a button to try
// again.

import { el, replace } from './dom.js';
import { offerFocus } from './focus.js';
import { errorBox } from './notice.js';

// Fills `box` with what `draw` makes of the answer. `signal`: the page is left, nothing is shown.
export async function load(box, signal, ask, draw) {
  box.setAttribute('aria-busy', 'true');
  if (!box.hasChildNodes()) {
    replace(box, el('p', { class: 'loading' }, 'Loading'));
  }
  try {
    const answer = await ask();
    if (signal?.aborted) {
      return;
    }
    replace(box, draw(answer));
    offerFocus(box);
  } catch (error) {
    if (signal?.aborted) {
      return;
    }
    if (error.name !== 'ApiError') {
      console.error(error);
    }
    replace(
      box,
      failure(error, () => load(box, signal, ask, draw)),
    );
  } finally {
    box.removeAttribute('aria-busy');
  }
}

function failure(error, again) {
  const button = el('button', { type: 'button', on: { click: again } }, 'Try again');
  const shown = errorBox(error, 'This could not be loaded');
  shown.lastChild.append(el('p', null, button));
  return shown;
}
