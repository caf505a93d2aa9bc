import type { Page } from '../state/page.ts';
import type { KeyHelp } from '../views/view.ts';
import { filmsOf } from './films.ts';
import { compareOf } from './state.ts';
import { type Frame, panBy, type Zoom, zoomAt } from './zoom.ts';

/** Keys that the page knows only here, for its help. */
export const compareKeyHelp: readonly KeyHelp[] = [
  ['← → or O', 'the other side becomes active'],
  ['↑ ↓', 'another take on the active side'],
  ['+ − Z 0', 'larger, smaller, 1:1, whole and at the same place'],
  ['Shift arrows', 'move both pictures'],
  ['D', 'let the active one drift; again: both move together'],
  ['B', 'blink: the other one at the same place; held: in turn'],
  ['W', 'wipe: one over the other, ← → move the line'],
  ['V', 'swap left and right'],
  ['C', 'side by side again'],
  ['Space', 'play both films'],
];

const step = 1.25;
/** Of the pane, with one press of an arrow. */
const stride = 0.1;
const wipeStride = 0.05;
/** Milliseconds: no more than three changes of light in a second. */
const slowest = 340;

const arrows: { [key: string]: { x: number; y: number } | undefined } = {
  ArrowLeft: { x: 1, y: 0 },
  ArrowRight: { x: -1, y: 0 },
  ArrowUp: { x: 0, y: 1 },
  ArrowDown: { x: 0, y: -1 },
};

let blinked = 0;

/** Does what a key says to the view that compares. False: the page decides. */
export function actOnCompareKey(page: Page, event: KeyboardEvent): boolean {
  if (event.ctrlKey) return false;
  const compare = compareOf(page);
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const arrow = arrows[key];
  if (arrow !== undefined && event.shiftKey) {
    compare.move(compare.activeSide(), (zoom, frame) => panByArrow(zoom, frame, arrow));
    return true;
  }
  if (arrow !== undefined && compare.mode.value === 'wipe' && arrow.x !== 0) {
    compare.setWipe(compare.wipe.value - arrow.x * wipeStride);
    return true;
  }
  if (key === 'b') {
    blinkByKey(page, event);
    return true;
  }
  const act = actions[key];
  act?.(page);
  return act !== undefined;
}

/** Held, it changes three times in a second; who wants less motion presses each time. */
function blinkByKey(page: Page, { repeat, timeStamp }: KeyboardEvent): void {
  if (repeat && (matchMedia('(prefers-reduced-motion: reduce)').matches || timeStamp - blinked < slowest)) return;
  blinked = timeStamp;
  compareOf(page).blink();
}

function panByArrow(zoom: Zoom, frame: Frame, { x, y }: { x: number; y: number }): Zoom {
  return panBy(zoom, { x: x * frame.pane.width * stride, y: y * frame.pane.height * stride }, frame);
}

function grow(page: Page, factor: number): void {
  const compare = compareOf(page);
  compare.move(compare.activeSide(), (zoom, frame) => zoomAt(zoom, factor, frame));
}

const actions: { [key: string]: ((page: Page) => void) | undefined } = {
  o: (page) => compareOf(page).other(),
  c: (page) => compareOf(page).setMode('beside'),
  w: (page) => compareOf(page).setMode(compareOf(page).mode.value === 'wipe' ? 'beside' : 'wipe'),
  d: (page) => compareOf(page).drift(),
  v: (page) => compareOf(page).swap(),
  z: (page) => compareOf(page).togglePixels(compareOf(page).activeSide()),
  '0': (page) => compareOf(page).whole(),
  '+': (page) => grow(page, step),
  '=': (page) => grow(page, step),
  '-': (page) => grow(page, 1 / step),
  ' ': (page) => filmsOf(page).toggle(),
};
