// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';

const money = await import(`${process.env.PAGES}money.js`);

const plain = (text) => text.replace(/[\u00a0\u202f]/g, ' ');

// Intl as newer browsers have it: the digits of a string are formatted as they stand, however many.
class Exact extends Intl.NumberFormat {
  format(text) {
    assert.equal(typeof text, 'string', 'an amount became floating point on its way to Intl');
    const [, sign, whole, decimals] = /^(-?)(\d+)\.?(\d*)$/.exec(text);
    return sign + this.formatToParts(BigInt(whole))
      .map(({ type, value }) => (type === 'fraction' ? decimals : value)).join('');
  }
}

// Intl as older browsers have it, and Node 18 of Debian 12.
class Rounding extends Intl.NumberFormat {
  format(text) {
    return super.format(Number(text));
  }
}

class Refusing extends Intl.NumberFormat {
  format() {
    throw new TypeError('no strings here');
  }
}

test('exactFormat: only what loses no digit of a string', () => {
  assert.equal(money.exactFormat(Exact), Exact);
  assert.equal(money.exactFormat(Rounding), null);
  assert.equal(money.exactFormat(Refusing), null);
  assert.equal(money.exactFormat(undefined), null);
});

for (const [name, amount, currency, locale, exact, fallback] of [
  ['two decimals', '1500.50', 'NGN', 'en-NG', '₦1,500.50', 'NGN 1500.50'],
  ['zero', '0.00', 'USD', 'en-US', '$0.00', 'USD 0.00'],
  ['no decimals', '1500', 'JPY', 'en-US', '¥1,500', 'JPY 1500'],
  ['three decimals', '1.005', 'KWD', 'en-US', 'KWD 1.005', 'KWD 1.005'],
  ['the most', '999999999999.99', 'NGN', 'en-NG', '₦999,999,999,999.99', 'NGN 999999999999.99'],
  ['more than a double holds', '9007199254740993.01', 'USD', 'en-US', '$9,007,199,254,740,993.01',
    'USD 9007199254740993.01'],
  ['the language of the reader', '1500.50', 'EUR', 'de-DE', '1.500,50 €', 'EUR 1500.50'],
  ['below zero', '-1.50', 'USD', 'en-US', '-$1.50', 'USD -1.50'],
  ['no currency', '1.50', '', 'en-US', '1.50', '1.50'],
  ['a code that is none', '1.50', 'x', 'en-US', 'x 1.50', 'x 1.50'],
  ['no amount', null, 'USD', 'en-US', 'USD', 'USD'],
]) {
  test(`formatMoney: ${name}`, () => {
    assert.equal(plain(money.formatMoney(amount, currency, locale, Exact)), exact);
    assert.equal(plain(money.formatMoney(amount, currency, locale, null)), fallback);
    // What this Intl can do is asked when the page is loaded.
    const here = money.exactFormat(Intl.NumberFormat) ? exact : fallback;
    assert.equal(plain(money.formatMoney(amount, currency, locale)), here);
  });
}

for (const [name, text, digits, want] of [
  ['whole', '10', 2, '10.00'],
  ['a point', '10.5', 2, '10.50'],
  ['a decimal comma', '10,5', 2, '10.50'],
  ['spaces around', ' 10.50 ', 2, '10.50'],
  ['zeros in front', '0010', 2, '10.00'],
  ['less than one', '0.05', 2, '0.05'],
  ['no decimals', '10', 0, '10'],
  ['three decimals', '1.005', 3, '1.005'],
]) {
  test(`readAmount: ${name}`, () => {
    assert.deepEqual(money.readAmount(text, digits), { amount: want });
  });
}

for (const [name, text, digits] of [
  ['empty', '', 2],
  ['a word', 'ten', 2],
  ['a separator of thousands', '1,500', 2],
  ['both separators', '1,500.00', 2],
  ['too many decimals', '1.505', 2],
  ['decimals of a currency without', '1.5', 0],
  ['nothing', '0.00', 2],
  ['below zero', '-1', 2],
  ['an exponent', '1e3', 2],
]) {
  test(`readAmount refuses: ${name}`, () => {
    const { amount, fault } = money.readAmount(text, digits);
    assert.equal(amount, undefined);
    assert.ok(fault.length > 10);
  });
}

for (const [name, text, currency, want] of [
  ['two decimals', '10,5', 'NGN', '10.50'],
  ['a separator of thousands that looks like a point', '1.500', 'NGN', undefined],
  ['three decimals', '1.005', 'KWD', '1.005'],
  ['decimals that the browser does not know of', '1.50', 'AFN', '1.50'],
  ['no decimals', '1500', 'JPY', '1500.00'],
]) {
  test(`readAmountOf: ${name}`, () => {
    assert.equal(money.readAmountOf(text, currency).amount, want);
  });
}

for (const [name, number, currency, exact, fallback] of [
  ['whole', 85000, 'NGN', '₦85,000.00', 'NGN 85000.00'],
  ['decimals', 12.5, 'NGN', '₦12.50', 'NGN 12.50'],
  ['none', 1500, 'JPY', 'JP¥1,500', 'JPY 1500'],
  ['decimals that the browser does not know of', 12.5, 'AFN', 'AFN 12.5', 'AFN 12.5'],
]) {
  test(`formatNumber: ${name}`, () => {
    assert.equal(plain(money.formatNumber(number, currency, 'en-NG', Exact)), exact);
    assert.equal(plain(money.formatNumber(number, currency, 'en-NG', null)), fallback);
  });
}

for (const [left, right, want] of [
  ['10.00', '10.00', 0],
  ['10.01', '10.00', 1],
  ['9.99', '10.00', -1],
  ['10', '10.00', 0],
  ['9007199254740993.00', '9007199254740992.99', 1],
  ['-1.00', '1.00', -1],
]) {
  test(`compareAmounts: ${left} and ${right}`, () => {
    assert.equal(money.compareAmounts(left, right), want);
  });
}

test('formatBounded says where counting stopped', () => {
  assert.equal(money.formatBounded(999, 'en'), '999');
  assert.equal(money.formatBounded(1000, 'en'), '1,000 or more');
});

test('formatRate: nothing is no rate', () => {
  assert.equal(money.formatRate(null, 'en'), '–');
  assert.equal(money.formatRate(0, 'en'), '0%');
  assert.equal(money.formatRate(0.9234, 'en'), '92.3%');
});

test('isZero: every form of nothing, and no text', () => {
  assert.deepEqual(['0', '0.00', '0.000', '0.01', 'x', ''].map(money.isZero), [
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});
