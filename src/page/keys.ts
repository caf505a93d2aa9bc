import { compareOf } from './compare/state.ts';
import { isTypedInto } from './parts/use-focus.ts';
import { digitKey, type Press, pressOf } from './press.ts';
import { soundsOf } from './sound/state.ts';
import { isSoundGroup } from './sound/tracks.ts';
import type { Page } from './state/page.ts';
import { viewOf } from './views/registry.ts';

const arrows = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' } as const;

/** Listens for keys in the whole document. Returns a function that ends this. */
export function listenForKeys(page: Page): () => void {
  const stop = new AbortController();
  const options = { signal: stop.signal };
  /** The element that a pointer pressed last, if no key was pressed since: it has not got the focus by keyboard. */
  let pointed: Element | undefined;
  /**
   * Code of the last key that the page handled. While it is held, its repeats go nowhere else, such as into a field
   * that it opened.
   */
  let taken: string | undefined;
  const keyboardBack = () => {
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    page.activate(page.active.value);
  };
  document.addEventListener(
    'pointerdown',
    ({ target }) => {
      pointed =
        target instanceof Element ? (target.closest('button, a, summary, label, select, input') ?? target) : undefined;
      page.isPointed = pointed?.closest('.groups, .matrix-scroller') != null;
    },
    { ...options, capture: true },
  );
  document.addEventListener(
    'click',
    ({ target }) => {
      if (target instanceof Element && target.closest('.more') === null) page.hasMore.value = false;
    },
    options,
  );
  document.addEventListener(
    'change',
    ({ target }) => {
      const isChosen = target instanceof Element && target.matches('select, input[type="checkbox"]');
      if (isChosen && pointed !== undefined && (pointed === target || pointed.contains(target))) keyboardBack();
    },
    options,
  );
  document.addEventListener(
    'keydown',
    (event) => {
      const isPointed = pointed !== undefined && pointed === event.target;
      if (event.key !== 'Shift' && event.key !== 'Control' && event.key !== 'Meta') {
        pointed = undefined;
        page.isPointed = false;
      }
      if (event.defaultPrevented) return;
      const press = pressOf(event);
      // A held key repeats movements, but decides only once, also by a button.
      if (event.repeat && !moving.has(press.key) && (event.code === taken || isPressing(event))) {
        event.preventDefault();
        return;
      }
      taken = undefined;
      if (isForAnother(event, press, isPointed)) return;
      if (press.key === 'Escape' && isControl(event.target)) keyboardBack();
      else if (!act(page, press)) return;
      taken = event.code;
      event.preventDefault();
    },
    options,
  );
  return () => stop.abort();
}

/** Whether the element is a field without text input. */
function isControl(target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement && target.matches('select, input') && !isTypedInto(target);
}

const moving = new Set([...Object.keys(arrows), '[', ']', 'j', 'k', ',', '.', '+', '=', '-']);

/** Whether the browser activates a button with this key. */
function isPressing({ key, target }: KeyboardEvent): boolean {
  return (key === 'Enter' || key === ' ') && target instanceof HTMLElement && target.matches('button, summary');
}

const sliderKeys = [...Object.keys(arrows), 'Home', 'End', 'PageUp', 'PageDown'];

/**
 * Whether a key belongs to a field, an open dialog, a player or the browser. A checkbox, a slider or a list only gets
 * keys that it uses. `isPointed`: the focused element was focused by a pointer and not by keyboard.
 */
function isForAnother(event: KeyboardEvent, press: Press, isPointed: boolean): boolean {
  const { target } = event;
  const { key, isCommand } = press;
  // Many keyboards need AltGr for brackets, and some systems report AltGr as Ctrl and Alt.
  const isTyped = event.getModifierState('AltGraph');
  if (event.isComposing || (!isTyped && event.altKey)) return true;
  if (!isTyped && isCommand && !/^[zy]$/.test(key)) return true;
  if (!(target instanceof HTMLElement)) return false;
  if (isTypedInto(target) || target.closest('dialog') !== null) return true;
  if (target.matches('input[type="range"]')) return sliderKeys.includes(key);
  if (target.matches('input')) return key === ' ';
  if (target.matches('select'))
    return !isCommand && (/^[\p{L}\p{N} ]$/u.test(key) || [...sliderKeys, 'Enter'].includes(key));
  const isPress = key === 'Enter' || key === ' ';
  if (isPress && !isPointed && target.matches('button:not([data-asset]), a, summary')) return true;
  return target.matches('audio, video') && (isPress || key in arrows);
}

/** Performs the action of a key. Returns false if the key has none. */
function act(page: Page, press: Press): boolean {
  const { key, isCommand, shiftKey, code } = press;
  if (isCommand && (key === 'z' || key === 'y')) {
    page.goBack(key === 'y' || shiftKey ? 'redo' : 'undo');
    return true;
  }
  const view = viewOf(page);
  if (actOnSoundKey(page, press) || view.onKey?.(page, press)) return true;
  if (key in arrows) {
    page.activate(view.move(page, arrows[key as keyof typeof arrows]));
    return true;
  }
  const opened = page.offer.views.find((one) => one.key === key);
  if (opened !== undefined) {
    page.open(opened.name);
    return true;
  }
  const number = shiftKey ? Number(digitKey(code)) : 0;
  // Some keyboards need Shift and a digit for `/`.
  if (number > 0 && actions[key] === undefined) {
    page.rejectFor(number);
    return true;
  }
  if (/^[1-9]$/.test(key)) {
    page.pickNth(Number(key));
    return true;
  }
  return (key === ' ' && toggleFilm()) || actOnKey(page, key);
}

/** Plays or pauses the active film. Returns false if the active asset is not a film. */
function toggleFilm(): boolean {
  const film = document.querySelector<HTMLVideoElement>('.active[data-address] video');
  // The browser may refuse to play; the film then stays paused.
  if (film?.paused === true) film.play().catch(() => undefined);
  else film?.pause();
  return film !== null;
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
  b(page) {
    page.open('compare');
    compareOf(page).blink();
  },
  i: (page) => page.toggleDetails(),
  '/': (page) => page.search(),
  '?': (page) => page.toggleHelp(),
  Escape: (page) => page.back(),
};

/** Performs the action of a key in a group of sounds. Returns false if the page has to handle the key. */
function actOnSoundKey(page: Page, { key, isCommand, shiftKey, code }: Press): boolean {
  const group = page.activeGroup.value;
  const isRejection = shiftKey && digitKey(code) !== undefined;
  if (isCommand || isRejection || group === undefined || !isSoundGroup(group)) return false;
  const sounds = soundsOf(page);
  if (/^[1-9]$/.test(key)) sounds.listen(Number(key));
  else if (key === ' ') sounds.toggle();
  else if (key === ',') sounds.jump(-1);
  else if (key === '.') sounds.jump(1);
  else return false;
  return true;
}
