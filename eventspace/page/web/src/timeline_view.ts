// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/timeline_view.ts — drawing of the timeline, with keys and mouse.
import { style_of } from './causes';
import { css, h, on_theme } from './dom';
import { count, percent, time } from './format';
import { type Piece, type Row, type Step, first_place, Model } from './timeline_model';

const axis_height = 24;
const ruler_height = 22;
const row_heights = [26, 20, 14];
const view_height = 460;
const column_width = 3;
const steps_drawn = 4000;
const arrows_drawn = 600;

/** Cache of the page's colours, keyed by names in style.css. Each drawing makes a new cache. */
class Colours {
  private readonly known = new Map<string, string>();
  of(style: string): string {
    let colour = this.known.get(style);
    if (colour === undefined) this.known.set(style, (colour = css(style)));
    return colour;
  }
}

type Drag = { x: number; from: number; moved: boolean; selects: boolean; to_x: number };

export class View {
  readonly canvas = h('canvas', {
    tabindex: 0,
    role: 'application',
    'aria-roledescription': 'timeline',
    'aria-label':
      'Timeline. Plus and minus zoom, left and right move in time, up and down choose a row, Enter opens or closes it, 0 shows all.',
  });
  readonly spacer = h('div', { class: 'spacer' });
  readonly scroll = h('div', { class: 'rows' }, this.canvas, this.spacer);
  readonly tip = h('div', { class: 'tip', hidden: true });
  readonly said = h('p', { class: 'quiet', role: 'status' });
  private from = 0;
  private to = 1;
  private selected = 0;
  private waits_to_draw = false;
  private drag: Drag | null = null;
  private tops: number[] = [0]; // top of each row, then bottom of the last row
  private colours = new Colours();
  constructor(
    private model: Model,
    private shown: (from: number, to: number) => void,
  ) {
    this.canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    this.canvas.addEventListener('pointerdown', (event) => this.press(event));
    this.canvas.addEventListener('pointermove', (event) => this.point(event));
    this.canvas.addEventListener('pointerup', (event) => this.release(event));
    this.canvas.addEventListener('pointerleave', () => (this.tip.hidden = true));
    this.canvas.addEventListener('focus', () => this.draw_soon());
    this.canvas.addEventListener('blur', () => this.draw_soon());
    this.scroll.addEventListener('scroll', () => this.draw_soon());
    new ResizeObserver(() => this.draw_soon()).observe(this.scroll);
    on_theme(() => this.draw_soon());
  }

  fit(): void {
    this.show(0, this.model.nanos);
  }
  show(from: number, to: number): void {
    const all = this.model.nanos;
    const width = Math.min(Math.max(to - from, 1000), all * 1.02);
    this.from = Math.min(Math.max(from, -0.01 * all), 1.01 * all - width);
    this.to = this.from + width;
    this.shown(this.from, this.to);
    this.draw_soon();
    this.say();
  }
  zoom(factor: number, at = (this.from + this.to) / 2): void {
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }
  pan(share: number): void {
    const by = share * (this.to - this.from);
    this.show(this.from + by, this.to + by);
  }
  /** The visible range of time, for tests. */
  get range(): [number, number] {
    return [this.from, this.to];
  }
  /** The name of the chosen row, for tests. */
  get row(): string {
    return this.model.rows[this.selected]?.name ?? '';
  }

