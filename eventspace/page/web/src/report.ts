// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/report.ts — types of the report. scripts/describe writes this file.

/** Report of a run: `paths analyze --json`. */
export interface Report extends Figures {
  format: 'paths-report';
  version: 1;
  trace: Trace;
}

/** The trace that was analysed. */
export interface Trace {
  directory: string;
  command: string[];
  plan: string;
  clocks: string;
  missing_hosts: string[];
  not_ended_hosts: string[];
  no_traces: string[];
  files: TraceFile[];
}

/** File of a host. */
export interface TraceFile {
  host: string;
  records: number;
  ended: boolean;
  clock: string;
  resolution_nanos: number;
  seed: number;
  started: string;
  version: string;
  lost: TraceLosses;
}

/** Parts of a file that could not be used, by reason. */
export interface TraceLosses {
  records_dropped?: number;
  records_missing?: number;
  damaged_places?: number;
  chunks_cut_off?: number;
  chunks_unknown?: number;
  chunks_repeated?: number;
  bytes_unused?: number;
  header_damaged?: boolean;
}

/** Findings and figures of a run. */
export interface Figures {
  clocks: string;
  coverage: Coverage;
  time: Time;
  named_from_share: number;
  findings: Finding[];
  critical_paths: CriticalPath[];
  lateness: Lateness[];
  clusters: Cluster[];
  hosts: Host[];
  threads: Thread[];
  joins: Join[];
  crossings: Crossing[];
  links: Link[];
  stages: Stage[];
  paths: Path[];
  conditionals: Conditional[];
  groups?: Groups;
  transfers?: Transfers;
}

/** Records, and the part of them that was of no use. */
export interface Coverage {
  records: number;
  operations: number;
  transfers: number;
  of_no_known_place: number;
  passed_by_joins: number;
  of_rounds_given_up: number;
  repeated: number;
  contradictory_rounds: number;
  operations_without_computation: number;
  computations_judged_early: number;
}

/** Time of the run and of its threads, divided without remainder. */
export interface Time {
  run_nanos: number;
  threads: number;
  threads_nanos: number;
  iterations: Iterations;
  headline: string;
  advice: string;
  sensitivity: string;
  predicted_nanos: number;
  decisions_as_recorded: boolean;
  what_if?: WhatIf;
  sensitivities?: Sensitivity[];
  rows: TimeRow[];
  critical_path?: TimeRow[];
  unknown_share: number;
  not_recorded: string[];
  contradictions: number;
  cut: boolean;
}

/** Iterations of the run. Beginning, iterations and end are the run. */
export interface Iterations {
  rule: 'mark' | 'collective' | 'element' | 'none';
  count: number;
  cut_at?: string;
  each?: number;
  length_nanos?: Summary;
  beginning_nanos?: number;
  end_nanos?: number;
}

/** Distribution of values. */
export interface Summary {
  count: number;
  mean?: number;
  deviation?: number;
  min?: number;
  p10?: number;
  p50?: number;
  p90?: number;
  p99?: number;
  max?: number;
}

/** The run as it is predicted with the changes that were asked for. */
export interface WhatIf {
  change: string;
  run_nanos: number;
  saved_nanos: number;
  largest: string;
  largest_share: number;
}

/** How the time of the run depends on one link, network or host. */
export interface Sensitivity {
  object: string;
  is_latency: boolean;
  latency_nanos?: number;
  more_nanos: number;
  less_nanos: number;
  none_nanos: number;
  half_nanos?: number;
  double_nanos?: number;
  tolerance?: number;
}

/** Part of a time that has one operation and one cause. */
export interface TimeRow {
  operation: string;
  cause:
    | 'computing'
    | 'noise'
    | 'link_latency'
    | 'link_transmission'
    | 'link_queue'
    | 'network'
    | 'hold'
    | 'sending'
    | 'folding'
    | 'runtime'
    | 'unknown';
  where: string;
  text: string;
  nanos: number;
  share: number;
  most: string;
  most_nanos: number;
}

/** One thing that stands out. */
export interface Finding {
  kind:
    | 'slow_host'
    | 'slow_thread'
    | 'noisy_thread'
    | 'slow_link'
    | 'slow_network'
    | 'late_broadcast'
    | 'slow_cluster'
    | 'stall'
    | 'change';
  place: Place;
  figure: number;
  unit: 'percent' | 'nanoseconds' | 'times';
  from_share?: number;
  to_share?: number;
  at_nanos?: number;
  cost_nanos: number;
  lost_nanos: number;
  mean_nanos?: number;
  usual_nanos?: number;
  interval_nanos?: [number, number];
  predicted: boolean;
  hidden: boolean;
  run_without_nanos?: number;
  basis: string;
  sentence: string;
  thread?: string;
  hosts?: string[];
  rests_on_damage?: string[];
}

