import type { RefObject } from 'preact';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';

interface RowOptions {
  count: number;
  /** Returns the height of a row in CSS pixels. If the caller passes another function, the layout is computed again. */
  heightOf(index: number): number;
  keyOf(index: number): string;
  scroller: RefObject<HTMLElement | null>;
}

interface Rows {
  /** Rows to render. `start`: distance from the top of the first row, in CSS pixels. */
  items: { index: number; key: string; start: number }[];
  height: number;
  reveal(index: number): void;
}

/** Number of rows rendered above and below the visible area. */
const around = 2;

/** Virtualizes rows: the page renders only the rows near the visible area. */
export function useRows({ count, heightOf, keyOf, scroller }: RowOptions): Rows {
  const starts = useMemo(() => {
    const all = [0];
    for (let index = 0; index < count; index += 1) all.push((all[index] ?? 0) + heightOf(index));
    return all;
  }, [count, heightOf]);
  const { height: seen } = useSize(scroller);
  const rowAt = (at: number) =>
    Math.max(
      0,
      starts.findLastIndex((start, index) => start <= at && index < count),
    );
  const topRow = () => rowAt(scroller.current?.scrollTop ?? 0);
  const [, setTop] = useState(0);
  const look = () => setTop(topRow());
  useLayoutEffect(() => {
    const { current } = scroller;
    look();
    current?.addEventListener('scroll', look, { passive: true });
    return () => current?.removeEventListener('scroll', look);
  }, [starts]);
  // The state may be outdated, because an effect may have scrolled.
  const top = topRow();
  // The last row is computed from the first, so that scrolling renders only when the first visible row changes.
  const last = rowAt((starts[top + 1] ?? 0) + seen);
  const from = Math.max(0, top - around);
  const items = Array.from({ length: Math.max(0, Math.min(count, last + around + 1) - from) }, (_, place) => ({
    index: from + place,
    key: keyOf(from + place),
    start: starts[from + place] ?? 0,
  }));
  const reveal = (index: number) => {
    const { current } = scroller;
    const [start, end] = [starts[index], starts[index + 1]];
    if (current === null || start === undefined || end === undefined) return;
    if (start < current.scrollTop || end > current.scrollTop + current.clientHeight) current.scrollTop = start;
    look();
  };
  return { items, height: starts[count] ?? 0, reveal };
}

/** Returns the inner size of an element in CSS pixels. 0 before the element is mounted. */
export function useSize(element: RefObject<HTMLElement | null>): { width: number; height: number } {
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const measure = () => setSize({ width: current.clientWidth, height: current.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return size;
}
