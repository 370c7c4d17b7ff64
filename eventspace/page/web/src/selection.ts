// SPDX-License-Identifier: Apache-2.0
// eventspace/page/web/src/selection.ts — selection of a horizontal range by dragging.

/** Calls `select` for each drag on an element, with the left and the right end in pixels. */
export function drag_selection(
  element: HTMLElement,
  select: (from: number, to: number) => void,
): void {
  let begin: number | null = null;
  element.addEventListener('pointerdown', (event) => {
    begin = event.offsetX;
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener('pointerup', (event) => {
    if (begin === null) return;
    select(Math.min(begin, event.offsetX), Math.max(begin, event.offsetX));
    begin = null;
  });
}
