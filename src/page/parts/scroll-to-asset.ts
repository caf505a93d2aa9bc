import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { Page } from '../state/page.ts';

/** CSS pixels kept free above and below what is scrolled to. */
const around = 8;
/** Above an asset, where the head of its group stands. */
const head = 52;

/**
 * Scrolls by as little as brings an asset into sight, with the whole of its group where that fits, and nothing but
 * `scroller`: the page around it stays where it is. False: the asset is not in the page, as its row is far away.
 */
export function scrollToAsset(scroller: HTMLElement | null, address: string): boolean {
  const asset = scroller?.querySelector(`[data-address="${CSS.escape(address)}"]`);
  if (scroller === null || asset == null) return false;
  const outer = scroller.getBoundingClientRect();
  const parts = scroller.querySelectorAll(
    `[data-group="${CSS.escape(asset.closest<HTMLElement>('[data-group]')?.dataset.group ?? '')}"]`,
  );
  const boxes = [...parts].map((part) => part.getBoundingClientRect());
  const group = {
    top: Math.min(...boxes.map(({ top }) => top)),
    bottom: Math.max(...boxes.map(({ bottom }) => bottom)),
  };
  const isSeenWhole = boxes.length > 0 && group.bottom - group.top <= outer.height;
  const own = asset.getBoundingClientRect();
  const inner = isSeenWhole ? group : { top: own.top - head, bottom: own.bottom };
  const free = Math.max(0, Math.min(around, (outer.height - (inner.bottom - inner.top)) / 2));
  const [over, under] = [inner.top - free - outer.top, inner.bottom + free - outer.bottom];
  // The upper edge decides where an asset is larger than what is seen.
  if (over < 0) scroller.scrollTop += over;
  else if (under > 0) scroller.scrollTop += Math.min(under, over);
  return true;
}

/** Keeps what is active in sight where a view is larger than its place: whenever the keyboard is to be there. */
export function useSight(page: Page, within: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    scrollToAsset(within.current?.closest<HTMLElement>('.compare, .sounds') ?? null, page.active.value);
  }, [page.focusWish.value]);
}
