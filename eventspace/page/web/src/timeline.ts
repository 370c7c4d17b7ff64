// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/timeline.ts — timeline of complete iterations.
import { causes } from './causes';
import type { CauseKey } from './causes';
import type { Data, Round, Stretch } from './data';
import { choice, css, h, labelled, on_theme, section } from './dom';
import { percent, plural, time } from './format';
import { Slicer, type Slice } from './slices';
import { legend } from './summary';

interface Row {
  name: string;
  level: 0 | 1 | 2; // cluster, host, thread
  number: number; // number of the cluster or host, or rank of the thread
  /** Slices of each round; undefined until they are drawn. */
  slices: (Slice[] | undefined)[];
}

const label_width = 168;
const axis_height = 26;
const row_heights = [26, 20, 14];
const view_height = 440;
const rows_first = 60;

/**
 * Rows of a run of consecutive rounds. The row of a cluster or host shows, for each round, its
 * thread that arrived last.
 */
class Model {
  readonly rows: Row[] = [];
  readonly open = new Set<string>();
  begin = 0;
  end = 1;
  private slicer: Slicer;
  private lanes: Map<string, number>[] = []; // by round: index into Round.nanos, keyed by row
  stretch!: Stretch;
  constructor(private data: Data) {
    this.slicer = new Slicer(data);
  }

  choose(stretch: Stretch): void {
    this.stretch = stretch;
    stretch.rounds.sort((a, b) => a.begin - b.begin);
    this.lanes = stretch.rounds.map((round) => this.lanes_of(round));
    this.begin = Infinity;
    this.end = -Infinity;
    for (const round of stretch.rounds) {
      const [begin, end] = this.span(round);
      this.begin = Math.min(this.begin, begin);
      this.end = Math.max(this.end, end);
    }
    if (!(this.end > this.begin)) [this.begin, this.end] = [0, 1];
    this.make_rows();
  }

  /** Returns the time from the first thread's computation to the last thread's return. */
  span(round: Round): [number, number] {
    let [begin, end] = [Infinity, -Infinity];
    this.data.shape.trees[round.tree]!.thread.forEach((thread, lane) => {
      if (thread < 0 || round.nanos[lane] < 0) return;
      const down = round.begin + round.down[lane];
      begin = Math.min(begin, down - Math.max(0, round.computation[lane]));
      end = Math.max(end, down + round.nanos[lane]);
    });
    return [begin, end];
  }

  private lanes_of(round: Round): Map<string, number> {
    const lanes = new Map<string, number>();
    const tree = this.data.shape.trees[round.tree]!;
    tree.thread.forEach((thread, lane) => {
      if (thread < 0 || round.nanos[lane] < 0) return;
      const host = tree.host[lane];
      lanes.set(`2 ${thread}`, lane);
      for (const key of [`1 ${host}`, `0 ${this.data.shape.hosts[host].cluster}`]) {
        const other = lanes.get(key);
        if (other === undefined || round.down[lane] > round.down[other]) lanes.set(key, lane);
      }
    });
    return lanes;
  }

