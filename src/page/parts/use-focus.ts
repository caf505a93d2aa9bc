import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { Page } from '../state/page.ts';

/** Puts the keyboard where the active asset is, whenever the page wishes it, but never takes it from a field. */
export function useFocus(page: Page, within: RefObject<HTMLElement | null>): void {
  const wish = page.focusWish.value;
  const active = page.active.value;
  useLayoutEffect(() => {
    if (wish === 0) return;
    const { activeElement } = document;
    if (activeElement?.matches('input, select, textarea') || document.querySelector('dialog[open]') !== null) return;
    const asset = `[data-asset="${CSS.escape(active)}"]`;
    within.current?.querySelector<HTMLElement>(asset)?.focus({ preventScroll: true });
  }, [wish]);
}
