// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/tree.ts — drawing of the tree of joins.
import type {Contributor, Data, Join, Tree} from './data';
import {h, half_two_way, own_clock, section, svg} from './dom';
import {count, percent, plural, time} from './format';

interface Node {
  name: string;
  detail: string;
  join: number;  // index of the join in the report; -1 = threads, or nodes not shown
  children: Node[];
  shown: number;     // number of children that are shown; a single node stands for the rest
  threads: number;   // number of threads whose contributions pass this node
  last: number;      // share of the rounds in which the node arrived last at its join
  is_late: boolean;  // whether `last` is significantly above the share by chance (judge())
  one_way: number;   // half of the two-way time to the join; below 0 = both are on one host
  is_wan: boolean;
  link: string;
  is_rest?: boolean;  // whether the node stands for several nodes that are not shown
}

const shown_first = 4;
const shown_more = 40;
const rows_first = 44;
const row_height = 40;
const node_width = 196;
const node_height = 32;
const level_width = 372;

/** One-way times from contributors to joins: half of the two-way times of crossings and links. */
class Ways {
  private two_way = new Map<string, number>();
  constructor(private data: Data) {
    for (const one of data.report.crossings)
      this.two_way.set(`stage ${one.place.stage}`, one.two_way_nanos.mean ?? 0);
    for (const one of data.report.links)
      this.two_way.set(`link ${one.place.wrapper}`, one.travel_nanos.mean ?? 0);
  }
  to(tree: Tree, contributor: number): Pick<Node, 'one_way'|'is_wan'|'link'>&{top: number} {
    let sum = 0;
    let crosses = false;
    let is_wan = false;
    const links: string[] = [];
    let lane = contributor;
    for (let steps = 0; tree.above[lane] >= 0 && steps < 4096; ++steps) {
      lane = tree.above[lane];
      const hop = this.data.shape.hops[tree.hop[lane]];
      if (hop.kind !== 'network' && hop.kind !== 'link') continue;
      crosses = true;
      is_wan ||= hop.wan;
      if (hop.kind === 'link') links.push(hop.wrapper);
      sum +=
          this.two_way.get(hop.kind === 'link' ? `link ${hop.wrapper}` : `stage ${hop.stage}`) ?? 0;
    }
    return {one_way: crosses ? sum / 2 : -1, is_wan, link: links.join(', '), top: lane};
  }
}

class Maker {
  private ways: Ways;
  constructor(private data: Data) {
    this.ways = new Ways(data);
  }
  roots(): Node[] {
    return this.data.shape.trees.flatMap((tree) => {
      if (!tree || tree.joins.length === 0) return [];
      const last = tree.joins[tree.joins.length - 1];
      return [this.join(tree, last.number, -1)];
    });
  }
  private join(tree: Tree, number: number, share: number): Node {
    const report = this.data.report.joins[number];
    const at = tree.joins.find((one) => one.number === number)!;
    const children: Node[] = [];
    const local: Contributor[] = [];
    at.contributors.forEach((lane, place) => {
      const from = report.contributors[place];
      const last = from.last / Math.max(1, report.rounds);
      const way = this.ways.to(tree, lane);
      const above = tree.join_above[way.top];
      if (above >= 0)
        children.push({...this.join(tree, above, last), ...way});
      else if (way.one_way < 0)
        local.push(from);
      else
        children.push({...leaf(from.name, from.host, last, 1), ...way});
    });
    const name = report.place.wrapper ?? 'join';
    if (children.length === 0) {
      const threads = threads_of(local, report);
      return {
        ...leaf(
            name,
            `${report.place.host}, ${plural(local.length, 'thread')}`,
            share,
            local.length,
            ),
        join: number,
        children: threads.children,
      };
    }
    if (local.length > 0) children.push(threads_of(local, report));
    judge(children, report);
    children.sort((a, b) => b.last - a.last);
    const threads = children.reduce((sum, child) => sum + child.threads, 0);
    const node = leaf(name, report.place.host, share, threads);
    return {...node, join: number, children, shown: shown_first};
  }
}

const leaf = (name: string, detail: string, last: number, threads: number): Node => ({
  name,
  detail,
  threads,
  last,
  is_late: false,
  join: -1,
  children: [],
  shown: 0,
  one_way: -1,
  is_wan: false,
  link: '',
});

/**
 * Sets Node.is_late of children that arrive last at least twice as often as by chance. By chance,
 * each thread arrives last equally often, so a child's share is its share of the threads. The
 * excess must also be at least four standard deviations, which matters if there are few rounds.
 */
