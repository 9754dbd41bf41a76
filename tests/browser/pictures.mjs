// SPDX-License-Identifier: Apache-2.0
// The pictures of docs/dashboard.md and docs/checkout.md: a bakery at one morning, the same each time but for
// the random parts of keys.

import { Browser } from './browser.mjs';
import { World } from './world.mjs';

const NOW = '2026-03-16T10:00:00Z';
const HEIGHTS = { overview: 900, charges: 720, charge: 960, keys: 560, account: 720 };
const WIDTH = 1280;

const world = await World.start(['olga'], { at: '2026-02-13T06:00:00Z' });
const browser = await Browser.start();

async function draw(one, name, go) {
  await one.page.setViewportSize({ width: WIDTH, height: HEIGHTS[name] ?? 800 });
  await go();
  await one.shot(name, { fullPage: false });
  console.log(`docs/images/${name}.png`);
}

async function dashboard() {
  const olga = await browser.person(world, 'olga');
  await olga.page.clock.setFixedTime(new Date(NOW));
  const [refunded] = JSON.parse(await world.ctl('charge', 'list', 'bakery', '--mode', 'test', '--json'))
    .filter((charge) => charge.refundedAmount > 0);
  const places = { overview: 'overview', charges: 'charges', charge: `charges/${refunded.id}`,
    keys: 'settings/keys', account: 'settings/account' };
  for (const [name, where] of Object.entries(places)) {
    await draw(olga, name, () => olga.open(where));
  }
  await olga.leave();
}

async function checkout() {
  const { status, body } = await world.do('call', 'bakery', 'POST', '/api/v1/initiate', {
    transactionReference: 'order-of-the-picture', amount: '1500.00', currency: 'NGN',
    checkoutCustomerData: { email: 'ada@example.com', firstName: 'Ada', lastName: 'Obi' },
    checkoutCustomizationData: { paymentDescription: 'Two loaves of bread' },
  });
  if (status !== 200) {
    throw new Error(JSON.stringify(body));
  }
  const payer = await browser.person(world, null);
  await draw(payer, 'checkout', () => payer.page.goto(body.data.paymentRedirectUrl));
  await payer.leave();
}

try {
  await world.do('account', 'bakery', { olga: 'owner' });
  const { url } = await world.do('receiver');
  await world.ctl('webhook', 'set', 'bakery', url, '--mode', 'test');
  await world.do('sample', 'bakery', NOW);
  await world.do('settled', 'bakery');
  await dashboard();
  await checkout();
} finally {
  await browser.close();
  await world.close();
}
