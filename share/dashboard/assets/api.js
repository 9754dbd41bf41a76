// SPDX-License-Identifier: Apache-2.0
// Requests to the dashboard's own api/. Whatever goes wrong becomes an ApiError with a sentence
// that says what to do.

const BASE = new URL('api/', document.baseURI);
const TIMEOUT_MS = 30000;
const CSRF_REFUSED = 'C1';

// What is said where the server said nothing that a person could read.
const SENTENCES = {
  0: 'The server cannot be reached. Check the connection, then try again.',
  401: 'You are signed out. Load this page again to sign in.',
  403: 'You may not do this here.',
  404: 'There is no such record. It may belong to the other mode or to another account.',
  409: 'This is not possible in the present state. Load the page again to see the state.',
  429: 'Too many requests. Wait a moment, then try again.',
  503: 'The service is not available at the moment. Try again in a few seconds.',
};

export class ApiError extends Error {
  // status 0: no answer came. `outcomeKnown` is false when a change may have been made all the
  // same.
  constructor(status, body, outcomeKnown) {
    const data = body?.data ?? {};
    const sentence =
      SENTENCES[status] ?? 'The server failed to answer. Try again in a moment.';
    super(body?.message || sentence);
    this.name = 'ApiError';
    this.status = status;
    this.code = data.responseCode ?? '';
    this.requestId = data.requestId ?? '';
    this.errors = Array.isArray(data.errors) ? data.errors : [];
    this.outcomeKnown = outcomeKnown;
  }
}

export class Api {
  #csrf = '';
  #session = null;

  constructor(fetcher = (url, options) => fetch(url, options)) {
    this.fetcher = fetcher;
  }

  async session() {
    this.#session ??= this.#readSession().finally(() => {
      this.#session = null;
    });
    return this.#session;
  }

  async #readSession() {
    const session = await this.get('session');
    this.#csrf = session.csrf;
    return session;
  }

  get(path, query, signal) {
    return this.#send('GET', path, query, undefined, signal);
  }

  // A change. A token that has run out is renewed once, and only a request that was refused for it,
  // which therefore changed nothing, is sent a second time.
  async post(path, body = {}) {
    try {
      return await this.#send('POST', path, undefined, body);
    } catch (error) {
      if (error.status !== 403 || error.code !== CSRF_REFUSED) {
        throw error;
      }
    }
    await this.session();
    return this.#send('POST', path, undefined, body);
  }

  async #send(method, path, query, body, signal) {
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const options = {
      method,
      headers: { Accept: 'application/json' },
      credentials: 'same-origin',
      cache: 'no-store',
      redirect: 'manual', // a sign-in page elsewhere is no answer
      signal: signal ? anySignal(signal, timeout) : timeout,
    };
    if (body !== undefined) {
      options.headers['Content-Type'] = 'application/json';
      options.headers['X-CSRF-Token'] = this.#csrf;
      options.body = JSON.stringify(body);
    }
    let response;
    try {
      response = await this.fetcher(apiAddress(path, query), options);
    } catch (error) {
      if (signal?.aborted) {
        throw error;
      }
      throw new ApiError(0, null, method === 'GET');
    }
    return answerOf(response, method);
  }
}

export function apiAddress(path, query = {}) {
  const url = new URL(path, BASE);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '') {
      url.searchParams.set(name, value);
    }
  }
  return url.href;
}

async function answerOf(response, method) {
  if (response.type === 'opaqueredirect') {
    throw new ApiError(401, null, true);
  }
  let body = null;
  try {
    body = await response.json();
  } catch {
    // Not from our API: a proxy, or the site's own sign-in.
  }
  if (response.ok && body !== null) {
    return body;
  }
  throw new ApiError(
    response.ok ? 0 : response.status,
    body,
    method === 'GET' || (response.status >= 400 && response.status < 500),
  );
}

function anySignal(...signals) {
  if (AbortSignal.any) {
    return AbortSignal.any(signals);
  }
  const controller = new AbortController();
  for (const signal of signals) {
    signal.addEventListener('abort', () => controller.abort(), { once: true });
  }
  return controller.signal;
}

// One for each thing that is meant to happen once, however often it is sent.
export function newRequestId() {
  if (crypto.randomUUID) {
    return crypto.randomUUID();
  }
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
