// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/groups.ts — section on group operations: times and causes.
import type { Data, GroupLink, GroupOperations } from './data';
import { own_clock, section } from './dom';
import { bytes, count, milliseconds, percent } from './format';
import { table } from './table';

const name_of = (row: GroupOperations): string =>
  `${row.collective} of ${row.group}${row.algorithm && ` by ${row.algorithm}`}` +
  (row.reason && ` (${row.reason}${row.row && `, line ${row.row} of the table`})`);
// Time after the last arrival as a multiple of the predicted time, and a note if the time differs
// from the time that tuning measured.
const took_of = (row: GroupOperations): string =>
  row.took_per_predicted === undefined
    ? ''
    : row.took_per_predicted.toFixed(2) + (row.stale ? ', stale: tune again' : '');
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
        title: 'predicted, median ms',
        value: (row) => row.predicted_nanos.p50 ?? 0,
        show: (row) =>
          row.predicted_nanos.count === 0 ? '' : milliseconds(row.predicted_nanos.p50 ?? 0),
        help: 'for members that arrive at the same time',
      },
      {
        title: 'measured / predicted',
        value: took_of,
        help: 'median of operations whose members arrived within a tenth of the predicted time',
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

export function groups(data: Data): HTMLElement | null {
  const report = data.report.groups;
  if (!report || report.operations.length === 0) return null;
  return section(
    'groups',
    'Operations of groups',
    report.common_clock ? 'one clock of all hosts' : own_clock,
    operations(report.operations),
    links(report.between_clusters, 'Messages of groups between clusters and within them'),
    links(report.between_hosts, 'Messages of groups between hosts'),
  );
}
