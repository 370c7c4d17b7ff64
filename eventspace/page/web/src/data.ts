// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/data.ts — what eventspace/page/page.cpp puts into the page. Times are nanoseconds.

export interface Summary {
  count: number;
  mean: number;
  min: number;
  p10: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

export interface Place {
  wrapper?: string;
  kind?: string;
  host: string;
  cluster: string;
  position?: string;
  stage?: number;
}

export interface Finding {
  kind: string;
  place: Place;
  figure: number;
  unit: string;
  cost_nanos: number;
  basis: string;
  sentence: string;
  thread?: string;
}

export interface Critical {
  graph: string;
  cluster: string;
  rounds: number;
  iterations: number;
  incomplete_rounds: number;
  failed_rounds: number;
  iteration_nanos: Summary;
  nanos_by_cause: Record<string, number>;
  parts: {
    cause: string;
    what: string;
    host: string;
    position: string;
    nanos: number;
    rounds: number;
  }[];
}

export interface Lateness {
  graph: string;
  iterations: number;
  with_a_thread_late: { late_nanos: number; iterations: number }[];
  noise_nanos: number;
  effective_noise_nanos: number;
  absorbed_noise_nanos: number;
  waited_for_noise_nanos: number;
  critical_wan_two_way_nanos: number;
  hideable_wan_two_way_nanos: number;
}

export interface Host {
  name: string;
  cluster: string;
  threads: number;
  computation_nanos: number;
  others_computation_nanos: number;
  factor: number;
  critical_rounds: number;
  records: number;
  rounds_missing_its_records: number;
}

export type Bin = [from: number, to: number, count: number];

export interface Thread {
  name: string;
  rank: number;
  graph: string;
  host: string;
  cluster: string;
  computation_nanos: Summary;
  computation_bins_from_to_count?: Bin[];
  base_nanos: number;
  outlier_nanos: number;
  outliers: number;
  noise_nanos: number;
  noise_median_nanos: number;
  noise_share: number;
  critical_rounds: number;
  critical_computation_nanos: number;
  critical_noise_nanos: number;
  noise_spectrum_hertz_power?: [number, number][];
  noise_period_nanos?: number;
  noise_period_agreement?: number;
  iterations_per_noise_period?: number;
}

export interface Contributor {
  name: string;
  host: string;
  slot: number;
  remote: boolean;
  last: number;
  arrival_wait_nanos: Summary;
  departure_delay_nanos: Summary;
}

export interface Join {
  place: Place;
  graph: string;
  rounds: number;
  through_nanos: Summary;
  below_nanos: Summary;
  departure_spread_nanos: Summary;
  rounds_with_late_replies: number;
  late_reply_nanos: number;
  contributors: Contributor[];
}

export interface Crossing {
  place: Place;
  graph: string;
  to_host: string;
  to_cluster: string;
  wan: boolean;
  two_way_nanos: Summary;
  one_way_nanos_half_of_two_way: number;
  messages: number;
  payload_bytes: number;
}

export interface Link {
  place: Place;
  from_host: string;
  to_host: string;
  from_cluster: string;
  to_cluster: string;
  wan: boolean;
  source: string;
  travel_nanos: Summary;
  queued_nanos: Summary;
  payload_bytes: number;
  critical_rounds: number;
  declared_nanos?: number;
}

export interface PathFigures {
  graph: string;
  host: string;
  cluster: string;
  first_thread: number;
  threads: number;
  to_cluster: string;
  total_nanos: Summary;
  network_two_way_nanos: Summary;
  wan_two_way_nanos: Summary;
  wan_share: number;
}

export interface Remote {
  cluster: string;
  reads: number;
  wanted_but_decided_without: number;
  cached: number;
  in_flight?: number; // neither is known when the one-way time is not
  late?: number;
  first: number;
  wait_nanos: Summary;
  rounds_ahead: Summary;
  prefetch_nanos: Summary;
  one_way_nanos_half_of_two_way?: number;
}

export interface Conditional {
  place: Place;
  graph: string;
  operations: number;
  proved: number;
  operations_by_remote_values_needed: number[];
  time_to_decide_nanos: Summary;
  decision_times_sequence_mean_max: [number, number, number][];
  remote_clusters: Remote[];
}

export interface GroupOperations {
  group: string;
  collective: string;
  algorithm: string;
  operations: number;
  incomplete: number;
  failed: number;
  bytes: Summary;
  time_nanos: Summary;
  after_last_came_nanos: Summary;
  wait_for_last_nanos: Summary;
  nanos_by_cause: Record<string, number>;
  parts: { cause: string; what: string; nanos: number; operations: number }[];
  last_threads: { name: string; operations: number; late_nanos: number }[];
  last_hosts: { name: string; operations: number; late_nanos: number }[];
}

export interface GroupLink {
  from: string;
  to: string;
  wan: boolean;
  messages: number;
  bytes: number;
  latency_nanos?: Summary;
}

export interface Groups {
  common_clock: boolean;
  operations: GroupOperations[];
  between_clusters: GroupLink[];
  between_hosts: GroupLink[];
}

/** From one cluster to another, or of all these; each level holds until the next. */
export interface TransferPath {
  from?: string;
  to?: string;
  counted?: 'streams' | 'messages' | 'ends';
  streams?: number;
  messages: number;
  bytes: number;
  first_begin_nanos: number;
  last_end_nanos: number;
  durations_nanos: number;
  peak: number;
  mean: number;
  mean_from_first_to_last: number;
  mean_until_arrived: number;
  share_with_none: number;
  share_with_some: number;
  share_with_all?: number;
  at_once_nanos_mean_max: [number, number, number][];
}

export interface Transfers {
  common_clock: boolean;
  run_nanos?: number; // all of it only on a common clock
  all?: TransferPath;
  paths?: TransferPath[];
}

/** Bars of threads in operations, by begin; a property is a list by bar. */
export interface GroupBars {
  names: string[];
  thread: number[];
  name: number[];
  begin: number[];
  nanos: number[];
  more: number;
}

export interface Report {
  coverage: Record<string, number>;
  findings: Finding[];
  critical_paths: Critical[];
  lateness: Lateness[];
  hosts: Host[];
  threads: Thread[];
  joins: Join[];
  crossings: Crossing[];
  links: Link[];
  paths: PathFigures[];
  conditionals: Conditional[];
  groups?: Groups;
  transfers?: Transfers;
}

export type HopKind = 'internal' | 'join' | 'network' | 'link' | 'check' | 'end';

/** Lanes are the places where records are made; a property is a list by lane. -1 is none. */
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

/** `down` counts from `begin`; `nanos` below 0: no record. By lane of the tree. */
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
  report: Report;
  shape: Shape;
  timeline: { common_clock: boolean; stretches: Stretch[]; groups?: GroupBars };
}

/** The text is zlib's deflate in base64. */
export async function read_data(text: string): Promise<Data> {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; ++at) bytes[at] = binary.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return JSON.parse(await new Response(stream).text()) as Data;
}
