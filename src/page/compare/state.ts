import { batch, effect, signal } from '@preact/signals';
import type { Page } from '../state/page.ts';
import { otherSide, type Side } from './pair.ts';
import { Panes } from './panes.ts';
import { followActive, nextOnSide, type Sides, startSides, swapSides } from './sides.ts';

/** State of the view that compares two of a group: one for each page. */
export class Compare extends Panes {
  /** Absent while the view is closed. */
  readonly sides = signal<Sides | undefined>(undefined);
  readonly #page: Page;

  constructor(page: Page) {
    super((text) => page.say(text));
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

  override close(): void {
    batch(() => {
      this.sides.value = undefined;
      super.close();
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
    this.say(`Swapped: ${this.on('left')} is on the left.`);
  }

  /** The address that comes `by` later on the active side, among those that the filter shows. */
  next(by: 1 | -1): string | undefined {
    const sides = this.sides.value;
    const group = this.#page.activeGroup.value;
    const strip = this.#page.strips.value.find((one) => one.group.index === group?.index);
    return sides && nextOnSide(sides, strip?.assets ?? [], by);
  }
}

const states = new WeakMap<Page, Compare>();

export function compareOf(page: Page): Compare {
  const state = states.get(page) ?? new Compare(page);
  states.set(page, state);
  return state;
}
