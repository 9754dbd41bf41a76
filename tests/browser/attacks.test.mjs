// SPDX-License-Identifier: Apache-2.0
// What another site can make the browser of an owner do. Here all requests of this browser are signed in, wherever they
// begin, as they are with client certificates: Basic's passwords are kept from frames of other sites by Chromium itself.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, afterEach, before, test } from 'node:test';

import { Browser } from './browser.mjs';
import { World } from './world.mjs';

const EVIL = 'evil.example';
const OLGA = Buffer.from('olga:right').toString('base64');
let world;
let browser;
let one;

before(async () => {
  world = await World.start(['olga'], {
    extra: `ServerAlias ${EVIL}\nRequestHeader setifempty Authorization "Basic ${OLGA}" early`,
  });
  await world.do('account', 'bakery', { olga: 'owner' });
  browser = await Browser.start();
});

after(async () => {
  await browser?.close();
  await world?.close();
});

afterEach(async () => {
  await one?.leave();
  one = null;
  assert.deepEqual(await world.do('loud'), []);
});

// What the browser says of what it or the server refused; what came of it is looked at besides.
const REFUSED = new RegExp('^console: (' + [
  '(Framing|Refused to frame) .* "frame-ancestors \'none\'"',
  'Access to fetch at .* has been blocked by CORS policy: ',
  'Failed to load resource: (net::ERR_BLOCKED_BY_RESPONSE.NotSameOrigin|net::ERR_FAILED|the server responded with a status of 403) ',
].join('|') + ')');

// A page of another site on this machine, which has `html` in the browser of the owner.
async function otherSite(name, html) {
  writeFileSync(`${world.docroot}/${name}`, `<!doctype html><meta charset="utf-8"><title>evil</title>${html}`);
  const { port } = new URL(world.origin);
  one.expect(new RegExp(`^request of another origin: http://${EVIL}:${port}/${name}$`));
  one.expect(REFUSED);
  await one.page.goto(`http://${EVIL}:${port}/${name}`);
}

test('the page itself may change what the attempts are about', async () => {
  one = await browser.person(world, null);
  await one.open('settings/keys');
  await one.page.getByRole('button', { name: 'Create a key' }).first().click();
  await one.page.getByRole('dialog').getByRole('button', { name: 'Create', exact: true }).click();
  await one.page.getByRole('heading', { name: 'Your new key' }).waitFor();
  const keys = JSON.parse(await world.ctl('key', 'list', 'bakery', '--json'));
  assert.equal(keys.length, 2, 'that of the account and this one');
});

// Each way of another site to send a change.
const ATTEMPTS = {
  'a form': `<form id="f" method="post" action="@/accounts/bakery/keys"><input name="kind" value="secret"></form>
    <iframe name="there"></iframe><script>f.target = 'there'; f.submit(); setTimeout(() => { done = true; }, 1000);</script>`,
  'a form that looks like JSON': `<form id="f" method="post" enctype="text/plain" action="@/accounts/bakery/keys">
    <input name='{"kind":"secret","mode":"test","x":"' value='"}'></form><iframe name="there"></iframe>
    <script>f.target = 'there'; f.submit(); setTimeout(() => { done = true; }, 1000);</script>`,
  'a request without a preflight': `<script>fetch('@/accounts/bakery/keys', { method: 'POST', mode: 'no-cors',
    credentials: 'include', headers: { 'Content-Type': 'text/plain' }, body: '{"kind":"secret","mode":"test"}' })
    .catch(() => {}).finally(() => { done = true; });</script>`,
  'a request that asks first': `<script>fetch('@/accounts/bakery/keys', { method: 'POST', credentials: 'include',
    headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': 'guessed' }, body: '{"kind":"secret","mode":"test"}' })
    .catch(() => {}).finally(() => { done = true; });</script>`,
};

for (const [name, html] of Object.entries(ATTEMPTS)) {
  test(`another site changes nothing: ${name}`, async () => {
    one = await browser.person(world, null);
    await one.open('settings/keys');
    const known = await world.ctl('key', 'list', 'bakery', '--json');
    await otherSite('attempt.html', html.replaceAll('@', `${world.origin}${world.path}/api`));
    await one.page.waitForFunction(() => globalThis.done);
    assert.equal(await world.ctl('key', 'list', 'bakery', '--json'), known);
  });
}

test('another site reads nothing', async () => {
  one = await browser.person(world, null);
  await one.open();
  await otherSite('reads.html', '');
  const read = await one.page.evaluate(async (address) => {
    try {
      return await (await fetch(address, { credentials: 'include' })).text();
    } catch {
      return null;
    }
  }, `${world.origin}${world.path}/api/session`);
  assert.equal(read, null);
});

test('no site can frame the dashboard, nor can this one', async () => {
  one = await browser.person(world, null);
  await one.open();
  const { port } = new URL(world.origin);
  for (const where of [`http://${EVIL}:${port}`, world.origin]) {
    writeFileSync(`${world.docroot}/frame.html`, `<!doctype html><title>frame</title>
      <iframe id="victim" src="${world.origin}${world.path}/" width="800" height="600"></iframe>`);
    one.expect(/frame|ancestor|refused|blocked|X-Frame/i);
    await one.page.goto(`${where}/frame.html`);
    const frame = await (await one.page.waitForSelector('#victim')).contentFrame();
    await one.page.waitForLoadState('load');
    assert.equal(await frame.locator('main').count(), 0, where);
  }
});
