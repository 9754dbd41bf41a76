// SPDX-License-Identifier: Apache-2.0
// How the deliveries to one receiver go.

import { facts } from './table.js';
import { timeElement } from './time.js';

const STANDINGS = {
  off: 'switched off',
  new: 'nothing sent yet',
  well: 'going well',
  failing: 'failing',
};

// A test is tried once, and counts for nothing in how the deliveries go.
function standingWord({ standing, lastError }) {
  return standing === 'well' && lastError
    ? 'going well, but for the last one'
    : (STANDINGS[standing] ?? standing);
}

const time = (at) => (at ? timeElement(at) : null);

// `before`: pairs that stand above.
export function deliveryFacts(delivery, before = []) {
  const { failures, failingSince, dueAt } = delivery;
  const status = delivery.lastStatus ? String(delivery.lastStatus) : null;
  return facts([
    ...before,
    ['Deliveries', standingWord(delivery)],
    ['Failures in a row', failures ? String(failures) : null],
    ['Failing since', time(failingSince)],
    ['Last try', time(delivery.lastAnsweredAt)],
    ['Last answer', [status, delivery.lastError].filter(Boolean).join(' – ')],
    ['Next delivery', time(dueAt)],
  ]);
}