  private wheel(event: WheelEvent): void {
    // If the timeline has no focus, the wheel scrolls the page unless Ctrl is pressed.
    if (document.activeElement !== this.canvas && !event.ctrlKey) return;
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.pan((event.deltaX || event.deltaY) / 1000);
    } else {
      this.zoom(Math.exp(event.deltaY / 500), this.time_at(event.offsetX));
    }
  }
  private key(event: KeyboardEvent): void {
    const keys: Record<string, () => void> = {
      '+': () => this.zoom(0.6),
      '=': () => this.zoom(0.6),
      '-': () => this.zoom(1 / 0.6),
      '0': () => this.fit(),
      ArrowLeft: () => this.pan(-0.2),
      ArrowRight: () => this.pan(0.2),
      ArrowUp: () => this.choose(this.selected - 1),
      ArrowDown: () => this.choose(this.selected + 1),
      PageUp: () => this.choose(this.selected - 10),
      PageDown: () => this.choose(this.selected + 10),
      Home: () => this.show(0, this.to - this.from),
      End: () => this.show(this.model.nanos - this.to + this.from, this.model.nanos),
      Enter: () => this.toggle(this.selected),
    };
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act();
  }
  private press(event: PointerEvent): void {
    this.canvas.focus({ preventScroll: true });
    const selects = event.offsetY < this.head_height && event.offsetX > this.label_width;
    const x = event.offsetX;
    this.drag = { x, from: this.from, moved: false, selects, to_x: x };
    this.canvas.setPointerCapture(event.pointerId);
  }
  private release(event: PointerEvent): void {
    const drag = this.drag;
    this.drag = null;
    if (!drag) return;
    if (drag.selects && drag.moved)
      return this.show(
        this.time_at(Math.min(drag.x, event.offsetX)),
        this.time_at(Math.max(drag.x, event.offsetX)),
      );
    const row = this.row_at(event.offsetY);
    if (drag.moved || row < 0) return;
    if (event.offsetX < this.label_width) this.toggle(row);
    else this.choose(row);
  }
  private point(event: PointerEvent): void {
    const drag = this.drag;
    if (drag && Math.abs(event.offsetX - drag.x) > 3) drag.moved = true;
    if (drag?.moved && drag.selects) {
      drag.to_x = event.offsetX;
      this.draw_soon();
    } else if (drag?.moved) {
      const width = this.to - this.from;
      const from = drag.from - ((event.offsetX - drag.x) * width) / this.plot_width();
      this.show(from, from + width);
    }
    this.hover(event);
  }
  private toggle(number: number): void {
    const row = this.model.rows[number];
    if (!row || !this.model.can_open(row)) return;
    this.model.toggle(row);
    this.measure_rows();
    this.selected = number;
    this.draw_soon();
    this.say();
  }
  choose(number: number): void {
    this.measure_rows();
    this.selected = Math.max(0, Math.min(this.model.rows.length - 1, number));
    const [top, end] = [this.tops[this.selected], this.tops[this.selected + 1]];
    this.draw();
    const seen = this.scroll.clientHeight - this.head_height;
    if (top < this.scroll.scrollTop) this.scroll.scrollTop = top;
    if (end > this.scroll.scrollTop + seen) this.scroll.scrollTop = end - seen;
    this.draw_soon();
    this.say();
  }
  rows_changed(): void {
    this.measure_rows();
    this.selected = 0;
    this.scroll.scrollTop = 0;
    this.draw_soon();
    this.say();
  }
  private measure_rows(): void {
    this.tops = [0];
    for (const row of this.model.rows)
      this.tops.push(this.tops[this.tops.length - 1] + row_heights[row.level]);
  }

  private get label_width(): number {
    return this.scroll.clientWidth < 600 ? 104 : 168;
  }
  private get head_height(): number {
    return axis_height + (this.model.iterations.length > 0 ? ruler_height : 0);
  }
  private plot_width(): number {
    return Math.max(1, this.scroll.clientWidth - this.label_width);
  }
  private time_at(x: number): number {
    return this.from + ((x - this.label_width) / this.plot_width()) * (this.to - this.from);
  }
  private x_of(at: number): number {
    return this.label_width + ((at - this.from) / (this.to - this.from)) * this.plot_width();
  }
  private row_at(y: number): number {
    if (y < this.head_height) return -1;
    const at = y - this.head_height + this.scroll.scrollTop;
    const row = first_place(this.model.rows.length, (place) => this.tops[place + 1] > at);
    return row < this.model.rows.length ? row : -1;
  }

  private hover(event: PointerEvent): void {
    const row = this.model.rows[this.row_at(event.offsetY)];
    this.tip.hidden = true;
    if (!row || event.offsetX < this.label_width || this.drag?.moved) return;
    const at = this.time_at(event.offsetX);
    const near = (1.5 / this.plot_width()) * (this.to - this.from);
    const lines =
      row.level === 2 || this.model.is_path(row)
        ? this.words_at(row, at)
        : this.shares_of(row, at - near, at + near);
    if (lines.length === 0) return;
    const [first, ...rest] = lines;
    this.tip.replaceChildren(
      h('strong', {}, first),
      ...rest.flatMap((line) => [h('br'), line]),
      h('br'),
      this.place_of(at),
    );
    this.tip.hidden = false;
    const left = Math.max(0, Math.min(event.offsetX + 14, this.scroll.clientWidth - 250));
    this.tip.style.transform = `translate(${left}px, ${event.offsetY + 16}px)`;
  }
  private words_at(row: Row, at: number): string[] {
    let words: string[] = [];
    this.model.visit_row(row, at, at + 1, (piece) => {
      if (at < piece.begin || at >= piece.end) return;
      words = [`${this.model.words_of(piece.label)}, ${time(piece.end - piece.begin)}`];
      const is_at = this.model.is_path(row) ? 'at' : 'it waits for';
      if (piece.thread >= 0) words.push(`${is_at} ${this.model.name_of_thread(piece.thread)}`);
    });
    return words;
  }
  private place_of(at: number): string {
    const { iterations, each } = this.model;
    const number = first_place(iterations.length, (place) => iterations[place].end > at);
    const iteration =
      number < iterations.length && at >= iterations[number].begin
        ? `iteration ${count(number * each)}, `
        : '';
    return `${iteration}at ${time(at)}`;
  }

  /** Returns texts with each label's share in a row from `from` to `to`, largest first. */
  private shares_of(row: Row, from: number, to: number): string[] {
    const sums = new Map<number, number>();
    let all = 0;
    this.model.visit_row(row, from, to, (piece) => {
      const nanos = Math.min(piece.end, to) - Math.max(piece.begin, from);
      sums.set(piece.label, (sums.get(piece.label) ?? 0) + nanos);
      all += nanos;
    });
    return [...sums]
      .sort((a, b) => b[1] - a[1])
      .slice(0, 4)
      .map(([label, nanos]) => `${percent(nanos / all)} ${this.model.words_of(label)}`);
  }
  /** Describes the chosen row in words, for people who cannot see the canvas. */
  private say(): void {
    const row = this.model.rows[this.selected];
    if (!row) return;
    const parts = this.shares_of(row, this.from, this.to);
    const shown = `${time(this.to - this.from)} from ${this.place_of(Math.max(0, this.from)).replace(/^at /, '')}`;
    this.said.textContent =
      parts.length === 0
        ? `${row.name}, ${shown}: nothing is kept here.`
        : `${row.name}, ${shown}: ${parts.join(', ')}.`;
  }

  draw_soon(): void {
    if (this.waits_to_draw) return;
    this.waits_to_draw = true;
    requestAnimationFrame(() => {
      this.waits_to_draw = false;
      this.draw();
    });
  }
  private draw(): void {
    const width = this.scroll.clientWidth;
    const rows = this.tops[this.tops.length - 1];
    const height = Math.min(view_height, rows + this.head_height + 4);
    this.scroll.style.height = `${height}px`;
    this.spacer.style.height = `${Math.max(0, rows + this.head_height - height)}px`;
    if (width === 0) return;
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext('2d')!;
    context.scale(scale, scale);
    this.colours = new Colours();
    this.draw_rows(context, width, height);
    this.draw_path(context, width, height);
    this.draw_head(context, width, height);
  }

  private draw_rows(context: CanvasRenderingContext2D, width: number, height: number): void {
    const label_width = this.label_width;
    const offset = this.head_height - this.scroll.scrollTop;
    const columns = this.columns();
    for (let number = 0; number < this.model.rows.length; ++number) {
      const row = this.model.rows[number];
      const top = this.tops[number] + offset;
      const tall = this.tops[number + 1] - this.tops[number];
      if (top + tall <= this.head_height || top >= height) continue;
      if (number === this.selected && document.activeElement === this.canvas) {
        context.fillStyle = this.colours.of('--chosen');
        context.fillRect(0, top, width, tall);
      }
      context.save();
      context.beginPath();
      context.rect(label_width, top, width - label_width, tall);
      context.clip();
      const gap = row.level === 2 ? 2 : 3;
      if (!this.model.is_path(row)) this.draw_kept(context, top, tall);
      if (row.level === 2 || this.model.is_path(row))
        this.model.visit_row(row, this.from, this.to, (piece) =>
          this.draw_piece(context, piece, top + gap, tall - 2 * gap),
        );
      else this.draw_shares(context, row, columns, top + gap, tall - 2 * gap);
      context.restore();
      this.draw_name(context, row, top, tall);
      if (row.level === 0) {
        context.fillStyle = this.colours.of('--line');
        context.fillRect(0, top, width, 1);
      }
    }
  }
  private draw_name(context: CanvasRenderingContext2D, row: Row, top: number, tall: number): void {
    const indent = (this.label_width < 150 ? 8 : 14) * row.level;
    context.fillStyle = this.colours.of(row.level === 2 ? '--quiet' : '--ink');
    context.font = `${['600 13px', '12px', '11px'][row.level]} system-ui, sans-serif`;
    context.textBaseline = 'middle';
    const mark = this.model.can_open(row) ? (this.model.is_open(row) ? '▾ ' : '▸ ') : '';
    context.fillText(mark + row.name, 6 + indent, top + tall / 2, this.label_width - 12 - indent);
  }
  /** Draws a background behind the stretches of the run for which the page has threads' parts. */
  private draw_kept(context: CanvasRenderingContext2D, top: number, tall: number): void {
    context.fillStyle = this.colours.of('--back');
    for (const one of this.model.stretches_in(this.from, this.to)) {
      const left = this.x_of(one.begin);
      context.fillRect(left, top, this.x_of(one.end) - left, tall);
    }
  }
  private draw_piece(
    context: CanvasRenderingContext2D,
    piece: Piece,
    top: number,
    tall: number,
  ): void {
    const left = Math.max(this.label_width, this.x_of(piece.begin));
    const right = this.x_of(piece.end);
    const style = style_of(this.model.labels[piece.label]);
    const thin = style === '--waiting';
    context.fillStyle = this.colours.of(style);
    context.fillRect(
      left,
      thin ? top + tall * 0.3 : top,
      Math.max(0.6, right - left),
      thin ? tall * 0.4 : tall,
    );
  }

  private columns(): number {
    return Math.ceil(this.plot_width() / column_width);
  }
  /** Draws columns with the shares of causes in the time of all threads of a row. */
  private draw_shares(
    context: CanvasRenderingContext2D,
    row: Row,
    columns: number,
    top: number,
    tall: number,
  ): void {
    const styles = [...new Set(this.model.labels.map(style_of))];
    const number_of = this.model.labels.map((label) => styles.indexOf(style_of(label)));
    const sums = new Float64Array(columns * styles.length);
    const each = ((this.to - this.from) * column_width) / this.plot_width();
    this.model.visit_row(row, this.from, this.to, (piece) => {
      const begin = Math.max(0, (piece.begin - this.from) / each);
      const end = Math.min(columns, (piece.end - this.from) / each);
      for (let column = Math.floor(begin); column < end; ++column)
        sums[column * styles.length + number_of[piece.label]] +=
          Math.min(end, column + 1) - Math.max(begin, column);
    });
    const threads = this.model.threads_in(row).length;
    for (let column = 0; column < columns; ++column) {
      let at = top + tall;
      for (let style = 0; style < styles.length; ++style) {
        const part = (sums[column * styles.length + style] / threads) * tall;
        if (part < 0.05) continue;
        context.fillStyle = this.colours.of(styles[style]);
        context.fillRect(this.label_width + column * column_width, at - part, column_width, part);
        at -= part;
      }
    }
  }

  /** Draws the critical path as a line through the rows, with an arrow for each message. */
  private draw_path(context: CanvasRenderingContext2D, width: number, height: number): void {
    const steps = this.model.steps_in(this.from, this.to);
    if (steps.length === 0 || steps.length > steps_drawn) return;
    const has_arrows = steps.length <= arrows_drawn;
    context.save();
    context.beginPath();
    context.rect(this.label_width, this.head_height, width - this.label_width, height);
    context.clip();
    context.lineJoin = 'round';
    const lines = this.lines_of(steps);
    for (const [style, wide] of [
      ['--card', 4],
      ['--ink', 1.75],
    ] as const) {
      context.strokeStyle = context.fillStyle = this.colours.of(style);
      context.lineWidth = wide;
      for (const [x, y, to_x, to_y] of lines) {
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(to_x, to_y);
        context.stroke();
        if (has_arrows && y !== to_y && style === '--ink')
          this.draw_arrow(context, x, y, to_x, to_y);
      }
    }
    context.restore();
  }
  private lines_of(steps: Step[]): [number, number, number, number][] {
    const y_of = (thread: number): number => {
      const row = this.model.row_of_thread(thread);
      const middle = (this.tops[row] + this.tops[row + 1]) / 2;
      return this.head_height + middle - this.scroll.scrollTop;
    };
    const lines: [number, number, number, number][] = [];
    for (let place = 0; place < steps.length; ++place) {
      const { from, to, begin } = steps[place];
      const before = steps[place - 1];
      if (before && before.end === begin && before.to !== from) {
        const x = this.x_of(begin);
        lines.push([x, y_of(before.to), x, y_of(from)]);
      }
      while (steps[place + 1]?.from === from && steps[place + 1].to === to && from !== to) ++place;
      lines.push([this.x_of(begin), y_of(from), this.x_of(steps[place].end), y_of(to)]);
    }
    return lines;
  }
  private draw_arrow(
    context: CanvasRenderingContext2D,
    x: number,
    y: number,
    to_x: number,
    to_y: number,
  ): void {
    const angle = Math.atan2(to_y - y, to_x - x);
    context.beginPath();
    context.moveTo(to_x, to_y);
    for (const side of [-0.4, 0.4])
      context.lineTo(to_x - 8 * Math.cos(angle + side), to_y - 8 * Math.sin(angle + side));
    context.closePath();
    context.fill();
  }

  private draw_head(context: CanvasRenderingContext2D, width: number, height: number): void {
    const label_width = this.label_width;
    context.fillStyle = this.colours.of('--card');
    context.fillRect(0, 0, width, this.head_height);
    context.save();
    context.beginPath();
    context.rect(label_width, 0, width - label_width, this.head_height);
    context.clip();
    this.draw_axis(context);
    this.draw_ruler(context);
    if (this.drag?.selects && this.drag.moved) {
      context.restore();
      context.save();
      context.globalAlpha = 0.25;
      context.fillStyle = this.colours.of('--accent');
      context.fillRect(this.drag.x, 0, this.drag.to_x - this.drag.x, height);
    }
    context.restore();
    context.fillStyle = this.colours.of('--quiet');
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    if (this.model.iterations.length > 0) {
      context.fillText('time', 6, axis_height / 2, label_width - 12);
      context.fillText('iteration', 6, axis_height + ruler_height / 2, label_width - 12);
    }
    context.fillStyle = this.colours.of('--line');
    context.fillRect(0, this.head_height - 1, width, 1);
    context.fillRect(label_width - 1, 0, 1, height);
  }
  private draw_axis(context: CanvasRenderingContext2D): void {
    context.fillStyle = this.colours.of('--quiet');
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const raw = (this.to - this.from) / (this.plot_width() / 110);
    const size = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((one) => one * size).find((one) => one >= raw)!;
    for (let at = Math.max(0, Math.ceil(this.from / step)) * step; at <= this.to; at += step) {
      const x = this.x_of(at);
      context.fillRect(x, axis_height - 6, 1, 6);
      context.fillText(time(at), x + 4, axis_height / 2);
    }
  }
  /** Draws the begins of iterations with numbers. If begins are too close, draws only some. */
  private draw_ruler(context: CanvasRenderingContext2D): void {
    const { iterations, each } = this.model;
    const first = first_place(iterations.length, (place) => iterations[place].end > this.from);
    const end = first_place(iterations.length, (place) => iterations[place].begin >= this.to);
    if (first >= end) return;
    const width = this.plot_width() / Math.max(1, end - first);
    const size = 10 ** Math.floor(Math.log10(Math.max(1, 34 / width)));
    const every =
      [1, 2, 5, 10].map((one) => one * size).find((one) => one * width >= 34) ?? 10 * size;
    for (let number = Math.floor(first / every) * every; number < end; number += every) {
      const { begin } = iterations[number];
      const last = iterations[Math.min(iterations.length, number + every) - 1];
      const [left, right] = [this.x_of(begin), this.x_of(last.end)];
      const start = Math.max(left, this.label_width);
      context.fillStyle = this.colours.of((number / every) % 2 === 0 ? '--chosen' : '--back');
      context.fillRect(left, axis_height, right - left, ruler_height);
      context.fillStyle = this.colours.of('--ink');
      if (right - start > 18)
        context.fillText(count(number * each), start + 4, axis_height + ruler_height / 2);
    }
  }
}
