// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/summary.ts — findings, main figures and time by cause.
import { cause_of, causes } from './causes';
import type { CriticalPath, Data, Finding } from './data';
import { basis, h, own_clock, section, where } from './dom';
import { count, exact_percent, exact_seconds, percent, plural, time } from './format';
import { table } from './table';

const names: Record<Finding['kind'], string> = {
  slow_host: 'Slow host',
  slow_thread: 'Slow thread',
  noisy_thread: 'Noisy thread',
  slow_link: 'Slow link',
  slow_network: 'Slow network',
  late_broadcast: 'Late broadcast',
  slow_cluster: 'Slow cluster',
  stall: 'Stall',
  change: 'Change during the run',
};
const findings_shown = 5;
const losses_shown = 3;
/** The top of the page names the time with unknown cause if its share of time is above this. */
const unknown_share_named = 0.01;

function figure_of(finding: Finding): string {
  if (finding.unit === 'percent') return `${finding.figure.toFixed(1)}%`;
  if (finding.unit === 'times') return `${finding.figure.toFixed(2)}×`;
  return time(finding.figure);
}

/** Returns the share of the run that a finding costs; its figure if the cost is not known. */
function large_figure(data: Data, finding: Finding): HTMLElement {
  const run = data.report.time.run_nanos;
  const has_cost = finding.hidden || finding.cost_nanos > 0;
  if (!has_cost || run === 0) return h('p', { class: 'figure' }, figure_of(finding));
  return h(
    'p',
    { class: 'figure' },
    exact_percent(Math.max(0, finding.cost_nanos / run)),
    h(
      'small',
      {},
      finding.hidden ? 'of the run: hidden' : `of the run: ${exact_seconds(finding.cost_nanos)}`,
    ),
  );
}

/** Returns the `paths analyze` command that predicts the run without a finding. */
function command_of(data: Data, number: number): string {
  const title = data.head.title;
  const trace = /^[\w./-]+$/.test(title) ? title : `'${title.replaceAll("'", "'\\''")}'`;
  return `paths analyze ${trace} --without ${number}`;
}

type Jump = (finding: Finding) => (() => void) | undefined;

function card(data: Data, finding: Finding, number: number, jump: Jump): HTMLElement {
  const hosts = finding.hosts ?? [];
  const name = names[finding.kind] + (finding.kind === 'slow_host' && hosts.length > 1 ? 's' : '');
  const show = jump(finding);
  const cost = data.words.costs[number];
  return h(
    'li',
    { class: `finding ${finding.kind}` },
    large_figure(data, finding),
    h(
      'div',
      {},
      h('h3', {}, `${number + 1}. ${name}`, basis(finding.basis)),
      h('p', { class: 'sentence' }, finding.sentence),
      cost && h('p', { class: 'cost' }, cost),
      finding.predicted &&
        h(
          'p',
          { class: 'quiet' },
          finding.hidden || number === 0
            ? ''
            : `Without it and all before it: ${exact_seconds(finding.run_without_nanos ?? 0)}. `,
          h('code', {}, command_of(data, number + 1)),
        ),
      h(
        'p',
        { class: 'place' },
        h('code', {}, hosts.length > 1 ? hosts.join(', ') : where(finding.place)),
        show && h('button', { type: 'button', onclick: show }, 'Show in the timeline'),
      ),
    ),
  );
}

function findings_of(data: Data, jump: Jump): HTMLElement {
  const { findings } = data.report;
  if (findings.length === 0) return h('p', {}, data.words.without_findings);
  const cards = (from: number, to: number): HTMLElement[] =>
    findings.slice(from, to).map((finding, number) => card(data, finding, from + number, jump));
  const list = h('ol', { class: 'findings' }, ...cards(0, findings_shown));
  if (findings.length <= findings_shown) return list;
  const more = h(
    'button',
    {
      type: 'button',
      onclick: () => {
        list.append(...cards(findings_shown, findings.length));
        more.remove();
      },
    },
    `Show ${plural(findings.length - findings_shown, 'more finding')}`,
  );
  return h('div', {}, list, more);
}

const tile = (figure: string, text: string): HTMLElement =>
  h('div', { class: 'tile' }, h('dt', {}, text), h('dd', {}, figure));

export function summary(data: Data, jump: Jump): HTMLElement {
  const { report, shape } = data;
  const tiles = h(
    'dl',
    { class: 'tiles' },
    tile(
      count(shape.hosts.reduce((sum, host) => sum + host.threads, 0)),
      `threads on ${plural(shape.hosts.length, 'host')} in ${plural(shape.clusters.length, 'cluster')}`,
    ),
    tile(count(report.coverage.records), 'records'),
  );
  return section('findings', 'Out of the ordinary', '', findings_of(data, jump), tiles);
}

