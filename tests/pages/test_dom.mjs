// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';

// As much of a document as the builder touches.
class Node {
  children = [];
  attributes = {};
  append(child) {
    this.children.push(child);
  }
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
}
globalThis.Node = Node;
globalThis.document = { baseURI: 'https://shop.example/pay/', createElement: () => new Node() };
const { el, isSafeAddress } = await import(`${process.env.PAGES}dom.js`);

test('texts stay texts', () => {
  assert.deepEqual(el('p', null, '<b>', 1, null, false, [['x']]).children, ['<b>', '1', 'x']);
});

for (const name of ['onclick', 'onerror', 'style', 'srcdoc']) {
  test(`no attribute ${name}`, () => {
    assert.throws(() => el('p', { [name]: 'x' }));
  });
}

for (const [address, safe] of [
  ['https://shop.example/', true],
  ['http://127.0.0.1:8080/x', true],
  ['#/charges', true],
  ['/logo.png', true],
  ['javascript:alert(1)', false],
  [' \tjava\nscript:alert(1)', false],
  ['data:text/html,x', false],
  ['vbscript:x', false],
  ['https://[', false],
]) {
  test(`an address: ${JSON.stringify(address)}`, () => {
    assert.equal(isSafeAddress(address), safe);
    assert.equal('href' in el('a', { href: address }).attributes, safe);
  });
}

test('what is not there is no attribute', () => {
  assert.deepEqual(el('p', { a: null, b: undefined, c: false, d: true, e: 0 }).attributes, {
    d: '',
    e: '0',
  });
});
