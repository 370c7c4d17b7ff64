// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/causes.ts — causes of time, with their order and colours.
import type { Data } from './data';
import { h } from './dom';

/** Causes of time on critical paths of rounds; `style` names a colour of style.css. */
export const causes = [
  { key: 'computation', text: 'computation', style: '--computation' },
  { key: 'noise', text: 'noise', style: '--noise' },
  { key: 'join', text: 'join', style: '--join' },
  { key: 'network', text: 'network', style: '--network' },
  { key: 'link', text: 'link', style: '--link' },
  { key: 'delay', text: 'broadcast delay', style: '--delay' },
  { key: 'check', text: 'condition check', style: '--check' },
  { key: 'internal', text: 'other wrappers', style: '--internal' },
] as const;

type CauseKey = (typeof causes)[number]['key'];

/** Key in `causes` for each name of a cause in the report, if the name differs from the key. */
const words: Record<string, CauseKey> = {
  'other clusters': 'check',
  'broadcast delay': 'delay',
  'within hosts': 'internal',
  'condition check': 'check',
};
export const cause_of = (name: string): (typeof causes)[number] =>
  causes.find((cause) => cause.key === (words[name] ?? name)) ?? causes[causes.length - 1];

/** Colours of the causes of threads' time, keyed by their names in the report. */
const styles: Record<string, string> = {
  computing: '--computation',
  noise: '--noise',
  link_latency: '--link',
  link_transmission: '--check',
  link_queue: '--delay',
  network: '--network',
  sending: '--network',
  hold: '--delay',
  folding: '--join',
};
interface Caused {
  operation: string;
  cause: string;
}
const is_waiting = (row: Caused): boolean => row.cause === 'computing' && row.operation !== '';
/** Returns the colour of a row. A wait for threads that compute has its own colour. */
export const style_of = (row: Caused): string =>
  is_waiting(row) ? '--waiting' : (styles[row.cause] ?? '--internal');

/** Returns a legend of the rows' colours and causes, in the order of the causes in the report. */
export function legend(data: Data, rows: Caused[]): HTMLElement {
  const words = new Map<string, string[]>();
  for (const cause of data.words.causes)
    for (const operation of cause.waiting ? ['', 'waiting'] : ['']) {
      const row = { operation, cause: cause.name };
      const is_there = rows.some(
        (one) =>
          one.cause === cause.name &&
          (!cause.waiting || (one.operation !== '') === (operation !== '')),
      );
      if (!is_there) continue;
      const all = words.get(style_of(row)) ?? [];
      words.set(style_of(row), [...all, operation ? cause.waiting : cause.text]);
    }
  return h(
    'ul',
    { class: 'legend', 'aria-label': 'Colours' },
    ...[...words].map(([style, texts]) =>
      h('li', { style: `--colour:var(${style})` }, texts.join(', or ')),
    ),
  );
}
