// SPDX-License-Identifier: Apache-2.0
// The hosted payment page as a payer meets it: each test card, each way out, with and without script, mouse or light.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, afterEach, before, test } from 'node:test';

import { Browser } from './browser.mjs';
import { World } from './world.mjs';

const EMAIL = 'ada@example.com';
let world;
let browser;
let hook;
let number = 0;
let people = [];

before(async () => {
  world = await World.start(['olga']);
  await world.do('account', 'bakery', { olga: 'owner' });
  hook = await world.do('receiver');
  await world.ctl('webhook', 'set', 'bakery', hook.url, '--mode', 'test');
  writeFileSync(`${world.docroot}/done.html`, '<!doctype html><html lang="en"><title>Shop</title><main><h1>Thank you</h1></main>');
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

// A payer at the page of a new checkout.
async function payer(options = {}) {
  number += 1;
  const reference = `checkout-of-browser-${number}`;
  const answer = await world.do('call', 'bakery', 'POST', '/api/v1/initiate', {
    transactionReference: reference, amount: '1500.00', currency: 'NGN', redirectUrl: `${world.origin}/done.html`,
    checkoutCustomerData: { email: EMAIL, firstName: 'Ada', lastName: 'Obi' },
    checkoutCustomizationData: { paymentDescription: 'Two loaves of bread' },
  });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const one = await browser.person(world, null, options);
  people.push(one);
  one.reference = reference;
  one.address = answer.body.data.paymentRedirectUrl;
  assert.equal((await one.page.goto(one.address)).status(), 200);
  return one;
}

async function card(one, digits) {
  await one.page.getByLabel('Card number').fill(digits);
  await one.page.getByLabel('Expiry date').fill('12/40');
  await one.page.getByLabel('Security code').fill('123');
  await one.page.getByRole('button', { name: /^Pay NGN 1,500\.00$/ }).click();
}

async function state(one) {
  const { body } = await world.do('call', 'bakery', 'GET', `/api/v1/checkout/${one.reference}/verify`);
  return body.data;
}

// By the link that the page shows; it would go there by itself after a while.
async function back(one, status) {
  await one.page.getByRole('link', { name: /^Return to/ }).click();
  await one.page.waitForURL(/done\.html/);
  const { searchParams } = new URL(one.page.url());
  assert.deepEqual([searchParams.get('reference'), searchParams.get('status')], [one.reference, status]);
}

const CARDS = [
  ['approved', '5555 5555 5555 4444', /approved/i, 'successful', 'successful'],
  ['declined', '1234567898765432', /declined/i, 'failed', 'failed'],
  ['insufficient funds', '4000000000009995', /insufficient/i, 'failed', 'failed'],
  ['an expired card', '4000000000000069', /expired/i, 'failed', 'failed'],
];

for (const [name, digits, says, returned, status] of CARDS) {
  test(`card: ${name}`, async () => {
    const one = await payer();
    await card(one, digits);
    await one.page.getByText(says).first().waitFor();
    await one.usable(`result, ${name}`);
    await one.shot(`checkout-${name.replaceAll(' ', '-')}`);
    await back(one, returned);
    assert.equal((await state(one)).status, status);
  });
}

test('card: no answer at first, approved later, without a hand on it', async () => {
  const one = await payer();
  await card(one, '4000000000000119');
  await one.page.getByText(/do not pay again/i).waitFor();
  await one.usable('waiting');
  await one.shot('checkout-waiting');
  await one.page.getByText(/approved/i).first().waitFor({ timeout: 60_000 });
  assert.equal((await state(one)).status, 'successful');
});

for (const [code, says, status] of [['123456', /approved/i, 'successful'], ['654321', /declined/i, 'failed']]) {
  test(`card: a one-time code, ${status}`, async () => {
    const one = await payer();
    await card(one, '4000000000003220');
    await one.page.getByLabel('One-time code').fill(code);
    await one.usable('one-time code');
    await one.shot('checkout-code');
    await one.page.getByRole('button', { name: /^Confirm/ }).click();
    await one.page.getByText(says).first().waitFor();
    assert.equal((await state(one)).status, status);
  });
}

test('the test bank account', async () => {
  const one = await payer();
  await one.page.getByText('Pay by bank transfer', { exact: true }).click();
  await one.page.getByLabel('Bank code').fill('000');
  await one.page.getByLabel('Account number').fill('0000000000');
  await one.usable('bank transfer');
  await one.page.getByRole('button', { name: /by bank transfer$/ }).click();
  await one.page.getByText(/approved/i).first().waitFor();
  assert.equal((await state(one)).channel, 'bank_transfer');
});

test('cancelled', async () => {
  const one = await payer();
  await one.page.getByRole('button', { name: 'Cancel the payment' }).click();
  await one.usable('cancelled');
  await back(one, 'cancelled');
});

test('a card that is no test card is refused beside its field, and nothing of it is kept', async () => {
  const one = await payer();
  one.expect(/ 400 /);
  await card(one, '4242424242424242');
  await one.page.getByRole('alert').waitFor();
  await one.usable('a fault');
  await one.shot('checkout-fault');
  assert.equal(await one.page.getByLabel('Card number').getAttribute('aria-invalid'), 'true');
  assert.equal((await one.page.content()).includes('4242424242424242'), false);
  assert.equal((await state(one)).status, 'pending');
});

test('double click, reload, the back button and a second tab pay once', async () => {
  const one = await payer();
  const second = await one.context.newPage();
  await second.goto(one.address);
  await one.page.getByLabel('Card number').fill('5555555555554444');
  await one.page.getByLabel('Expiry date').fill('12/40');
  await one.page.getByLabel('Security code').fill('123');
  await one.page.getByRole('button', { name: /^Pay NGN 1,500\.00$/ }).dblclick();
  await one.page.getByText(/approved/i).first().waitFor();
  await one.page.reload();
  await one.page.getByText(/approved/i).first().waitFor();
  await one.page.goBack();
  await one.page.goto(one.address);
  assert.equal(await one.page.getByLabel('Card number').count(), 0);
  await second.getByLabel('Card number').fill('1234567898765432');
  await second.getByLabel('Expiry date').fill('12/40');
  await second.getByLabel('Security code').fill('123');
  await second.getByRole('button', { name: /^Pay NGN 1,500\.00$/ }).click();
  await second.getByText(/approved/i).first().waitFor();
  const { status, card: paid } = await state(one);
  assert.deepEqual([status, paid.last4Digits], ['successful', '4444']);
  await world.do('settled', 'bakery'); // a second payment would be told by now too
  assert.deepEqual((await world.do('told', hook.number, one.reference, 1)).map(({ notifyType }) => notifyType), ['successful']);
});

test('the whole of it without script', async () => {
  const one = await payer({ javaScriptEnabled: false });
  await card(one, '5555555555554444');
  await one.page.getByRole('link', { name: /^Return to/ }).waitFor();
  assert.equal((await state(one)).status, 'successful');
});

test('the whole of it by keyboard', async () => {
  const one = await payer();
  const { page } = one;
  const press = async (name) => {
    for (let step = 0; step < 30; step += 1) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => (document.activeElement.labels?.[0] ?? document.activeElement).innerText ?? '');
      if (name.test(at)) {
        return;
      }
    }
    assert.fail(`not at ${name}`);
  };
  await press(/Card number/);
  await page.keyboard.type('5555555555554444');
  await press(/Expiry date/);
  await page.keyboard.type('1240');
  await press(/Security code/);
  await page.keyboard.type('123');
  await page.keyboard.press('Enter');
  await page.getByText(/approved/i).first().waitFor();
  assert.equal((await state(one)).status, 'successful');
});

