// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/tables.ts — tables of all figures.
import type { Data, Thread } from './data';
import { basis, h, half_two_way, new_id, own_clock, section, two_way } from './dom';
import { bytes, count, milliseconds, percent, time } from './format';
import { table } from './table';

const in_ms = (value: number | undefined): string =>
  value === undefined ? '–' : milliseconds(value);

function threads(data: Data, chosen: (thread: Thread) => void): HTMLElement {
  return table(
    data.report.threads,
    [
      { title: 'thread', value: (row) => row.name },
      { title: 'cluster', value: (row) => row.cluster },
      {
        title: 'mean ms',
        value: (row) => row.computation_nanos.mean ?? 0,
        show: (row) => in_ms(row.computation_nanos.mean),
      },
      {
        title: 'median ms',
        value: (row) => row.computation_nanos.p50 ?? 0,
        show: (row) => in_ms(row.computation_nanos.p50),
      },
      {
        title: '99% ms',
        value: (row) => row.computation_nanos.p99 ?? 0,
        show: (row) => in_ms(row.computation_nanos.p99),
      },
      {
        title: 'longest ms',
        value: (row) => row.computation_nanos.max ?? 0,
        show: (row) => in_ms(row.computation_nanos.max),
      },
      {
        title: 'noise',
        value: (row) => row.noise_share,
        show: (row) => percent(row.noise_share),
        bar: (row) => row.noise_share * 5,
        colour: '--noise',
      },
      { title: 'outliers', value: (row) => row.outliers, show: (row) => count(row.outliers) },
      {
        title: 'period',
        value: (row) => row.noise_period_nanos ?? 0,
        show: (row) => (row.noise_period_nanos ? time(row.noise_period_nanos) : '–'),
      },
      {
        title: 'waited for',
        value: (row) => row.critical_rounds,
        show: (row) => count(row.critical_rounds),
        help: 'iterations in which it was on the critical path',
      },
    ],
    {
      caption: 'Computation of threads; choose one to see its histogram',
      sorted_by: 9,
      search: (row) => `${row.name} ${row.cluster}`,
      chosen,
    },
  );
}

function hosts(data: Data): HTMLElement {
  return table(
    data.report.hosts.filter((row) => row.threads > 0),
    [
      { title: 'host', value: (row) => row.name },
      { title: 'cluster', value: (row) => row.cluster },
      { title: 'threads', value: (row) => row.threads },
      {
        title: 'computes, ms',
        value: (row) => row.computation_nanos,
        show: (row) => in_ms(row.computation_nanos),
      },
      {
        title: 'others of its cluster, ms',
        value: (row) => row.others_computation_nanos,
        show: (row) => in_ms(row.others_computation_nanos),
      },
      {
        title: 'against them, without noise',
        value: (row) => row.factor_without_noise,
        show: (row) => (row.factor_without_noise ? `${row.factor_without_noise.toFixed(3)}×` : '–'),
        bar: (row) => (row.factor_without_noise - 1) * 4,
        colour: '--noise',
      },
      {
        title: 'waited for',
        value: (row) => row.critical_rounds,
        show: (row) => count(row.critical_rounds),
      },
      { title: 'records', value: (row) => row.records, show: (row) => count(row.records) },
      { title: 'rounds without its records', value: (row) => row.rounds_missing_its_records },
    ],
    {
      caption: 'Hosts, by the medians of their threads',
      sorted_by: 5,
      search: (row) => `${row.name} ${row.cluster}`,
    },
  );
}

function links(data: Data): HTMLElement {
  return table(
    data.report.links,
    [
      { title: 'link', value: (row) => row.place.wrapper ?? '' },
      { title: 'from', value: (row) => row.from_host },
      { title: 'to', value: (row) => row.to_host },
      { title: 'between clusters', value: (row) => (row.wan ? 'yes' : 'no') },
      {
        title: 'mean ms',
        value: (row) => row.travel_nanos.mean ?? 0,
        show: (row) => in_ms(row.travel_nanos.mean),
      },
      {
        title: '99% ms',
        value: (row) => row.travel_nanos.p99 ?? 0,
        show: (row) => in_ms(row.travel_nanos.p99),
      },
      {
        title: 'declared ms',
        value: (row) => row.declared_nanos ?? -1,
        show: (row) => in_ms(row.declared_nanos),
      },
      {
        title: 'queued, mean ms',
        value: (row) => row.queued_nanos.mean ?? -1,
        show: (row) => in_ms(row.queued_nanos.mean),
      },
      {
        title: 'payload',
        value: (row) => row.payload_bytes,
        show: (row) => bytes(row.payload_bytes),
      },
      {
        title: 'in the config',
        value: (row) => row.place.position ?? '',
        show: (row) => h('code', {}, row.place.position ?? ''),
      },
    ],
    {
      caption: 'Emulated links, one direction each',
      sorted_by: 4,
      search: (row) => `${row.place.wrapper} ${row.from_host} ${row.to_host}`,
    },
  );
}

