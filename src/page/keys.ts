import { compareKeyHelp } from './compare/keys.ts';
import { compareOf } from './compare/state.ts';
import { actOnSoundKey, soundKeyHelp } from './sound/keys.ts';
import type { KeyHelp, Offer, Page } from './state/page.ts';
import { viewOf } from './views/registry.ts';

const arrows = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' } as const;

const pageKeyHelp: readonly KeyHelp[] = [
  ['← → ↑ ↓', 'the asset beside it'],
  ['[ ]', 'group before, next group'],
  ['J K', 'next undecided group, the one before'],
  ['1 – 9', 'pick the take of this number'],
  ['P', 'pick'],
  ['X', 'reject'],
  ['U', 'undecided again'],
  ['N', 'note'],
  ['Ctrl Z', 'undo'],
  ['Enter', 'loupe: one asset'],
  ['S', 'survey: one group, as large as fits'],
  ['C', 'compare two'],
  ['B', 'blink between two'],
  ['M', 'matrix'],
  ['+ − Z 0', 'larger, smaller, 1:1 (each pixel of the picture), whole'],
  ['Shift arrows', 'move the picture'],
  ['I', 'details'],
  ['/', 'search'],
  ['Esc', 'back'],
  ['?', 'this help'],
];

/** Keys of the page, as its help names them, by where they act. A gallery has more. */
export const pageKeys: Offer['keyHelp'] = [
  { where: 'Everywhere', keys: pageKeyHelp },
  { where: 'Songs and voices', keys: soundKeyHelp },
  { where: 'Compare', keys: compareKeyHelp },
];

/** Listens for keys in the whole document, and tells the page. Returns what ends it. */
export function listenForKeys(page: Page): () => void {
  const listener = (event: KeyboardEvent) => {
    if (event.defaultPrevented || isForAnother(event)) return;
    if (act(page, event)) event.preventDefault();
  };
  document.addEventListener('keydown', listener);
  return () => document.removeEventListener('keydown', listener);
}

/** Nothing can be typed into a slider: other keys are for the page. */
const sliderKeys = [...Object.keys(arrows), 'Home', 'End', 'PageUp', 'PageDown'];

/** Fields, open dialogs, players and the browser have keys of their own. */
function isForAnother(event: KeyboardEvent): boolean {
  // Brackets are typed with AltGr on many keyboards, which some systems report as Ctrl and Alt.
  const isTyped = event.getModifierState('AltGraph');
  if (event.isComposing || (!isTyped && (event.altKey || event.metaKey))) return true;
  if (!isTyped && event.ctrlKey && event.key.toLowerCase() !== 'z') return true;
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  const isSlider = target.matches('input[type="range"]');
  if (isSlider) return sliderKeys.includes(event.key);
  if (target.isContentEditable || target.matches('input, select, textarea')) return true;
  if (target.closest('dialog') !== null) return true;
  const isPress = event.key === 'Enter' || event.key === ' ';
  if (isPress && target.matches('button:not([data-asset]), a, summary')) return true;
  return target.matches('audio, video') && (isPress || event.key in arrows);
}

/** Does what a key says. False: it says nothing here. */
function act(page: Page, event: KeyboardEvent): boolean {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  // A key that is held goes on moving, and decides once.
  if (event.repeat && /^[\dpuxz]$/.test(key)) return true;
  if (event.ctrlKey && key === 'z') {
    if (event.shiftKey) return false;
    page.undo();
    return true;
  }
  const view = viewOf(page);
  if (actOnSoundKey(page, event) || view.onKey?.(page, event)) return true;
  if (key in arrows) {
    page.activate(view.move(page, arrows[key as keyof typeof arrows]));
    return true;
  }
  const opened = page.offer.views.find((one) => one.key === key);
  if (opened !== undefined) {
    page.open(opened.name);
    return true;
  }
  if (/^[1-9]$/.test(key)) {
    page.pickNth(Number(key));
    return true;
  }
  return actOnKey(page, key);
}

function actOnKey(page: Page, key: string): boolean {
  const action = actions[key];
  action?.(page);
  return action !== undefined;
}

const actions: { [key: string]: ((page: Page) => void) | undefined } = {
  '[': (page) => page.goGroup(-1),
  ']': (page) => page.goGroup(1),
  j: (page) => page.goUndecided(1),
  k: (page) => page.goUndecided(-1),
  p: (page) => page.judge(page.active.value, 'picked'),
  x: (page) => page.judge(page.active.value, 'rejected'),
  u: (page) => page.judge(page.active.value, 'undecided'),
  n: (page) => page.editNote(),
  b: (page) => {
    page.open('compare');
    compareOf(page).blink();
  },
  i: (page) => page.toggleDetails(),
  '/': (page) => page.search(),
  '?': (page) => page.toggleHelp(),
  Escape: (page) => page.back(),
};
