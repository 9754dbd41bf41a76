// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import test from 'node:test';

globalThis.crypto ??= webcrypto; // as browsers have it; Node only since 19
globalThis.document = { baseURI: 'https://shop.example/pay/' };
const { OnceKeeper } = await import(`${process.env.PAGES}refund_form.js`);

test('the same request has the same id, another one another', () => {
  const once = new OnceKeeper();
  const first = once.idFor({ amount: '1.00' });
  assert.ok(first.length >= 32);
  assert.equal(once.idFor({ amount: '1.00' }), first);
  assert.notEqual(once.idFor({ amount: '2.00' }), first);
});

test('after an unknown outcome only the same request goes out', () => {
  const once = new OnceKeeper();
  const first = once.idFor({ amount: '1.00' });
  once.lock();
  assert.equal(once.idFor({ amount: '2.00' }), null);
  assert.equal(once.idFor({ amount: '1.00' }), first);
});

test('each form has ids of its own', () => {
  assert.notEqual(new OnceKeeper().idFor({}), new OnceKeeper().idFor({}));
});
