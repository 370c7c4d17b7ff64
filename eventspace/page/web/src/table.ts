// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/table.ts — table with sorting, search and pages.
import { count } from './format';
import { h, labelled, new_id } from './dom';

export interface Column<Row> {
  title: string;
  value: (row: Row) => number | string;
  show?: (row: Row) => string | Node;
  /**
   * Returns the length of the bar that is drawn under the figure, as a share of the cell's width.
   */
  bar?: (row: Row) => number;
  colour?: string;
  help?: string;
}

export interface Options<Row> {
  caption: string;
  sorted_by?: number;
  ascending?: boolean;
  page_rows?: number;
  search?: (row: Row) => string;
  chosen?: (row: Row) => void;
}

/** Creates a table. The first cell of each row is the heading of the row. */
export function table<Row>(
  rows: Row[],
  columns: Column<Row>[],
  options: Options<Row>,
): HTMLElement {
  const page_rows = options.page_rows ?? 25;
  let sorted_by = options.sorted_by ?? 0;
  let ascending = options.ascending ?? false;
  let page = 0;
  let words = '';
  const body = h('tbody');
  const heads = columns.map((column, number) => {
    const button = h(
      'button',
      { type: 'button', onclick: () => sort(number), title: column.help },
      column.title,
    );
    const head = h('th', { scope: 'col' }, button);
    if (number > 0 && is_number(number)) head.className = 'number';
    return head;
  });
  const state = h('span', { class: 'quiet', role: 'status' });
  const back = h('button', { type: 'button', onclick: () => turn(-1) }, 'Previous');
  const on = h('button', { type: 'button', onclick: () => turn(1) }, 'Next');
  const caption = new_id();

  function is_number(number: number): boolean {
    return rows.length > 0 && typeof columns[number].value(rows[0]) === 'number';
  }
  function sort(number: number): void {
    ascending = number === sorted_by ? !ascending : !is_number(number);
    sorted_by = number;
    page = 0;
    draw();
  }
  function turn(by: number): void {
    page += by;
    draw();
  }
  function shown(): Row[] {
    const search = options.search;
    const left =
      words && search ? rows.filter((row) => search(row).toLowerCase().includes(words)) : [...rows];
    const value = columns[sorted_by].value;
    const sign = ascending ? 1 : -1;
    return left.sort((a, b) => {
      const [one, other] = [value(a), value(b)];
      if (typeof one === 'string')
        return sign * one.localeCompare(String(other), 'en', { numeric: true });
      return sign * (one - Number(other));
    });
  }
  function cell(row: Row, column: Column<Row>, number: number): HTMLElement {
    const content = column.show ? column.show(row) : String(column.value(row));
    if (number === 0) {
      const chosen = options.chosen;
      return h(
        'th',
        { scope: 'row' },
        chosen
          ? h('button', { type: 'button', class: 'plain', onclick: () => chosen(row) }, content)
          : content,
      );
    }
    const one = h('td', is_number(number) ? { class: 'number' } : {}, content);
    if (column.bar) {
      const share = Math.max(0, Math.min(1, column.bar(row)));
      one.append(
        h('span', {
          class: 'bar',
          'aria-hidden': 'true',
          style: `--share:${share};--colour:var(${column.colour ?? '--accent'})`,
        }),
      );
    }
    return one;
  }
  function draw(): void {
    const all = shown();
    const pages = Math.max(1, Math.ceil(all.length / page_rows));
    page = Math.max(0, Math.min(page, pages - 1));
    const first = page * page_rows;
    body.replaceChildren(
      ...all
        .slice(first, first + page_rows)
        .map((row) => h('tr', {}, ...columns.map((column, number) => cell(row, column, number)))),
    );
    heads.forEach((head, number) => {
      if (number === sorted_by) {
        head.setAttribute('aria-sort', ascending ? 'ascending' : 'descending');
      } else {
        head.removeAttribute('aria-sort');
      }
    });
    const last = Math.min(first + page_rows, all.length);
    state.textContent =
      all.length === 0 ? 'none' : `${count(first + 1)}–${count(last)} of ${count(all.length)}`;
    back.disabled = page === 0;
    on.disabled = page >= pages - 1;
    foot.hidden = rows.length <= page_rows;
  }

  const foot = h('div', { class: 'pager' }, back, on, state);
  if (options.search) {
    const field = h('input', {
      type: 'search',
      oninput: () => {
        words = field.value.trim().toLowerCase();
        page = 0;
        draw();
      },
    });
    foot.prepend(labelled('Search', field));
  }
  const scroll = h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-labelledby': caption },
    h(
      'table',
      {},
      h('caption', { id: caption }, options.caption),
      h('thead', {}, h('tr', {}, ...heads)),
      body,
    ),
  );
  draw();
  return h('div', { class: 'table' }, scroll, foot);
}
