// SPDX-License-Identifier: Apache-2.0
// The focus, when a page is made anew: a control that comes from the server is there only later.

let wanted = null;

// The control of this id had the focus; until it is there again the heading has it.
export function wantFocus(id, heading) {
  wanted = id || null;
  heading.focus({ preventScroll: true });
}

// A part of the page is there. Who has moved on meanwhile is left alone.
export function offerFocus(part) {
  const node = wanted && part.querySelector(`#${CSS.escape(wanted)}`);
  if (node && document.activeElement?.matches('main h1')) {
    node.focus({ preventScroll: true });
  }
  if (node) {
    wanted = null;
  }
}
