// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/transfers.ts — view of the data that crosses clusters at the same time.
import { draw_chart } from './charts';
import type { Data, TransferPath } from './data';
import { h, section } from './dom';
import { bytes, count, percent, plural, time } from './format';
import { table } from './table';

const paths_drawn = 6;
const colours = ['--computation', '--noise', '--network', '--check', '--delay', '--join'];

const name_of = (one: TransferPath): string => (one.from ? `${one.from} to ${one.to}` : 'all');
const few = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 2 : 1 });
const peak_of = (one: TransferPath): string =>
  one.streams ? `${count(one.peak)} of ${count(one.streams)}` : count(one.peak);

/**
 * Returns the mean number of simultaneous transfers at each of the `moments`. Requires: `moments`
 * are in ascending order.
 */
function levels_at(one: TransferPath, moments: number[]): number[] {
  const points = one.at_once_nanos_mean_max;
  let place = -1;
  return moments.map((moment) => {
    while (place + 1 < points.length && points[place + 1][0] <= moment) ++place;
    return place < 0 ? 0 : points[place][1];
  });
}

function chart(all: TransferPath, paths: TransferPath[], run: number): HTMLElement {
  const shown = paths.length === 1 ? paths : [all, ...paths.slice(0, paths_drawn)];
  const moments = [
    ...new Set([
      0,
      ...shown.flatMap((one) => one.at_once_nanos_mean_max.map((point) => point[0])),
      run,
    ]),
  ].sort((a, b) => a - b);
  const words = (one: TransferPath): string =>
    `${name_of(one)}: at most ${peak_of(one)}, ${few(one.mean)} in the mean of the run, from ${time(one.first_begin_nanos)} to ${time(one.last_end_nanos)}`;
  const text = `At once over ${time(run)}. ${shown.map(words).join('; ')}.`;
  return h(
    'div',
    {},
    draw_chart({
      text,
      x: moments,
      x_label: 'time',
      y_label: 'at once',
      lines: shown.map((one, place) => ({
        label: name_of(one),
        values: levels_at(one, moments),
        style:
          one === all ? '--link' : colours[(place - (shown.length > 1 ? 1 : 0)) % colours.length],
        steps: true,
      })),
      x_show: time,
      y_show: few,
    }),
    h('p', { class: 'quiet' }, `At once over ${time(run)}. ${words(shown[0])}.`),
  );
}

function figures(rows: TransferPath[]): HTMLElement {
  const has_streams = rows.some((row) => row.share_with_all !== undefined);
  return table(
    rows,
    [
      { title: 'path', value: name_of },
      { title: 'counted', value: (row) => row.counted ?? '' },
      { title: 'messages', value: (row) => row.messages, show: (row) => count(row.messages) },
      { title: 'payload', value: (row) => row.bytes, show: (row) => bytes(row.bytes) },
      { title: 'most at once', value: (row) => row.peak, show: peak_of },
      {
        title: 'mean',
        value: (row) => row.mean,
        show: (row) => few(row.mean),
        help: 'at once, over the run',
      },
      {
        title: 'mean while used',
        value: (row) => row.mean_from_first_to_last,
        show: (row) => few(row.mean_from_first_to_last),
        help: 'from when the first began to when the last ended',
      },
      {
        title: 'some',
        value: (row) => row.share_with_some,
        show: (row) => percent(row.share_with_some),
        bar: (row) => row.share_with_some,
        help: 'share of the run in which something crossed',
      },
      ...(has_streams
        ? [
            {
              title: 'all streams',
              value: (row: TransferPath) => row.share_with_all ?? 0,
              show: (row: TransferPath) =>
                row.share_with_all === undefined ? '–' : percent(row.share_with_all),
              bar: (row: TransferPath) => row.share_with_all ?? 0,
              help: 'share of the run in which all of them were in use',
            },
          ]
        : []),
      {
        title: 'first begins',
        value: (row) => row.first_begin_nanos,
        show: (row) => time(row.first_begin_nanos),
      },
      {
        title: 'last ends',
        value: (row) => row.last_end_nanos,
        show: (row) => time(row.last_end_nanos),
      },
    ],
    { caption: 'From cluster to cluster', sorted_by: 5, search: name_of },
  );
}

export function transfers(data: Data): HTMLElement | null {
  const { transfers: found } = data.report;
  if (!found?.all || !found.paths || found.all.at_once_nanos_mean_max.length === 0) return null;
  const paths = [...found.paths].sort((a, b) => b.durations_nanos - a.durations_nanos);
  const ends = paths.filter((one) => one.counted === 'ends').length;
  return section(
    'transfers',
    'Between clusters',
    'one clock of all hosts',
    h(
      'p',
      {},
      [
        ends < paths.length &&
          'Streams in use where a path has such; else messages, from when the link began to take them until all had arrived.',
        ends > 0 &&
          'Messages from sending to arrival, as the two hosts saw it, where nothing is known of the link.',
      ]
        .filter(Boolean)
        .join(' '),
    ),
    chart(found.all, paths, found.run_nanos ?? 0),
    paths.length > paths_drawn &&
      h(
        'p',
        { class: 'quiet' },
        `${plural(paths.length - paths_drawn, 'path')} more in the table.`,
      ),
    figures(paths),
  );
}
