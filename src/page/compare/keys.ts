import type { Press } from '../press.ts';
import type { KeyHelp, Page } from '../state/page.ts';
import { actOnZoomKey } from '../zoom/keys.ts';
import type { Move } from '../zoom/zoomed-media.tsx';
import { filmsOf } from './films.ts';
import type { Panes } from './panes.ts';
import { compareOf } from './state.ts';

export const compareKeyHelp: readonly KeyHelp[] = [
  ['← → or O', 'the other side becomes active'],
  ['↑ ↓', 'another take on the active side'],
  ['0', 'both whole, at the same place'],
  ['D', 'let the active one drift; again: both move together'],
  ['B', 'blink: the other one at the same place; held: in turn'],
  ['W', 'wipe: one over the other, ← → move the line'],
  ['E', 'difference: equal parts are black, changes are brightened ×4'],
  ['P', 'pick: it stays, and the next one comes in against it'],
  ['V', 'swap left and right'],
  ['C', 'side by side again'],
  ['Space', 'play both films'],
  [', .', 'films: a frame back, a frame on'],
  ['< >', 'films: play again and again from here, up to here'],
];

const wipeStride = 0.05;
/** Minimum interval between switches in ms: no more than three flashes a second, for photosensitive users. */
const slowest = 340;

let blinked = 0;

/** Performs the action of a key in the compare view. Returns false if the page has to handle the key. */
export function actOnCompareKey(page: Page, press: Press): boolean {
  const compare = compareOf(page);
  if (actOnPaneKey(compare, press)) return true;
  const act = press.isCommand ? undefined : actions[press.key];
  act?.(page);
  return act !== undefined;
}

/** Performs the action of a key on any two panes. Returns false if the page has to handle the key. */
export function actOnPaneKey(panes: Panes, press: Press): boolean {
  const { key } = press;
  if (press.isCommand) return false;
  const side = panes.activeSide();
  const zoomed = {
    move: (move: Move) => panes.move(side, move),
    togglePixels: () => panes.togglePixels(side),
    whole: () => panes.whole(),
  };
  if (actOnZoomKey(press, zoomed)) return true;
  if (panes.mode.value === 'wipe' && (key === 'ArrowLeft' || key === 'ArrowRight')) {
    panes.setWipe(panes.wipe.value + (key === 'ArrowLeft' ? -wipeStride : wipeStride));
    return true;
  }
  if (key === 'b') {
    blinkByKey(panes, press);
    return true;
  }
  const act = paneActions[key];
  act?.(panes);
  return act !== undefined;
}

/** Switches the picture. A held key switches three times a second, or not at all with reduced motion. */
function blinkByKey(panes: Panes, { repeat, timeStamp }: Press): void {
  if (repeat && (matchMedia('(prefers-reduced-motion: reduce)').matches || timeStamp - blinked < slowest)) return;
  blinked = timeStamp;
  panes.blink();
}

const paneActions: { [key: string]: ((panes: Panes) => void) | undefined } = {
  o: (panes) => panes.other(),
  c: (panes) => panes.setMode('beside'),
  w: (panes) => panes.setMode(panes.mode.value === 'wipe' ? 'beside' : 'wipe'),
  d: (panes) => panes.drift(),
  e: (panes) => panes.setMode(panes.mode.value === 'difference' ? 'beside' : 'difference'),
};

const actions: { [key: string]: ((page: Page) => void) | undefined } = {
  v: (page) => compareOf(page).swap(),
  ' ': (page) => filmsOf(page).toggle(),
  ',': (page) => filmsOf(page).step(-1),
  '.': (page) => filmsOf(page).step(1),
  '<': (page) => filmsOf(page).mark('from'),
  '>': (page) => filmsOf(page).mark('to'),
};
