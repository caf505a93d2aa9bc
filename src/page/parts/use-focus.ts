import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Page } from '../state/page.ts';

/** Puts the keyboard where the active asset is, whenever the page wishes it, but never takes it from a field. */
export function useFocus(page: Page, within: RefObject<HTMLElement | null>): void {
  const wish = page.focusWish.value;
  const active = page.active.value;
  /** The last wish that is no more, and what had the keyboard when there was another one. */
  const seen = useRef({ met: 0, wish: 0, from: null as Element | null });
  useLayoutEffect(() => {
    const { activeElement } = document;
    const { current } = seen;
    if (current.wish !== wish) seen.current = { ...current, wish, from: activeElement };
    if (current.met === wish) return;
    // Rows far away come into the page later: by then somebody may have gone elsewhere with the keyboard.
    const isElsewhere = activeElement !== document.body && activeElement !== seen.current.from;
    const isTaken =
      activeElement?.matches('input, select, textarea') || document.querySelector('dialog[open]') !== null;
    const asset = within.current?.querySelector<HTMLElement>(`[data-asset="${CSS.escape(active)}"]`);
    if (asset == null && !isElsewhere && !isTaken) return;
    if (!isElsewhere && !isTaken) asset?.focus({ preventScroll: true });
    seen.current.met = wish;
  });
}
