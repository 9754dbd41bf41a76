// SPDX-License-Identifier: Apache-2.0
// The fragment of the address is where the reader is: #/charges/42?mode=live. It holds a path and
// parameters; account and mode stand there only where they differ from what would be taken anyway.

export function parseFragment(fragment) {
  const text = fragment.replace(/^#/, '');
  const cut = text.indexOf('?');
  const path = cut < 0 ? text : text.slice(0, cut);
  const query = cut < 0 ? '' : text.slice(cut + 1);
  return {
    parts: path.split('/').filter(Boolean).map(decode),
    params: Object.fromEntries(new URLSearchParams(query)),
  };
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function formatFragment(parts, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== null && value !== '') {
      query.set(name, value);
    }
  }
  const text = query.toString();
  return `#/${parts.map(encodeURIComponent).join('/')}${text ? `?${text}` : ''}`;
}

// [pattern, module, section of the navigation]; ":x" takes one part.
const ROUTES = [
  ['overview', 'page_overview', 'overview'],
  ['charges', 'page_charges', 'charges'],
  ['charges/:id', 'page_charge', 'charges'],
  ['held', 'page_held', 'overview'],
  ['blocked', 'page_blocked', 'overview'],
  ['refunds', 'page_refunds', 'refunds'],
  ['events', 'page_events', 'events'],
  ['events/:id', 'page_event', 'events'],
  ['links', 'page_links', 'links'],
  ['settings/keys', 'page_settings_keys', 'settings'],
  ['settings/webhook', 'page_settings_webhook', 'settings'],
  ['settings/mail', 'page_settings_mail', 'settings'],
  ['settings/encryption', 'page_settings_encryption', 'settings'],
  ['settings/team', 'page_settings_team', 'settings'],
  ['settings/account', 'page_settings_account', 'settings'],
];

export const HOME = ['overview'];

// {name, module, section, args} or null.
export function findRoute(parts) {
  const wanted = parts.length === 1 && parts[0] === 'settings' ? ['settings', 'keys'] : parts;
  for (const [pattern, module, section] of ROUTES) {
    const names = pattern.split('/');
    if (
      names.length === wanted.length &&
      names.every((name, i) => name.startsWith(':') || name === wanted[i])
    ) {
      const args = wanted.filter((_, i) => names[i].startsWith(':'));
      return { name: pattern, module, section, args };
    }
  }
  return null;
}

// Goes there as a link does; `instead`: without a step for the back button.
export function go(fragment, instead = false) {
  if (instead) {
    location.replace(fragment);
  } else {
    location.hash = fragment;
  }
}
