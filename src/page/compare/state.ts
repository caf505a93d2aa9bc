import { batch, effect, signal } from '@preact/signals';
import type { Page } from '../state/page.ts';
import { type Frame, type Point, togglePixels, wholePicture, type Zoom } from '../zoom/zoom.ts';
import { type Frames, movePair, otherSide, type Pair, rejoin, type Side, toggleDrift, wholePair } from './pair.ts';
import { followActive, nextOnSide, type Sides, startSides, swapSides } from './sides.ts';

export type Mode = 'beside' | 'wipe' | 'blink';

/** What the view that compares two shows: one state for each page. */
export class Compare {
  readonly mode = signal<Mode>('beside');
  /** Absent while the view is closed. */
  readonly sides = signal<Sides | undefined>(undefined);
  readonly pair = signal<Pair>(wholePair);
  /** What is known of the panes. */
  readonly frames = signal<Frames>({});
  /** How much of the pane the left one has, 0 to 1. */
  readonly wipe = signal(0.5);
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
    effect(() => {
      const group = page.activeGroup.value?.assets ?? [];
      const active = page.active.value;
      if (!page.views.value.includes('compare')) {
        this.close();
        return;
      }
      const before = this.sides.peek();
      this.sides.value = before === undefined ? startSides(group, active) : followActive(before, group, active);
    });
  }

  close(): void {
    batch(() => {
      this.sides.value = undefined;
      this.mode.value = 'beside';
      this.pair.value = wholePair;
      this.wipe.value = 0.5;
    });
  }

  /** The address on a side. */
  on(side: Side): string | undefined {
    return this.sides.value?.[side];
  }

  activate(side: Side, takesFocus = true): void {
    const address = this.on(side);
    if (address !== this.#page.active.value) this.#page.activate(address, takesFocus);
  }

  other(): void {
    this.activate(otherSide(this.activeSide()));
  }

  activeSide(): Side {
    return this.sides.value?.active ?? 'left';
  }

  swap(): void {
    const sides = this.sides.value;
    if (sides === undefined) return;
    this.sides.value = swapSides(sides);
    this.#page.say(`Swapped: ${this.on('left')} is on the left.`);
  }

  /** The address that comes `by` later on the active side, among those that the filter shows. */
  next(by: 1 | -1): string | undefined {
    const sides = this.sides.value;
    const group = this.#page.activeGroup.value;
    const strip = this.#page.strips.value.find((one) => one.group.index === group?.index);
    return sides && nextOnSide(sides, strip?.assets ?? [], by);
  }

  frame(side: Side, frame: Frame): void {
    if (this.frames.peek()[side] !== frame) this.frames.value = { ...this.frames.value, [side]: frame };
  }

  move(side: Side, move: (zoom: Zoom, frame: Frame) => Zoom): void {
    this.pair.value = movePair(this.pair.value, side, this.frames.value, move);
  }

  togglePixels(side: Side, at?: Point): void {
    this.move(side, (zoom, frame) => togglePixels(zoom, frame, at));
  }

  drift(): void {
    this.pair.value = toggleDrift(this.pair.value);
    this.#page.say(this.pair.value.drifts ? 'Only the active one moves.' : 'Both move together.');
  }

  /** Both whole, at the same place. */
  whole(): void {
    this.pair.value = rejoin(this.pair.value, this.activeSide());
    this.move(this.activeSide(), () => wholePicture);
    this.#page.say('Both are whole, at the same place.');
  }

  setMode(mode: Mode): void {
    if (this.mode.value === mode) return;
    this.mode.value = mode;
    const words: Record<Mode, string> = {
      beside: 'Side by side.',
      wipe: 'One over the other: arrows move the line.',
      blink: 'One at a time: B shows the other one.',
    };
    this.#page.say(words[mode]);
  }

  setWipe(part: number): void {
    this.wipe.value = Math.min(1, Math.max(0, part));
  }

  /** Shows one at a time, and from then on the other one. */
  blink(): void {
    if (this.mode.value === 'blink') this.other();
    else this.setMode('blink');
  }
}

const states = new WeakMap<Page, Compare>();

export function compareOf(page: Page): Compare {
  const state = states.get(page) ?? new Compare(page);
  states.set(page, state);
  return state;
}
