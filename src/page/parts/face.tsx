import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Page } from '../state/page.ts';

interface FaceProps {
  page: Page;
  address: string;
  children: ComponentChildren;
}

/** The button that stands for an asset: it makes it the active one, and opens the loupe where it is active already. */
export function Face({ page, address, children }: FaceProps) {
  const isActive = page.active.value === address;
  // A pointer gives it the keyboard, and makes it active, before it is pressed.
  const wasActive = useRef(true);
  return (
    <button
      type="button"
      class="face"
      data-asset={address}
      tabIndex={isActive ? 0 : -1}
      aria-current={isActive}
      onPointerDown={() => {
        wasActive.current = isActive;
      }}
      onClick={() => {
        if (wasActive.current) page.open('loupe');
        else page.activate(address);
        wasActive.current = true;
      }}
    >
      {children}
    </button>
  );
}
