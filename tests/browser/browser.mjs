// SPDX-License-Identifier: Apache-2.0
// Chromium, people who sit before it, and what is asked of every page.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';

const { PAYMENTS_BUILD, PAYMENTS_SHOTS, PAYMENTS_CHROMIUM = '/usr/bin/chromium' } = process.env;
const require = createRequire(`${PAYMENTS_BUILD}/browser/`);
const { chromium } = require('playwright-core');
const AXE = require.resolve('axe-core/axe.min.js');

// Nothing but this machine is there for it, whatever a page names.
// Processes cost as much as what is done in them: one for a site, not one for each time that it is loaded.
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--font-render-hinting=none', '--process-per-site',
  '--disable-site-isolation-trials',
  '--host-resolver-rules=MAP shop.example 127.0.0.1, MAP evil.example 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, '
    + 'EXCLUDE localhost'];
export const WAIT_MS = 20_000;
export const SIZES = {
  wide: { width: 1280, height: 860 },
  narrow: { width: 375, height: 740 },
};

export class Browser {
  static async start() {
    const browser = new Browser();
    browser.chromium = await chromium.launch({ executablePath: PAYMENTS_CHROMIUM, args: FLAGS });
    return browser;
  }

  // Somebody with a new profile, signed in as `user` or not at all; the page tells what went wrong in it.
  async person(world, user, options = {}) {
    const { size = 'wide', ...more } = options;
    const context = await this.chromium.newContext({
      baseURL: world.origin,
      viewport: SIZES[size],
      locale: 'en-GB',
      timezoneId: 'Africa/Lagos',
      reducedMotion: 'reduce',
      httpCredentials: user ? { username: user, password: world.password } : undefined,
      ...more,
    });
    context.setDefaultTimeout(WAIT_MS);
    return new Person(world, context, await context.newPage());
  }

  async close() {
    await this.chromium.close();
  }
}

export class Person {
  constructor(world, context, page) {
    Object.assign(this, { world, context, page, opened: 0, wrong: [], expected: [] });
    page.on('pageerror', (error) => this.wrong.push(`exception: ${error.message}`));
    page.on('console', (line) => {
      if (line.type() === 'error' || line.type() === 'warning') {
        this.wrong.push(`console: ${line.text()} ${line.location().url}`);
      }
    });
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (origin !== world.origin && !['data:', 'blob:', 'about:'].includes(protocol)) {
        this.wrong.push(`request of another origin: ${request.url()}`);
      }
    });
  }

  // What goes wrong in the page and should: a pattern.
  expect(pattern) {
    this.expected.push(pattern);
  }

  // Loads a page of the dashboard: `where` is its fragment, a change of which alone would load nothing, but for one
  // with another query.
  async open(where = 'overview') {
    this.opened += 1;
    await this.page.goto(`${this.world.path}/?${this.opened}#/${where}`);
    await this.settled();
  }

  // Goes to another page of the dashboard without loading anything anew, as its links do; the page that it leaves is
  // marked, for it may have a heading like the next one's.
  async turn(where) {
    await this.page.locator('main .page').evaluate((page) => page.setAttribute('data-left', ''));
    await this.page.goto(this.page.url().replace(/#.*/, `#/${where}`));
    await this.page.locator('main .page:not([data-left])').waitFor();
    await this.settled();
  }

  // Loads a page again until `condition` holds there: what the server does by itself takes a moment.
  async until(where, condition) {
    const end = Date.now() + WAIT_MS;
    do {
      await this.open(where);
      if (await condition()) {
        return;
      }
    } while (Date.now() < end);
    assert.fail(`${where}: not so after ${WAIT_MS} ms: ${await this.page.locator('main').innerText()}`);
  }

  // The page has a heading, and nothing on it is still being loaded.
  async settled() {
    await this.page.locator('main h1').first().waitFor();
    await this.page.waitForFunction(() => !document.querySelector('main .loading, main [aria-busy="true"]'));
  }

  async shot(name, options = {}) {
    if (PAYMENTS_SHOTS) {
      mkdirSync(PAYMENTS_SHOTS, { recursive: true });
      const fullPage = await this.page.locator('dialog[open]').count() === 0; // a dialog lies over what is in sight
      await this.page.screenshot({ path: `${PAYMENTS_SHOTS}/${name}.png`, fullPage, ...options });
    }
  }

  // axe-core finds nothing, and nothing is wider than the window.
  async usable(name) {
    const faults = await this.#axe();
    assert.deepEqual(faults, [], `axe-core on ${name}`);
    const wide = await this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `${name} is ${wide} pixels wider than its window`);
  }

  // By the protocol of the browser's own tools, as the page's policy lets no script in.
  async #axe() {
    if (!await this.page.evaluate(() => Boolean(globalThis.axe))) {
      const { readFileSync } = await import('node:fs');
      await this.page.evaluate(readFileSync(AXE, 'utf8'));
    }
    const { violations } = await this.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
    return violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.map((node) =>
      `${node.target.join(' ')} (${node.failureSummary})`).join('; ')}`);
  }

  // Ends; fails on what went wrong and was not expected.
  async leave() {
    await this.context.close();
    const wrong = this.wrong.filter((line) => !this.expected.some((pattern) => pattern.test(line)));
    assert.deepEqual(wrong, [], 'what went wrong in the browser');
  }
}
