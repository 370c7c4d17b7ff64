// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/noise.ts — computation times, their noise and its period.
import { draw_chart } from './charts';
import type { Bin, Data, Lateness, Thread } from './data';
import { choice, h, labelled, own_clock, section } from './dom';
import { count, percent, plural, time } from './format';
import { table } from './table';

function added(threads: Thread[]): Bin[] {
  const bins = new Map<number, Bin>();
  for (const thread of threads)
    for (const [from, to, many] of thread.computation_bins_from_to_count ?? []) {
      const bin = bins.get(from);
      if (bin) bin[2] += many;
      else bins.set(from, [from, to, many]);
    }
  return [...bins.values()].sort((a, b) => a[0] - b[0]);
}

/**
 * Converts a time to a scale on which each bin of a histogram has width 1. From a power of two
 * to the next, a histogram has 32 bins of equal width in time.
 */
function place_of(nanos: number): number {
  const doublings = Math.floor(Math.log2(Math.max(1, nanos)));
  return 32 * (doublings + nanos / 2 ** doublings - 1);
}
function nanos_at(place: number): number {
  const doublings = Math.floor(place / 32);
  return (1 + place / 32 - doublings) * 2 ** doublings;
}

/** Returns the positions of an axis' ticks: round times, at equal distances if possible. */
function ticks(least: number, most: number): number[] {
  const [from, to] = [nanos_at(least), nanos_at(most)];
  const nice = (value: number): number => {
    const size = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((one) => one * size).find((one) => one >= value * 0.999)!;
  };
  const all: number[] = [];
  if (to / from < 3) {
    const step = nice((to - from) / 7);
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) all.push(place_of(at));
  } else {
    for (let at = nice(from); at <= to; at = nice(at * 1.5)) all.push(place_of(at));
  }
  return all;
}

function histogram(name: string, threads: Thread[]): HTMLElement {
  const bins = added(threads);
  if (bins.length === 0) return h('p', { class: 'quiet' }, 'No histogram is in this report.');
  const all = bins.reduce((sum, bin) => sum + bin[2], 0);
  const most = bins.reduce((best, bin) => (bin[2] > best[2] ? bin : best));
  const last = bins[bins.length - 1];
  const base = threads.length === 1 ? threads[0].base_nanos : 0;
  const first = Math.floor(place_of(bins[0][0])) - 3;
  const width = Math.max(16, Math.ceil(place_of(last[1])) - first + 3);
  const x = Array.from({ length: width }, (_, at) => first + at);
  const values: (number | null)[] = x.map(() => null);
  for (const [low, , many] of bins) {
    const at = Math.floor(place_of(low) + 1e-6) - first;
    values[at] = (values[at] ?? 0) + many;
  }
  const text = `${count(all)} computations of ${name}: from ${time(bins[0][0])} to ${time(last[1])}, most often from ${time(most[0])} to ${time(most[1])} (${percent(most[2] / all)}).`;
  return h(
    'div',
    {},
    h('h3', {}, 'How long computations took'),
    draw_chart({
      text,
      x,
      x_label: 'computation',
      y_label: 'computations',
      logarithmic: true,
      lines: [{ label: 'computations', values, style: '--computation', bars: true }],
      x_show: (place) => time(nanos_at(place)),
      y_show: count,
      x_ticks: ticks,
      marks: base > 0 ? [{ x: place_of(base), text: 'base' }] : [],
    }),
    h('p', { class: 'quiet' }, text),
  );
}

function spectrum(thread: Thread | undefined): HTMLElement | null {
  const points = thread?.noise_spectrum_hertz_power;
  if (!thread || !points) return null;
  const period = thread.noise_period_nanos ?? 0;
  const resonance = thread.iterations_per_noise_period ?? 0;
  const near = Math.abs(resonance - Math.round(resonance)) < 0.03 && resonance >= 0.9;
  const several = thread.noise_periods_nanos_noise_computations ?? [];
  const periods = several.length > 0 ? several.map((row) => row[0]) : [period];
  const others = several
    .slice(1)
    .map(
      ([other, noise, computations]) =>
        ` It also comes every ${time(other)}: ${time(noise)} in ${count(computations)} computations.`,
    )
    .join('');
  const as_well = [period, ...(thread.noise_other_periods_nanos ?? [])].map(time).join(' or ');
  const text = `Noise of ${thread.name} comes every ${as_well}, which describes ${percent(thread.noise_period_agreement ?? 0)} of it: once in ${resonance.toFixed(2)} iterations${near ? ', so it resonates with them' : ''}.${others}`;
  return h(
    'div',
    {},
    h('h3', {}, 'Spectrum of its noise'),
    draw_chart({
      text,
      x: points.map((point) => point[0]),
      x_label: 'frequency',
      y_label: 'power',
      lines: [{ label: 'power', values: points.map((point) => point[1]), style: '--noise' }],
      x_show: (value) => `${value.toLocaleString('en', { maximumFractionDigits: 2 })} Hz`,
      y_show: (value) => value.toFixed(0),
      marks: periods
        .filter((one) => one > 0)
        .map((one) => ({ x: 1e9 / one, text: `every ${time(one)}` })),
    }),
    h('p', { class: 'quiet' }, text),
  );
}

