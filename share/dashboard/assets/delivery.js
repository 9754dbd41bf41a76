// SPDX-License-Identifier: Apache-2.0
// How the deliveries to one receiver go.

import { facts } from './table.js';
import { timeElement } from './time.js';

// A test is tried once, and counts for nothing in whether the deliveries fail.
function standing({ failing, answeredAt, error }) {
  if (failing) {
    return 'failing';
  }
  if (!answeredAt) {
    return 'nothing sent yet';
  }
  return error ? 'working, except for the last one' : 'going well';
}

const time = (at) => (at ? timeElement(at) : null);

// `before`: pairs that stand above.
export function deliveryFacts(delivery, before = []) {
  const { failures, status, error } = delivery;
  return facts([
    ...before,
    ['Deliveries', standing(delivery)],
    ['Failures in a row', failures ? String(failures) : null],
    ['Failing since', time(delivery.failingSince)],
    ['Last attempt', time(delivery.answeredAt)],
    ['Last answer', [status ? String(status) : null, error].filter(Boolean).join(' – ')],
    ['Next delivery', time(delivery.dueAt)],
  ]);
}
