// SPDX-License-Identifier: Apache-2.0
// A test of a webhook or of e-mails: sent by the server, and asked for until it has an answer.

import { tell } from './notice.js';

const ASK_MS = 1000;
const ASKS_MAX = 20;

const pause = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

function told(event) {
  if (event.status >= 200 && event.status <= 299 && !event.error) {
    return 'The test was taken.';
  }
  return `The test was not taken: ${event.error || event.status || 'no answer'}`;
}

// An event that is not there any more was taken.
async function outcome(view, id) {
  for (let i = 0; i < ASKS_MAX; i += 1) {
    await pause(ASK_MS);
    try {
      const event = await view.getScope(['events', id]);
      if (event.answeredAt) {
        return told(event);
      }
    } catch (error) {
      if (error.status === 404) {
        return 'The test was taken.';
      }
      throw error;
    }
  }
  return 'Nobody has sent the test yet; it stands under Events.';
}

// parts: path in the scope, such as webhook, test.
export async function sendTest(view, button, parts) {
  if (button.getAttribute('aria-disabled')) {
    return;
  }
  button.setAttribute('aria-disabled', 'true');
  tell('The test is on its way.');
  try {
    const { event } = await view.api.post(view.scopePath(...parts));
    tell(
      event?.id && !event.answeredAt
        ? await outcome(view, event.id)
        : told(event ?? { status: 200 }),
    );
    if (!view.signal.aborted) {
      view.redraw();
    }
  } catch (error) {
    if (!view.signal.aborted) {
      tell(error.message);
    }
  } finally {
    button.removeAttribute('aria-disabled');
  }
}

// How the deliveries to one receiver go.
export function deliveryFacts(delivery, timeElement) {
  const status = delivery.status ? String(delivery.status) : null;
  return [
    [
      'Deliveries',
      delivery.failing ? 'failing' : delivery.answeredAt ? 'going well' : 'nothing sent yet',
    ],
    ['Failures in a row', delivery.failures ? String(delivery.failures) : null],
    ['Failing since', delivery.failingSince ? timeElement(delivery.failingSince) : null],
    ['Last try', delivery.answeredAt ? timeElement(delivery.answeredAt) : null],
    ['Last answer', [status, delivery.error].filter(Boolean).join(' – ')],
    ['Next delivery', delivery.dueAt ? timeElement(delivery.dueAt) : null],
  ];
}
