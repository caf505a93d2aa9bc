import { signal } from '@preact/signals';
import { otherSide, type Side } from '../compare/pair.ts';
import { Panes } from '../compare/panes.ts';
import type { Page } from '../state/page.ts';

/** How what an asset was before is looked at, beside what it is now: before is on the left. */
export class BeforeAfter extends Panes {
  readonly #side = signal<Side>('right');
  /** Which of its versions, by their number. */
  readonly version = signal(0);

  activeSide(): Side {
    return this.#side.value;
  }

  activate(side: Side): void {
    this.#side.value = side;
  }

  other(): void {
    this.activate(otherSide(this.activeSide()));
    this.say(this.activeSide() === 'left' ? 'Before.' : 'Now.');
  }
}

const states = new WeakMap<Page, BeforeAfter>();

export function beforeAfterOf(page: Page): BeforeAfter {
  const state = states.get(page) ?? new BeforeAfter((text) => page.say(text));
  states.set(page, state);
  return state;
}