/** Position of a wrapper, or only of a host. */
export interface Place {
  wrapper?: string;
  kind?: string;
  host: string;
  cluster: string;
  position?: string;
  stage?: number;
}

/** Rounds of one tree of a collective, each followed from the thread that arrived last. */
export interface CriticalPath {
  graph: string;
  cluster: string;
  rounds: number;
  iterations: number;
  incomplete_rounds: number;
  failed_rounds: number;
  iteration_nanos: Summary;
  computation_nanos: Summary;
  communication_nanos: Summary;
  nanos_by_cause: Record<string, number>;
  parts: CriticalPart[];
}

/** Part of critical paths that one thread or wrapper caused. */
export interface CriticalPart {
  cause:
    | 'computation'
    | 'noise'
    | 'join'
    | 'network'
    | 'link'
    | 'broadcast delay'
    | 'other clusters'
    | 'within hosts';
  what: string;
  host: string;
  position: string;
  nanos: number;
  rounds: number;
}

/** Late threads of a collective, and the effect of noise. */
export interface Lateness {
  graph: string;
  iterations: number;
  with_a_thread_late: LateIterations[];
  noise_nanos: number;
  effective_noise_nanos: number;
  absorbed_noise_nanos: number;
  waited_for_noise_nanos: number;
  noise_amplification: number;
  critical_wan_two_way_nanos: number;
  check_wan_one_way_nanos: number;
  hideable_wan_two_way_nanos: number;
  hideable_check_wan_one_way_nanos: number;
}

/** Iterations in which a thread was late by more than a bound. */
export interface LateIterations {
  late_nanos: number;
  iterations: number;
}

/** Sums over the hosts and threads of a cluster. */
export interface Cluster {
  name: string;
  hosts: number;
  threads: number;
  records: number;
  critical_rounds: number;
  computation_nanos: number;
  noise_nanos: number;
  critical_noise_nanos: number;
  arrival_wait_nanos: number;
  cache_wait_nanos: number;
  lan_messages: number;
  lan_payload_bytes: number;
  wan_messages: number;
  wan_payload_bytes: number;
}

/** Computation of a host, next to the other hosts of its cluster. */
export interface Host {
  name: string;
  cluster: string;
  threads: number;
  computation_nanos: number;
  others_computation_nanos: number;
  without_noise_nanos: number;
  others_without_noise_nanos: number;
  factor_without_noise: number;
  critical_rounds: number;
  critical_iterations: number;
  records: number;
  rounds_missing_its_records: number;
}

/** A thread at one place of its program, between two operations. */
export interface Thread {
  name: string;
  rank: number;
  graph: string;
  after: string;
  host: string;
  cluster: string;
  computation_nanos: Summary;
  base_nanos: number;
  outlier_nanos: number;
  outliers: number;
  noise_nanos: number;
  noise_median_nanos: number;
  noise_share: number;
  critical_rounds: number;
  critical_iterations: number;
  critical_computation_nanos: number;
  critical_noise_nanos: number;
  computation_bins_from_to_count: [number, number, number][];
  noise_spectrum_hertz_power?: [number, number][];
  noise_period_nanos?: number;
  noise_period_agreement?: number;
  iterations_per_noise_period?: number;
  noise_resonates?: boolean;
  noise_other_periods_nanos?: number[];
  noise_periods_nanos_noise_computations?: [number, number, number][];
}

/** Wrapper where several paths meet. */
export interface Join {
  place: Place;
  graph: string;
  rounds: number;
  through_nanos: Summary;
  below_nanos: Summary;
  departure_spread_nanos: Summary;
  rounds_with_late_replies: number;
  late_reply_nanos: number;
  critical_rounds_with_late_replies: number;
  critical_late_reply_nanos: number;
  contributors: Contributor[];
}

/** Thread or join whose contributions meet others in a join. */
export interface Contributor {
  name: string;
  host: string;
  slot: number;
  remote: boolean;
  last: number;
  left_first: number;
  left_last: number;
  arrival_wait_nanos: Summary;
  departure_delay_nanos: Summary;
}

/** Forward to another host. */
export interface Crossing {
  place: Place;
  graph: string;
  to_host: string;
  to_cluster: string;
  wan: boolean;
  two_way_nanos: Summary;
  one_way_nanos_half_of_two_way: number;
  down_one_way_nanos: Summary;
  up_one_way_nanos: Summary;
  messages: number;
  payload_bytes: number;
  critical_rounds: number;
}

/** One direction of an emulated link. */
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

