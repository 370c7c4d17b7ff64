// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/timeline_model.ts — rows of the timeline, with their pieces and steps.
import type { Data, Finding, Stretch, TimelineLabel } from './data';

export interface Row {
  name: string;
  level: 0 | 1 | 2; // cluster, host, thread
  number: number; // number of cluster or host, or rank of thread; -1 = row of the critical path
}

/** Part of a row's time with one label. */
export interface Piece {
  begin: number;
  end: number;
  label: number;
  thread: number; // rank of the thread for which the row's thread waited, or -1
}

/** Step of the critical path. A step from one thread to another thread is a message. */
export interface Step {
  begin: number;
  end: number;
  label: number;
  from: number;
  to: number;
}

/** Stretch (span of the run's time) with indexes by which its parts are found quickly. */
interface Indexed {
  stretch: Stretch;
  first: number[]; // index of each thread's first part; last entry: number of parts
  begins: number[];
}

const rows_first = 60;
const path_row = -1;

/** Returns the first index where `is_after` is true. Requires: it is true for later indexes. */
export function first_place(count: number, is_after: (place: number) => boolean): number {
  let [least, most] = [0, count];
  while (least < most) {
    const middle = (least + most) >> 1;
    if (is_after(middle)) most = middle;
    else least = middle + 1;
  }
  return least;
}

export class Model {
  readonly rows: Row[] = [];
  readonly labels: TimelineLabel[];
  readonly steps: Step[] = [];
  readonly iterations: { begin: number; end: number }[] = [];
  readonly nanos: number;
  /** Median length of an iteration. Without iterations, it is at most a quarter of a stretch. */
  readonly iteration_nanos: number;
  private readonly open = new Set<string>();
  private readonly stretches: Indexed[];
  private readonly host_of_thread: number[] = [];
  private readonly row_of = new Map<string, number>();
  constructor(private data: Data) {
    const { timeline, shape } = data;
    this.labels = timeline.labels;
    this.nanos = timeline.nanos;
    this.stretches = timeline.stretches.map((stretch) => this.indexed(stretch));
    shape.hosts.forEach((host, number) => {
      for (let thread = 0; thread < host.threads; ++thread)
        this.host_of_thread[host.first_thread + thread] = number;
    });
    let at = 0;
    timeline.path.nanos.forEach((nanos, number) => {
      const { gap, label, from, to } = timeline.path;
      const begin = at + gap[number];
      at = begin + nanos;
      this.steps.push({ begin, end: at, label: label[number], from: from[number], to: to[number] });
    });
    at = timeline.iterations.begin;
    for (const length of timeline.iterations.lengths) {
      this.iterations.push({ begin: at, end: at + length });
      at += length;
    }
    const lengths = [...timeline.iterations.lengths].sort((a, b) => a - b);
    this.iteration_nanos =
      lengths.length > 0 ? lengths[lengths.length >> 1] : Math.max(1, this.first_kept() / 4);
  }

  private indexed(stretch: Stretch): Indexed {
    const first = [0];
    const begins: number[] = [];
    for (const parts of stretch.parts) {
      let at = stretch.begin;
      for (let part = first[first.length - 1]; begins.length < first[first.length - 1] + parts;) {
        begins.push(at);
        at += stretch.nanos[part++];
      }
      first.push(begins.length);
    }
    return { stretch, first, begins };
  }

  private first_kept(): number {
    const { stretches } = this.data.timeline;
    const first = stretches.length > 0 ? stretches[0].end - stretches[0].begin : this.nanos;
    return Math.min(first, this.nanos / 4);
  }
  get common_clock(): boolean {
    return this.data.timeline.common_clock;
  }
  get each(): number {
    return this.data.timeline.iterations.each;
  }
  name_of_thread(rank: number): string {
    const host = this.data.shape.hosts[this.host_of_thread[rank]];
    return `${host.name}/${rank - host.first_thread}`;
  }
  words_of(label: number): string {
    const { operation, text } = this.labels[label];
    return operation ? `${operation}: ${text}` : text;
  }
  is_path(row: Row): boolean {
    return row.number === path_row;
  }
  /** Returns the stretches with threads' parts that overlap the time from `from` to `to`. */
  stretches_in(from: number, to: number): { begin: number; end: number }[] {
    return this.stretches
      .map((one) => one.stretch)
      .filter((one) => one.begin < to && one.end > from);
  }

  private make_rows(): void {
    const { hosts, clusters } = this.data.shape;
    this.rows.length = 0;
    this.row_of.clear();
    const add = (name: string, level: Row['level'], number: number): boolean => {
      const key = `${level} ${number}`;
      this.row_of.set(key, this.rows.length);
      this.rows.push({ name, level, number });
      return this.open.has(key);
    };
    if (this.steps.length > 0) add('critical path', 0, path_row);
    clusters.forEach((cluster, cluster_number) => {
      const own = hosts
        .map((host, number) => ({ ...host, number }))
        .filter((host) => host.cluster === cluster_number && host.threads > 0);
      if (own.length === 0 || !add(cluster, 0, cluster_number)) return;
      for (const host of own) {
        if (!add(host.name, 1, host.number)) continue;
        for (let thread = 0; thread < host.threads; ++thread)
          add(`${host.name}/${thread}`, 2, host.first_thread + thread);
      }
    });
  }

