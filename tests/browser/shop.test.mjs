// SPDX-License-Identifier: Apache-2.0
// A shop's first day at the dashboard, one step after the other: key, charge, webhook, refund, retry, mode.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, afterEach, before, test } from 'node:test';
import { promisify } from 'node:util';

import { Browser } from './browser.mjs';
import { World } from './world.mjs';

const KEY = /^[a-z]+_testsk_[a-z0-9]{40,}$/;
const run = promisify(execFile);
let world;
let browser;
let olga;
let key;
let hook;

before(async () => {
  world = await World.start(['olga'], {
    extra: 'PaymentsAccount bakery\nPaymentsAcquirer live relay https://127.0.0.1:9 key=file:@KEY@\n'
      + 'PaymentsFailureLimit card 2/1h',
  });
  await world.do('expect', 'PAY00302'); // the host's account is made only now
  await world.do('expect', 'PAY00400|PAY00446|PAY00731', true); // nobody listens where its acquirer is
  await world.ctl('account', 'create', 'bakery', '--fee', 'NGN 1.5% + 0.10');
  await world.do('grant', 'bakery', 'olga', 'owner');
  hook = await world.do('receiver');
  browser = await Browser.start();
  olga = await browser.person(world, 'olga', { permissions: ['clipboard-read', 'clipboard-write'] });
});

after(async () => {
  try {
    await olga?.leave();
  } finally {
    await browser?.close();
    await world?.close();
  }
});

afterEach(async () => {
  assert.deepEqual(await world.do('loud'), []);
});

const dialog = () => olga.page.getByRole('dialog').last(); // the one on top

// Presses the button `name` of the dialog and waits until it is gone.
async function confirm(name) {
  await dialog().getByRole('button', { name, exact: true }).click();
  await dialog().waitFor({ state: 'detached' });
  await olga.settled();
}

// What a change is confirmed with, once its form was sent.
async function password() {
  olga.expect(/status of 403 .*\/(webhook|mail|mode)$/); // the browser's own line on the answer that asks for it
  await dialog().getByRole('heading', { name: 'Confirm that it is you' }).waitFor();
  await dialog().getByLabel('Your password').fill(world.password);
  await dialog().getByRole('button', { name: 'Confirm', exact: true }).click();
}

// The text that a box with a copy button shows; the button copies the same.
async function copied(label) {
  const box = olga.page.locator('.copybox').filter({ has: olga.page.locator('.label', { hasText: label }) });
  const text = await box.locator('code').innerText();
  await box.getByRole('button', { name: `Copy ${label}` }).click();
  await box.getByText('Copied').waitFor();
  assert.equal(await olga.page.evaluate(() => navigator.clipboard.readText()), text);
  return text;
}

test('an empty account says what to do next', async () => {
  await olga.open();
  await olga.page.getByRole('heading', { name: 'First steps' }).waitFor();
  await olga.usable('first steps');
  await olga.shot('first-steps');
  for (const [where, heading] of [['charges', 'No charges yet'], ['refunds', /^No refunds/],
    ['events', 'Everything is delivered'], ['links', 'No payment links yet'], ['settings/keys', 'No keys yet']]) {
    await olga.open(where);
    await olga.page.getByRole('heading', { name: heading }).waitFor();
    await olga.usable(`empty ${where}`);
  }
});

test('the first key is made, copied, and shown this once', async () => {
  await olga.open();
  await olga.page.getByRole('link', { name: 'Go to API Keys' }).click();
  await olga.settled();
  await olga.page.locator('#create-first-key').click();
  await olga.usable('dialog of a new key');
  await dialog().getByRole('button', { name: 'Create', exact: true }).click();
  await dialog().getByRole('heading', { name: 'Your new key' }).waitFor();
  key = await copied('Key');
  assert.match(key, KEY);
  await olga.usable('a new key');
  for (let slip = 0; slip < 3; slip += 1) {
    await olga.page.keyboard.press('Escape');
    assert.ok(await dialog().isVisible(), 'no slip loses the key');
  }
  await confirm('I have stored it');
  assert.ok(!(await olga.page.content()).includes(key));
  await olga.open('settings/keys');
  assert.ok(!(await olga.page.content()).includes(key));
  await olga.page.getByRole('row', { name: /Secret.*Never/ }).waitFor();
});

