// SPDX-License-Identifier: Apache-2.0
// Changes that must be confirmed: what a person types, and what a script of the same origin cannot.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, afterEach, before, test } from 'node:test';

import { Browser } from './browser.mjs';
import { World } from './world.mjs';

let world;
let anybody; // where the site takes every password, so that none says who somebody is
let browser;
let one;

before(async () => {
  world = await World.start(['olga']);
  await world.do('account', 'bakery', { olga: 'owner' });
  anybody = await World.start(['olga'], {
    modules: ['authn_anon'],
    extra: '<Location "/payments-dashboard">\nAuthBasicProvider anon\nAnonymous olga\nAnonymous_MustGiveEmail Off\n</Location>',
  });
  await anybody.do('account', 'bakery', { olga: 'owner' });
  await anybody.ctl('mail', 'set', 'bakery', '--merchant-address', 'owner@bakery.example');
  browser = await Browser.start();
});

after(async () => {
  await browser?.close();
  await world?.close();
  await anybody?.close();
});

afterEach(async () => {
  await one?.leave();
  one = null;
  assert.deepEqual(await world.do('loud'), []);
  assert.deepEqual(await anybody.do('loud'), []);
});

const dialog = () => one.page.getByRole('dialog').last(); // the one on top
const button = (name) => dialog().getByRole('button', { name, exact: true });
const keys = async (where) => JSON.parse(await where.ctl('key', 'list', 'bakery', '--json'));

async function askForLiveKey(where, options) {
  one = await browser.person(where, 'olga', options);
  one.expect(/403/); // the browser's own line on the answer that asks for the confirmation
  await one.open('settings/keys?mode=live');
  await one.page.getByRole('button', { name: 'Create a key' }).first().click();
  await dialog().getByLabel(/^Live/).check();
  await button('Create').click();
  await dialog().getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
}

test('a live secret key is made once the password was typed', async () => {
  const before = await keys(world);
  await askForLiveKey(world);
  await dialog().getByText('To create a live secret key of bakery, type your password once more.').waitFor();
  const field = dialog().getByLabel('Your password');
  assert.ok(await field.evaluate((node) => node === document.activeElement), 'it has the focus');
  assert.deepEqual(await field.evaluate((node) => [node.type, node.autocomplete]), ['password', 'current-password']);
  await one.usable('confirmation');
  await one.shot('confirm');
  await one.page.keyboard.press('Enter');
  await dialog().getByText('Enter your password.').waitFor();
  await world.do('expect', 'AH01617');
  await one.page.keyboard.type(`${world.password} `); // a blank is a part of it
  await one.page.keyboard.press('Enter');
  await dialog().getByText('is not your password').waitFor();
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  assert.ok(await field.evaluate((node) => node === document.activeElement), 'it has the focus again');
  await one.usable('a wrong password');
  assert.deepEqual(await keys(world), before, 'nothing was changed');
  await field.fill(world.password);
  await one.page.keyboard.press('Enter');
  await dialog().getByRole('heading', { name: 'Your new key' }).waitFor();
  assert.equal((await keys(world)).length, before.length + 1);
  await button('I have stored it').click();
  await one.settled();
  await one.page.getByRole('row', { name: /Secret.*Live.*Valid/ }).first().waitFor();
});

test('what is not confirmed is not done, and says so', async () => {
  const before = await keys(world);
  await askForLiveKey(world, { size: 'narrow' });
  await one.usable('confirmation, narrow');
  await one.page.keyboard.press('Escape');
  await one.page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor({ state: 'detached' });
  await dialog().getByText('It was not confirmed: nothing was changed.').waitFor();
  assert.ok(await dialog().evaluate((node) => node.contains(document.activeElement)), 'the focus is where it was');
  await one.usable('not confirmed');
  await button('Create').click();
  await dialog().getByLabel('Your password').fill('never sent');
  await button('Cancel').click();
  await dialog().getByText('It was not confirmed: nothing was changed.').waitFor();
  assert.deepEqual(await keys(world), before);
});

test('a person is added to the team', async () => {
  one = await browser.person(world, 'olga');
  one.expect(/403/);
  await one.open('settings/team');
  await one.page.getByRole('button', { name: 'Add a person' }).click();
  await dialog().getByLabel('User').fill('eve');
  await button('Add').click();
  await dialog().getByText('To grant the role viewer for bakery to eve, type your password once more.').waitFor();
  await dialog().getByLabel('Your password').fill(world.password);
  await button('Confirm').click();
  await one.page.getByText('eve is viewer now.').first().waitFor();
  await dialog().waitFor({ state: 'detached' });
});

test('where no password says who somebody is, a code does', async () => {
  await askForLiveKey(anybody);
  await dialog().getByLabel('Your password').fill('anything');
  await button('Confirm').click();
  await dialog().getByText('type the code that was just sent to owner@bakery.example').waitFor();
  const field = dialog().getByLabel('Code');
  assert.ok(await field.evaluate((node) => node === document.activeElement), 'it has the focus');
  await one.usable('a code');
  await one.shot('confirm-code');
  await field.fill('AAAA-AAAA');
  await button('Confirm').click();
  await dialog().getByText('is not the code that was sent').waitFor();
  const [mail] = await anybody.do('mails', 'owner@bakery.example', 1);
  assert.match(mail.text, /create a live secret key of bakery/);
  await field.fill(mail.text.match(/[2-9A-Z]{4}-[2-9A-Z]{4}/)[0].toLowerCase());
  await button('Confirm').click();
  await dialog().getByRole('heading', { name: 'Your new key' }).waitFor();
});

test('a script of the same origin gets no live key', async () => {
  const before = await keys(world);
  writeFileSync(`${world.docroot}/blog.html`, '<!doctype html><meta charset="utf-8"><title>blog</title>');
  one = await browser.person(world, 'olga');
  one.expect(/403|404/);
  await one.open();
  await one.page.goto('/blog.html');
  const got = await one.page.evaluate(async (api) => {
    const { csrf } = await (await fetch(`${api}/session`)).json();
    const answers = [];
    for (const confirm of [undefined, {}, { password: '' }, { password: 'password' }, { account: 'bakery' }]) {
      const answer = await fetch(`${api}/accounts/bakery/keys`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-CSRF-Token': csrf },
        body: JSON.stringify({ kind: 'secret', mode: 'live', confirm }),
      });
      answers.push([answer.status, Object.keys(await answer.json())]);
    }
    return answers;
  }, `${world.path}/api`);
  await world.do('expect', 'AH01617');
  for (const [status, members] of got) {
    assert.equal(status, 403);
    assert.ok(!members.includes('secret'));
  }
  assert.deepEqual(await keys(world), before);
});
