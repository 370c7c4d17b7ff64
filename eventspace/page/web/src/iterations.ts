// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/iterations.ts — chart of the iterations' times over the run.
import { draw_chart } from './charts';
import type { Data } from './data';
import { h } from './dom';
import { exact_milliseconds, plural, time } from './format';

const points_max = 1500;

/** Returns a chart of the iterations' times; null if the data has fewer than two of them. */
export function iteration_times(data: Data): HTMLElement | null {
  const { begin, each, lengths } = data.timeline.iterations;
  if (lengths.length < 2) return null;
  const in_point = Math.ceil(lengths.length / points_max);
  const x: number[] = [];
  const [longest, mean]: number[][] = [[], []];
  let at = begin;
  for (let first = 0; first < lengths.length; first += in_point) {
    const some = lengths.slice(first, first + in_point).map((nanos) => nanos / each);
    x.push(at);
    longest.push(Math.max(...some));
    mean.push(some.reduce((sum, nanos) => sum + nanos, 0) / some.length);
    at += some.reduce((sum, nanos) => sum + nanos * each, 0);
  }
  const changes = data.report.findings
    .map((finding, number) => ({ ...finding, number: number + 1 }))
    .filter((finding) => finding.kind === 'change' && finding.at_nanos !== undefined);
  const is_thinned = in_point * each > 1;
  const words = is_thinned
    ? `Each point stands for ${plural(in_point * each, 'iteration')}.`
    : `${plural(lengths.length, 'iteration')}.`;
  return h(
    'div',
    {},
    h('h3', {}, 'Time of an iteration over the run'),
    draw_chart({
      text:
        `Time of an iteration over ${time(data.timeline.nanos)}: from ${time(Math.min(...mean))} to ${time(Math.max(...longest))}. ` +
        changes.map((change) => change.sentence).join('. '),
      x,
      x_label: 'time',
      y_label: 'iteration',
      lines: [
        ...(is_thinned
          ? [{ label: 'longest', values: longest, style: '--noise', steps: true }]
          : []),
        {
          label: is_thinned ? 'mean' : 'iteration',
          values: mean,
          style: '--computation',
          steps: true,
        },
      ],
      x_show: time,
      y_show: time,
      marks: changes.map((change) => ({ x: change.at_nanos!, text: `finding ${change.number}` })),
      height: 190,
    }),
    h(
      'p',
      { class: 'quiet' },
      `${words} Median ${exact_milliseconds(data.report.time.iterations.length_nanos?.p50 ?? 0)}. `,
      ...changes.map((change) => `Finding ${change.number}: ${change.sentence}. `),
    ),
  );
}