test('the first charge is made with it, by the line that the page shows', async () => {
  await olga.open();
  const line = await copied('First charge');
  const { stdout } = await run('/bin/sh', ['-c', line.replace('YOUR_KEY', key)]);
  assert.equal(JSON.parse(stdout).data.paymentStatus, 'successful');
  await olga.open('charges');
  await olga.page.getByRole('link', { name: 'first-1' }).click();
  await olga.page.getByRole('heading', { name: /^Charge [0-9]/ }).waitFor();
  await olga.settled();
  await olga.page.getByText('10.00').first().waitFor();
  await olga.page.locator('dl > div', { hasText: 'Fee' }).getByText('0.25').waitFor();
  await olga.usable('a charge');
});

test('the key says when it was used', async () => {
  await olga.until('settings/keys', async () => await olga.page.getByRole('row', { name: /Secret.*Never/ }).count() === 0);
});

test('a webhook is set and tested from the page', async () => {
  await olga.open('settings/webhook');
  await olga.page.getByRole('button', { name: 'Set a webhook' }).first().click();
  await dialog().getByLabel('Address').fill(hook.url);
  await dialog().getByRole('button', { name: 'Save', exact: true }).click();
  await password();
  await dialog().getByRole('heading', { name: 'The webhook’s secret' }).waitFor();
  assert.match(await copied('Secret'), /^whsec_/);
  await confirm('I have stored it');
  olga.expect(/ 404 .*\/events\/evt_/); // the page looks until the event is no more, for it was delivered
  await olga.page.getByRole('button', { name: /test/i }).first().click();
  const [delivery] = await world.do('got', hook.number, 1);
  assert.equal(delivery.body.notify, 'test_assess');
  await olga.settled();
  await olga.usable('webhook');
});

test('a part is refunded, then the rest, and never more', async () => {
  await olga.open('charges');
  await olga.page.getByRole('link', { name: 'first-1' }).click();
  await olga.page.getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog().getByLabel('A part of it').check();
  await dialog().getByLabel(/^Amount/).fill('10.01');
  await dialog().getByRole('button', { name: 'Refund', exact: true }).click();
  await dialog().getByText('At most 10.00 is left').waitFor();
  await dialog().getByLabel(/^Amount/).fill('4');
  await dialog().getByLabel('Note to the payer').fill('Sorry about the crust');
  await olga.usable('dialog of a refund');
  await olga.shot('refund');
  await confirm('Refund');
  await olga.page.getByRole('row', { name: /Sorry about the crust/ }).waitFor();
  await olga.page.getByRole('button', { name: 'Refund', exact: true }).dblclick();
  await dialog().getByRole('button', { name: 'Refund', exact: true }).dblclick();
  await dialog().waitFor({ state: 'detached' });
  await olga.page.locator('main .charge-head').getByText('Refunded', { exact: true }).waitFor();
  const refunds = JSON.parse(await world.ctl('refund', 'list', 'bakery', '--mode', 'test', '--json'));
  assert.deepEqual(refunds.map(({ amount, channel }) => [amount, channel]), [['4.00', 'dashboard'], ['6.00', 'dashboard']]);
  assert.equal(await olga.page.getByRole('button', { name: 'Refund', exact: true }).count(), 0);
  await olga.open('refunds');
  assert.equal(await olga.page.locator('main tbody tr').count(), 2);
});

