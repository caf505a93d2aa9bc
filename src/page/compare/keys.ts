import type { Page } from '../state/page.ts';
import type { KeyHelp } from '../views/view.ts';
import { actOnZoomKey } from '../zoom/keys.ts';
import type { Move } from '../zoom/zoomed-media.tsx';
import { filmsOf } from './films.ts';
import { compareOf } from './state.ts';

/** Keys that the page knows only here, for its help. */
export const compareKeyHelp: readonly KeyHelp[] = [
  ['← → or O', 'the other side becomes active'],
  ['↑ ↓', 'another take on the active side'],
  ['0', 'both whole, at the same place'],
  ['D', 'let the active one drift; again: both move together'],
  ['B', 'blink: the other one at the same place; held: in turn'],
  ['W', 'wipe: one over the other, ← → move the line'],
  ['V', 'swap left and right'],
  ['C', 'side by side again'],
  ['Space', 'play both films'],
];

const wipeStride = 0.05;
/** Milliseconds: no more than three changes of light in a second. */
const slowest = 340;

let blinked = 0;

/** Does what a key says to the view that compares. False: the page decides. */
export function actOnCompareKey(page: Page, event: KeyboardEvent): boolean {
  if (event.ctrlKey) return false;
  const compare = compareOf(page);
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const side = compare.activeSide();
  const zoomed = {
    move: (move: Move) => compare.move(side, move),
    togglePixels: () => compare.togglePixels(side),
    whole: () => compare.whole(),
  };
  if (actOnZoomKey(event, zoomed)) return true;
  if (compare.mode.value === 'wipe' && (key === 'ArrowLeft' || key === 'ArrowRight')) {
    compare.setWipe(compare.wipe.value + (key === 'ArrowLeft' ? -wipeStride : wipeStride));
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

const actions: { [key: string]: ((page: Page) => void) | undefined } = {
  o: (page) => compareOf(page).other(),
  c: (page) => compareOf(page).setMode('beside'),
  w: (page) => compareOf(page).setMode(compareOf(page).mode.value === 'wipe' ? 'beside' : 'wipe'),
  d: (page) => compareOf(page).drift(),
  v: (page) => compareOf(page).swap(),
  ' ': (page) => filmsOf(page).toggle(),
};
