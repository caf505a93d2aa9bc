import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { Page } from '../state/page.ts';

const around = 8;
const head = 52;

/**
 * Scrolls to an asset that is not visible, and shows its whole group if the group fits. Scrolls only `scroller`, not
 * the page around it. Returns false if the asset is not rendered because its row is too far away.
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
  // The upper edge is aligned, so that the first visible group is whole.
  if (over < 0 || under > 0) scroller.scrollTop += over;
  return true;
}

export function useSight(page: Page, within: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    scrollToAsset(within.current?.closest<HTMLElement>('.compare, .sounds') ?? null, page.active.value);
  }, [page.focusWish.value]);
}
