// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/main.ts — entry point, which puts the page together.
import { conditional } from './conditional';
import { type Data, read_data } from './data';
import { h, theme_changed } from './dom';
import { count } from './format';
import { groups } from './groups';
import { joins } from './joins';
import { noise } from './noise';
import { damage, summary, time_by_cause } from './summary';
import { where_time_went } from './time';
import { tables } from './tables';
import { timeline } from './timeline';
import { transfers } from './transfers';
import { tree } from './tree';

const at = (id: string): HTMLElement => document.getElementById(id)!;

function set_up_theme(): void {
  const themes = ['system', 'light', 'dark'];
  const names: Record<string, string> = { system: 'as the system', light: 'light', dark: 'dark' };
  let theme = 0;
  const button = at('theme');
  button.addEventListener('click', () => {
    theme = (theme + 1) % themes.length;
    if (theme === 0) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = themes[theme];
    button.textContent = `Theme: ${names[themes[theme]]}`;
    theme_changed();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', theme_changed);
}

function coverage(data: Data): HTMLElement {
  const names = Object.entries(data.report.coverage).filter(
    ([, value]) => typeof value === 'number',
  );
  return h(
    'ul',
    {},
    ...names.map(([name, value]) => h('li', {}, `${name.replaceAll('_', ' ')}: ${count(value)}`)),
  );
}

function put_reading(data: Data): void {
  at('reading').append(
    h(
      'ul',
      {},
      h(
        'li',
        {},
        'One host’s own clock: the difference of two times of the same host. Clocks of different hosts are never compared for these.',
      ),
      h(
        'li',
        {},
        'Two-way: how long a request and its reply were under way, less the time the other side kept it, which is of the other side’s own clock.',
      ),
      h(
        'li',
        {},
        'One-way: half of two-way. It is exact only when both directions take the same time.',
      ),
      h(
        'li',
        {},
        'Noise: by how much a computation took longer than the thread’s base, which is about its median.',
      ),
    ),
    h('p', {}, 'Records:'),
    coverage(data),
  );
}

/**
 * Adds the sections one after another, so that the first section is visible before the last section
 * is drawn.
 */
async function put_sections(data: Data): Promise<void> {
  const main = at('main');
  const join_view = joins(data);
  const noise_view = noise(data);
  const course = timeline(data);
  const made: [string, () => HTMLElement | null][] = [
    ['Damage', () => damage(data)],
    ['Time', () => where_time_went(data)],
    ['Findings', () => summary(data, (finding) => course?.shows(finding))],
    ['Timeline', () => course?.element ?? null],
    ['Causes', () => time_by_cause(data)],
    ['Tree', () => tree(data, (join) => join_view?.show(join))],
    ['Groups', () => groups(data)],
    ['Between clusters', () => transfers(data)],
    ['Arrivals', () => join_view?.element ?? null],
    ['Noise', () => noise_view?.element ?? null],
    ['Conditions', () => conditional(data)],
    ['Tables', () => tables(data, (thread) => noise_view?.show(thread))],
  ];
  for (const [name, make] of made) {
    const element = make();
    if (!element) continue;
    at('loading')?.remove();
    main.append(element);
    at('sections').append(h('a', { href: `#${element.id}` }, name));
    await new Promise((resolve) => setTimeout(resolve));
  }
  main.dataset.ready = 'true';
}

async function start(): Promise<void> {
  set_up_theme();
  try {
    const data = await read_data(at('data').textContent ?? '');
    at('data').remove();
    const { head } = data;
    document.title = `PATHS: ${head.title}`;
    at('title').replaceChildren(
      head.title,
      h(
        'small',
        {},
        [
          head.command.join(' '),
          head.clock && `${head.clock} clock`,
          head.started,
          head.version && `PATHS ${head.version}`,
        ]
          .filter(Boolean)
          .join(' · '),
      ),
    );
    put_reading(data);
    await put_sections(data);
  } catch (error) {
    at('main').replaceChildren(
      h('p', { class: 'bad', role: 'alert' }, `The data in this page cannot be read: ${error}`),
    );
    throw error;
  }
}

void start();