const LOOKS = { light: {}, dark: { colorScheme: 'dark' }, narrow: { size: 'narrow', isMobile: true, hasTouch: true } };
for (const [look, options] of Object.entries(LOOKS)) {
  test(`the form, ${look}`, async () => {
    const one = await payer(options);
    await one.page.getByText('Test Mode').first().waitFor();
    await one.page.getByText('Two loaves of bread').first().waitFor();
    for (const [label, token] of [['Card number', 'cc-number'], ['Expiry date', 'cc-exp'], ['Security code', 'cc-csc']]) {
      assert.equal(await one.page.getByLabel(label).getAttribute('autocomplete'), token);
    }
    await one.page.getByText('Cards that can be used in Test Mode').click();
    await one.usable(`the form, ${look}`);
    await one.shot(`checkout-${look}`);
  });
}

test('link to checkout to token to charge to refund to webhook: the whole circle', async () => {
  const olga = await browser.person(world, 'olga');
  people.push(olga);
  await olga.open('links');
  await olga.page.getByRole('button', { name: 'Create a link' }).first().click();
  const dialog = olga.page.getByRole('dialog');
  await dialog.getByLabel('Title').fill('Two loaves of bread');
  await dialog.getByLabel('Amount', { exact: true }).fill('1500');
  await dialog.getByLabel('Currency').fill('NGN');
  await dialog.getByRole('button', { name: 'Create', exact: true }).click();
  const address = await dialog.locator('.copybox code').innerText();
  await dialog.getByRole('button', { name: 'Done' }).click();

  const one = await browser.person(world, null);
  people.push(one);
  assert.equal((await one.page.goto(address)).status(), 200);
  await one.page.getByRole('heading', { name: 'Two loaves of bread' }).waitFor();
  await one.usable('the page of a link');
  await one.shot('checkout-link');
  for (const [label, text] of [['E-mail', EMAIL], ['First name', 'Ada'], ['Last name', 'Obi']]) {
    await one.page.getByLabel(label).fill(text);
  }
  await one.page.getByRole('button').first().click();
  await card(one, '5555555555554444');
  await one.page.getByText(/approved/i).first().waitFor();
  const [{ reference }] = JSON.parse(await world.ctl('charge', 'list', 'bakery', '--mode', 'test', '--email', EMAIL, '--json'))
    .filter((charge) => charge.reference.startsWith('link_'));
  const { card: { token } } = await state({ reference });
  assert.ok(token, 'a success issues a token');
  assert.deepEqual((await world.do('told', hook.number, reference, 1)).map(({ notifyType }) => notifyType), ['successful']);

  const paid = await world.do('charge', 'bakery', { token, email: EMAIL, reference: 'circle-1', amount: 20 });
  assert.equal(paid.status, 'successful');
  await olga.open('charges?reference=circle-1');
  await olga.page.getByRole('link', { name: 'circle-1' }).click();
  await olga.page.getByRole('button', { name: 'Refund', exact: true }).click();
  await olga.page.getByRole('dialog').getByRole('button', { name: 'Refund', exact: true }).click();
  await olga.page.locator('main .charge-head').getByText('Refunded', { exact: true }).waitFor();
  const told = await world.do('told', hook.number, 'circle-1', 3);
  assert.deepEqual(told.map(({ notify, notifyType }) => `${notify} ${notifyType}`).sort(),
    ['refund processed', 'transaction reversed', 'transaction successful']);
});
