// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';

const router = await import(`${process.env.PAGES}router.js`);
const { View } = await import(`${process.env.PAGES}session.js`);

for (const [name, fragment, parts, params] of [
  ['nothing', '', [], {}],
  ['a page', '#/charges', ['charges'], {}],
  ['a record', '#/charges/42', ['charges', '42'], {}],
  [
    'parameters',
    '#/charges?state=failed&mode=live',
    ['charges'],
    { state: 'failed', mode: 'live' },
  ],
  ['encoded', '#/links/a%2Fb?reference=a%26b', ['links', 'a/b'], { reference: 'a&b' }],
  ['a percent sign alone', '#/charges/%', ['charges', '%'], {}],
]) {
  test(`parseFragment: ${name}`, () => {
    assert.deepEqual(router.parseFragment(fragment), { parts, params });
  });
}

test('formatFragment leaves out what is empty, and is read back', () => {
  const fragment = router.formatFragment(['links', 'a/b?'], {
    after: '',
    x: null,
    email: 'a+b@x.y&z',
  });
  assert.deepEqual(router.parseFragment(fragment), {
    parts: ['links', 'a/b?'],
    params: { email: 'a+b@x.y&z' },
  });
});

for (const [path, module, args] of [
  ['overview', 'page_overview', []],
  ['charges/42', 'page_charge', ['42']],
  ['settings', 'page_settings_keys', []],
  ['settings/mail', 'page_settings_mail', []],
]) {
  test(`findRoute: ${path}`, () => {
    const route = router.findRoute(path.split('/'));
    assert.equal(route.module, module);
    assert.deepEqual(route.args, args);
  });
}

for (const path of ['nix', 'charges/1/2', 'settings/nix', '__proto__']) {
  test(`findRoute: no page ${path}`, () => {
    assert.equal(router.findRoute(path.split('/')), null);
  });
}

const ACCOUNT = { name: 'a shop', role: 'operator', mode: 'test' };
const view = (params) => new View({ api: null }, { args: [] }, params, ACCOUNT, null);

test('links stay with the account and mode that are looked at', () => {
  assert.equal(view({}).link(['charges']), '#/charges');
  assert.equal(
    view({ mode: 'live', account: 'a shop' }).link(['charges'], { state: 'failed' }),
    '#/charges?state=failed&account=a+shop&mode=live',
  );
  assert.equal(view({ mode: 'live' }).link(['charges'], {}, 'test'), '#/charges');
});

test('a mode that is none is the account’s', () => {
  assert.equal(view({ mode: 'x' }).mode, 'test');
});

test('paths of the API are encoded', () => {
  assert.equal(
    view({}).scopePath('links', 'a/b', 'disable'),
    'accounts/a%20shop/test/links/a%2Fb/disable',
  );
});

test('roles are in an order', () => {
  assert.deepEqual(
    ['viewer', 'operator', 'owner'].map((role) => view({}).can(role)),
    [true, true, false],
  );
});