/** Returns a note on the parts of the trace that could not be used; null if there are none. */
export function damage(data: Data): HTMLElement | null {
  const { time: went } = data.report;
  const losses = [...data.head.losses, ...data.words.notes];
  if (went.cut)
    losses.push(
      `The run has too many records: the times are of its first ${exact_seconds(went.run_nanos)}`,
    );
  if (went.unknown_share > unknown_share_named)
    losses.push(
      `The cause of ${exact_percent(went.unknown_share)} of the threads’ time is unknown`,
    );
  if (losses.length === 0) return null;
  const item = (loss: string): HTMLElement => h('li', {}, loss);
  const element = section('damage', 'Not all of the trace could be used', '');
  element.append(h('ul', {}, ...losses.slice(0, losses_shown).map(item)));
  if (losses.length > losses_shown)
    element.append(
      h(
        'details',
        {},
        h('summary', {}, `${count(losses.length - losses_shown)} more`),
        h('ul', {}, ...losses.slice(losses_shown).map(item)),
      ),
    );
  return element;
}

interface Share {
  text: string;
  style: string;
  nanos: number;
}

function shares_of(critical: CriticalPath): Share[] {
  const shares = causes.map((cause) => ({
    text: cause.text as string,
    style: cause.style,
    nanos: 0,
  }));
  for (const [name, nanos] of Object.entries(critical.nanos_by_cause))
    shares[causes.indexOf(cause_of(name))].nanos += nanos;
  return shares.filter((share) => share.nanos > 0);
}

function bar_of(critical: CriticalPath): HTMLElement {
  const shares = shares_of(critical);
  const all = shares.reduce((sum, share) => sum + share.nanos, 0) || 1;
  const name = critical.cluster ? `${critical.graph} in ${critical.cluster}` : critical.graph;
  const text = shares.map((share) => `${share.text} ${percent(share.nanos / all)}`).join(', ');
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, name),
    h(
      'td',
      { class: 'number' },
      critical.iteration_nanos.count ? time(critical.iteration_nanos.p50 ?? 0) : '–',
    ),
    h(
      'td',
      { class: 'stackcell' },
      h(
        'div',
        { class: 'stack', role: 'img', 'aria-label': text },
        ...shares.map((share) => {
          const part = share.nanos / all;
          return h(
            'span',
            {
              style: `flex:${part} 0 0;--colour:var(${share.style})`,
              title: `${share.text}: ${time(share.nanos)}, ${percent(part)}`,
            },
            part > 0.06 ? percent(part) : '',
          );
        }),
      ),
    ),
  );
}

export function time_by_cause(data: Data): HTMLElement | null {
  const all = data.report.critical_paths;
  if (all.length === 0) return null;
  const parts = all.flatMap((critical) =>
    critical.parts.map((part) => ({
      ...part,
      graph: critical.cluster ? `${critical.graph} in ${critical.cluster}` : critical.graph,
    })),
  );
  const most = Math.max(1, ...parts.map((part) => part.nanos));
  return section(
    'causes',
    'Ways of the rounds of each collective',
    `${own_clock}; network and links: two-way`,
    h(
      'p',
      {},
      'A round of a collective is as long as its slowest way through the tree: from the thread that arrived last, over the last to arrive of each join, and back. The bars show the parts of that way, added up over all rounds.',
    ),
    h(
      'ul',
      { class: 'legend', 'aria-label': 'Colours' },
      ...causes.map((cause) => h('li', { style: `--colour:var(${cause.style})` }, cause.text)),
    ),
    h(
      'table',
      { class: 'stacks' },
      h('caption', { class: 'unseen' }, 'Time on the critical path by cause'),
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, 'collective'),
          h('th', { scope: 'col', class: 'number' }, 'median'),
          h('th', { scope: 'col' }, 'share of the time by cause'),
        ),
      ),
      h('tbody', {}, ...all.map(bar_of)),
    ),
    table(
      parts,
      [
        { title: 'thread or wrapper', value: (part) => part.what },
        { title: 'cause', value: (part) => cause_of(part.cause).text },
        { title: 'host', value: (part) => part.host },
        { title: 'collective', value: (part) => part.graph },
        {
          title: 'total time',
          value: (part) => part.nanos,
          show: (part) => time(part.nanos),
          bar: (part) => part.nanos / most,
        },
        { title: 'rounds', value: (part) => part.rounds, show: (part) => count(part.rounds) },
        {
          title: 'in the config',
          value: (part) => part.position,
          show: (part) => h('code', {}, part.position),
        },
      ],
      {
        caption: 'What the critical paths went through',
        sorted_by: 4,
        page_rows: 8,
        search: (part) => `${part.what} ${part.host} ${part.cause} ${part.graph}`,
      },
    ),
  );
}
