// SPDX-License-Identifier: Apache-2.0
// A test of a webhook or of e-mails: sent by the server, and asked for until it has an answer.

import { tell } from './notice.js';

const ASK_MS = 1000;
const ASKS_MAX = 20;

const pause = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

// The event once it was tried; null: it is not there any more, which is to say that it was taken.
// Undefined: nobody has tried it.
async function tried(view, event) {
  let now = event;
  for (let i = 0; i < ASKS_MAX && !now.answeredAt; i += 1) {
    await pause(ASK_MS);
    try {
      now = await view.getScope(['events', event.id]);
    } catch (error) {
      if (error.status === 404) {
        return null;
      }
      throw error;
    }
  }
  return now.answeredAt ? now : undefined;
}

function tellOutcome(event) {
  if (event === undefined) {
    tell('The test has not been sent yet; it is listed under Events.', false);
  } else if (event === null || !event.error) {
    tell('The test was accepted.');
  } else {
    tell(`The test was not accepted: ${event.error || event.status || 'no answer'}`, false);
  }
}

// `of`: "webhook" or "mail".
export async function sendTest(view, button, of) {
  if (button.getAttribute('aria-disabled')) {
    return;
  }
  button.setAttribute('aria-disabled', 'true');
  tell('The test is being sent.');
  try {
    const { event } = await view.api.post(view.scopePath(of, 'test'));
    tellOutcome(await tried(view, event));
    if (!view.signal.aborted) {
      view.redraw();
    }
  } catch (error) {
    if (!view.signal.aborted) {
      tell(error.message, false);
    }
  } finally {
    button.removeAttribute('aria-disabled');
  }
}
