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
  /** CSS pixels of a row, as far as it is known without measuring. */
  estimate(index: number): number;
  /** Names a row, so that its measured height stays its own when others come or go. */
  keyOf(index: number): string;
  /** Rows are measured again when this changes. */
  resetKey?: string | number;
  scroller: RefObject<HTMLElement | null>;
}

export interface Rows {
  /** Those that are near what is seen. */
  items: VirtualItem[];
  /** CSS pixels of all rows. */
  height: number;
  /** The `ref` of each row, which carries its index as `data-index`. */
  measure(element: HTMLElement | null): void;
  /** Brings a row into sight, by as little as is needed. */
  reveal(index: number): void;
}

/** Windows rows: only those near what is seen are in the page. */
export function useRows({ count, estimate, keyOf, resetKey, scroller }: RowOptions): Rows {
  const [, render] = useReducer((n: number) => n + 1, 0);
  const options = {
    count,
    estimateSize: estimate,
    getItemKey: keyOf,
    getScrollElement: () => scroller.current,
    // The other lines of a group, so that it can be brought into sight as a whole.
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
