// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/timeline.ts — section with the timeline of the run.
import { legend } from './causes';
import type { Data, Finding } from './data';
import { choice, h, labelled, section } from './dom';
import { percent, plural } from './format';
import { Minimap } from './minimap';
import { Model } from './timeline_model';
import { View } from './timeline_view';

/** Number of iterations in the visible range at first, and after a scroll to a finding. */
const iterations_shown = 4;

export interface TimelineSection {
  element: HTMLElement;
  /** Returns a function that scrolls to a finding; undefined if the timeline cannot show it. */
  shows(finding: Finding): (() => void) | undefined;
}

function sentences_of(data: Data): string {
  const { timeline } = data;
  const kept = timeline.stretches.reduce((sum, one) => sum + one.end - one.begin, 0);
  const clock = timeline.common_clock
    ? 'Times count from the begin of the run.'
    : 'The hosts’ clocks are not compared: times of a host count from the begin of its first thread, and there is no critical path.';
  const path = !timeline.common_clock
    ? ''
    : timeline.path.whole
      ? ' The critical path is kept for the whole run.'
      : ' So is the critical path.';
  const rows =
    kept >= timeline.nanos
      ? 'All of the run is kept.'
      : `The rows of threads are kept for ${plural(timeline.stretches.length, 'stretch', 'stretches')}, ${percent(kept / timeline.nanos)} of the run: those of findings, the longest iterations and the first ones.${path}`;
  return `${clock} ${rows}`;
}

export function timeline(data: Data): TimelineSection | null {
  const { nanos, stretches, path } = data.timeline;
  if (nanos === 0 || stretches.length + path.nanos.length === 0) return null;
  const model = new Model(data);
  const minimap = new Minimap(data, (from, to) => view.show(from, to));
  const view: View = new View(model, (from, to) => minimap.show(from, to));
  const usual = model.iteration_nanos;
  const levels = choice(
    [
      ['0', 'clusters'],
      ['1', 'hosts'],
      ['2', 'threads'],
    ],
    (value) => {
      model.open_to(Number(value));
      view.rows_changed();
    },
  );
  levels.value = String(model.level_first());
  model.open_to(model.level_first());
  view.rows_changed();
  const first = model.iterations.length > iterations_shown ? model.iterations[0].end : 0;
  view.show(first - 0.2 * usual, first + iterations_shown * usual);
  const button = (text: string, label: string, act: () => void): HTMLElement =>
    h('button', { type: 'button', 'aria-label': label, title: label, onclick: act }, text);
  const element = section(
    'timeline',
    'The run in time',
    data.timeline.common_clock ? 'one clock of all hosts' : 'each host’s own clock',
    h('p', {}, sentences_of(data)),
    h(
      'div',
      { class: 'controls' },
      labelled('Rows', levels),
      h(
        'span',
        { class: 'buttons' },
        button('−', 'Zoom out', () => view.zoom(1 / 0.6)),
        button('+', 'Zoom in', () => view.zoom(0.6)),
        button('←', 'Earlier', () => view.pan(-0.5)),
        button('→', 'Later', () => view.pan(0.5)),
        button('All', 'Show all of it', () => view.fit()),
      ),
    ),
    legend(data, data.timeline.labels),
    minimap.element,
    h('div', { class: 'timeline' }, view.scroll, view.tip),
    view.said,
    h(
      'p',
      { class: 'quiet' },
      'The row of a cluster or host shows its threads’ shares of each moment. ',
      path.nanos.length > 0 &&
        'The line is the critical path: what the run waited for, from its end back to its begin. An arrow is a message. ',
      'Drag in the rows to move. Drag in the overview or in the ruler to select a part. Click into the rows, then the wheel zooms; Shift and the wheel move.',
    ),
  );
  Object.assign(element, { view });
  const shows = (finding: Finding): (() => void) | undefined => {
    const threads = model.threads_of(finding);
    if (threads.length === 0) return undefined;
    // A hidden finding may not be on the critical path, so time_on_path() may have no result.
    const at = finding.at_nanos ?? model.time_on_path(threads) ?? first;
    return () => {
      if (model.common_clock) view.show(at - 0.5 * usual, at + (iterations_shown - 0.5) * usual);
      view.choose(model.open_thread(threads[0]));
      element.scrollIntoView();
      view.canvas.focus({ preventScroll: true });
    };
  };
  return { element, shows };
}
