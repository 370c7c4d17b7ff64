// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/data.ts — types of the page's data. Times are nanoseconds.

import type { Figures, Thread } from './report';

export type * from './report';

export type Bin = Thread['computation_bins_from_to_count'][number];

export type HopKind = 'internal' | 'join' | 'network' | 'link' | 'check' | 'end';

/**
 * Tree of lanes. A lane is one contributor at one collector. Each list of numbers has an entry for
 * each lane; -1 = none.
 */
export interface Tree {
  graph: string;
  host: number[];
  hop: number[];
  below: number[];
  above: number[];
  join: number[];
  join_above: number[];
  thread: number[];
  joins: { number: number; below: number; host: number; contributors: number[] }[];
}

export interface Shape {
  clusters: string[];
  hosts: { name: string; cluster: number; first_thread: number; threads: number }[];
  hops: { kind: HopKind; stage: number; wrapper: string; wan: boolean }[];
  trees: (Tree | null)[];
}

/**
 * Parts of threads' time in a span of the run, thread by thread. The parts of a thread adjoin.
 * Except for `parts`, each list has one entry for each part; -1 = none.
 */
export interface Stretch {
  begin: number;
  end: number;
  parts: number[]; // number of parts of each thread
  label: number[];
  thread: number[]; // rank of the thread for which this thread waited
  nanos: number[];
}

export interface TimelineLabel {
  operation: string;
  cause: string;
  text: string;
}

/**
 * Timeline of the run. Times count from the begin of the run. If hosts have no common clock, the
 * times of each host count from the begin of its first thread.
 */
export interface Timeline {
  nanos: number;
  common_clock: boolean;
  labels: TimelineLabel[];
  stretches: Stretch[];
  /** Steps of the critical path; `gap` is the time since the end of the previous step. */
  path: {
    whole: boolean;
    gap: number[];
    nanos: number[];
    label: number[];
    from: number[];
    to: number[];
  };
  blocks: number;
  shares: [block: number, label: number, nanos: number][];
  /** Each entry of `lengths` is the total time of `each` consecutive iterations. */
  iterations: { begin: number; each: number; lengths: number[] };
}

/** Texts that the page has in common with the report for a terminal. */
export interface Words {
  causes: { name: string; text: string; waiting: string }[];
  iterations: string;
  sensitivity: string;
  costs: string[];
  without_findings: string;
  notes: string[];
}

export interface Data {
  head: {
    title: string;
    command: string[];
    version: string;
    clock: string;
    started: string;
    losses: string[];
  };
  report: Figures;
  words: Words;
  shape: Shape;
  timeline: Timeline;
}

/** Reads the data of the page: JSON, deflated by zlib, in base64. */
export async function read_data(text: string): Promise<Data> {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; ++at) bytes[at] = binary.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return JSON.parse(await new Response(stream).text()) as Data;
}
