// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/groups.ts — section on group operations: times, causes and the first
// bars of threads.
import type { Data, GroupBars, GroupLink, GroupOperations } from './data';
import { h, own_clock, section, svg } from './dom';
import { bytes, count, milliseconds, percent, plural, time } from './format';
import { table } from './table';

const name_of = (row: GroupOperations): string =>
  `${row.collective} of ${row.group}${row.algorithm && ` by ${row.algorithm}`}`;
const all_of = (row: GroupOperations): number =>
  Object.values(row.nanos_by_cause).reduce((sum, nanos) => sum + nanos, 0);
const share_of = (row: GroupOperations, cause: string): number =>
  all_of(row) === 0 ? 0 : (row.nanos_by_cause[cause] ?? 0) / all_of(row);

const causes: [cause: string, colour: string][] = [
  ['late member', '--waiting'],
  ['sending', '--network'],
  ['latency', '--link'],
  ['folding', '--join'],
  ['within hosts', '--internal'],
];

function operations(rows: GroupOperations[]): HTMLElement {
  return table(
    rows,
    [
      { title: 'operation', value: name_of },
      { title: 'times', value: (row) => row.operations, show: (row) => count(row.operations) },
      {
        title: 'largest',
        value: (row) => row.bytes.max ?? 0,
        show: (row) => bytes(row.bytes.max ?? 0),
      },
      {
        title: 'median ms',
        value: (row) => row.time_nanos.p50 ?? 0,
        show: (row) => milliseconds(row.time_nanos.p50 ?? 0),
        help: 'from the first member’s coming to the last host’s end',
      },
      {
        title: 'after the last came, median ms',
        value: (row) => row.after_last_came_nanos.p50 ?? 0,
        show: (row) => milliseconds(row.after_last_came_nanos.p50 ?? 0),
      },
      {
        title: 'waits, mean ms',
        value: (row) => row.wait_for_last_nanos.mean ?? 0,
        show: (row) => milliseconds(row.wait_for_last_nanos.mean ?? 0),
        help: 'of a member for the last one',
      },
      ...causes.map(([cause, colour]) => ({
        title: cause,
        value: (row: GroupOperations) => share_of(row, cause),
        show: (row: GroupOperations) => percent(share_of(row, cause)),
        bar: (row: GroupOperations) => share_of(row, cause),
        colour,
      })),
      {
        title: 'most often last',
        value: (row) =>
          row.last_threads.length === 0
            ? ''
            : `${row.last_threads[0].name}, ${count(row.last_threads[0].operations)} times`,
      },
    ],
    {
      caption: 'Operations of groups: what their time consisted of',
      sorted_by: 3,
      search: name_of,
    },
  );
}

function links(rows: GroupLink[], caption: string): HTMLElement {
  return table(
    rows,
    [
      { title: 'from', value: (row) => row.from },
      { title: 'to', value: (row) => row.to },
      { title: 'between clusters', value: (row) => (row.wan ? 'yes' : 'no') },
      { title: 'messages', value: (row) => row.messages, show: (row) => count(row.messages) },
      { title: 'payload', value: (row) => row.bytes, show: (row) => bytes(row.bytes) },
    ],
    { caption, sorted_by: 4, search: (row) => `${row.from} ${row.to}` },
  );
}

const row_height = 18;
const width = 1000;
const left = 140;
const threads_shown = 64;
const bars_of_each = 8;
const colours = ['--computation', '--link', '--network', '--join', '--check', '--delay', '--noise'];

function thread_name(data: Data, rank: number): string {
  const host = data.shape.hosts.find(
    (one) => rank >= one.first_thread && rank < one.first_thread + one.threads,
  );
  return host ? `${host.name}/${rank - host.first_thread}` : `thread ${rank}`;
}

