// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/slices.ts — activity of a thread in a round.
import type { CauseKey } from './causes';
import type { Data, HopKind, Round, Thread, Tree } from './data';

export interface Slice {
  kind: CauseKey;
  begin: number;
  end: number;
}

const kinds: Record<HopKind, CauseKey> = {
  internal: 'internal',
  join: 'join',
  network: 'network',
  link: 'link',
  check: 'check',
  end: 'internal',
};

export class Slicer {
  private threads = new Map<string, Thread>();
  private joins = new Map<Tree, Map<number, Tree['joins'][0]>>();
  constructor(private data: Data) {
    for (const thread of data.report.threads)
      this.threads.set(`${thread.rank} ${thread.graph}`, thread);
    for (const tree of data.shape.trees)
      if (tree) this.joins.set(tree, new Map(tree.joins.map((join) => [join.number, join])));
  }

  /** Returns slices in order of time. Clocks may differ a little, but no slice is negative. */
  of(round: Round, lane: number): Slice[] {
    const slices: Slice[] = [];
    if (round.nanos[lane] < 0) return slices;
    const tree = this.data.shape.trees[round.tree]!;
    const down = round.begin + round.down[lane];
    this.add_computation(slices, tree, lane, down, round.computation[lane]);
    this.walk(slices, tree, round, lane, down, down + round.nanos[lane], 0);
    return slices;
  }

  private add_computation(
    slices: Slice[],
    tree: Tree,
    lane: number,
    end: number,
    nanos: number,
  ): void {
    if (nanos <= 0) return;
    const thread = this.threads.get(`${tree.thread[lane]} ${tree.graph}`);
    const is_late =
      thread !== undefined && thread.outlier_nanos > 0 && nanos > thread.outlier_nanos;
    const middle = is_late ? end - nanos + thread.base_nanos : end;
    slices.push({ kind: 'computation', begin: end - nanos, end: middle });
    if (is_late) slices.push({ kind: 'noise', begin: middle, end });
  }

  private walk(
    slices: Slice[],
    tree: Tree,
    round: Round,
    lane: number,
    begin: number,
    end: number,
    depth: number,
  ): void {
    const put = (kind: CauseKey, from: number, to: number): void => {
      if (to > from) slices.push({ kind, begin: from, end: to });
    };
    const inside = (at: number): number => Math.max(begin, Math.min(end, at));
    const kind = kinds[this.data.shape.hops[tree.hop[lane]].kind];
    const join = this.joins.get(tree)!.get(tree.join[lane]);
    let from = begin;
    if (join) {
      let last = begin;
      for (const other of join.contributors)
        if (round.nanos[other] >= 0) last = Math.max(last, round.begin + round.down[other]);
      from = inside(last);
      put('waiting', begin, from);
    }
    const below = join ? join.below : tree.below[lane];
    if (below < 0 || round.nanos[below] < 0 || depth > 256) {
      put(kind, from, end);
      return;
    }
    const down = Math.max(from, inside(round.begin + round.down[below]));
    const up = Math.max(down, inside(round.begin + round.down[below] + round.nanos[below]));
    put(kind, from, down);
    this.walk(slices, tree, round, below, down, up, depth + 1);
    put(kind, up, end);
  }
}