function network(data: Data): HTMLElement {
  return table(
    data.report.crossings,
    [
      { title: 'from', value: (row) => row.place.host },
      { title: 'to', value: (row) => row.to_host },
      { title: 'between clusters', value: (row) => (row.wan ? 'yes' : 'no') },
      {
        title: 'two-way, median ms',
        value: (row) => row.two_way_nanos.p50 ?? 0,
        show: (row) => in_ms(row.two_way_nanos.p50),
      },
      {
        title: 'two-way, 99% ms',
        value: (row) => row.two_way_nanos.p99 ?? 0,
        show: (row) => in_ms(row.two_way_nanos.p99),
      },
      {
        title: 'one-way, mean ms',
        value: (row) => row.one_way_nanos_half_of_two_way,
        show: (row) => in_ms(row.one_way_nanos_half_of_two_way),
        help: half_two_way,
      },
      { title: 'messages', value: (row) => row.messages, show: (row) => count(row.messages) },
      {
        title: 'payload',
        value: (row) => row.payload_bytes,
        show: (row) => bytes(row.payload_bytes),
      },
      {
        title: 'in the config',
        value: (row) => row.place.position ?? '',
        show: (row) => h('code', {}, row.place.position ?? ''),
      },
    ],
    {
      caption: 'Network between hosts',
      sorted_by: 3,
      search: (row) => `${row.place.host} ${row.to_host}`,
    },
  );
}

function paths(data: Data): HTMLElement {
  return table(
    data.report.paths,
    [
      { title: 'path of', value: (row) => `${row.graph}, ${row.host}` },
      {
        title: 'begun by',
        value: (row) =>
          row.threads === 0 ? `prefetch from ${row.to_cluster}` : `${row.threads} threads`,
      },
      { title: 'ends in', value: (row) => row.to_cluster },
      {
        title: 'total, mean ms',
        value: (row) => row.total_nanos.mean ?? 0,
        show: (row) => in_ms(row.total_nanos.mean),
      },
      {
        title: 'network two-way, mean ms',
        value: (row) => row.network_two_way_nanos.mean ?? 0,
        show: (row) => in_ms(row.network_two_way_nanos.mean),
      },
      {
        title: 'between clusters, mean ms',
        value: (row) => row.wan_two_way_nanos.mean ?? 0,
        show: (row) => in_ms(row.wan_two_way_nanos.mean),
      },
      {
        title: 'share between clusters',
        value: (row) => row.wan_share,
        show: (row) => percent(row.wan_share),
        bar: (row) => row.wan_share,
        colour: '--link',
      },
    ],
    {
      caption: 'Paths',
      sorted_by: 3,
      search: (row) => `${row.graph} ${row.host} ${row.to_cluster}`,
    },
  );
}

/** Creates tabs of tables. A table is created when its tab is first opened. */
export function tables(data: Data, chosen: (thread: Thread) => void): HTMLElement {
  const all: [string, string, number, () => HTMLElement][] = [
    ['Threads', own_clock, data.report.threads.length, () => threads(data, chosen)],
    ['Hosts', own_clock, data.report.hosts.length, () => hosts(data)],
    ['Links', own_clock, data.report.links.length, () => links(data)],
    ['Network', `${two_way}; ${half_two_way}`, data.report.crossings.length, () => network(data)],
    ['Paths', `${own_clock}; network: two-way`, data.report.paths.length, () => paths(data)],
  ];
  const there = all.filter(([, , size]) => size > 0);
  const panels = there.map(([, clock]) =>
    h(
      'div',
      { role: 'tabpanel', id: new_id(), tabindex: 0, hidden: true },
      h('p', {}, basis(clock)),
    ),
  );
  const tabs = there.map(([name, , size], number) =>
    h(
      'button',
      {
        type: 'button',
        role: 'tab',
        id: new_id(),
        'aria-controls': panels[number].id,
        onclick: () => select(number),
        onkeydown: (event: KeyboardEvent) => move(event, number),
      },
      name,
      h('span', { class: 'quiet' }, ` ${count(size)}`),
    ),
  );
  panels.forEach((panel, number) => panel.setAttribute('aria-labelledby', tabs[number].id));
  function select(chosen_number: number): void {
    tabs.forEach((tab, number) => {
      tab.setAttribute('aria-selected', String(number === chosen_number));
      tab.tabIndex = number === chosen_number ? 0 : -1;
      panels[number].hidden = number !== chosen_number;
    });
    if (panels[chosen_number].childElementCount === 1)
      panels[chosen_number].append(there[chosen_number][3]());
  }
  function move(event: KeyboardEvent, number: number): void {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (by === 0) return;
    const next = (number + by + tabs.length) % tabs.length;
    select(next);
    tabs[next].focus();
  }
  if (tabs.length > 0) select(0);
  return section(
    'tables',
    'All figures',
    '',
    h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Tables' }, ...tabs),
    ...panels,
  );
}
