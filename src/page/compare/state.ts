import { batch, effect, signal } from '@preact/signals';
import type { ReviewAsset } from '../../contract/review.ts';
import type { Mark } from '../model/shown.ts';
import { mainFile } from '../parts/words.ts';
import type { Page } from '../state/page.ts';
import { SharedZoom } from '../zoom/shared-zoom.ts';
import { followActive, nextOnSide, otherSide, type Side, type Sides, startSides } from './sides.ts';

export type Mode = 'beside' | 'wipe' | 'blink' | 'difference';

export class Compare {
  readonly mode = signal<Mode>('beside');
  readonly zoom = new SharedZoom();
  /** Share of the area that shows the left picture, 0 to 1. */
  readonly wipe = signal(0.5);
  /**
   * The compared assets. Undefined while the comparison is closed. If the left side shows an earlier version of the
   * right asset, both addresses are equal.
   */
  readonly sides = signal<Sides | undefined>(undefined);
  readonly version = signal(0);
  readonly #page: Page;
  readonly #met = new Set<string>();
  #group: number | undefined;

  constructor(page: Page) {
    this.#page = page;
    effect(() => {
      const index = page.activeGroup.value?.index;
      if (index !== this.#group) this.#met.clear();
      this.#group = index;
      const { left, right } = this.sides.value ?? {};
      for (const address of [left, right]) if (address !== undefined) this.#met.add(address);
    });
    effect(() => {
      const view = page.views.value.findLast((name) => name === 'compare' || name === 'changes');
      if (view === undefined) this.#close();
      else this.sides.value = view === 'compare' ? this.#pair() : this.#beforeAfter();
    });
  }

  #pair(): Sides {
    const page = this.#page;
    const group = page.activeGroup.value?.assets ?? [];
    const active = page.active.value;
    const before = this.sides.peek();
    const source = page.activeAsset.value?.madeFrom.find((one) => pictured(page.shown.value.assets.get(one)));
    return before === undefined || before.left === before.right
      ? startSides(group, active, source)
      : followActive(before, group, active, source);
  }

  #beforeAfter(): Sides {
    const active = this.#page.active.value;
    const before = this.sides.peek();
    const isSame = before?.left === active && before.right === active;
    return isSame ? before : { left: active, right: active, active: 'right' };
  }

  #close(): void {
    batch(() => {
      this.sides.value = undefined;
      this.mode.value = 'beside';
      this.wipe.value = 0.5;
      this.zoom.whole();
    });
  }

  on(side: Side): string | undefined {
    return this.sides.value?.[side];
  }

  activate(side: Side, takesFocus = true): void {
    const sides = this.sides.value;
    const address = sides?.[side];
    if (address !== this.#page.active.value) this.#page.activate(address, takesFocus);
    else if (sides !== undefined && sides.left === sides.right) this.sides.value = { ...sides, active: side };
  }

  other(): void {
    this.activate(otherSide(this.activeSide()));
  }

  activeSide(): Side {
    return this.sides.value?.active ?? 'left';
  }

  setWipe(part: number): void {
    this.wipe.value = Math.min(1, Math.max(0, part));
  }

  /** Switches to one picture at a time. Each later call shows the picture of the other side. */
  blink(): void {
    if (this.mode.value === 'blink') this.other();
    else this.mode.value = 'blink';
  }

  /**
   * After a verdict on one of the two assets, replaces the rejected asset, or the asset that was not picked. Returns
   * the new asset, which was not shown before. Undefined if all assets were shown.
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
