// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/minimap.ts — overview of the whole run, for selecting a part of it.
import { style_of } from './causes';
import type { Data } from './data';
import { css, h, on_theme } from './dom';
import { time } from './format';
import { drag_selection } from './selection';

const height = 56;

type Share = [block: number, label: number, nanos: number];

/** Returns the time of each label in each block, summed over all threads. */
function shares_of_threads(data: Data): Share[] {
  const { nanos, blocks, stretches, labels } = data.timeline;
  const length = Math.floor(nanos / blocks) + 1;
  const sums = new Float64Array(blocks * labels.length);
  for (const stretch of stretches) {
    let part = 0;
    for (const parts of stretch.parts) {
      let at = stretch.begin;
      for (const end = part + parts; part < end; ++part) {
        const until = at + stretch.nanos[part];
        for (let from = at; from < until && stretch.label[part] >= 0;) {
          const block = Math.floor(from / length);
          const to = Math.min(until, (block + 1) * length);
          sums[block * labels.length + stretch.label[part]] += to - from;
          from = to;
        }
        at = until;
      }
    }
  }
  return [...sums]
    .map((sum, place): Share => [Math.floor(place / labels.length), place % labels.length, sum])
    .filter(([, , sum]) => sum > 0);
}

export class Minimap {
  readonly canvas = h('canvas', { role: 'img' });
  readonly element = h('div', { class: 'minimap' }, this.canvas);
  private from = 0;
  private to = 1;
  private readonly shares: Share[];
  constructor(
    private data: Data,
    select: (from: number, to: number) => void,
  ) {
    const { nanos, shares } = data.timeline;
    this.shares = shares.length > 0 ? shares : shares_of_threads(data);
    this.canvas.setAttribute(
      'aria-label',
      `Overview of the run of ${time(nanos)}: causes of ${shares.length > 0 ? 'its critical path' : 'the time of threads'}`,
    );
    drag_selection(this.canvas, (x, end) => {
      const at = (one: number): number => (one / this.canvas.clientWidth) * nanos;
      const half = (this.to - this.from) / 2;
      if (end - x > 3) select(at(x), at(end));
      else select(at(x) - half, at(x) + half);
    });
    new ResizeObserver(() => this.draw()).observe(this.element);
    on_theme(() => this.draw());
  }

  /** Marks the part that the timeline shows. */
  show(from: number, to: number): void {
    [this.from, this.to] = [from, to];
    this.draw();
  }

  private draw(): void {
    const width = this.element.clientWidth;
    if (width === 0) return;
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext('2d')!;
    context.scale(scale, scale);
    this.draw_shares(context, width);
    this.draw_marks(context, width);
  }

  private draw_shares(context: CanvasRenderingContext2D, width: number): void {
    const { nanos, blocks, labels } = this.data.timeline;
    const length = Math.floor(nanos / blocks) + 1;
    const sums = new Array<number>(blocks).fill(0);
    for (const [block, , part] of this.shares) sums[block] += part;
    const order = [...new Set(labels.map(style_of))];
    const filled = new Array<number>(blocks).fill(0);
    for (const style of order) {
      context.fillStyle = css(style);
      for (const [block, label, part] of this.shares) {
        if (style_of(labels[label]) !== style) continue;
        const tall = ((height - 8) * part) / sums[block];
        const left = (width * block * length) / nanos;
        const right = (width * Math.min(nanos, (block + 1) * length)) / nanos;
        context.fillRect(left, height - filled[block] - tall, right - left + 0.3, tall);
        filled[block] += tall;
      }
    }
  }

  /** Marks the visible part, the stretches with threads' parts, and the times of findings. */
  private draw_marks(context: CanvasRenderingContext2D, width: number): void {
    const { nanos, stretches } = this.data.timeline;
    const x = (at: number): number => (width * at) / nanos;
    context.fillStyle = css('--accent');
    for (const one of stretches)
      context.fillRect(x(one.begin), 0, Math.max(1, x(one.end) - x(one.begin)), 3);
    context.fillStyle = css('--noise');
    for (const finding of this.data.report.findings) {
      if (finding.at_nanos === undefined) continue;
      const at = x(finding.at_nanos);
      context.beginPath();
      context.moveTo(at - 4, 0);
      context.lineTo(at + 4, 0);
      context.lineTo(at, 8);
      context.fill();
    }
    const [left, right] = [x(this.from), Math.max(x(this.to), x(this.from) + 2)];
    context.globalAlpha = 0.5;
    context.fillStyle = css('--card');
    context.fillRect(0, 3, left, height);
    context.fillRect(right, 3, width - right, height);
    context.globalAlpha = 1;
    context.strokeStyle = css('--ink');
    context.lineWidth = 1.5;
    context.strokeRect(left, 3.75, right - left, height - 4.5);
  }
}
