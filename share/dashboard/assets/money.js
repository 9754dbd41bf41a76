// SPDX-License-Identifier: Apache-2.0
// Amounts: decimal strings in major units. They are never turned into floating point to be shown,
// compared or sent; only a chart, which is drawn in pixels, may round them.

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

function parts(text) {
  const match = DECIMAL.exec(String(text));
  return match && { sign: match[1], whole: match[2], decimals: match[3] || '' };
}

// What writes amounts in a reader's language: `Format`, or null where it rounds strings to a
// double, as in older browsers.
export function exactFormat(Format) {
  try {
    const said = new Format('en').format('9007199254740993');
    return said === '9,007,199,254,740,993' ? Format : null;
  } catch {
    return null;
  }
}

const EXACT = exactFormat(Intl.NumberFormat);

// Without a Format the code, and the digits as they are.
export function formatMoney(amount, currency, locale, Format = EXACT) {
  const number = parts(amount);
  if (!number) {
    return `${currency || ''} ${amount ?? ''}`.trim();
  }
  if (Format && currency) {
    try {
      return new Format(locale, {
        style: 'currency',
        currency,
        minimumFractionDigits: number.decimals.length,
        maximumFractionDigits: number.decimals.length,
      }).format(String(amount));
    } catch {
      // A code that is no currency's: as below.
    }
  }
  return `${currency || ''} ${amount}`.trim();
}

export function formatCount(count, locale) {
  return new Intl.NumberFormat(locale).format(count);
}

// What is counted by a scan that stops at 1000 says so.
export function formatBounded(count, locale) {
  return count >= 1000 ? `${formatCount(1000, locale)} or more` : formatCount(count, locale);
}

export function formatRate(rate, locale) {
  if (rate === null || rate === undefined) {
    return '–';
  }
  return new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 }).format(rate);
}

// Less than 0, 0 or more, as the difference of two decimal strings.
export function compareAmounts(left, right) {
  const a = parts(left);
  const b = parts(right);
  const digits = Math.max(a.decimals.length, b.decimals.length);
  const minor = (n) => BigInt(n.sign + n.whole + n.decimals.padEnd(digits, '0'));
  const difference = minor(a) - minor(b);
  return difference < 0n ? -1 : Number(difference > 0n);
}

// A number of the API with `digits` decimals: the nearest decimal string.
export function fromNumber(number, digits) {
  return Number(number ?? 0).toFixed(digits);
}

export function isZero(amount) {
  return parts(amount) !== null && /^[-0.]*$/.test(String(amount));
}

export function decimalsOf(amount) {
  return parts(amount)?.decimals.length ?? 0;
}

// An amount as it is typed, with `digits` decimals: {amount} or {fault}. A comma is taken for the
// decimal point only where it cannot be a separator of thousands.
export function readAmount(text, digits) {
  const typed = text.trim().replace(/^(\d+),(\d{1,2})$/, '$1.$2');
  const number = parts(typed);
  if (!number || number.sign) {
    const example = digits ? `1500.${'0'.repeat(digits)}` : '1500';
    return { fault: `Write the amount in digits, such as ${example}.` };
  }
  if (number.decimals.length > digits) {
    return { fault: digits ? `At most ${digits} decimals.` : 'This currency has no decimals.' };
  }
  if (isZero(typed)) {
    return { fault: 'The amount must be more than 0.' };
  }
  const whole = number.whole.replace(/^0+(?=\d)/, '');
  return { amount: digits ? `${whole}.${number.decimals.padEnd(digits, '0')}` : whole };
}

// Decimals that the browser shows of a currency: not always those of ISO 4217, of which some have
// more. Amounts that no server has written yet are shown and judged by them.
export function currencyDigits(currency) {
  try {
    return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
      .maximumFractionDigits;
  } catch {
    return 2;
  }
}

// A number of the API with all of its decimals.
export function formatNumber(number, currency, locale, Format = EXACT) {
  const digits = Math.max(currencyDigits(currency), decimalsOf(number));
  return formatMoney(fromNumber(number, digits), currency, locale, Format);
}

// An amount as it is typed for the server, which knows the currency's decimals; more than two are
// taken only where the browser knows them, so that "1.500" is never one and a half.
export function readAmountOf(text, currency) {
  return readAmount(text, Math.max(currencyDigits(currency), 2));
}
