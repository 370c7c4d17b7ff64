// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/data.ts — types of the page's data. Times are nanoseconds.

import type { Figures, Thread } from './report';

export type * from './report';

export type Bin = Thread['computation_bins_from_to_count'][number];

/** Bars of threads in group operations, sorted by begin. Each list has one entry for each bar. */
export interface GroupBars {
  names: string[];
  thread: number[];
  name: number[];
  begin: number[];
  nanos: number[];
  more: number;
}

export type HopKind = 'internal' | 'join' | 'network' | 'link' | 'check' | 'end';

/**
 * Tree of lanes; a lane is one contributor at one collector. Each list has one entry for each lane;
 * -1 = none.
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
 * A round. Each list has one entry for each lane of the tree. `down` is the time since `begin` at
 * which the operation passed; `nanos` is the time until its reply, below 0 if there is no record.
 */
export interface Round {
  tree: number;
  sequence: number;
  begin: number;
  down: number[];
  nanos: number[];
  computation: number[];
}

export interface Stretch {
  slowest: number;
  slowest_nanos: number;
  beginning: boolean;
  error_nanos: number;
  rounds: Round[];
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
  shape: Shape;
  timeline: { common_clock: boolean; stretches: Stretch[]; groups?: GroupBars };
}

/** Reads the data of the page: JSON, deflated by zlib, in base64. */
export async function read_data(text: string): Promise<Data> {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; ++at) bytes[at] = binary.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return JSON.parse(await new Response(stream).text()) as Data;
}