function judge(children: Node[], report: Join): void {
  // If no contributor waits, all contributors arrive at the same time, and none of them is late.
  const waits = report.contributors.some((one) => (one.arrival_wait_nanos.mean ?? 0) > 0);
  const threads = children.reduce((sum, child) => sum + child.threads, 0);
  for (const child of children) {
    const chance = child.threads / Math.max(1, threads);
    const accident = 4 * Math.sqrt((chance * (1 - chance)) / Math.max(1, report.rounds));
    const often = Math.min(Math.max(2 * chance, chance + accident), 0.99);
    child.is_late = waits && children.length > 1 && child.last >= often;
  }
}

function threads_of(local: Contributor[], report: Join): Node {
  const last = local.reduce((sum, one) => sum + one.last, 0) / Math.max(1, report.rounds);
  const most = local.reduce((best, one) => (one.last > best.last ? one : best));
  const name = local.length === 1 ? local[0].name : plural(local.length, 'thread');
  const detail = local.length === 1 ? report.place.host : `last: ${most.name}`;
  const node = leaf(name, detail, last, local.length);
  if (local.length > 1)
    node.children = local.map((one) => leaf(one.name, '', one.last / Math.max(1, report.rounds), 1))
                        .sort((a, b) => b.last - a.last);
  judge(node.children, report);
  return node;
}

const rows_of = (node: Node): number => {
  const shown = Math.min(node.shown, node.children.length);
  if (shown === 0) return 1;
  const left = node.children.length - shown;
  return (
      node.children.slice(0, shown).reduce((sum, child) => sum + rows_of(child), 0) +
      (left > 0 ? 1 : 0));
};

