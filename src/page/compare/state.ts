import { batch, effect, signal } from '@preact/signals';
import type { ReviewAsset } from '../../contract/review.ts';
import type { Mark } from '../model/shown.ts';
import { mainFile } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import { otherSide, type Side } from './pair.ts';
import { Panes } from './panes.ts';
import { followActive, nextOnSide, type Sides, startSides, swapSides } from './sides.ts';

/** State of the compare view, one per page. */
export class Compare extends Panes {
  /** The compared assets; undefined while the view is closed. */
  readonly sides = signal<Sides | undefined>(undefined);
  readonly #page: Page;
  /** Addresses of the active group that were already seen in this view. */
  readonly #met = new Set<string>();
  #group: number | undefined;

  constructor(page: Page) {
    super((text) => page.say(text));
    this.#page = page;
    effect(() => {
      const index = page.activeGroup.value?.index;
      if (index !== this.#group) this.#met.clear();
      this.#group = index;
      const { left, right } = this.sides.value ?? {};
      for (const address of [left, right]) if (address !== undefined) this.#met.add(address);
    });
    effect(() => {
      const group = page.activeGroup.value?.assets ?? [];
      const active = page.active.value;
      if (!page.views.value.includes('compare')) {
        this.close();
        return;
      }
      const before = this.sides.peek();
      const source = page.activeAsset.value?.madeFrom.find((one) => pictured(page.shown.value.assets.get(one)));
      this.sides.value =
        before === undefined ? startSides(group, active, source) : followActive(before, group, active, source);
    });
  }

  override close(): void {
    batch(() => {
      this.sides.value = undefined;
      super.close();
    });
  }

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

  /**
   * Returns the next asset to compare after a verdict on one of the two: the picked asset stays, or the opponent of the
   * rejected one, and the next unseen asset replaces the other. Undefined if all were seen.
   */
  challenge(address: string, is: Mark): string | undefined {
    const sides = this.sides.value;
    const at = (['left', 'right'] as const).find((side) => sides?.[side] === address);
    if (sides === undefined || at === undefined || is === 'undecided') return undefined;
    const next = this.#visible().find(
      (one) => !this.#met.has(one.address) && one.verdict === undefined && one.isJudged,
    );
    if (next === undefined) return undefined;
    const side = is === 'picked' ? otherSide(at) : at;
    this.sides.value = { ...sides, [side]: next.address, active: side };
    return next.address;
  }

  #visible(): readonly ReviewAsset[] {
    const index = this.#page.activeGroup.value?.index;
    return this.#page.strips.value.find(({ group }) => group.index === index)?.assets ?? [];
  }

  /** Returns the address `by` positions further on the active side, among the assets that the filter shows. */
  next(by: 1 | -1): string | undefined {
    const sides = this.sides.value;
    return sides && nextOnSide(sides, this.#visible(), by);
  }
}

function pictured(asset: ReviewAsset | undefined): boolean {
  const file = asset && mainFile(asset);
  return file?.problem === undefined && (file?.is === 'image' || file?.is === 'video');
}

const states = new WeakMap<Page, Compare>();

export function compareOf(page: Page): Compare {
  const state = states.get(page) ?? new Compare(page);
  states.set(page, state);
  return state;
}
