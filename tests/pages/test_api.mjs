// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';

globalThis.document = { baseURI: 'https://shop.example/pay/' };
const { Api, apiAddress } = await import(`${process.env.PAGES}api.js`);

const problem = (code) => ({
  status: false,
  message: 'No.',
  data: { responseCode: code, requestId: 'r1' },
});

// answers: [status, body] in order, or a text that is no JSON, or an error to throw.
function server(...answers) {
  const seen = [];
  const api = new Api(async (url, options) => {
    seen.push({ url, ...options });
    const answer = answers.shift();
    if (answer instanceof Error) {
      throw answer;
    }
    const [status, body] = answer;
    return {
      status,
      ok: status >= 200 && status < 300,
      type: 'basic',
      json: async () => (typeof body === 'string' ? JSON.parse(body) : body),
    };
  });
  return { api, seen };
}

const rejected = (promise) =>
  promise.then(
    () => assert.fail('was not refused'),
    (error) => error,
  );

test('addresses are below api/, what is empty is left out', () => {
  assert.equal(apiAddress('session'), 'https://shop.example/pay/api/session');
  assert.equal(
    apiAddress('a/b', { x: '', y: null, z: 'a&b' }),
    'https://shop.example/pay/api/a/b?z=a%26b',
  );
});

test('a change carries the token of the session', async () => {
  const { api, seen } = server([200, { csrf: 't1' }], [200, { ok: 1 }]);
  await api.session();
  assert.deepEqual(await api.post('a', { b: 1 }), { ok: 1 });
  assert.equal(seen[1].headers['X-CSRF-Token'], 't1');
  assert.equal(seen[1].body, '{"b":1}');
  assert.equal(seen[1].redirect, 'manual');
});

test('a token that ran out is renewed once, and the same request sent again', async () => {
  const { api, seen } = server([403, problem('C1')], [200, { csrf: 't2' }], [200, {}]);
  await api.post('a', { requestId: 'once' });
  assert.deepEqual(
    seen.map(({ method }) => method),
    ['POST', 'GET', 'POST'],
  );
  assert.equal(seen[2].headers['X-CSRF-Token'], 't2');
  assert.equal(seen[0].body, seen[2].body);
});

test('refused for its token twice: no third time', async () => {
  const { api, seen } = server([403, problem('C1')], [200, { csrf: 't2' }], [403, problem('C1')]);
  assert.equal((await rejected(api.post('a'))).status, 403);
  assert.equal(seen.length, 3);
});

for (const [name, answer, known] of [
  ['a refused role', [403, problem('B02')], true],
  ['a conflict', [409, problem('R2')], true],
  ['a failure of the server', [503, problem('E2')], false],
  ['no answer', new TypeError('network'), false],
  ['an answer that is not ours', [200, '<html>'], false],
]) {
  test(`a change is never sent again by itself: ${name}`, async () => {
    const { api, seen } = server(answer);
    const error = await rejected(api.post('a'));
    assert.equal(seen.length, 1);
    assert.equal(error.name, 'ApiError');
    assert.equal(error.outcomeKnown, known);
    assert.ok(error.message.length > 2);
  });
}

test('another page’s redirect is a sign-in', async () => {
  const api = new Api(async () => ({ type: 'opaqueredirect', status: 0, ok: false }));
  assert.equal((await rejected(api.get('session'))).status, 401);
});

test('what the server says is shown, with its request and fields', async () => {
  const body = problem('T1');
  body.data.errors = [{ field: '/amount', reason: 'more than 0' }];
  const error = await rejected(server([400, body]).api.get('a'));
  assert.equal(error.message, 'No.');
  assert.equal(error.requestId, 'r1');
  assert.deepEqual(error.errors, body.data.errors);
});

test('sessions that are asked for at once are one request', async () => {
  const { api, seen } = server([200, { csrf: 't1' }]);
  await Promise.all([api.session(), api.session()]);
  assert.equal(seen.length, 1);
});
