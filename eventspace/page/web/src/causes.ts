// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/causes.ts — causes of time, with their order and colours.

/** Causes of the critical path and slices of the timeline; `style` names a colour of style.css. */
export const causes = [
  { key: 'computation', text: 'computation', style: '--computation' },
  { key: 'noise', text: 'noise', style: '--noise' },
  { key: 'waiting', text: 'waiting for others', style: '--waiting' },
  { key: 'join', text: 'join', style: '--join' },
  { key: 'network', text: 'network', style: '--network' },
  { key: 'link', text: 'link', style: '--link' },
  { key: 'delay', text: 'broadcast delay', style: '--delay' },
  { key: 'check', text: 'condition check', style: '--check' },
  { key: 'internal', text: 'other wrappers', style: '--internal' },
] as const;

export type CauseKey = (typeof causes)[number]['key'];

/** Words of the report that differ from the keys. */
const words: Record<string, CauseKey> = {
  'other clusters': 'check',
  'broadcast delay': 'delay',
  'within hosts': 'internal',
  'condition check': 'check',
};
export const cause_of = (name: string): (typeof causes)[number] =>
  causes.find((cause) => cause.key === (words[name] ?? name)) ?? causes[causes.length - 1];