/** Wrappers of one host between two collectors. */
export interface Stage {
  place: Place;
  graph: string;
  down_nanos: Summary;
  up_nanos: Summary;
  within_nanos: Summary;
  holds_results_back: boolean;
  critical_rounds: number;
  critical_nanos: number;
}

/** Way of operations from the threads of a host to an element. */
export interface Path {
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

/** Condition check of a relaxed collective. */
export interface Conditional {
  place: Place;
  graph: string;
  operations: number;
  proved: number;
  cached_share: number;
  operations_by_remote_values_needed: number[];
  time_to_decide_nanos: Summary;
  decision_times_sequence_mean_max: [number, number, number][];
  values_needed_sequence_operations_max: [number, number, number][];
  values_needed_together: ValuesNeededTogether[];
  operations_of_other_sets: number;
  remote_clusters: RemoteCluster[];
}

/** Operations that needed the values of exactly these clusters. */
export interface ValuesNeededTogether {
  clusters: string[];
  operations: number;
  all_cached: number;
}

/** How often a condition check read the values of another cluster, or decided without them. */
export interface RemoteCluster {
  cluster: string;
  reads: number;
  wanted_but_decided_without: number;
  cached: number;
  cached_share: number;
  first: number;
  rounds_by_place_of_coming: number[];
  wait_nanos: Summary;
  rounds_ahead: Summary;
  prefetch_nanos: Summary;
  in_flight?: number;
  late?: number;
  one_way_nanos_half_of_two_way?: number;
}

/** Operations of groups. */
export interface Groups {
  common_clock: boolean;
  records: number;
  operations: GroupOperations[];
  members: GroupMember[];
  between_clusters: GroupLink[];
  between_hosts: GroupLink[];
  messages_between_other_hosts: number;
}

/** Operations of one kind, of one group, by one schedule. */
export interface GroupOperations {
  group: string;
  collective: string;
  algorithm: string;
  reason: string;
  row: string;
  operations: number;
  incomplete: number;
  failed: number;
  bytes: Summary;
  time_nanos: Summary;
  after_last_came_nanos: Summary;
  wait_for_last_nanos: Summary;
  nanos_by_cause: Record<string, number>;
  parts: GroupPart[];
  last_threads: GroupLast[];
  last_hosts: GroupLast[];
  predicted_nanos: Summary;
  compared: number;
  took_per_predicted?: number;
  took_per_tuned?: number;
  stale: boolean;
  first_begin_end_nanos?: [number, number];
}

/** Part of the time of operations that one thing caused. */
export interface GroupPart {
  cause: 'late member' | 'sending' | 'latency' | 'folding' | 'within hosts';
  what: string;
  nanos: number;
  operations: number;
}

/** Thread or host that arrived last, alone. */
export interface GroupLast {
  name: string;
  operations: number;
  late_nanos: number;
}

/** Thread between operations of a group. */
export interface GroupMember {
  name: string;
  group: string;
  host: string;
  cluster: string;
  between_operations_nanos: Summary;
  last: number;
  late_nanos: number;
}

/** Messages of groups between two clusters or hosts. */
export interface GroupLink {
  from: string;
  to: string;
  wan: boolean;
  messages: number;
  bytes: number;
  latency_nanos?: Summary;
  nanos_per_mebibyte_of_quickest?: number;
}

/** Data that crossed between clusters, and how much at once. */
export interface Transfers {
  common_clock: boolean;
  run_nanos?: number;
  late?: number;
  all?: TransferPath;
  paths?: TransferPath[];
}

/** Data that crossed from one cluster to another, or on all such paths together. */
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

/** Differences of two runs: `paths analyze --compare --json`. */
export interface Comparison {
  format: 'paths-comparison';
  version: 1;
  intervals_hold_together_in_share: number;
  run: RunDifference;
  least_share_called_a_difference: number;
  differences: number;
  figures: Difference[];
  too_short: string[];
  only_before: string[];
  only_after: string[];
}

/** The runs as a whole. */
export interface RunDifference {
  before_nanos: number;
  after_nanos: number;
  change_nanos: number;
  iterations_before: number;
  iterations_after: number;
  iteration?: Difference;
  equal_cuts: boolean;
  parts: PartDifference[];
}

/** One figure in both runs. */
export interface Difference {
  figure: string;
  of: string;
  before_nanos: number;
  after_nanos: number;
  change_nanos: number;
  interval_nanos: [number, number];
  is_difference: boolean;
}

/** Part of the time of both runs. */
export interface PartDifference {
  operation: string;
  text: string;
  before_nanos: number;
  after_nanos: number;
  change_nanos: number;
}
