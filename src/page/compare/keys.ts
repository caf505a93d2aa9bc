import type { Press } from '../press.ts';
import type { KeyHelp, Page } from '../state/page.ts';
import { actOnZoomKey } from '../zoom/keys.ts';
import { filmsOf } from './films.ts';
import { type Compare, compareOf, type Mode } from './state.ts';

export const compareKeyHelp: readonly KeyHelp[] = [
  ['← → O', 'the other side'],
  ['↑ ↓', 'another take on the active side'],
  ['P', 'pick, and compare the pick with the next take'],
  ['B', 'blink: show the two sides in turn'],
  ['W', 'wipe: ← → or a click moves the dividing line'],
  ['E', 'difference: equal parts are black'],
  ['C', 'side by side'],
  [', .', 'videos: one frame back, one frame forward'],
];

const wipeStride = 0.05;

export function actOnCompareKey(page: Page, press: Press): boolean {
  const compare = compareOf(page);
  const { key } = press;
  if (press.isCommand) return false;
  if (actOnZoomKey(press, compare.zoom)) return true;
  if (compare.mode.value === 'wipe' && (key === 'ArrowLeft' || key === 'ArrowRight')) {
    compare.setWipe(compare.wipe.value + (key === 'ArrowLeft' ? -wipeStride : wipeStride));
    return true;
  }
  const act = actions[key];
  act?.(compare, page);
  return act !== undefined;
}

const toggle = (mode: Mode) => (compare: Compare) => {
  compare.mode.value = compare.mode.value === mode ? 'beside' : mode;
};

const actions: { [key: string]: ((compare: Compare, page: Page) => void) | undefined } = {
  o: (compare) => compare.other(),
  b: (compare) => compare.blink(),
  c(compare, page) {
    if (compare.mode.value === 'beside') page.open('compare');
    else compare.mode.value = 'beside';
  },
  w: toggle('wipe'),
  e: toggle('difference'),
  ' ': (_, page) => filmsOf(page).toggle(),
  ',': (_, page) => filmsOf(page).step(-1),
  '.': (_, page) => filmsOf(page).step(1),
};
