import type { TargetedPointerEvent } from 'preact';
import type { Panes } from './panes.ts';

/** The line between two that lie over each other, which a pointer can drag. */
export function WipeLine({ panes }: { panes: Panes }) {
  return (
    <div
      class="wipe-line"
      aria-hidden="true"
      style={{ left: `${panes.wipe.value * 100}%` }}
      onPointerDown={({ currentTarget, pointerId }) => currentTarget.setPointerCapture(pointerId)}
      onPointerMove={(event) => dragLine(panes, event)}
    />
  );
}

/** The line follows the pointer that holds it. */
function dragLine(panes: Panes, { currentTarget, pointerId, clientX }: TargetedPointerEvent<HTMLElement>): void {
  const place = currentTarget.parentElement?.getBoundingClientRect();
  if (place && currentTarget.hasPointerCapture(pointerId)) panes.setWipe((clientX - place.left) / place.width);
}
