// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/charts.ts — line and bar charts with uPlot, in the colours of the page.
import uPlot from 'uplot';

import { css, h, on_theme } from './dom';

export interface Line {
  label: string;
  values: (number | null)[];
  style: string; // name of a colour in style.css
  bars?: boolean;
  points?: boolean;
  steps?: boolean; // whether to draw steps: a value holds until the next point
}

export interface Chart {
  /** Text alternative for people who cannot see the chart. */
  text: string;
  x: number[];
  x_label: string;
  y_label: string;
  lines: Line[];
  x_show: (value: number) => string;
  y_show: (value: number) => string;
  logarithmic?: boolean;
  x_ticks?: (least: number, most: number) => number[];
  marks?: { x: number; text: string }[];
  height?: number;
}

function axis(label: string, show: (value: number) => string, side: number): uPlot.Axis {
  return {
    label,
    labelSize: 20,
    side,
    labelFont: '12px system-ui, sans-serif',
    font: '12px system-ui, sans-serif',
    size: side === 3 ? 70 : 40,
    stroke: () => css('--quiet'),
    grid: { stroke: () => css('--line'), width: 1 },
    ticks: { stroke: () => css('--line'), width: 1 },
    values: (_, splits) => splits.map((value) => (value === null ? '' : show(value))),
  };
}

function marks_of(chart: Chart): uPlot.Plugin {
  return {
    hooks: {
      draw: [
        (plot) => {
          const context = plot.ctx;
          context.save();
          context.strokeStyle = context.fillStyle = css('--noise');
          context.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
          context.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
          for (const mark of chart.marks ?? []) {
            const x = plot.valToPos(mark.x, 'x', true);
            if (!(x >= plot.bbox.left && x <= plot.bbox.left + plot.bbox.width)) continue;
            context.beginPath();
            context.moveTo(x, plot.bbox.top);
            context.lineTo(x, plot.bbox.top + plot.bbox.height);
            context.stroke();
            const to_left = x > plot.bbox.left + plot.bbox.width * 0.7;
            context.textAlign = to_left ? 'right' : 'left';
            context.fillText(
              mark.text,
              x + (to_left ? -6 : 6) * devicePixelRatio,
              plot.bbox.top + 14 * devicePixelRatio,
            );
          }
          context.restore();
        },
      ],
    },
  };
}

function series_of(line: Line, show: (value: number) => string): uPlot.Series {
  return {
    label: line.label,
    stroke: () => css(line.style),
    fill: line.bars ? () => css(line.style) : undefined,
    width: line.bars ? 0 : 1.5,
    paths: line.bars
      ? uPlot.paths.bars!({ size: [0.94, 60], align: 1 })
      : line.steps
        ? uPlot.paths.stepped!({ align: 1 })
        : undefined,
    points: { show: line.points ?? false, size: 5 },
    value: (_, value) => (value === null || value === undefined ? '–' : show(value)),
  };
}

/** Returns a chart as wide as its parent. A drag zooms in; a double click shows the whole chart. */
export function draw_chart(chart: Chart): HTMLElement {
  const holder = h('div', { class: 'plot' });
  const height = chart.height ?? 260;
  const ticks = chart.x_ticks;
  let plot: uPlot | null = null;
  const create = (width: number): void => {
    plot = new uPlot(
      {
        width,
        height,
        scales: {
          x: { time: false },
          y: chart.logarithmic
            ? { distr: 3, log: 10, range: (_, __, most) => [0.7, (most || 1) * 2] }
            : { range: (_, __, most) => [0, (most || 1) * 1.08] },
        },
        axes: [
          {
            ...axis(chart.x_label, chart.x_show, 2),
            ...(ticks && { splits: (_, __, least, most) => ticks(least, most) }),
          },
          axis(chart.y_label, chart.y_show, 3),
        ],
        series: [
          {
            label: chart.x_label,
            value: (_, value) => (value === null ? '–' : chart.x_show(value)),
          },
          ...chart.lines.map((line) => series_of(line, chart.y_show)),
        ],
        plugins: [marks_of(chart)],
        cursor: { y: false },
      },
      [chart.x, ...chart.lines.map((line) => line.values)] as uPlot.AlignedData,
      holder,
    );
    plot.root.setAttribute('aria-hidden', 'true');
  };
  new ResizeObserver(([entry]) => {
    const width = Math.floor(entry.contentRect.width);
    if (width < 50 || !holder.isConnected) return;
    if (!plot) create(width);
    else if (plot.width !== width) plot.setSize({ width, height });
  }).observe(holder);
  on_theme(() => plot?.redraw(false));
  return h('figure', { class: 'chart', role: 'img', 'aria-label': chart.text }, holder);
}
