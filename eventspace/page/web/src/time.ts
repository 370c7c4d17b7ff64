// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/time.ts — section on the time of the run and its threads, by cause.
import type { Data, Sensitivity, TimeRow, WhatIf } from './data';
import { legend, style_of } from './causes';
import { h, section } from './dom';
import { count, exact_milliseconds, exact_percent, exact_seconds, plural } from './format';
import { iteration_times } from './iterations';
import { table } from './table';

const words_of = (row: TimeRow): string =>
  row.operation ? `${row.operation}: ${row.text}` : row.text;

function bar_of(name: string, rows: TimeRow[]): HTMLElement {
  const label = rows.map((row) => `${words_of(row)} ${exact_percent(row.share)}`).join(', ');
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, name),
    h(
      'td',
      { class: 'stackcell' },
      h(
        'div',
        { class: 'stack', role: 'img', 'aria-label': label },
        ...rows.map((row) =>
          h(
            'span',
            {
              class: row.share < 0.2 ? 'narrow' : null,
              style: `flex:${row.share} 0 0;--colour:var(${style_of(row)})`,
              title: `${words_of(row)}: ${exact_seconds(row.nanos)}, ${exact_percent(row.share)}`,
            },
            row.share > 0.08 ? exact_percent(row.share) : '',
          ),
        ),
      ),
    ),
  );
}

/** Returns the thread with the largest part, or the thread for which others waited longest. */
function most_of(row: TimeRow): string {
  const is_wait = row.operation !== '' && (row.cause === 'computing' || row.cause === 'noise');
  return is_wait ? `for ${row.most}` : row.most;
}

function rows_of(rows: TimeRow[], caption: string): HTMLElement {
  const most = Math.max(1, ...rows.map((row) => row.nanos));
  return table(
    rows,
    [
      { title: 'what happened', value: words_of },
      {
        title: 'time',
        value: (row) => row.nanos,
        show: (row) => exact_seconds(row.nanos),
        bar: (row) => row.nanos / most,
      },
      { title: 'share', value: (row) => row.share, show: (row) => exact_percent(row.share) },
      {
        title: 'most',
        value: (row) => (row.most ? `${most_of(row)}, ${exact_seconds(row.most_nanos)}` : ''),
      },
    ],
    { caption, sorted_by: 1, page_rows: 8 },
  );
}

function answer_of(answer: WhatIf, run_nanos: number): HTMLElement {
  const longer = answer.saved_nanos < 0;
  const nanos = Math.abs(answer.saved_nanos);
  return h(
    'p',
    { class: 'what-if' },
    `What if ${answer.change}: the run takes ${exact_seconds(answer.run_nanos)} instead of ` +
      `${exact_seconds(run_nanos)}, ${exact_seconds(nanos)} ${longer ? 'longer' : 'shorter'} ` +
      `(${((100 * nanos) / run_nanos).toFixed(2)}%). ` +
      `${(100 * answer.largest_share).toFixed(2)}% of that run is ${answer.largest}.`,
  );
}

function sensitivities_of(all: Sensitivity[], is_latency: boolean): HTMLElement | null {
  const rows = all.filter((one) => one.is_latency === is_latency);
  if (rows.length === 0) return null;
  const column = (title: string, value: (one: Sensitivity) => number | undefined) => ({
    title,
    value: (one: Sensitivity) => value(one) ?? -Infinity,
    show: (one: Sensitivity) => {
      const nanos = value(one);
      return nanos === undefined ? '-' : exact_seconds(nanos);
    },
  });
  const has_less = (one: Sensitivity): boolean => !is_latency || (one.latency_nanos ?? 0) >= 1e6;
  return table(
    rows,
    [
      { title: is_latency ? 'latency of' : 'computing of', value: (one) => one.object },
      column(is_latency ? '1 ms more' : '1% more', (one) => one.more_nanos),
      column(is_latency ? '1 ms less' : '1% less', (one) =>
        has_less(one) ? one.less_nanos : undefined,
      ),
      column(is_latency ? 'no latency' : 'none', (one) => one.none_nanos),
      ...(is_latency
        ? [
            column('half rate', (one) => one.half_nanos),
            column('double rate', (one) => one.double_nanos),
          ]
        : []),
      {
        title: '1% longer at',
        value: (one) => one.tolerance ?? Infinity,
        show: (one) =>
          one.tolerance === undefined
            ? '-'
            : is_latency
              ? `+${(one.tolerance / 1e6).toFixed(3)} ms`
              : `+${one.tolerance.toFixed(1)}%`,
      },
    ],
    {
      caption: is_latency
        ? 'If a latency changed: time by which the run would be longer'
        : 'If computing changed: time by which the run would be longer',
      sorted_by: 1,
      page_rows: 8,
    },
  );
}

const tile = (figure: string, text: string): HTMLElement =>
  h('div', { class: 'tile' }, h('dt', {}, text), h('dd', {}, figure));

export function where_time_went(data: Data): HTMLElement | null {
  const went = data.report.time;
  if (went.run_nanos === 0) return null;
  const critical = went.critical_path ?? [];
  const tiles = h('dl', { class: 'tiles' }, tile(exact_seconds(went.run_nanos), 'the run'));
  const { iterations } = went;
  if (iterations.length_nanos)
    tiles.append(
      tile(count(iterations.count), 'iterations'),
      tile(exact_milliseconds(iterations.length_nanos.mean ?? 0), 'an iteration, mean'),
      tile(exact_milliseconds(iterations.length_nanos.p50 ?? 0), 'median'),
      tile(exact_milliseconds(iterations.length_nanos.p99 ?? 0), 'p99'),
    );
  return section(
    'time',
    'Where the time went',
    '',
    went.headline && h('p', { class: 'headline' }, went.headline),
    data.words.sensitivity && h('p', { class: 'sensitivity' }, data.words.sensitivity),
    went.advice && h('p', { class: 'advice' }, went.advice),
    went.what_if && answer_of(went.what_if, went.run_nanos),
    tiles,
    h('p', { class: 'quiet' }, data.words.iterations),
    iteration_times(data),
    h(
      'h3',
      {},
      `Time of ${plural(went.threads, 'thread')}, ${exact_seconds(went.threads_nanos)} together`,
    ),
    legend(data, [...went.rows, ...critical]),
    h(
      'table',
      { class: 'stacks' },
      h('caption', { class: 'unseen' }, 'Time by operation and cause'),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, 'time of'),
          h('th', { scope: 'col' }, 'share of it by cause'),
        ),
      ),
      h(
        'tbody',
        {},
        bar_of(plural(went.threads, 'thread'), went.rows),
        ...(critical.length > 0 ? [bar_of('the critical path', critical)] : []),
      ),
    ),
    rows_of(went.rows, 'Time of all threads'),
    critical.length > 0 && h('h3', {}, 'The critical path: what the run waited for'),
    critical.length > 0 && rows_of(critical, 'Critical path of the run'),
    went.sensitivities && h('h3', {}, 'How the run depends on links and hosts'),
    went.sensitivities && sensitivities_of(went.sensitivities, true),
    went.sensitivities && sensitivities_of(went.sensitivities, false),
  );
}