  /** Opens the rows down to a level: 0 = clusters, 1 = hosts, 2 = threads. */
  open_to(level: number): void {
    this.open.clear();
    if (level > 0) this.data.shape.clusters.forEach((_, number) => this.open.add(`0 ${number}`));
    if (level > 1) this.data.shape.hosts.forEach((_, number) => this.open.add(`1 ${number}`));
    this.make_rows();
  }
  toggle(row: Row): void {
    const key = `${row.level} ${row.number}`;
    if (!this.open.delete(key)) this.open.add(key);
    this.make_rows();
  }
  /** Opens the rows of a thread's cluster and host. Returns the index of the thread's row. */
  open_thread(rank: number): number {
    const host = this.host_of_thread[rank];
    this.open.add(`1 ${host}`);
    this.open.add(`0 ${this.data.shape.hosts[host].cluster}`);
    this.make_rows();
    return this.row_of_thread(rank);
  }
  can_open(row: Row): boolean {
    return row.level < 2 && !this.is_path(row);
  }
  is_open(row: Row): boolean {
    return this.open.has(`${row.level} ${row.number}`);
  }
  level_first(): number {
    const { clusters, hosts } = this.data.shape;
    const with_threads = hosts.filter((host) => host.threads > 0);
    const threads = with_threads.reduce((sum, host) => sum + host.threads, 0);
    if (clusters.length + with_threads.length + threads <= rows_first) return 2;
    return clusters.length + with_threads.length <= 4 * rows_first ? 1 : 0;
  }
  /** Returns the index of a thread's row, or of the closed host or cluster that contains it. */
  row_of_thread(rank: number): number {
    const host = this.host_of_thread[rank];
    const cluster = this.data.shape.hosts[host]?.cluster;
    return (
      this.row_of.get(`2 ${rank}`) ??
      this.row_of.get(`1 ${host}`) ??
      this.row_of.get(`0 ${cluster}`) ??
      0
    );
  }
  threads_in(row: Row): number[] {
    if (row.level === 2) return [row.number];
    const hosts = this.data.shape.hosts.filter((host, number) =>
      row.level === 1 ? number === row.number : host.cluster === row.number,
    );
    return hosts.flatMap((host) =>
      Array.from({ length: host.threads }, (_, thread) => host.first_thread + thread),
    );
  }

  /** Returns the steps of the critical path that overlap the time from `from` to `to`. */
  steps_in(from: number, to: number): Step[] {
    const first = first_place(this.steps.length, (place) => this.steps[place].end > from);
    const last = first_place(this.steps.length, (place) => this.steps[place].begin >= to);
    return this.steps.slice(first, last);
  }
  /** Calls `visit` for each part of a thread that overlaps the time from `from` to `to`. */
  visit(thread: number, from: number, to: number, visit: (piece: Piece) => void): void {
    for (const { stretch, first, begins } of this.stretches) {
      if (stretch.begin >= to || stretch.end <= from) continue;
      const begin = first[thread];
      const count = first[thread + 1] - begin;
      let part = begin;
      part += first_place(
        count,
        (place) => begins[begin + place] + stretch.nanos[begin + place] > from,
      );
      for (; part < begin + count && begins[part] < to; ++part)
        if (stretch.label[part] >= 0)
          visit({
            begin: begins[part],
            end: begins[part] + stretch.nanos[part],
            label: stretch.label[part],
            thread: stretch.thread[part],
          });
    }
  }
  visit_row(row: Row, from: number, to: number, visit: (piece: Piece) => void): void {
    if (this.is_path(row))
      for (const step of this.steps_in(from, to))
        visit({ begin: step.begin, end: step.end, label: step.label, thread: step.to });
    else for (const thread of this.threads_in(row)) this.visit(thread, from, to, visit);
  }

  /** Returns the ranks of the threads of a finding: one thread, or all of its hosts or cluster. */
  threads_of(finding: Finding): number[] {
    const { hosts } = this.data.shape;
    const names = finding.hosts ?? [finding.place.host];
    const cluster = this.data.shape.clusters.indexOf(finding.place.cluster);
    const has_threads = hosts.some((host) => names.includes(host.name) && host.threads > 0);
    const threads = hosts
      .filter((host) => (has_threads ? names.includes(host.name) : host.cluster === cluster))
      .flatMap((host) =>
        Array.from({ length: host.threads }, (_, thread) => host.first_thread + thread),
      );
    const own = threads.filter((thread) => this.name_of_thread(thread) === finding.thread);
    return own.length > 0 ? own : threads;
  }
  /** Returns the time at which the critical path first reaches a thread of `threads`. */
  time_on_path(threads: number[]): number | undefined {
    const wanted = new Set(threads);
    return this.steps.find((step) => wanted.has(step.from) || wanted.has(step.to))?.begin;
  }
}
