import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Page } from '../state/page.ts';

interface FaceProps {
  page: Page;
  address: string;
  children: ComponentChildren;
}

export function Face({ page, address, children }: FaceProps) {
  const isActive = page.active.value === address;
  // Before the click, a pointer focuses the button, which makes the asset active.
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