test('an event that the receiver did not take is tried again from the page', async () => {
  await world.do('answer', hook.number, 500);
  const answer = await fetch(`${world.origin}/api/v1/tokenized-card-charge`, {
    method: 'POST', headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ token: 'tok_test_success', amount: 7, email: 'ada@example.com', reference: 'retried-1' }),
  });
  assert.equal(answer.status, 200);
  await world.do('refused', hook.number, 'retried-1');
  await olga.open('events');
  await olga.page.getByRole('row', { name: /retried-1/ }).first().waitFor();
  await olga.usable('events');
  await olga.shot('events');
  await world.do('answer', hook.number, 200);
  await olga.page.getByRole('button', { name: /^Retry .*retried-1/ }).first().click();
  await confirm('Retry');
  await world.do('taken', hook.number, 'retried-1');
  await olga.until('events', async () => await olga.page.getByRole('heading', { name: 'Everything is delivered' }).count() === 1);
});

test('payers and the merchant get e-mails once that is set', async () => {
  await olga.open('settings/mail');
  await olga.page.getByText(/^smtp:/).waitFor();
  await olga.page.getByLabel(/^Notices to the merchant/).fill('owner@bakery.example');
  await olga.page.getByLabel(/^Payers get a receipt/).check();
  await olga.page.getByRole('button', { name: 'Save', exact: true }).click();
  await password();
  await olga.page.locator('#notice').waitFor();
  await world.ctl('mail', 'set', 'bakery', '--test-recipient', 'payer@example.com');
  const answer = await fetch(`${world.origin}/api/v1/tokenized-card-charge`, {
    method: 'POST', headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ token: 'tok_test_success', amount: 9, email: 'payer@example.com', reference: 'mailed-1' }),
  });
  assert.equal(answer.status, 200);
  for (const recipient of ['owner@bakery.example', 'payer@example.com']) {
    const [mail] = await world.do('mails', recipient, 1);
    assert.match(mail.subject, /^\[TEST\]/);
    assert.match(mail.text, /mailed-1/);
  }
});

test('a payment link is made, copied, listed and disabled', async () => {
  await olga.open('links');
  await olga.page.locator('#create-first-link').click();
  await dialog().getByLabel('Title').fill('Wedding cake');
  await dialog().getByLabel('Amount', { exact: true }).fill('0');
  await dialog().getByLabel('Currency').fill('NGN');
  await dialog().getByRole('button', { name: 'Create', exact: true }).click();
  await dialog().getByText('The amount must be more than 0.').waitFor();
  await olga.usable('dialog of a new link');
  await olga.shot('link-new');
  await dialog().getByLabel('Amount', { exact: true }).fill('1.234');
  await dialog().getByRole('button', { name: 'Create', exact: true }).click();
  await dialog().getByText(/decimals/).first().waitFor();
  await dialog().getByLabel('Amount', { exact: true }).fill('85000');
  await dialog().getByRole('button', { name: 'Create', exact: true }).click();
  await dialog().getByRole('heading', { name: 'The link is ready' }).waitFor();
  const address = await copied('Payment link');
  assert.equal((await fetch(address)).status, 200);
  await olga.page.keyboard.press('Escape');
  const row = olga.page.getByRole('row', { name: /Wedding cake/ });
  await row.getByText('Active', { exact: true }).waitFor();
  await row.getByText(/85,000\.00/).waitFor();
  await row.getByRole('button', { name: 'Disable Wedding cake' }).click();
  await confirm('Disable');
  await row.getByText('Disabled', { exact: true }).waitFor();
  const [{ state, amount }] = JSON.parse(await world.ctl('link', 'list', 'bakery', '--mode', 'test', '--json'));
  assert.deepEqual([state, amount], ['disabled', 85000]);
  assert.match(await (await fetch(address)).text(), /<h1[^>]*>[^<]*closed/);
});