function lateness(one: Lateness): HTMLElement {
  const all = Math.max(1, one.iterations);
  const noise = Math.max(1, one.noise_nanos);
  const wan = one.critical_wan_two_way_nanos;
  return h(
    'div',
    { class: 'lateness' },
    table(
      one.with_a_thread_late,
      [
        {
          title: 'later than',
          value: (row) => row.late_nanos,
          show: (row) => time(row.late_nanos),
        },
        {
          title: 'iterations',
          value: (row) => row.iterations,
          show: (row) => count(row.iterations),
        },
        {
          title: 'share',
          value: (row) => row.iterations / all,
          show: (row) => percent(row.iterations / all),
          bar: (row) => row.iterations / all,
          colour: '--noise',
        },
      ],
      {
        caption: `Iterations of ${one.graph} with a thread late against its own mean`,
        ascending: true,
      },
    ),
    h(
      'ul',
      {},
      h(
        'li',
        {},
        `Total noise: ${time(one.noise_nanos)}. `,
        one.noise_nanos > 0 &&
          `${percent(one.absorbed_noise_nanos / noise)} was hidden behind others; ${time(one.effective_noise_nanos)} made iterations longer, for which all threads together waited ${time(one.waited_for_noise_nanos)}.`,
      ),
      wan > 0 &&
        h(
          'li',
          {},
          `Time between clusters on critical paths (two-way): ${time(wan)}; ${percent(one.hideable_wan_two_way_nanos / wan)} of it was no longer than the noise of a thread in the same iteration.`,
        ),
    ),
  );
}

export interface NoiseView {
  element: HTMLElement;
  show: (thread: Thread) => void;
}

export function noise(data: Data): NoiseView | null {
  const threads = data.report.threads;
  if (threads.length === 0) return null;
  const charts = h('div', { class: 'pair' });
  const draw = (name: string, some: Thread[]): void => {
    charts.replaceChildren(histogram(name, some));
    const one = some.length === 1 ? some[0] : undefined;
    const power = spectrum(one);
    if (power) charts.append(power);
    else if (one)
      charts.append(h('p', { class: 'quiet' }, `No period was found in the noise of ${one.name}.`));
  };
  const noisy = threads
    .filter((thread) => thread.noise_nanos > 0)
    .sort((a, b) => b.noise_nanos - a.noise_nanos)
    .slice(0, 50);
  const clusters = data.shape.clusters.filter((name) =>
    threads.some((thread) => thread.cluster === name),
  );
  const hosts = data.report.hosts.filter((host) => host.threads > 0).slice(0, 300);
  const select = choice(
    [
      ['all', `all ${plural(threads.length, 'thread')}`],
      ...noisy.map((thread): [string, string] => [
        `t${thread.rank}/${thread.graph}`,
        `thread ${thread.name}: ${percent(thread.noise_share)} noise`,
      ]),
      ...clusters.map((name): [string, string] => [`c${name}`, `cluster ${name}`]),
      ...hosts.map((host): [string, string] => [`h${host.name}`, `host ${host.name}`]),
    ],
    choose,
  );
  function choose(value: string): void {
    const name = value.slice(1);
    if (value === 'all') return draw('all threads', threads);
    if (value[0] === 'c')
      return draw(
        `cluster ${name}`,
        threads.filter((thread) => thread.cluster === name),
      );
    if (value[0] === 'h')
      return draw(
        `host ${name}`,
        threads.filter((thread) => thread.host === name),
      );
    const one = threads.filter((thread) => `${thread.rank}/${thread.graph}` === name);
    draw(`thread ${one[0].name}`, one);
  }
  const first = noisy.find((thread) => thread.noise_spectrum_hertz_power);
  select.value = first ? `t${first.rank}/${first.graph}` : 'all';
  choose(select.value);
  return {
    show(thread) {
      const value = `t${thread.rank}/${thread.graph}`;
      if (![...select.options].some((option) => option.value === value))
        select.append(h('option', { value }, `thread ${thread.name}`));
      select.value = value;
      choose(value);
      document.getElementById('noise')?.scrollIntoView();
      select.focus({ preventScroll: true });
    },
    element: section(
      'noise',
      'Computation and noise',
      own_clock,
      labelled('Of', select),
      charts,
      ...data.report.lateness.map(lateness),
    ),
  };
}
