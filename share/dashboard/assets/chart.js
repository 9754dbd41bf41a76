// SPDX-License-Identifier: Apache-2.0
// Thirty days of one currency as bars, where the charting library is installed. The table below
// says the same.

import { el } from './dom.js';
import { formatMoney } from './money.js';
import { formatDay } from './time.js';

let library = null;

// Chart.js, which configure found and make copied here; null without it.
async function loadLibrary() {
  if (library === null) {
    try {
      await import('./chart_library.js');
    } catch {
      // Not installed: there are the tables.
    }
    library = globalThis.Chart ?? undefined;
  }
  return library;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

const still = matchMedia('(prefers-reduced-motion: reduce)');
const dark = matchMedia('(prefers-color-scheme: dark)');

function settings(days, currency) {
  const ticks = { color: colour('--soft'), font: { family: colour('--font'), size: 12 } };
  const exact = (set, i) =>
    formatMoney(set === 0 ? days[i].volume : days[i].refundVolume, currency);
  return {
    type: 'bar',
    data: {
      labels: days.map((day) => formatDay(day.date, undefined, 'short')),
      datasets: [
        {
          label: 'Volume',
          data: days.map((day) => Number(day.volume)),
          backgroundColor: colour('--accent'),
          borderRadius: 4,
          maxBarThickness: 22,
        },
        {
          label: 'Refunds',
          data: days.map((day) => Number(day.refundVolume)),
          backgroundColor: colour('--test-line'),
          borderRadius: 4,
          maxBarThickness: 22,
        },
      ],
    },
    options: {
      animation: still.matches ? false : { duration: 300 },
      responsive: true,
      maintainAspectRatio: false,
      interaction: { mode: 'index', intersect: false },
      scales: {
        x: { grid: { display: false }, ticks: { ...ticks, maxRotation: 0, autoSkipPadding: 16 } },
        y: {
          beginAtZero: true,
          border: { display: false },
          grid: { color: colour('--line'), drawBorder: false },
          ticks: { ...ticks, maxTicksLimit: 5, callback: (value) => compact(value) },
        },
      },
      plugins: {
        legend: {
          align: 'end',
          labels: { ...ticks, boxWidth: 10, boxHeight: 10, usePointStyle: true },
        },
        tooltip: {
          callbacks: {
            label: (item) => `${item.dataset.label}: ${exact(item.datasetIndex, item.dataIndex)}`,
          },
        },
      },
    },
  };
}

function compact(value) {
  return new Intl.NumberFormat(undefined, { notation: 'compact' }).format(value);
}

// A box with the chart in it, or an empty one.
export function chart(view, days, currency) {
  const box = el('div', { class: 'chart' });
  const canvas = el('canvas', {
    role: 'img',
    'aria-label':
      `Chart of volume and refunds in ${currency} on each of the last ${days.length} days; ` +
      'the table below has the same numbers',
  });
  let drawn = null;

  const draw = () => {
    drawn?.destroy();
    drawn = new library(canvas, settings(days, currency));
  };
  loadLibrary().then((found) => {
    if (!found || view.signal.aborted) {
      box.remove();
      return;
    }
    box.append(canvas);
    draw();
    dark.addEventListener('change', draw, { signal: view.signal });
    view.signal.addEventListener('abort', () => drawn.destroy(), { once: true });
  });
  return box;
}
