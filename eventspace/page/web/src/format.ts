// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/format.ts — formats of numbers, times and sizes.

const digits = (value: number): string => {
  const size = Math.abs(value);
  return value.toLocaleString('en', {
    maximumFractionDigits: size >= 100 ? 0 : size >= 10 ? 1 : 2,
  });
};

/** Formats a time in the greatest unit in which it is at least 1. */
export function time(nanos: number): string {
  const size = Math.abs(nanos);
  if (size >= 1e9) return `${digits(nanos / 1e9)} s`;
  if (size >= 1e6) return `${digits(nanos / 1e6)} ms`;
  if (size >= 1e3) return `${digits(nanos / 1e3)} µs`;
  return `${digits(nanos)} ns`;
}

/** The next three functions format with as many digits as the report for a terminal. */
export const exact_seconds = (nanos: number): string => `${(nanos / 1e9).toFixed(6)} s`;
export const exact_milliseconds = (nanos: number): string => `${(nanos / 1e6).toFixed(6)} ms`;
export const exact_percent = (share: number): string => `${(100 * share).toFixed(3)}%`;

export const count = (value: number): string => value.toLocaleString('en');
export const milliseconds = (nanos: number): string =>
  (nanos / 1e6).toLocaleString('en', { minimumFractionDigits: 3, maximumFractionDigits: 3 });

export function percent(share: number): string {
  const value = 100 * share;
  if (value > 0 && value < 0.1) return '<0.1%';
  return `${value.toLocaleString('en', { maximumFractionDigits: value >= 10 ? 0 : 1 })}%`;
}

export function bytes(value: number): string {
  if (value >= 1e9) return `${digits(value / 1e9)} GB`;
  if (value >= 1e6) return `${digits(value / 1e6)} MB`;
  if (value >= 1e3) return `${digits(value / 1e3)} kB`;
  return `${value} B`;
}

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;
