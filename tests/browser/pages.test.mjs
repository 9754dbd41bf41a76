// SPDX-License-Identifier: Apache-2.0
// Every page of the dashboard with thirty days behind it: light, dark and narrow, for eyes, keyboards and screen readers.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, test } from 'node:test';

import { Browser } from './browser.mjs';
import { World } from './world.mjs';

const NOW = '2026-03-16T10:00:00Z';
const BEGUN = '2026-02-13T06:00:00Z';
// All of the router's, except an event, whose id is known only once there is one.
const ROUTER = new URL('../../share/dashboard/assets/router.js', import.meta.url);
const PAGES = [...readFileSync(ROUTER, 'utf8').matchAll(/^ {2}\['([^']+)', 'page_/gm)].map(([, path]) => path)
  .filter((path) => path !== 'events/:id').map((path) => path.replace(':id', '1'));
assert.ok(PAGES.length > 10);
const LOOKS = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  narrow: { colorScheme: 'light', size: 'narrow', hasTouch: true, isMobile: true },
  'narrow-dark': { colorScheme: 'dark', size: 'narrow', hasTouch: true, isMobile: true },
};
let world;
let browser;

before(async () => {
  world = await World.start(['olga', 'vera'], { at: BEGUN });
  await world.do('account', 'bakery', { olga: 'owner', vera: 'viewer' });
  await world.do('sample', 'bakery', NOW);
  const hook = await world.do('receiver');
  await world.do('answer', hook.number, 500);
  await world.ctl('webhook', 'set', 'bakery', hook.url, '--mode', 'test');
  await world.do('charge', 'bakery', { reference: 'order-9001', firstName: 'Ada', lastName: 'Obi' });
  await world.do('charge', 'bakery', { reference: 'order-9002', token: 'tok_test_timeout' });
  await world.ctl('link', 'create', 'bakery', '--mode', 'test', '--title', 'Wedding cake', '--amount', '85000', '--once');
  await world.ctl('link', 'create', 'bakery', '--mode', 'test', '--title', 'A coffee for the bakers');
  await world.do('expect', 'PAY00267', true); // the receiver that refuses is told once
  await world.do('refused', hook.number, 'order-9001');
  browser = await Browser.start();
});

after(async () => {
  await browser?.close();
  await world?.close();
});

afterEach(async () => {
  assert.deepEqual(await world.do('loud'), []);
});

for (const [look, options] of Object.entries(LOOKS)) {
  test(`every page, ${look}`, async (t) => {
    const one = await browser.person(world, 'olga', options);
    await one.page.clock.setFixedTime(new Date(NOW));
    await one.open('links'); // so that the first of the pages is another one
    for (const where of PAGES) {
      await t.test(where, async () => {
        await one.turn(where);
        await one.shot(`${where.replaceAll('/', '-')}-${look}`);
        assert.equal(await one.page.locator('main [role="alert"]').count(), 0, await one.page.locator('main').innerText());
        await one.usable(`${where}, ${look}`);
      });
    }
    await one.leave();
  });
}

test('Test Mode is told on every page, and the switch stands at the bottom left', async () => {
  const one = await browser.person(world, 'olga');
  for (const where of PAGES) {
    await one.open(where);
    assert.match(await one.page.locator('#banner').innerText(), /Test Mode/, where);
    const box = await one.page.locator('#mode-switch').boundingBox();
    const { width, height } = one.page.viewportSize();
    assert.ok(box && box.x < width / 4 && box.y > height / 2 && box.y + box.height <= height, `${where}: ${JSON.stringify(box)}`);
  }
  await one.leave();
});

// The days of each currency: how many tables with a head and thirty rows, and how many charts with something in them.
async function days(one) {
  const tables = one.page.getByRole('region', { name: /^Days in [A-Z]{3}$/ });
  for (const table of await tables.all()) {
    assert.equal(await table.getByRole('row').count(), 31, 'a head and thirty days');
  }
  const drawn = await one.page.locator('main canvas[role="img"]').evaluateAll((all) => all.filter((canvas) =>
    canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte > 0)).length);
  return { tables: await tables.count(), drawn };
}

test('each currency has a chart, where the library of charts is installed', async () => {
  const one = await browser.person(world, 'olga');
  await one.open();
  const library = await (await one.page.request.get(`${world.path}/assets/chart_library.js`)).text();
  if (/Chart\.js v[34]/.test(library)) {
    await one.page.locator('main canvas').last().waitFor();
  }
  const { tables, drawn } = await days(one);
  assert.ok(tables > 0);
  assert.equal(drawn, /Chart\.js v[34]/.test(library) ? tables : 0);
  await one.leave();
});

test('without the library of charts the tables say the same', async () => {
  const one = await browser.person(world, 'olga');
  await one.open();
  const said = await one.page.locator('main table').allInnerTexts();
  await one.page.route('**/chart_library.js', (route) => route.fulfill({ contentType: 'text/javascript', body: '// none' }));
  await one.open();
  await one.page.waitForFunction(() => !document.querySelector('main .chart'));
  assert.deepEqual(await one.page.locator('main table').allInnerTexts(), said);
  assert.equal((await days(one)).drawn, 0);
  await one.leave();
});

test('reload and the back button show the same page', async () => {
  const one = await browser.person(world, 'olga');
  await one.open('charges');
  await one.page.getByLabel('Reference or e-mail').fill('ada@example.com');
  await one.page.getByRole('button', { name: 'Show', exact: true }).click();
  await one.settled();
  await one.page.waitForURL(/email=ada/);
  const seen = await one.page.locator('main tbody').innerText();
  assert.doesNotMatch(seen, /bayo@/);
  await one.page.reload();
  await one.settled();
  assert.equal(await one.page.locator('main tbody').innerText(), seen);
  await one.page.locator('main tbody a').first().click();
  await one.page.getByRole('heading', { name: /^Charge [0-9]/ }).waitFor();
  await one.page.goBack();
  await one.settled();
  assert.equal(await one.page.locator('main tbody').innerText(), seen);
  await one.leave();
});

test('charges and refunds are taken away as CSV and JSON', async () => {
  const one = await browser.person(world, 'olga', { acceptDownloads: true });
  for (const what of ['charges', 'refunds']) {
    await one.open(what);
    for (const form of ['CSV', 'JSON']) {
      const [download] = await Promise.all([
        one.page.waitForEvent('download'),
        one.page.getByRole('link', { name: `Export ${what} as ${form}` }).click(),
      ]);
      assert.match(download.suggestedFilename(), new RegExp(`^${what}.*\\.${form.toLowerCase()}$`));
      const { readFile } = await import('node:fs/promises');
      const text = await readFile(await download.path(), 'utf8');
      const rows = form === 'JSON' ? JSON.parse(text).length : text.trim().split('\n').length - 1;
      const known = JSON.parse(await world.ctl(what.slice(0, -1), 'list', 'bakery', '--mode', 'test', '--json')).length;
      assert.equal(rows, known, `${what} as ${form}`);
    }
  }
  await one.leave();
});

test('times are those of the reader', async () => {
  const lagos = await browser.person(world, 'olga', { timezoneId: 'Africa/Lagos' });
  const tokyo = await browser.person(world, 'olga', { timezoneId: 'Asia/Tokyo', locale: 'ja-JP' });
  const shown = [];
  for (const one of [lagos, tokyo]) {
    await one.open('charges/1');
    shown.push(await one.page.locator('main time').first().innerText());
    await one.leave();
  }
  assert.notEqual(shown[0], shown[1]);
});
