import type { Press } from '../press.ts';
import type { SharedZoom } from './shared-zoom.ts';
import { panBy, zoomAt } from './zoom.ts';

export const zoomStep = 1.25;
const stride = 0.1;

const arrows: { [key: string]: { x: number; y: number } | undefined } = {
  ArrowLeft: { x: 1, y: 0 },
  ArrowRight: { x: -1, y: 0 },
  ArrowUp: { x: 0, y: 1 },
  ArrowDown: { x: 0, y: -1 },
};

/** Handles the keys `+` `-` `Z` `0` and arrows with Shift. Returns false for other keys. */
export function actOnZoomKey({ key, shiftKey }: Press, zoomed: SharedZoom): boolean {
  const arrow = arrows[key];
  if (arrow !== undefined && shiftKey) {
    zoomed.move((zoom, frame) =>
      panBy(zoom, { x: arrow.x * frame.pane.width * stride, y: arrow.y * frame.pane.height * stride }, frame),
    );
  } else if (key === '+' || key === '=') zoomed.move((zoom, frame) => zoomAt(zoom, zoomStep, frame));
  else if (key === '-') zoomed.move((zoom, frame) => zoomAt(zoom, 1 / zoomStep, frame));
  else if (key === 'z') zoomed.togglePixels();
  else if (key === '0') zoomed.whole();
  else return false;
  return true;
}
