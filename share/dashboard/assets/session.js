// SPDX-License-Identifier: Apache-2.0
// Who is looking, at which account and mode.

import { formatFragment } from './router.js';
import { roleIsAtLeast } from './words.js';

export class Session {
  constructor(api, answer) {
    this.api = api;
    this.update(answer);
  }

  update(answer) {
    this.user = answer.user;
    this.host = answer.host;
    this.version = answer.version;
    this.basePath = answer.basePath ?? '';
    this.accounts = answer.accounts;
  }

  // The account that the fragment names, else the first.
  accountOf(params) {
    if (params.account) {
      return this.accounts.find((account) => account.name === params.account) ?? null;
    }
    return this.accounts[0] ?? null;
  }

  // Reads the switches and roles again, after one was changed.
  async refresh() {
    this.update(await this.api.session());
  }
}

// What a page is given: where it is, and what it may ask and do.
export class View {
  constructor(session, route, params, account, signal) {
    this.session = session;
    this.api = session.api;
    this.route = route;
    this.args = route.args;
    this.params = params;
    this.account = account.name;
    this.role = account.role;
    this.accountMode = account.mode;
    this.mode = params.mode === 'live' || params.mode === 'test' ? params.mode : account.mode;
    this.signal = signal;
  }

  // Path of the account in the API; of its mode.
  accountPath(...parts) {
    return ['accounts', this.account, ...parts].map(encodeURIComponent).join('/');
  }

  scopePath(...parts) {
    return this.accountPath(this.mode, ...parts);
  }

  getScope(parts, query) {
    return this.api.get(this.scopePath(...parts), query, this.signal);
  }

  getAccount(parts, query) {
    return this.api.get(this.accountPath(...parts), query, this.signal);
  }

  // A link that stays with this account and, unless another is named, this mode.
  link(parts, params = {}, mode = this.mode) {
    return formatFragment(parts, { ...params, ...this.#place(mode) });
  }

  // The same page with other parameters.
  here(params) {
    const parts = location.hash.replace(/^#\/?/, '').split('?')[0].split('/').filter(Boolean);
    return this.link(parts.length ? parts.map(decodeURIComponent) : ['overview'], params);
  }

  #place(mode) {
    const place = {};
    if (this.params.account) {
      place.account = this.params.account;
    }
    if (mode !== this.accountMode) {
      place.mode = mode;
    }
    return place;
  }

  can(role) {
    return roleIsAtLeast(this.role, role);
  }
}
