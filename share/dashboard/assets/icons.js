// SPDX-License-Identifier: Apache-2.0
// Pictures beside words; none of them says anything that no word says.

import { svg } from './dom.js';

const PATHS = {
  overview: ['M4 19V11', 'M10 19V5', 'M16 19v-6', 'M21 19H3'],
  charges: ['M3 6.5h18v11H3z', 'M3 10.5h18', 'M6.5 14.5h4'],
  refunds: ['M8 5 4 9l4 4', 'M4 9h10a5.5 5.5 0 0 1 0 11H8'],
  events: ['M6 10a6 6 0 1 1 12 0c0 5 2 6 2 6H4s2-1 2-6', 'M10 20h4'],
  links: [
    'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.700-5.700l-1.500 1.500',
    'M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.700 5.700l1.500-1.500',
  ],
  settings: ['M4 7h9', 'M17 7h3', 'M15 5v4', 'M4 17h3', 'M11 17h9', 'M9 15v4'],
  menu: ['M4 7h16', 'M4 12h16', 'M4 17h16'],
  close: ['M6 6l12 12', 'M18 6 6 18'],
  copy: ['M9 9h10v10H9z', 'M5 15V5h10'],
  done: ['M5 12.500l4.500 4.500L19 7.500'],
  warn: ['M12 4 2.500 20h19z', 'M12 10v4.500', 'M12 17.300v.2'],
  download: ['M12 4v11', 'M7.500 11 12 15.500 16.500 11', 'M5 20h14'],
  back: ['M15 5l-7 7 7 7'],
  forward: ['M9 5l7 7-7 7'],
  plus: ['M12 5v14', 'M5 12h14'],
};

export function icon(name) {
  return svg(
    'svg',
    { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true', focusable: 'false' },
    PATHS[name].map((d) => svg('path', { d })),
  );
}