/** Closes the least important nodes until the open nodes fit into `rows_first` rows. */
function summarise(roots: Node[]): void {
  const inner: {node: Node; depth: number}[] = [];
  const visit = (node: Node, depth: number): void => {
    if (node.children.length > 0 && node.shown > 0) inner.push({node, depth});
    node.children.forEach((child) => visit(child, depth + 1));
  };
  roots.forEach((root) => visit(root, 0));
  inner.sort((a, b) => b.depth - a.depth || a.node.last - b.node.last);
  let rows = roots.reduce((sum, root) => sum + rows_of(root), 0);
  for (const {node, depth} of inner) {
    if (rows <= rows_first || depth === 0) break;
    node.shown = 0;
    rows = roots.reduce((sum, root) => sum + rows_of(root), 0);
  }
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

class Drawing {
  readonly element = h('div', {
    class: 'scroll tree',
    tabindex: 0,
    role: 'region',
    'aria-label': 'Tree of joins',
  });
  private row = 0;
  private levels = 0;
  private edges: Element[] = [];
  private nodes: Element[] = [];
  constructor(
      private roots: Node[],
      private chosen: (join: number) => void,
  ) {
    this.draw();
  }
  private draw(focus?: Node): void {
    this.row = 0;
    this.levels = 0;
    this.edges = [];
    this.nodes = [];
    for (const root of this.roots) {
      this.place(root, 0, focus);
      this.row += 0.4;
    }
    const width = this.levels * level_width + node_width + 64;
    const height = this.row * row_height;
    this.element.replaceChildren(
        svg(
            'svg',
            {width, height, viewBox: `0 0 ${width} ${height}`, role: 'group'},
            ...this.edges,
            ...this.nodes,
            ),
    );
    this.element.querySelector<SVGElement>('[data-focus]')?.focus();
  }
  /** Places a node and its children. Returns the node's row, in the middle of its children. */
  private place(node: Node, level: number, focus?: Node): number {
    this.levels = Math.max(this.levels, level);
    if (node.shown > 0 && node.children.length === node.shown + 1)
      node.shown = node.children.length;
    const shown = node.children.slice(0, node.shown);
    const rows: number[] = [];
    for (const child of shown) rows.push(this.place(child, level + 1, focus));
    const left = node.children.slice(shown.length);
    if (left.length > 0 && shown.length > 0) {
      const others = leaf(
          `${plural(left.length, 'other')}`,
          'show more',
          left.reduce((sum, one) => sum + one.last, 0),
          left.reduce((sum, one) => sum + one.threads, 0),
      );
      others.is_rest = true;
      rows.push(this.row++);
      this.levels = Math.max(this.levels, level + 1);
      this.node(
          others,
          level + 1,
          rows[rows.length - 1],
          () => {
            node.shown += shown_more;
            this.draw(left[0]);
          },
          'others',
      );
      shown.push(others);
    }
    const row = rows.length > 0 ? (rows[0] + rows[rows.length - 1]) / 2 : this.row++;
    shown.forEach((child, place) => this.edge(child, level, row, rows[place]));
    this.node(
        node,
        level,
        row,
        () => {
          node.shown = node.shown > 0 ? 0 : shown_first;
          this.draw(node);
        },
        node.join >= 0 ? 'join' : 'threads',
        node === focus,
    );
    return row;
  }
  private y(row: number): number {
    return row * row_height + node_height / 2 + 2;
  }
  private node(
      node: Node,
      level: number,
      row: number,
      toggle: () => void,
      kind: string,
      focus = false,
      ): void {
    const x = level * level_width + 2;
    const y = this.y(row) - node_height / 2;
    const inner = node.children.length > 0 || kind === 'others';
    const open = node.shown > 0;
    const mark = kind === 'others' ? '+' : open ? '−' : `+${count(node.children.length)}`;
    const text = `${node.name}${node.detail ? `, ${node.detail}` : ''}`;
    const box = svg(
        'g',
        {class: `node ${kind}`, transform: `translate(${x} ${y})`},
        svg(
            'title',
            {},
            text + (node.last >= 0 ? `: last in ${percent(node.last)} of the rounds` : ''),
            ),
        svg('rect', {width: node_width, height: node_height, rx: 6}),
        svg('text', {x: 10, y: node.detail ? 14 : 20, class: 'name'}, cut(node.name, 26)),
        ' ',
        node.detail ? svg('text', {x: 10, y: 26, class: 'detail'}, cut(node.detail, 32)) : null,
    );
    if (node.join >= 0) {
      const show = (event: Event): void => {
        event.preventDefault();
        this.chosen(node.join);
      };
      box.setAttribute('role', 'button');
      box.setAttribute('tabindex', '0');
      box.setAttribute(
          'aria-label',
          `${cut(node.name, 26)} ${cut(node.detail, 32)}: show its arrivals`,
      );
      box.addEventListener('click', show);
      box.addEventListener(
          'keydown',
          (event) => (event as KeyboardEvent).key === 'Enter' && show(event),
      );
    }
    this.nodes.push(box);
    if (!inner) return;
    const press = (event: Event): void => {
      event.preventDefault();
      toggle();
    };
    const wide = mark.length > 2 ? 18 + 6 * mark.length : 24;
    const button = svg(
        'g',
        {
          class: 'toggle',
          role: 'button',
          tabindex: 0,
          'aria-expanded': String(open),
          'aria-label': kind === 'others' ? `Show more of ${node.name}` :
                                            `${open ? 'Close' : 'Open'} ${text}`,
          transform: `translate(${x + node_width + 4} ${y + 6})`,
          'data-focus': focus,
        },
        svg('rect', {width: wide, height: 20, rx: 10}),
        svg('text', {x: wide / 2, y: 14, 'text-anchor': 'middle'}, mark),
    );
    button.addEventListener('click', press);
    button.addEventListener(
        'keydown',
        (event) => ['Enter', ' '].includes((event as KeyboardEvent).key) && press(event),
    );
    this.nodes.push(button);
  }
  private edge(child: Node, level: number, row: number, child_row: number): void {
    const from = level * level_width + node_width + 28;
    const to = (level + 1) * level_width;
    const [y, child_y] = [this.y(row), this.y(child_row)];
    const bend = from + 22;
    const share = Math.max(0, child.last);
    const far = child.one_way >= 0 ? `${time(child.one_way)}` : '';
    const label = [far, share > 0 ? `last ${percent(share)}` : ''].filter(Boolean).join(' · ');
    this.edges.push(
        svg(
            'g',
            {class: child.is_wan ? 'edge wan' : 'edge'},
            svg(
                'title',
                {},
                `${child.name}${child.link ? ` over ${child.link}` : ''}: ${
                    far ? `${far} one-way (half of two-way), ` :
                          ''}last in ${percent(share)} of the rounds`,
                ),
            svg('path', {
              d: `M${from} ${y} C${bend} ${y} ${bend - 10} ${child_y} ${from + 34} ${child_y} L${
                  to} ${child_y}`,
              'stroke-width': child.is_rest ? 1 : 1 + 5 * share,
              class: child.is_late ? 'late' : '',
            }),
            svg('text', {x: to - 6, y: child_y - 5 - 2.5 * share, 'text-anchor': 'end'}, label),
            ),
    );
  }
}

export function tree(data: Data, chosen: (join: number) => void): HTMLElement|null {
  const roots = new Maker(data).roots();
  if (roots.length === 0) return null;
  summarise(roots);
  return section(
      'tree',
      'The tree',
      `last arrivers: ${own_clock}; latency: ${half_two_way}`,
      h(
          'p',
          {},
          'What threads contribute flows from the right to the left. An edge says how long a message takes, and how often this contributor was the last to arrive, so that all others waited for it: the more often, the thicker. ',
          h('span', {class: 'key wan'}, 'Between clusters'),
          ' ',
          h(
              'span',
              {class: 'key late'},
              'last twice as often as by chance, by which each thread below is as often as any other; or always',
              ),
          '. Choose a join to see its arrivals; the same is in the table of joins.',
          ),
      new Drawing(roots, chosen).element,
  );
}