  make_rows(): void {
    const { hosts, clusters } = this.data.shape;
    this.rows.length = 0;
    const there = new Set<string>();
    this.lanes.forEach((lanes) => lanes.forEach((_, key) => there.add(key)));
    const add = (name: string, level: Row['level'], number: number): boolean => {
      const key = `${level} ${number}`;
      if (!there.has(key)) return false;
      this.rows.push({ name, level, number, slices: [] });
      return this.open.has(key);
    };
    clusters.forEach((cluster, cluster_number) => {
      if (!add(cluster, 0, cluster_number)) return;
      hosts.forEach((host, number) => {
        if (host.cluster !== cluster_number || !add(host.name, 1, number)) return;
        for (let thread = 0; thread < host.threads; ++thread)
          add(`${host.name}/${thread}`, 2, host.first_thread + thread);
      });
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
  can_open(row: Row): boolean {
    return row.level === 0 || (row.level === 1 && this.data.shape.hosts[row.number].threads > 0);
  }
  is_open(row: Row): boolean {
    return this.open.has(`${row.level} ${row.number}`);
  }

  slices(row: Row, round: number): Slice[] {
    const made = row.slices[round];
    if (made) return made;
    const lane = this.lanes[round].get(`${row.level} ${row.number}`);
    return (row.slices[round] =
      lane === undefined ? [] : this.slicer.of(this.stretch.rounds[round], lane));
  }
  thread(row: Row, round: number): string {
    const { trees, hosts } = this.data.shape;
    const lane = this.lanes[round].get(`${row.level} ${row.number}`);
    if (lane === undefined) return '';
    const tree = trees[this.stretch.rounds[round].tree]!;
    const host = hosts[tree.host[lane]];
    return `${host.name}/${tree.thread[lane] - host.first_thread}`;
  }
  level_first(): number {
    const { clusters, hosts } = this.data.shape;
    const with_threads = hosts.filter((host) => host.threads > 0);
    const threads = with_threads.reduce((sum, host) => sum + host.threads, 0);
    if (clusters.length + with_threads.length + threads <= rows_first) return 2;
    return clusters.length + with_threads.length <= 4 * rows_first ? 1 : 0;
  }
}

class View {
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
  private drag: { x: number; from: number; moved: boolean } | null = null;
  constructor(private model: Model) {
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
    this.show(this.model.begin, this.model.end);
  }
  /** Shows a few iterations, wide enough to see their parts. The first one is left out, because
      it contains the start of the program. */
  show_few(): void {
    const { begin, end, stretch } = this.model;
    const spans = stretch.rounds.map((round) => this.model.span(round));
    const sequences = [...new Set(stretch.rounds.map((round) => round.sequence))].sort(
      (a, b) => a - b,
    );
    if (!stretch.beginning || sequences.length < 6) return this.fit();
    const usual = spans.map(([from, to]) => to - from).sort((a, b) => a - b)[spans.length >> 1];
    const second = spans.filter((_, number) => stretch.rounds[number].sequence === sequences[1]);
    const from = Math.max(
      begin,
      second.reduce((least, [at]) => Math.min(least, at), Infinity) - usual * 0.1,
    );
    this.show(from, Math.min(end, from + 4.5 * usual));
  }
  show(from: number, to: number): void {
    const all = this.model.end - this.model.begin;
    const width = Math.min(Math.max(to - from, 1000), all * 1.02);
    const least = this.model.begin - all * 0.01;
    const most = this.model.end + all * 0.01;
    this.from = Math.min(Math.max(from, least), most - width);
    this.to = this.from + width;
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

  private wheel(event: WheelEvent): void {
    // Without focus on the timeline and without Ctrl, the wheel scrolls the page.
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
      ArrowUp: () => this.select(this.selected - 1),
      ArrowDown: () => this.select(this.selected + 1),
      PageUp: () => this.select(this.selected - 10),
      PageDown: () => this.select(this.selected + 10),
      Home: () => this.show(this.model.begin, this.model.begin + this.to - this.from),
      End: () => this.show(this.model.end - this.to + this.from, this.model.end),
      Enter: () => this.toggle(this.selected),
    };
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act();
  }
  private press(event: PointerEvent): void {
    this.canvas.focus({ preventScroll: true });
    this.drag = { x: event.offsetX, from: this.from, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }
  private release(event: PointerEvent): void {
    const row = this.row_at(event.offsetY);
    if (this.drag && !this.drag.moved && row >= 0) {
      if (event.offsetX < label_width) this.toggle(row);
      else this.select(row);
    }
    this.drag = null;
  }
  private point(event: PointerEvent): void {
    if (this.drag && Math.abs(event.offsetX - this.drag.x) > 3) this.drag.moved = true;
    if (this.drag?.moved) {
      const width = this.to - this.from;
      const from = this.drag.from - ((event.offsetX - this.drag.x) * width) / this.plot_width();
      this.show(from, from + width);
    }
    this.hover(event);
  }
  private toggle(number: number): void {
    const row = this.model.rows[number];
    if (!row || !this.model.can_open(row)) return;
    this.model.toggle(row);
    this.selected = number;
    this.draw_soon();
    this.say();
  }
  private select(number: number): void {
    this.selected = Math.max(0, Math.min(this.model.rows.length - 1, number));
    const top = this.top_of(this.selected);
    const height = row_heights[this.model.rows[this.selected]?.level ?? 0];
    const seen = this.scroll.clientHeight - axis_height;
    if (top < this.scroll.scrollTop) this.scroll.scrollTop = top;
    if (top + height > this.scroll.scrollTop + seen) this.scroll.scrollTop = top + height - seen;
    this.draw_soon();
    this.say();
  }
  rows_changed(): void {
    this.selected = 0;
    this.scroll.scrollTop = 0;
    this.draw_soon();
    this.say();
  }

  private plot_width(): number {
    return Math.max(1, this.scroll.clientWidth - label_width);
  }
  private time_at(x: number): number {
    return this.from + ((x - label_width) / this.plot_width()) * (this.to - this.from);
  }
  private x_of(at: number): number {
    return label_width + ((at - this.from) / (this.to - this.from)) * this.plot_width();
  }
  private top_of(number: number): number {
    let top = 0;
    for (let row = 0; row < number; ++row) top += row_heights[this.model.rows[row].level];
    return top;
  }
  private row_at(y: number): number {
    let top = axis_height - this.scroll.scrollTop;
    if (y < axis_height) return -1;
    for (let row = 0; row < this.model.rows.length; ++row) {
      top += row_heights[this.model.rows[row].level];
      if (y < top) return row;
    }
    return -1;
  }

  private hover(event: PointerEvent): void {
    const number = this.row_at(event.offsetY);
    const at = this.time_at(event.offsetX);
    this.tip.hidden = true;
    if (number < 0 || event.offsetX < label_width || this.drag?.moved) return;
    const row = this.model.rows[number];
    for (let round = 0; round < this.model.stretch.rounds.length; ++round) {
      const slice = this.model.slices(row, round).find((one) => one.begin <= at && at < one.end);
      if (!slice) continue;
      const text = causes.find((cause) => cause.key === slice.kind)!.text;
      const thread = this.model.thread(row, round);
      this.tip.replaceChildren(
        h('strong', {}, `${text} ${time(slice.end - slice.begin)}`),
        h('br'),
        `${row.level === 2 ? '' : `${row.name}, last: `}${thread}`,
        h('br'),
        `iteration ${this.model.stretch.rounds[round].sequence}, at ${time(slice.begin - this.model.begin)}`,
      );
      this.tip.hidden = false;
      const left = Math.min(event.offsetX + 14, this.scroll.clientWidth - 230);
      this.tip.style.transform = `translate(${left}px, ${event.offsetY + 16}px)`;
      return;
    }
  }

  /** Describes the chosen row in words, for people who cannot see the canvas. */
  private say(): void {
    const row = this.model.rows[this.selected];
    if (!row) return;
    const sums = new Map<CauseKey, number>();
    let all = 0;
    const sequences: number[] = [];
    this.model.stretch.rounds.forEach((round, number) => {
      for (const slice of this.model.slices(row, number)) {
        const nanos = Math.min(slice.end, this.to) - Math.max(slice.begin, this.from);
        if (nanos <= 0) continue;
        sums.set(slice.kind, (sums.get(slice.kind) ?? 0) + nanos);
        all += nanos;
        sequences.push(round.sequence);
      }
    });
    const parts = causes
      .filter((cause) => sums.has(cause.key))
      .map((cause) => `${cause.text} ${percent(sums.get(cause.key)! / all)}`);
    const least = sequences.reduce((a, b) => Math.min(a, b), Infinity);
    const most = sequences.reduce((a, b) => Math.max(a, b), -Infinity);
    this.said.textContent =
      all === 0
        ? `${row.name}: nothing here.`
        : `${row.name}, ${least === most ? `iteration ${least}` : `iterations ${least} to ${most}`}, ${time(this.to - this.from)} shown: ${parts.join(', ')}.`;
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
    const rows = this.top_of(this.model.rows.length);
    const height = Math.min(view_height, rows + axis_height + 4);
    this.scroll.style.height = `${height}px`;
    this.spacer.style.height = `${Math.max(0, rows + axis_height - height)}px`;
    if (width === 0) return;
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const context = this.canvas.getContext('2d')!;
    context.scale(scale, scale);
    this.draw_rows(context, width, height);
    this.draw_axis(context, width, height);
  }
  private draw_rows(context: CanvasRenderingContext2D, width: number, height: number): void {
    const colours = Object.fromEntries(causes.map((cause) => [cause.key, css(cause.style)]));
    const [ink, quiet, line, chosen] = [
      css('--ink'),
      css('--quiet'),
      css('--line'),
      css('--chosen'),
    ];
    const rounds = this.model.stretch.rounds;
    let top = axis_height - this.scroll.scrollTop;
    for (let number = 0; number < this.model.rows.length; ++number) {
      const row = this.model.rows[number];
      const tall = row_heights[row.level];
      top += tall;
      if (top <= axis_height || top - tall >= height) continue;
      if (number === this.selected && document.activeElement === this.canvas) {
        context.fillStyle = chosen;
        context.fillRect(0, top - tall, width, tall);
      }
      const gap = row.level === 2 ? 2 : 3;
      context.save();
      context.beginPath();
      context.rect(label_width, top - tall, width - label_width, tall);
      context.clip();
      for (let round = 0; round < rounds.length; ++round)
        this.draw_round(context, row, round, top - tall + gap, tall - 2 * gap, colours);
      context.restore();
      context.fillStyle = row.level === 2 ? quiet : ink;
      context.font = `${row.level === 0 ? '600 13px' : row.level === 1 ? '12px' : '11px'} system-ui, sans-serif`;
      context.textBaseline = 'middle';
      const mark = this.model.can_open(row) ? (this.model.is_open(row) ? '▾ ' : '▸ ') : '';
      context.fillText(
        mark + row.name,
        6 + 14 * row.level,
        top - tall / 2,
        label_width - 12 - 14 * row.level,
      );
      if (row.level === 0) {
        context.fillStyle = line;
        context.fillRect(0, top - tall, width, 1);
      }
    }
  }
  private draw_round(
    context: CanvasRenderingContext2D,
    row: Row,
    round: number,
    top: number,
    tall: number,
    colours: Record<string, string>,
  ): void {
    const slices = this.model.slices(row, round);
    if (
      slices.length === 0 ||
      slices[0].begin > this.to ||
      slices[slices.length - 1].end < this.from
    )
      return;
    for (const slice of slices) {
      if (slice.end < this.from || slice.begin > this.to) continue;
      const left = Math.max(label_width, this.x_of(slice.begin));
      const right = this.x_of(slice.end);
      context.fillStyle = colours[slice.kind];
      const thin = slice.kind === 'waiting';
      context.fillRect(
        left,
        thin ? top + tall * 0.3 : top,
        Math.max(0.6, right - left),
        thin ? tall * 0.4 : tall,
      );
    }
    const end = this.x_of(slices[slices.length - 1].end);
    context.fillStyle = css_cache.back;
    context.fillRect(end - 0.75, top - 1, 1.5, tall + 2);
  }
  private draw_axis(context: CanvasRenderingContext2D, width: number, height: number): void {
    context.fillStyle = css('--card');
    context.fillRect(0, 0, width, axis_height);
    context.fillStyle = css('--quiet');
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const raw = (this.to - this.from) / (this.plot_width() / 110);
    const size = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((one) => one * size).find((one) => one >= raw)!;
    const origin = this.model.begin;
    for (
      let at = Math.ceil((this.from - origin) / step) * step;
      at + origin <= this.to;
      at += step
    ) {
      const x = this.x_of(at + origin);
      context.fillRect(x, axis_height - 6, 1, 6);
      if (x + 60 < width) context.fillText(time(at), x + 4, axis_height / 2);
    }
    context.fillStyle = css('--line');
    context.fillRect(0, axis_height - 1, width, 1);
    context.fillRect(label_width - 1, 0, 1, height);
  }
}

const css_cache = {
  get back(): string {
    return css('--card');
  },
};

function clocks_of(data: Data, stretch: Stretch): string {
  if (data.timeline.common_clock) return 'one clock for all hosts (virtual)';
  if (stretch.error_nanos < 0) return 'hosts on their own clocks; some could not be compared';
  return `hosts put on one clock by half of the least two-way times, within ${time(stretch.error_nanos)}`;
}

function name_of(data: Data, stretch: Stretch): string {
  const sequences = stretch.rounds.map((round) => round.sequence);
  const least = sequences.reduce((a, b) => Math.min(a, b), Infinity);
  const most = sequences.reduce((a, b) => Math.max(a, b), 0);
  if (stretch.beginning) return `the beginning: iterations ${least} to ${most}`;
  const trees = new Set(stretch.rounds.map((round) => round.tree));
  const tree = data.shape.trees[stretch.rounds[0].tree]!;
  const several = data.shape.trees.filter(Boolean).length > 1;
  const cluster = data.shape.clusters[data.shape.hosts[tree.host[0]].cluster];
  return `slow: iteration ${stretch.slowest}${several && trees.size === 1 ? ` in ${cluster}` : ''}, ${time(stretch.slowest_nanos)}`;
}

export function timeline(data: Data): HTMLElement | null {
  const stretches = data.timeline.stretches.filter((stretch) => stretch.rounds.length > 0);
  if (stretches.length === 0) return null;
  const model = new Model(data);
  const view = new View(model);
  const clock = h('span', { class: 'basis' });
  const choose = (number: number): void => {
    const stretch = stretches[number];
    model.choose(stretch);
    clock.textContent = clocks_of(data, stretch);
    view.rows_changed();
    view.show_few();
  };
  const select = choice(
    stretches.map((stretch, number) => [String(number), name_of(data, stretch)]),
    (value) => choose(Number(value)),
  );
  const levels = choice(
    [
      ['0', 'clusters'],
      ['1', 'hosts'],
      ['2', 'threads'],
    ],
    (value) => {
      model.open_to(Number(value));
      view.rows_changed();
    },
  );
  levels.value = String(model.level_first());
  model.open_to(model.level_first());
  choose(0);
  const button = (text: string, label: string, act: () => void): HTMLElement =>
    h('button', { type: 'button', 'aria-label': label, title: label, onclick: act }, text);
  const element = section(
    'timeline',
    'Iterations one by one',
    '',
    h('p', {}, clock),
    h(
      'div',
      { class: 'controls' },
      labelled('Show', select),
      labelled('Rows', levels),
      h(
        'span',
        { class: 'buttons' },
        button('−', 'Zoom out', () => view.zoom(1 / 0.6)),
        button('+', 'Zoom in', () => view.zoom(0.6)),
        button('←', 'Earlier', () => view.pan(-0.5)),
        button('→', 'Later', () => view.pan(0.5)),
        button('All', 'Show all of it', () => view.fit()),
      ),
    ),
    legend(causes.map((cause) => cause.key)),
    h('div', { class: 'timeline' }, view.scroll, view.tip),
    view.said,
    h(
      'p',
      { class: 'quiet' },
      `Of a cluster or host, each iteration shows the thread that arrived last. Kept in full: ${plural(stretches.length, 'stretch', 'stretches')} of the run. Click into it, then the wheel zooms and dragging moves; Shift and the wheel move too.`,
    ),
  );
  Object.assign(element, { view });
  return element;
}
