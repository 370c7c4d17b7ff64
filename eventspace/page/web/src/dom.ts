// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/dom.ts — short functions that create elements of the page.

type Child = Node | string | null | undefined | false;
type Properties = Record<
  string,
  string | number | boolean | ((event: any) => void) | null | undefined
>;

function fill(element: Element, properties: Properties, children: Child[]): void {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') {
      element.addEventListener(name.replace(/^on/, ''), value);
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  for (const child of children) if (child) element.append(child);
}

export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  fill(element, properties, children);
  return element;
}

export function svg(tag: string, properties: Properties = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(element, properties, children);
  return element;
}

let ids = 0;
export const new_id = (): string => `p${++ids}`;

/** Returns an element with a label and the control to which it belongs. */
export function labelled(text: string, control: HTMLElement): HTMLElement {
  control.id ||= new_id();
  return h('span', { class: 'control' }, h('label', { for: control.id }, text), control);
}

export function choice(
  options: [value: string, text: string][],
  changed: (value: string) => void,
): HTMLSelectElement {
  const select = h('select', { onchange: () => changed(select.value) });
  for (const [value, text] of options) select.append(h('option', { value }, text));
  return select;
}

/** Returns a note for a heading. The note names the clocks of the figures below the heading. */
export const basis = (text: string): HTMLElement => h('span', { class: 'basis' }, text);
export const own_clock = "one host's own clock";
export const two_way = "two-way: each side's own clock";
export const half_two_way = 'one-way: half of two-way';

export function section(
  id: string,
  title: string,
  clock: string,
  ...children: Child[]
): HTMLElement {
  return h(
    'section',
    { id, 'aria-labelledby': `${id}-title` },
    h('h2', { id: `${id}-title` }, title, clock ? basis(clock) : null),
    ...children,
  );
}

/** Returns the position of a wrapper in the config and its host, as text. */
export function where(place: { host: string; cluster: string; position?: string }): string {
  return [place.position, place.host && `host ${place.host}`].filter(Boolean).join(', ');
}

export const css = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

type Redraw = () => void;
const redraws: Redraw[] = [];
/** Registers a function that redraws a canvas after the colours of the page have changed. */
export const on_theme = (redraw: Redraw): void => void redraws.push(redraw);
export const theme_changed = (): void => redraws.forEach((redraw) => redraw());
