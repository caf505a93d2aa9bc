import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Page } from '../state/page.ts';

export function isTypedInto(element: Element | null): boolean {
  if (!(element instanceof HTMLElement)) return false;
  return element.isContentEditable || element.matches('textarea, [type=text], [type=search]');
}

export function useFocus(page: Page, within: RefObject<HTMLElement | null>): void {
  const wish = page.focusWish.value;
  const active = page.active.value;
  const seen = useRef(0);
  /** Element with the focus when the page decided to focus an asset. Undefined once that is done or cancelled. */
  const from = useRef<Element | null | undefined>(undefined);
  useLayoutEffect(() => {
    const { activeElement, body } = document;
    if (seen.current !== wish) from.current = activeElement;
    seen.current = wish;
    if (from.current === undefined) return;
    const isTaken = isTypedInto(activeElement) || document.querySelector('dialog[open]') !== null;
    if (!isTaken && (activeElement === body || activeElement === from.current)) {
      const asset = within.current?.querySelector<HTMLElement>(`[data-asset="${CSS.escape(active)}"]`);
      // The page renders the row later. Meanwhile the user may move the focus.
      if (asset == null) return;
      asset.focus({ preventScroll: true });
    }
    from.current = undefined;
  });
}