/** Draws the bars whose numbers are in `now`, with a row for each thread. */
function picture_of(data: Data, bars: GroupBars, threads: number[], now: number[]): SVGElement {
  const begin = Math.min(...now.map((bar) => bars.begin[bar]));
  const end = Math.max(...now.map((bar) => bars.begin[bar] + bars.nanos[bar]));
  const x = (nanos: number): number =>
    left + ((width - left) * (nanos - begin)) / Math.max(1, end - begin);
  const picture = svg('svg', {
    viewBox: `0 0 ${width} ${row_height * threads.length}`,
    width: '100%',
    role: 'img',
    'aria-label': `${plural(now.length, 'bar')} of ${plural(threads.length, 'thread')} within ${time(end - begin)}`,
  });
  threads.forEach((thread, row) =>
    picture.append(
      svg(
        'text',
        { x: 0, y: row * row_height + 13, 'font-size': 12, fill: 'currentColor' },
        thread_name(data, thread),
      ),
    ),
  );
  for (const bar of now) {
    const from = x(bars.begin[bar]);
    const to = x(bars.begin[bar] + bars.nanos[bar]);
    const words = `${thread_name(data, bars.thread[bar])}: ${bars.names[bars.name[bar]]}, ${time(bars.nanos[bar])}, from ${time(bars.begin[bar])}`;
    picture.append(
      svg(
        'rect',
        {
          x: from,
          y: threads.indexOf(bars.thread[bar]) * row_height + 2,
          width: Math.max(1, to - from),
          height: row_height - 4,
          fill: `var(${colours[bars.name[bar] % colours.length]})`,
        },
        svg('title', {}, words),
      ),
    );
  }
  return picture;
}

/**
 * Shows bars page by page. A bar begins when a thread arrives, and ends when its host has ended the
 * operation.
 */
function bars_of(data: Data, bars: GroupBars): HTMLElement {
  const all = [...new Set(bars.thread)].sort((a, b) => a - b);
  const threads = all.slice(0, threads_shown);
  const shown = bars.thread
    .map((_, bar) => bar)
    .filter((bar) => threads.includes(bars.thread[bar]));
  const at_once = bars_of_each * threads.length;
  let first = 0;
  const drawing = h('div', {
    class: 'scroll',
    tabindex: 0,
    role: 'region',
    'aria-label': 'The first operations of groups',
  });
  const state = h('span', { class: 'quiet', role: 'status' });
  const back = h('button', { type: 'button', onclick: () => turn(-1) }, 'Previous');
  const on = h('button', { type: 'button', onclick: () => turn(1) }, 'Next');
  function turn(by: number): void {
    first = Math.max(0, Math.min(first + by * at_once, shown.length - 1));
    draw();
  }
  function draw(): void {
    const now = shown.slice(first, first + at_once);
    drawing.replaceChildren(picture_of(data, bars, threads, now));
    state.textContent = `${count(first + 1)}–${count(first + now.length)} of ${plural(shown.length, 'bar')}, from ${time(bars.begin[now[0]])} behind the first`;
    back.disabled = first === 0;
    on.disabled = first + at_once >= shown.length;
  }
  draw();
  const left_out = all.length - threads.length;
  return h(
    'div',
    {},
    h('h3', {}, 'The first operations'),
    h(
      'p',
      { class: 'quiet' },
      'A bar lasts from a thread’s coming until its host’s part had ended.',
      left_out > 0 && ` ${plural(left_out, 'thread')} are not shown.`,
      bars.more > 0 && ` ${plural(bars.more, 'later bar')} are not kept.`,
      !data.report.groups?.common_clock &&
        ' Each host has its own clock here: bars of different hosts cannot be compared.',
    ),
    drawing,
    h('div', { class: 'pager' }, back, on, state),
  );
}

export function groups(data: Data): HTMLElement | null {
  const report = data.report.groups;
  if (!report || report.operations.length === 0) return null;
  const bars = data.timeline.groups;
  return section(
    'groups',
    'Operations of groups',
    report.common_clock ? 'one clock of all hosts' : own_clock,
    operations(report.operations),
    bars && bars.thread.length > 0 && bars_of(data, bars),
    links(report.between_clusters, 'Messages of groups between clusters and within them'),
    links(report.between_hosts, 'Messages of groups between hosts'),
  );
}