test('an open checkout is not pending, and each state has its exact word', async () => {
  const post = async (path, body) => {
    const answer = await fetch(`${world.origin}/api/v1/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 200);
  };
  for (const transactionReference of ['open-checkout-0001', 'void-checkout-0001']) {
    await post('initiate', {
      transactionReference,
      amount: 10,
      checkoutCustomerData: { email: 'ada@example.com', firstName: 'Ada', lastName: 'Obi' },
      currency: 'NGN',
    });
  }
  await post('void-transaction', { transactionReference: 'void-checkout-0001' });
  await olga.open('overview');
  await olga.page.getByRole('link', { name: /1 checkout is open/ }).click();
  await olga.page.getByRole('row', { name: /open-checkout-0001.*Open/ }).waitFor();
  await olga.settled();
  assert.equal(await olga.page.locator('main tbody tr').count(), 1);
  await olga.usable('open checkouts');
  await olga.open('charges');
  await olga.page.getByRole('row', { name: /void-checkout-0001.*Voided/ }).waitFor();
  assert.equal(await olga.page.getByRole('row', { name: /-checkout-0001.*(Failed|Pending)/ }).count(), 0);
  await olga.page.getByRole('link', { name: 'void-checkout-0001' }).click();
  await olga.page.locator('main .charge-head').getByText('Voided', { exact: true }).waitFor();
  assert.equal(await olga.page.getByRole('button', { name: 'Refund', exact: true }).count(), 0);
});

test('going live says what is missing', async () => {
  await olga.open();
  await olga.page.locator('#mode-switch').click();
  await dialog().getByRole('heading', { name: 'Not ready to go live' }).waitFor();
  await dialog().getByText('There is no secret key for Live Mode.').waitFor();
  await olga.usable('not ready to go live');
  await olga.shot('not-ready');
  await confirm('Close');
});

test('the mode is switched after the account was named, and back', async () => {
  await world.ctl('key', 'create', 'bakery', '--mode', 'live', '--kind', 'secret');
  await olga.open();
  assert.match(await olga.page.locator('#banner').innerText(), /Test Mode/);
  await olga.page.locator('#mode-switch').click();
  await dialog().getByLabel(/^Type the account/).fill('baker');
  await dialog().getByRole('button', { name: 'Go live', exact: true }).click();
  await dialog().getByText('Type bakery, exactly.').waitFor();
  await olga.usable('dialog before Live Mode');
  await olga.shot('go-live');
  await dialog().getByLabel(/^Type the account/).fill('bakery');
  await dialog().getByRole('button', { name: 'Go live', exact: true }).click();
  await password();
  await dialog().waitFor({ state: 'detached' });
  await olga.page.locator('#mode-switch[aria-checked="true"]').waitFor();
  assert.equal(JSON.parse(await world.ctl('account', 'show', 'bakery', '--json')).mode, 'live');
  await olga.shot('live');
  await olga.page.locator('#mode-switch').click();
  await confirm('Go to Test Mode');
  await olga.page.locator('#mode-switch[aria-checked="false"]').waitFor();
  assert.equal(JSON.parse(await world.ctl('account', 'show', 'bakery', '--json')).mode, 'test');
});

test('every change made here stands in the audit', async () => {
  await olga.open('settings/account');
  const audit = olga.page.getByRole('region', { name: 'Audit' });
  for (const what of [/key create/, /refund/, /webhook/]) {
    await audit.getByRole('row', { name: what }).first().waitFor();
  }
  assert.ok(await audit.getByRole('row', { name: /olga/ }).count() > 0);
  await olga.usable('account');
});

test('what is refused after failed payments is lifted', async () => {
  const pay = (reference, token) => fetch(`${world.origin}/api/v1/tokenized-card-charge`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ reference, token, amount: 5, email: 'refused@example.com' }),
  });
  for (const [reference, token, status] of [['cake-91', 'tok_test_declined', 200], ['cake-92', 'tok_test_declined', 200],
    ['cake-93', 'tok_test_success', 429]]) {
    assert.equal((await pay(reference, token)).status, status, reference);
  }
  await olga.open('overview?mode=test');
  await olga.page.getByRole('link', { name: /refused after failed payments/ }).click();
  const row = olga.page.getByRole('row', { name: /e-mail r\*/ });
  await row.waitFor();
  await olga.shot('blocked-rows');
  await olga.usable('what is refused');
  await row.getByRole('button', { name: 'Lift e-mail r*' }).click();
  await confirm('Lift');
  await row.waitFor({ state: 'detached' });
  await olga.page.getByText('token *ined').waitFor();
  assert.equal((await pay('cake-93', 'tok_test_success')).status, 200);
});
