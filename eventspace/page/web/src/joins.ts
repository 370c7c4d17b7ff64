// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/joins.ts — section that shows arrivals at joins, and the time of waiting for the last one.
import type { Data, Join } from './data';
import { choice, h, labelled, own_clock, section, where } from './dom';
import { count, percent, plural, time } from './format';
import { table } from './table';

const mean = (join: Join): number =>
  join.contributors.reduce((sum, one) => sum + (one.arrival_wait_nanos.mean ?? 0), 0) /
  Math.max(1, join.contributors.length);

function figures_of(join: Join): HTMLElement {
  const most = Math.max(1, ...join.contributors.map((one) => one.arrival_wait_nanos.p99 ?? 0));
  const latest = Math.max(
    1,
    ...join.contributors.map((one) => one.departure_delay_nanos.mean ?? 0),
  );
  const wait = (one: Join['contributors'][0], key: 'mean' | 'p99'): number =>
    one.arrival_wait_nanos[key] ?? 0;
  const delay = (one: Join['contributors'][0]): number => one.departure_delay_nanos.mean ?? 0;
  const late = join.rounds_with_late_replies;
  return h(
    'div',
    {},
    h(
      'p',
      {},
      `${plural(join.rounds, 'round')}, ${plural(join.contributors.length, 'contributor')}. `,
      `From the last arrival until it went on: ${time(join.through_nanos.p50 ?? 0)}; `,
      `until the result came up: ${time(join.below_nanos.p50 ?? 0)}; `,
      `departures spread over ${time(join.departure_spread_nanos.p50 ?? 0)} (medians). `,
      late > 0 &&
        h(
          'strong',
          {},
          `In ${plural(late, 'round')} a reply to another host left late, ${time(join.late_reply_nanos / late)} on average. `,
        ),
      h('code', {}, where(join.place)),
    ),
    table(
      join.contributors,
      [
        { title: 'contributor', value: (one) => one.name },
        { title: 'comes from', value: (one) => (one.remote ? one.host : 'this host') },
        {
          title: 'arrives last',
          value: (one) => one.last / Math.max(1, join.rounds),
          show: (one) => percent(one.last / Math.max(1, join.rounds)),
          bar: (one) => one.last / Math.max(1, join.rounds),
          colour: '--noise',
          help: 'share of the rounds in which all others waited for it',
        },
        {
          title: 'waits, mean',
          value: (one) => wait(one, 'mean'),
          show: (one) => time(wait(one, 'mean')),
          bar: (one) => wait(one, 'mean') / most,
          help: 'from its arrival to the last one’s',
        },
        {
          title: 'waits, 99%',
          value: (one) => wait(one, 'p99'),
          show: (one) => time(wait(one, 'p99')),
          bar: (one) => wait(one, 'p99') / most,
        },
        {
          title: 'departs after',
          value: delay,
          show: (one) => time(delay(one)),
          bar: (one) => delay(one) / latest,
          colour: '--network',
          help: 'from the result’s coming up until it left, mean',
        },
      ],
      {
        caption: `Arrivals and departures of ${join.place.wrapper} on ${join.place.host}`,
        sorted_by: 2,
        page_rows: 12,
        search: (one) => one.name,
      },
    ),
  );
}

export interface Joins {
  element: HTMLElement;
  show: (join: number) => void;
}

/** Returns a view of one join, with a list to select the join; the longest waits come first. */
export function joins(data: Data): Joins | null {
  const all = data.report.joins;
  if (all.length === 0) return null;
  const order = all.map((_, number) => number).sort((a, b) => mean(all[b]) - mean(all[a]));
  const holder = h('div', { 'aria-live': 'polite' });
  const draw = (number: number): void => holder.replaceChildren(figures_of(all[number]));
  const select = choice(
    order
      .slice(0, 500)
      .map((number) => [
        String(number),
        `${all[number].place.wrapper} on ${all[number].place.host}, mean wait ${time(mean(all[number]))}`,
      ]),
    (value) => draw(Number(value)),
  );
  draw(order[0]);
  const overview = table(
    order.map((number) => ({ number, join: all[number] })),
    [
      { title: 'join', value: (row) => row.join.place.wrapper ?? '' },
      { title: 'host', value: (row) => row.join.place.host },
      { title: 'cluster', value: (row) => row.join.place.cluster },
      {
        title: 'contributors',
        value: (row) => row.join.contributors.length,
        show: (row) => count(row.join.contributors.length),
      },
      {
        title: 'mean wait',
        value: (row) => mean(row.join),
        show: (row) => time(mean(row.join)),
        bar: (row) => mean(row.join) / Math.max(1, mean(all[order[0]])),
      },
      {
        title: 'departures spread',
        value: (row) => row.join.departure_spread_nanos.p50 ?? 0,
        show: (row) => time(row.join.departure_spread_nanos.p50 ?? 0),
      },
      { title: 'late replies', value: (row) => row.join.rounds_with_late_replies },
    ],
    {
      caption: 'All joins',
      sorted_by: 4,
      page_rows: 8,
      search: (row) => `${row.join.place.wrapper} ${row.join.place.host}`,
      chosen: (row) => show(row.number),
    },
  );
  function show(number: number): void {
    if (![...select.options].some((option) => option.value === String(number)))
      select.append(
        h('option', { value: number }, `${all[number].place.wrapper} on ${all[number].place.host}`),
      );
    select.value = String(number);
    draw(number);
    document.getElementById('joins')?.scrollIntoView();
    select.focus({ preventScroll: true });
  }
  return {
    show,
    element: section(
      'joins',
      'Arrivals: the contributors that others wait for',
      own_clock,
      labelled('Join', select),
      holder,
      all.length > 1 && overview,
    ),
  };
}
