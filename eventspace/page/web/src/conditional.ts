// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/conditional.ts — condition checks, and other clusters' values in them.
import { draw_chart } from './charts';
import type { Conditional, Data, RemoteCluster } from './data';
import { choice, h, half_two_way, labelled, own_clock, section, where } from './dom';
import { count, percent, plural, time } from './format';
import { table } from './table';

const classes = [
  { text: 'already there', style: '--computation', of: (one: RemoteCluster) => one.cached },
  {
    text: 'in flight: at most one one-way time',
    style: '--network',
    of: (one: RemoteCluster) => one.in_flight ?? 0,
  },
  {
    text: 'late: that cluster was late',
    style: '--noise',
    of: (one: RemoteCluster) => one.late ?? 0,
  },
  {
    text: 'came later: in flight or late',
    style: '--internal',
    of: (one: RemoteCluster) => (one.late === undefined ? one.reads - one.cached : 0),
  },
  {
    text: 'not needed: decided without',
    style: '--waiting',
    of: (one: RemoteCluster) => one.wanted_but_decided_without,
  },
] as const;

function bar_of(remote: RemoteCluster): HTMLElement {
  const all = classes.reduce((sum, kind) => sum + kind.of(remote), 0) || 1;
  const text = classes.map((kind) => `${kind.text} ${count(kind.of(remote))}`).join(', ');
  return h(
    'div',
    { class: 'stack', role: 'img', 'aria-label': text },
    ...classes.map((kind) => {
      const share = kind.of(remote) / all;
      return (
        share > 0 &&
        h(
          'span',
          {
            style: `flex:${share} 0 0;--colour:var(${kind.style})`,
            title: `${kind.text}: ${count(kind.of(remote))}, ${percent(share)}`,
          },
          share > 0.08 ? percent(share) : '',
        )
      );
    }),
  );
}

function values_needed(one: Conditional): HTMLElement {
  const all = Math.max(1, one.operations);
  return table(
    one.operations_by_remote_values_needed.map((operations, values) => ({ values, operations })),
    [
      { title: 'remote values', value: (row) => row.values },
      { title: 'operations', value: (row) => row.operations, show: (row) => count(row.operations) },
      {
        title: 'share',
        value: (row) => row.operations / all,
        show: (row) => percent(row.operations / all),
        bar: (row) => row.operations / all,
      },
    ],
    { caption: 'Operations by how many values of other clusters they needed', ascending: true },
  );
}

function figures_of(one: Conditional): HTMLElement {
  const points = one.decision_times_sequence_mean_max;
  const decide = one.time_to_decide_nanos;
  const text = `Time to decide: median ${time(decide.p50 ?? 0)}, mean ${time(decide.mean ?? 0)}, 99% below ${time(decide.p99 ?? 0)}, at most ${time(decide.max ?? 0)}.`;
  return h(
    'div',
    {},
    h(
      'p',
      {},
      `${plural(one.operations, 'operation')}, ${percent(one.proved / Math.max(1, one.operations))} decided before all values were known. `,
      h('code', {}, where(one.place)),
    ),
    h('h3', {}, 'Time to decide, by iteration'),
    draw_chart({
      text,
      x: points.map((point) => point[0]),
      x_label: 'iteration',
      y_label: 'time to decide',
      lines: [
        { label: 'longest', values: points.map((point) => point[2]), style: '--noise' },
        { label: 'mean', values: points.map((point) => point[1]), style: '--computation' },
      ],
      x_show: (value) => count(Math.round(value)),
      y_show: time,
    }),
    h('p', { class: 'quiet' }, text),
    h(
      'div',
      { class: 'pair' },
      values_needed(one),
      h(
        'div',
        {},
        h('h3', {}, 'How its reads of other clusters went'),
        h(
          'ul',
          { class: 'legend', 'aria-label': 'Colours' },
          ...classes.map((kind) => h('li', { style: `--colour:var(${kind.style})` }, kind.text)),
        ),
        h(
          'table',
          { class: 'stacks' },
          h(
            'tbody',
            {},
            ...one.remote_clusters.map((remote) =>
              h(
                'tr',
                {},
                h('th', { scope: 'row' }, remote.cluster),
                h('td', { class: 'stackcell' }, bar_of(remote)),
              ),
            ),
          ),
        ),
      ),
    ),
    table(
      one.remote_clusters,
      [
        { title: 'cluster', value: (row) => row.cluster },
        { title: 'used', value: (row) => row.reads, show: (row) => count(row.reads) },
        { title: 'already there', value: (row) => row.cached, show: (row) => count(row.cached) },
        {
          title: 'in flight',
          value: (row) => row.in_flight ?? -1,
          show: (row) => (row.in_flight === undefined ? '–' : count(row.in_flight)),
        },
        {
          title: 'late',
          value: (row) => row.late ?? -1,
          show: (row) => (row.late === undefined ? '–' : count(row.late)),
        },
        {
          title: 'not needed',
          value: (row) => row.wanted_but_decided_without,
          show: (row) => count(row.wanted_but_decided_without),
        },
        { title: 'used first', value: (row) => row.first, show: (row) => count(row.first) },
        {
          title: 'wait, mean',
          value: (row) => row.wait_nanos.mean ?? 0,
          show: (row) => time(row.wait_nanos.mean ?? 0),
        },
        {
          title: 'wait, 99%',
          value: (row) => row.wait_nanos.p99 ?? 0,
          show: (row) => time(row.wait_nanos.p99 ?? 0),
        },
        {
          title: 'one-way',
          value: (row) => row.one_way_nanos_half_of_two_way ?? -1,
          show: (row) =>
            row.one_way_nanos_half_of_two_way === undefined
              ? '–'
              : time(row.one_way_nanos_half_of_two_way),
          help: half_two_way,
        },
        {
          title: 'rounds ahead',
          value: (row) => row.rounds_ahead.mean ?? 0,
          show: (row) => (row.rounds_ahead.mean ?? 0).toFixed(1),
        },
      ],
      { caption: `Values of other clusters, as ${one.place.cluster} read them`, sorted_by: 7 },
    ),
  );
}

export function conditional(data: Data): HTMLElement | null {
  const all = [...data.report.conditionals].sort(
    (a, b) => (b.time_to_decide_nanos.mean ?? 0) - (a.time_to_decide_nanos.mean ?? 0),
  );
  if (all.length === 0) return null;
  const holder = h('div', { 'aria-live': 'polite' });
  const draw = (number: number): void => holder.replaceChildren(figures_of(all[number]));
  const select = choice(
    all.map((one, number) => [String(number), `${one.graph} in ${one.place.cluster}`]),
    (value) => draw(Number(value)),
  );
  draw(0);
  return section(
    'conditions',
    'Conditions: values of other clusters',
    `${own_clock}; ${half_two_way}`,
    labelled('Condition of', select),
    holder,
  );
}
