// SPDX-License-Identifier: Apache-2.0
// The colours of tokens.css against each other, in light and dark: WCAG 2.2 AA.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const text = readFileSync(`${process.env.PAGES}tokens.css`, 'utf8');
const cut = text.indexOf('@media (prefers-color-scheme: dark)');
assert.ok(cut > 0);

const colours = (part) =>
  Object.fromEntries(
    [...part.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]),
  );

function luminance(colour) {
  const [r, g, b] = [1, 3, 5]
    .map((i) => parseInt(colour.slice(i, i + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

const TEXT = 4.5;
const SHAPE = 3;
const GROUNDS = ['ground', 'surface', 'sunk'];
const PAIRS = [
  ...['ink', 'soft', 'accent', 'accent-strong', 'bad'].flatMap((ink) =>
    GROUNDS.map((on) => [ink, on, TEXT]),
  ),
  ['on-accent', 'accent', TEXT],
  ['on-accent', 'accent-strong', TEXT],
  ['on-bad', 'bad', TEXT],
  ['on-bad', 'bad-strong', TEXT],
  ['good', 'good-soft', TEXT],
  ['warn', 'warn-soft', TEXT],
  ['bad', 'bad-soft', TEXT],
  ['test', 'test-soft', TEXT],
  ['accent-strong', 'accent-soft', TEXT],
  ['ink', 'warn-soft', TEXT],
  ['ink', 'bad-soft', TEXT],
  ['ink', 'accent-soft', TEXT],
  ['surface', 'ink', TEXT],
  ['field-line', 'surface', SHAPE],
  ['field-line', 'ground', SHAPE],
  ['focus', 'surface', SHAPE],
  ['focus', 'ground', SHAPE],
  ['focus', 'test-soft', SHAPE],
  ['accent', 'surface', SHAPE],
  ['good', 'surface', SHAPE],
  ['bad', 'surface', SHAPE],
];

for (const [scheme, set] of [
  ['light', colours(text.slice(0, cut))],
  ['dark', colours(text.slice(cut))],
]) {
  for (const [ink, on, least] of PAIRS) {
    test(`${scheme}: ${ink} on ${on}`, () => {
      assert.ok(contrast(set[ink], set[on]) >= least, `${contrast(set[ink], set[on]).toFixed(2)}`);
    });
  }
}
