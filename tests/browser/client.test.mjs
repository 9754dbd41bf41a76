// SPDX-License-Identifier: Apache-2.0
// Our own client library (share/clients/payments.mjs) in a shop's page: with a public key, from the site's own origin and
// from another one.

import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Browser } from './browser.mjs';
import { World } from './world.mjs';

const CLIENT = fileURLToPath(new URL('../../share/clients/payments.mjs', import.meta.url));
const ORIGINS = ['http://127.0.0.1', 'http://shop.example']; // the second is another one to the server, and allowed

let world;
let browser;
let port;
let publicKey;
let secretKey;

before(async () => {
  world = await World.start([], { extra: 'PaymentsCORSOrigin http://shop.example:@PORT@' });
  secretKey = await world.do('account', 'bakery');
  publicKey = (await world.ctl('key', 'create', 'bakery', '--mode', 'test', '--kind', 'public')).trim();
  port = new URL(world.origin).port;
  copyFileSync(CLIENT, `${world.docroot}/payments.mjs`);
  writeFileSync(`${world.docroot}/.htaccess`, 'AddType text/javascript .mjs\n'); // as Debian's mime.types have it
  writeFileSync(`${world.docroot}/shop.html`, '<!doctype html><html lang="en"><title>Shop</title><h1>Shop</h1>');
  browser = await Browser.start();
});

after(async () => {
  await browser?.close();
  await world?.close();
});

// What `work`, a function of the library and of a client with this key, returns in a page of that origin.
async function inShop(origin, key, work, ...args) {
  const one = await browser.person(world, null);
  one.expect(/request of another origin|status of 40[34]/);
  await one.page.goto(`${origin}:${port}/shop.html`);
  const told = await one.page.evaluate(async ([base, theKey, text, given]) => {
    const library = await import('/payments.mjs');
    const client = new library.Payments(base, theKey);
    try {
      return { is: await (0, eval)(`(${text})`)(client, library, ...given) };
    } catch (error) {
      return { name: error.name, status: error.status, code: error.code, message: error.message };
    }
  }, [world.origin, key, work.toString(), args]);
  await one.leave();
  return told;
}

const open = (client, library, reference) => client.checkout({
  reference, amount: '1500.50', currency: 'NGN', email: 'ada@example.com', firstName: 'Ada', lastName: 'Obi' });
const verify = async (client, library, reference) => {
  const transaction = await client.verify(reference);
  return [transaction.paymentStatus, transaction.amount, library.isPaid(transaction)];
};

for (const origin of ORIGINS) {
  const reference = `browser-checkout-${new URL(origin).hostname}`;

  test(`a checkout is opened and verified from a page of ${origin}`, async () => {
    const { is: page } = await inShop(origin, publicKey, open, reference);
    assert.match(page.paymentRedirectUrl, new RegExp(`/payment/page/[a-z2-7]{32}\\?reference=${reference}$`));
    assert.deepEqual(await inShop(origin, publicKey, verify, reference), { is: ['pending', 1500.5, false] });
  });

  test(`what the server refuses is an error with its code, from ${origin}`, async () => {
    assert.deepEqual(await inShop(origin, publicKey, verify, 'never-made'),
      { name: 'PaymentError', status: 404, code: 'N1', message: 'no record found for transaction with reference never-made' });
  });

  test(`a secret key does nothing in a page of ${origin}`, async () => {
    const { name, status } = await inShop(origin, secretKey, open, `${reference}-secret`);
    assert.deepEqual([name, status], ['PaymentError', 403]);
  });
}

test('the signature of a webhook is verified by the browser’s own cryptography', async () => {
  const event = await inShop(ORIGINS[0], publicKey, async (client, { verifyWebhook }) => {
    const body = '{"notify":"transaction"}';
    const raw = new Uint8Array(32);
    const key = await crypto.subtle.importKey('raw', raw, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    const stamp = String(Math.floor(Date.now() / 1000));
    const mac = new Uint8Array(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(`evt_1.${stamp}.${body}`)));
    const text = (bytes) => btoa(String.fromCharCode(...bytes));
    const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': stamp, 'webhook-signature': `v1,${text(mac)}` };
    const said = await verifyWebhook(`whsec_${text(raw)}`, headers, body);
    const forged = await verifyWebhook(`whsec_${text(raw)}`, headers, `${body} `).catch((error) => error.message);
    return [said.notify, forged];
  });
  assert.deepEqual(event, { is: ['transaction', 'no signature of the webhook is right'] });
});
