// SPDX-License-Identifier: Apache-2.0
// A client of mod_payments in one file, for Node 18 and later and browsers, without other packages (docs/clients.md).
//
//   import { Payments, isPaid } from './payments.mjs';
//   const shop = new Payments('https://shop.example', 'pay_testsk_...');
//   const charge = await shop.charge({ token: 'tok_...', amount: '1500.50', email: 'ada@example.com', reference: 'order-1001-7f3a' });
//   if (isPaid(charge)) ...
//
// In a browser with a public key alone: checkout() and verify(). Amounts are strings or whole numbers: 0.1 + 0.2 is not an
// amount. A call without an answer may be repeated unchanged: a charge is made once for its reference, a refund once for
// its idempotencyKey.

// A refusal by the server. status is HTTP's, code the API's, errors names the fields at fault.
export class PaymentError extends Error {
  constructor(status, body) {
    super(body?.message || `HTTP ${status}`);
    this.name = 'PaymentError';
    this.status = status;
    this.code = body?.data?.responseCode ?? '';
    this.errors = body?.data?.errors ?? [];
    this.requestId = body?.data?.requestId ?? '';
  }
}

// Returns whether the shop has the money: only one word means that, whatever words are added later.
export function isPaid(transaction) {
  return transaction?.paymentStatus === 'successful';
}

function amountText(value) {
  if (typeof value === 'string' || Number.isSafeInteger(value)) {
    return String(value);
  }
  throw new TypeError('an amount is a string or a whole number');
}

export class Payments {
  constructor(baseUrl, key, { timeoutMs = 60_000 } = {}) {
    this.baseUrl = baseUrl.replace(/\/+$/, '');
    this.key = key;
    this.timeoutMs = timeoutMs;
  }

  // Returns the answer's JSON; throws PaymentError for a refusal, and the error of fetch if there was no answer. The key is
  // sent to the given address only: redirections are refused.
  async call(method, path, body, idempotencyKey) {
    const headers = { Authorization: `Bearer ${this.key}`, Accept: 'application/json' };
    if (body !== undefined) {
      headers['Content-Type'] = 'application/json';
    }
    if (idempotencyKey !== undefined) {
      headers['Idempotency-Key'] = idempotencyKey;
    }
    const answer = await fetch(this.baseUrl + path, { method, headers, redirect: 'error',
      body: body === undefined ? undefined : JSON.stringify(body), signal: AbortSignal.timeout(this.timeoutMs) });
    if (!answer.ok) {
      throw new PaymentError(answer.status, await answer.json().catch(() => undefined));
    }
    return answer.json();
  }

  // Returns the transaction, approved or declined: see isPaid. more: currency, firstName, lastName.
  async charge({ token, amount, email, reference, ...more }) {
    const body = { token, amount: amountText(amount), email, reference, ...more };
    return (await this.call('POST', '/api/v1/tokenized-card-charge', body)).data;
  }

  async verify(reference) {
    return (await this.call('GET', `/api/v1/checkout/${encodeURIComponent(reference)}/verify`)).data;
  }

  // Returns the refund record: of amount, or of the whole remainder. more: customer_note, merchant_note.
  refund({ reference, amount, idempotencyKey, ...more }) {
    const partial = amount !== undefined;
    const body = { reference, ...(partial ? { amount: amountText(amount) } : {}), ...more };
    return this.call('POST', partial ? '/api/v1/partial-refund' : '/api/v1/refund', body, idempotencyKey);
  }

  // Returns the refund records of a range of days (yyyy-MM-dd) or times (RFC 3339), both ends inclusive.
  refunds(start, end) {
    return this.call('GET', `/api/v1/refund/${encodeURIComponent(start)}/${encodeURIComponent(end)}`);
  }

  // Yields each transaction that matches the query (email, status, currency, from, to), newest first.
  async * transactions(query = {}) {
    const asked = new URLSearchParams(query);
    for (;;) {
      const { data } = await this.call('GET', `/api/v1/transaction?${asked}`);
      yield* data.transactions;
      if (data.cursor === null) {
        return;
      }
      asked.set('cursor', data.cursor);
    }
  }

  // Send the payer to paymentRedirectUrl. more: currency, redirectUrl, metaData, checkoutCustomizationData.
  async checkout({ reference, amount, email, firstName, lastName, ...more }) {
    const body = { transactionReference: reference, amount: amountText(amount),
      checkoutCustomerData: { email, firstName, lastName }, ...more };
    return (await this.call('POST', '/api/v1/initiate', body)).data;
  }
}

// Returns the event of a webhook; throws an Error if it must not be trusted. secret is "whsec_..."; headers have lower-case
// names; body is the text as received.
export async function verifyWebhook(secret, headers, body, { toleranceSeconds = 300, now = Date.now() / 1000 } = {}) {
  const stamp = headers['webhook-timestamp'] ?? '';
  if (!/^[0-9]+$/.test(stamp) || Math.abs(now - Number(stamp)) > toleranceSeconds) {
    throw new Error('the webhook is too old, or of the future');
  }
  const { subtle } = globalThis.crypto ?? (await import('node:crypto')).webcrypto;
  const bytes = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const key = await subtle.importKey('raw', bytes(secret.replace(/^whsec_/, '')), { name: 'HMAC', hash: 'SHA-256' },
    false, ['verify']);
  const signed = new TextEncoder().encode(`${headers['webhook-id'] ?? ''}.${stamp}.${body}`);
  for (const one of (headers['webhook-signature'] ?? '').split(' ')) {
    if (/^v1,[A-Za-z0-9+/]{43}=$/.test(one) && await subtle.verify('HMAC', key, bytes(one.slice(3)), signed)) {
      return JSON.parse(body);
    }
  }
  throw new Error('no signature of the webhook is right');
}
