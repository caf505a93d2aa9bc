import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useReducer } from 'preact/hooks';

interface RowOptions {
  count: number;
  /** Estimated height of a row before it is measured, in CSS pixels. */
  estimate(index: number): number;
  /** Stable key of a row, which keeps its measured height when other rows are added or removed. */
  keyOf(index: number): string;
  /** A change of this value discards the measured heights. */
  resetKey?: string | number;
  scroller: RefObject<HTMLElement | null>;
}

export interface Rows {
  /** Rows near the visible area, to render. */
  items: VirtualItem[];
  /** Total height of all rows, in CSS pixels. */
  height: number;
  /** Measures a row: pass it as `ref` of an element that has its index as `data-index`. */
  measure(element: HTMLElement | null): void;
  /** Scrolls a row into view, by as little as possible. */
  reveal(index: number): void;
}

/** Virtualizes rows: only those near the visible area are rendered. */
export function useRows({ count, estimate, keyOf, resetKey, scroller }: RowOptions): Rows {
  const [, render] = useReducer((n: number) => n + 1, 0);
  const options = {
    count,
    estimateSize: estimate,
    getItemKey: keyOf,
    getScrollElement: () => scroller.current,
    // Renders neighbouring lines of a group, so that the group can be scrolled into view as a whole.
    overscan: 2,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => render(0),
  };
  const virtualizer = useMemo(() => new Virtualizer<HTMLElement, HTMLElement>(options), []);
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  useLayoutEffect(() => virtualizer.measure(), [resetKey]);
  return {
    items: virtualizer.getVirtualItems(),
    height: virtualizer.getTotalSize(),
    measure: virtualizer.measureElement,
    reveal: (index) => virtualizer.scrollToIndex(index, { align: 'auto' }),
  };
}
