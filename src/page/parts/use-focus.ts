import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Page } from '../state/page.ts';

/** Whether what is typed goes into it: everything else leaves the keys of the page to the page. */
export function isTypedInto(element: Element | null): boolean {
  if (!(element instanceof HTMLElement)) return false;
  const isOther = 'input:is([type="checkbox"], [type="radio"], [type="range"], [type="button"], [type="submit"])';
  return element.isContentEditable || (element.matches('input, textarea') && !element.matches(isOther));
}

/** Puts the keyboard where the active asset is, whenever the page wishes it, but never takes it from a field. */
export function useFocus(page: Page, within: RefObject<HTMLElement | null>): void {
  const wish = page.focusWish.value;
  const active = page.active.value;
  const seen = useRef(0);
  /** Element that had the keyboard when the wish came; undefined: it is fulfilled, or given up. */
  const from = useRef<Element | null | undefined>(undefined);
  useLayoutEffect(() => {
    const { activeElement, body } = document;
    if (seen.current !== wish) from.current = activeElement;
    seen.current = wish;
    if (from.current === undefined) return;
    const isTaken = isTypedInto(activeElement) || document.querySelector('dialog[open]') !== null;
    if (!isTaken && (activeElement === body || activeElement === from.current)) {
      const asset = within.current?.querySelector<HTMLElement>(`[data-asset="${CSS.escape(active)}"]`);
      // Its row comes into the page later: by then somebody may have gone elsewhere with the keyboard.
      if (asset == null) return;
      asset.focus({ preventScroll: true });
    }
    from.current = undefined;
  });
}
