import { compareOf } from './compare/state.ts';
import { isTypedInto } from './parts/use-focus.ts';
import { digitKey, type Press, pressOf } from './press.ts';
import { soundsOf } from './sound/state.ts';
import { isSoundGroup } from './sound/tracks.ts';
import type { Page } from './state/page.ts';
import { viewOf } from './views/registry.ts';

const arrows = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' } as const;

interface Pressed {
  /** Element that a pointer pressed last. A key press resets it to undefined. */
  element: Element | undefined;
  /** Code of the last key that the page handled. Its repeated events are hidden from the browser. */
  code: string | undefined;
}

export function listenForKeys(page: Page): () => void {
  const stop = new AbortController();
  const pressed: Pressed = { element: undefined, code: undefined };
  listenForPointer(page, pressed, stop.signal);
  document.addEventListener('keydown', (event) => handleKey(page, pressed, event), { signal: stop.signal });
  return () => stop.abort();
}

function listenForPointer(page: Page, pressed: Pressed, signal: AbortSignal): void {
  document.addEventListener(
    'pointerdown',
    ({ target }) => {
      pressed.element =
        target instanceof Element ? (target.closest('button, a, summary, label, select, input') ?? target) : undefined;
      page.isPointed = pressed.element?.closest('.groups, .matrix-scroller') != null;
    },
    { signal, capture: true },
  );
  document.addEventListener(
    'click',
    ({ target }) => {
      if (target instanceof Element && target.closest('.more') === null) page.hasMore.value = false;
    },
    { signal },
  );
  document.addEventListener(
    'change',
    ({ target }) => {
      const isChosen = target instanceof Element && target.matches('select, input[type="checkbox"]');
      if (isChosen && pressed.element?.contains(target)) leaveControl(page);
    },
    { signal },
  );
}

function leaveControl(page: Page): void {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  page.activate(page.active.value);
}

function handleKey(page: Page, pressed: Pressed, event: KeyboardEvent): void {
  const isPointed = pressed.element !== undefined && pressed.element === event.target;
  if (event.key !== 'Shift' && event.key !== 'Control' && event.key !== 'Meta') {
    pressed.element = undefined;
    page.isPointed = false;
  }
  if (event.defaultPrevented) return;
  const press = pressOf(event);
  // A key that is held down repeats movements, but gives only one verdict, even if it presses a button.
  if (event.repeat && !moving.has(press.key) && (event.code === pressed.code || isPressing(event))) {
    event.preventDefault();
    return;
  }
  pressed.code = undefined;
  if (isForAnother(event, press, isPointed)) return;
  if (press.key === 'Escape' && isControl(event.target)) leaveControl(page);
  else if (!act(page, press)) return;
  pressed.code = event.code;
  event.preventDefault();
}

function isControl(target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement && target.matches('select, input') && !isTypedInto(target);
}

const moving = new Set([...Object.keys(arrows), '[', ']', 'j', 'k', ',', '.', '+', '=', '-']);

function isPressing({ key, target }: KeyboardEvent): boolean {
  return (key === 'Enter' || key === ' ') && target instanceof HTMLElement && target.matches('button, summary');
}

const sliderKeys = [...Object.keys(arrows), 'Home', 'End', 'PageUp', 'PageDown'];

/**
 * Returns whether a field, an open dialog, a player or the browser handles a key instead of the page. A checkbox,
 * slider or list handles only keys that it uses. `isPointed`: whether a pointer focused the element.
 */
function isForAnother(event: KeyboardEvent, press: Press, isPointed: boolean): boolean {
  const { target } = event;
  const { key, isCommand } = press;
  // Many keyboards need AltGr for brackets. Some systems report AltGr as Ctrl and Alt.
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

function toggleFilm(): boolean {
  const film = document.querySelector<HTMLVideoElement>('.active[data-address] video');
  // If the browser refuses to play, the film stays paused.
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
