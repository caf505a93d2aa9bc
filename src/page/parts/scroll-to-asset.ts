import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { Page } from '../state/page.ts';

/** CSS pixels kept free above an asset, where the head of its group stands, and below it. */
const above = 40;
const below = 8;

/**
 * Scrolls by as little as brings an asset into sight, and nothing but `scroller`: the page around it stays where it is.
 * False: the asset is not in the page, as its row is far away.
 */
export function scrollToAsset(scroller: HTMLElement | null, address: string): boolean {
  const asset = scroller?.querySelector(`[data-address="${CSS.escape(address)}"]`);
  if (scroller === null || asset == null) return false;
  const [outer, inner] = [scroller.getBoundingClientRect(), asset.getBoundingClientRect()];
  const [over, under] = [inner.top - above - outer.top, inner.bottom + below - outer.bottom];
  // The upper edge decides where an asset is larger than what is seen.
  if (over < 0) scroller.scrollTop += over;
  else if (under > 0) scroller.scrollTop += Math.min(under, over);
  return true;
}

/** Keeps what is active in sight where a view is larger than its place: whenever the keyboard is to be there. */
export function useSight(page: Page, within: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    scrollToAsset(within.current?.closest<HTMLElement>('.survey, .compare, .sounds') ?? null, page.active.value);
  }, [page.focusWish.value]);
}
