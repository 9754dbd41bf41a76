// SPDX-License-Identifier: Apache-2.0
// Elements, made one by one: whatever is shown goes through text nodes and named attributes, so
// that nothing a user gave can become markup, a script or a style.

const SVG = 'http://www.w3.org/2000/svg';

// Attributes that hold an address: only what cannot run a script.
const ADDRESSES = new Set(['href', 'src', 'action', 'formaction']);
const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

export function isSafeAddress(value) {
  try {
    return SCHEMES.has(new URL(value, document.baseURI).protocol);
  } catch {
    return false;
  }
}

function setAttribute(node, name, value) {
  if (value === undefined || value === null || value === false) {
    return;
  }
  if (name.startsWith('on') || name === 'style' || name === 'srcdoc') {
    throw new Error(`no attribute ${name} here`);
  }
  if (ADDRESSES.has(name) && !isSafeAddress(value)) {
    return;
  }
  node.setAttribute(name, value === true ? '' : String(value));
}

// Functions in `on` become listeners, `value` a property, the rest attributes.
function setAll(node, attributes) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'on') {
      for (const [event, listener] of Object.entries(value)) {
        node.addEventListener(event, listener);
      }
    } else if (name === 'value') {
      node.value = value ?? '';
    } else {
      setAttribute(node, name, value);
    }
  }
}

// Children: nodes, lists of them, texts; null, undefined and false are left out.
export function append(node, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) {
      node.append(child instanceof Node ? child : String(child));
    }
  }
  return node;
}

export function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  append(node, children); // before value: that of a select names one of its options
  setAll(node, attributes);
  return node;
}

export function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG, tag);
  setAll(node, attributes);
  return append(node, children);
}

export function replace(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

let last = 0;

// An id that no other element has.
export function newId(prefix) {
  last += 1;
  return `${prefix}-${last}`;
}
