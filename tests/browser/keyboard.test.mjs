// SPDX-License-Identifier: Apache-2.0
// The dashboard by keyboard alone, and on a telephone.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';

import { Browser } from './browser.mjs';
import { World } from './world.mjs';

const STEPS_MAX = 80; // of the tabulator key to anything on a page
let world;
let browser;

before(async () => {
  world = await World.start(['olga']);
  await world.do('account', 'bakery', { olga: 'owner' });
  for (const reference of ['loaf-1', 'loaf-2', 'loaf-3']) {
    await world.do('charge', 'bakery', { reference });
  }
  browser = await Browser.start();
});

after(async () => {
  await browser?.close();
  await world?.close();
});

afterEach(async () => {
  assert.deepEqual(await world.do('loud'), []);
});

// What has the focus: its role's name, and whether a person can see that it has it.
function focused(page) {
  return page.evaluate(() => {
    const at = document.activeElement;
    const style = getComputedStyle(at);
    const box = at.getBoundingClientRect();
    return {
      name: (at.getAttribute('aria-label') ?? at.labels?.[0]?.innerText ?? at.innerText ?? '').trim(),
      tag: at.tagName,
      seen: box.width > 0 && box.bottom > 0 && box.top < innerHeight
        // Within a date the browser itself marks the part that has it.
        && (at.type === 'date' || style.outlineStyle !== 'none' || style.boxShadow !== 'none'),
    };
  });
}

// Presses Tab until something of that name has the focus; everything on the way shows that it has it.
async function tabTo(page, name) {
  for (let step = 0; step < STEPS_MAX; step += 1) {
    await page.keyboard.press('Tab');
    const at = await focused(page);
    if (at.tag === 'BODY') {
      continue; // round the end of the page
    }
    assert.ok(at.seen, `nobody sees that the focus is at ${at.tag} "${at.name}"`);
    if (name.test(at.name)) {
      return;
    }
  }
  assert.fail(`${STEPS_MAX} steps and not at ${name}`);
}

test('a charge is found and refunded without a mouse', async () => {
  const one = await browser.person(world, 'olga');
  const { page } = one;
  await one.open();
  await page.keyboard.press('Tab');
  assert.match((await focused(page)).name, /Skip to content/);
  await tabTo(page, /^Charges$/);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Charges', exact: true }).waitFor();
  await one.settled();
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'H1', 'a new page begins at its heading');
  await tabTo(page, /Reference or e-mail/);
  await page.keyboard.type('loaf-2');
  await page.keyboard.press('Enter');
  await page.waitForURL(/reference=loaf-2/);
  await one.settled();
  await tabTo(page, /^loaf-2$/);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: /^Charge [0-9]/ }).waitFor();
  await one.settled();
  await tabTo(page, /^Refund$/);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  assert.ok(await page.evaluate(() => document.activeElement.closest('dialog') !== null), 'the focus is in the dialog');
  await tabTo(page, /^Refund$/);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.locator('main .charge-head').getByText('Refunded', { exact: true }).waitFor();
  await one.leave();
});

test('Escape closes a dialog, and the focus is where it was', async () => {
  const one = await browser.person(world, 'olga');
  const { page } = one;
  await one.open('charges?reference=loaf-1');
  await page.getByRole('link', { name: 'loaf-1' }).click();
  await page.getByRole('heading', { name: /^Charge [0-9]/ }).waitFor();
  await one.settled();
  await tabTo(page, /^Refund$/);
  await page.keyboard.press('Space');
  await page.getByRole('dialog').waitFor();
  for (let step = 0; step < 12; step += 1) {
    await page.keyboard.press('Tab');
    assert.ok(await page.evaluate(() => document.activeElement === document.body
      || document.activeElement.closest('dialog') !== null), 'the focus does not leave the dialog');
  }
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.match((await focused(page)).name, /^Refund$/);
  await one.leave();
});

test('a telephone has the whole of it: menu, charge, refund', async () => {
  const one = await browser.person(world, 'olga', { size: 'narrow', hasTouch: true, isMobile: true });
  const { page } = one;
  await one.open();
  const menu = page.getByRole('button', { name: 'Menu' });
  await menu.tap();
  assert.equal(await menu.getAttribute('aria-expanded'), 'true');
  await one.shot('menu-narrow');
  await one.usable('menu, narrow');
  await page.getByRole('link', { name: 'Charges', exact: true }).tap();
  await page.getByRole('heading', { name: 'Charges', exact: true }).waitFor();
  await one.settled();
  await page.getByRole('link', { name: 'loaf-3' }).tap();
  await page.getByRole('button', { name: 'Refund', exact: true }).tap();
  await one.usable('dialog of a refund, narrow');
  await one.shot('refund-narrow');
  await page.getByRole('dialog').getByRole('button', { name: 'Refund', exact: true }).tap();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await one.settled();
  await one.shot('refunded-narrow');
  await page.locator('main .charge-head').getByText('Refunded', { exact: true }).waitFor();
  await one.leave();
});

test('what is tapped is large enough', async () => {
  const one = await browser.person(world, 'olga', { size: 'narrow', hasTouch: true, isMobile: true });
  for (const where of ['overview', 'charges', 'settings/keys']) {
    await one.open(where);
    const small = await one.page.evaluate(() => [...document.querySelectorAll('button, select, input, a.button')]
      .map((node) => [node, node.getBoundingClientRect()])
      .filter(([node, box]) => box.width > 0 && (box.width < 24 || box.height < 24) && !['radio', 'checkbox'].includes(node.type))
      .map(([node, box]) => `${node.outerHTML.slice(0, 80)} ${box.width}x${box.height}`));
    assert.deepEqual(small, [], where);
  }
  await one.leave();
});
