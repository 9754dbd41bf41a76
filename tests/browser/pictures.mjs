// SPDX-License-Identifier: Apache-2.0
// The pictures of docs/dashboard.md: a bakery's dashboard at one morning, always the same.

import { Browser } from './browser.mjs';
import { World } from './world.mjs';

const NOW = '2026-03-16T10:00:00Z';
const SIZE = { width: 1120, height: 720 };
const PICTURES = { overview: 'overview', charges: 'charges', charge: 'charges/3', keys: 'settings/keys', account: 'settings/account' };

const world = await World.start(['olga'], { at: '2026-02-13T06:00:00Z' });
const browser = await Browser.start();
try {
  await world.do('account', 'bakery', { olga: 'owner' });
  await world.do('sample', 'bakery', NOW);
  const olga = await browser.person(world, 'olga', { viewport: SIZE });
  await olga.page.clock.setFixedTime(new Date(NOW));
  for (const [name, where] of Object.entries(PICTURES)) {
    await olga.open(where);
    await olga.shot(name, { fullPage: false });
    console.log(`docs/images/${name}.png`);
  }
  await olga.leave();
} finally {
  await browser.close();
  await world.close();
}
