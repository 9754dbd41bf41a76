// SPDX-License-Identifier: Apache-2.0
// Who comes in, and what each of two people sees.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';

import { Browser } from './browser.mjs';
import { World } from './world.mjs';

let world;
let browser;
let people = [];

before(async () => {
  world = await World.start(['olga', 'oskar', 'vera', 'stranger']);
  await world.do('account', 'bakery', { olga: 'owner', vera: 'viewer' });
  await world.do('account', 'florist', { oskar: 'owner', vera: 'operator' });
  await world.do('charge', 'bakery', { reference: 'loaf-1' });
  await world.do('charge', 'florist', { reference: 'rose-1' });
  browser = await Browser.start();
});

after(async () => {
  await browser?.close();
  await world?.close();
});

afterEach(async () => {
  const gone = people;
  people = [];
  for (const one of gone) {
    await one.leave();
  }
  assert.deepEqual(await world.do('loud'), []);
});

async function person(user, options) {
  people.push(await browser.person(world, user, options));
  return people.at(-1);
}

test('a browser that is not signed in sees nothing', async () => {
  const one = await person(null);
  one.expect(/401/);
  await assert.rejects(one.page.goto(`${world.path}/`), /ERR_INVALID_AUTH_CREDENTIALS/);
  assert.equal(await one.page.locator('main').count(), 0);
});

test('a wrong password is no sign-in', async () => {
  const one = await person(null, { httpCredentials: { username: 'olga', password: 'wrong' } });
  one.expect(/401/);
  await world.do('expect', 'AH01617');
  assert.equal((await one.page.goto(`${world.path}/`)).status(), 401);
});

test('the address without its last slash leads to the page', async () => {
  const one = await person('olga');
  await one.page.goto(world.path);
  await one.settled();
  assert.equal(new URL(one.page.url()).pathname, `${world.path}/`);
});

test('an owner sees the account, its name and what may be done', async () => {
  const one = await person('olga');
  await one.open();
  await one.page.getByText('Signed in as olga, owner').waitFor();
  assert.match(await one.page.title(), /bakery/);
  assert.equal(await one.page.getByLabel('Account', { exact: true }).count(), 0, 'one account is no choice');
  await one.usable('overview of an owner');
  await one.shot('overview-first');
});

test('two people see their own accounts only', async () => {
  const olga = await person('olga');
  await olga.open('charges');
  await olga.page.getByText('loaf-1').waitFor();
  assert.equal(await olga.page.getByText('rose-1').count(), 0);
  const oskar = await person('oskar');
  await oskar.open('charges');
  await oskar.page.getByText('rose-1').waitFor();
  assert.equal(await oskar.page.getByText('loaf-1').count(), 0);
  await oskar.open('charges?account=bakery');
  await oskar.page.getByRole('heading', { name: 'Not found' }).waitFor();
  oskar.expect(/404/);
  const status = await oskar.page.evaluate(async () =>
    (await fetch('api/accounts/bakery/test/charges')).status);
  assert.equal(status, 404, 'nor by its address');
});

test('who has two accounts chooses', async () => {
  const one = await person('vera');
  await one.open('charges?account=bakery');
  await one.page.getByText('loaf-1').waitFor();
  await one.page.getByLabel('Account', { exact: true }).selectOption('florist');
  await one.settled();
  await one.open('charges?account=florist');
  await one.page.getByText('rose-1').waitFor();
});

test('a viewer is offered no change, and is refused one', async () => {
  const one = await person('vera');
  await one.open('settings/keys?account=bakery');
  assert.equal(await one.page.getByRole('button', { name: 'Create a key' }).count(), 0);
  one.expect(/403/);
  const refused = await one.page.evaluate(async () => {
    const { csrf } = await (await fetch('api/session')).json();
    const answer = await fetch('api/accounts/bakery/keys', {
      method: 'POST', headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': csrf },
      body: JSON.stringify({ kind: 'secret', mode: 'test' }),
    });
    return [answer.status, (await answer.json()).message];
  });
  assert.equal(refused[0], 403);
  assert.match(refused[1], /owner/);
});

test('who has no account is told whom to ask', async () => {
  const one = await person('stranger');
  await one.open();
  await one.page.getByRole('heading', { name: 'No account yet' }).waitFor();
  await one.page.getByText('paymentsctl account grant ACCOUNT stranger --host').waitFor();
  await one.usable('no account');
  await one.shot('no-account');
});

test('what a payer or a user named is never markup', async () => {
  const mark = '<img src=x onerror="document.title=\'broken\'">';
  await world.do('charge', 'bakery', { reference: 'markup<b>', firstName: mark, lastName: '"><script>' });
  const one = await person('olga');
  await one.open('charges');
  await one.page.getByText('markup<b>').waitFor();
  assert.equal(await one.page.locator('main img[src=x]').count(), 0);
  await one.page.getByRole('link', { name: 'markup<b>' }).click();
  await one.page.getByRole('heading', { name: /^Charge [0-9]/ }).waitFor();
  await one.settled();
  assert.ok(await one.page.getByText('onerror=', { exact: false }).count() > 0, 'it is shown as it was written');
  assert.doesNotMatch(await one.page.title(), /broken/);
});
