import { computed, signal } from '@preact/signals';
import type { ReviewData } from '../../contract/review.ts';
import type { Step } from '../model/judge.ts';
import { attempt } from './outbox.ts';

const mostSteps = 200;

/** Decisions of this tab, for undo and redo. They survive a reload. */
export class History {
  readonly #name: string;
  readonly #done;
  readonly #undone = signal<readonly Step[]>([]);
  readonly last = computed(() => this.#done.value.at(-1));

  constructor({ campaign, file, assets }: ReviewData) {
    this.#name = `mediabatch done ${JSON.stringify([campaign, file])}`;
    const jobs = new Map(assets.map(({ address, job }) => [address, job]));
    const kept = attempt(() => JSON.parse(sessionStorage.getItem(this.#name) ?? '[]') as Step[]) ?? [];
    // The host refuses verdicts on replaced outputs.
    const isShown = ({ verdicts }: Step) => verdicts.every(({ address, job }) => jobs.get(address) === job);
    this.#done = signal<readonly Step[]>(attempt(() => kept.filter(isShown)) ?? []);
  }

  add(step: Step): void {
    this.#undone.value = [];
    this.#keep([...this.#done.value, step]);
  }

  /** Moves a step between the undo list and the redo list. `put` applies the step and returns the inverse step. */
  goBack(by: 'undo' | 'redo', put: (step: Step) => Step): Step | undefined {
    const [from, to] = by === 'undo' ? [this.#done, this.#undone] : [this.#undone, this.#done];
    const step = from.value.at(-1);
    if (step === undefined) return undefined;
    from.value = from.value.slice(0, -1);
    to.value = [...to.value, put(step)];
    this.#keep(this.#done.value);
    return step;
  }

  forget(addresses: ReadonlySet<string>): void {
    const isOther = ({ address }: Step) => !addresses.has(address);
    this.#undone.value = this.#undone.value.filter(isOther);
    this.#keep(this.#done.value.filter(isOther));
  }

  /** Replaces the first undo step on one of these assets, so that its undo restores another user's decision. */
  rebase(addresses: ReadonlySet<string>, step: Step): void {
    const at = this.#done.value.findIndex(({ address }) => addresses.has(address));
    if (at >= 0) this.#keep(this.#done.value.with(at, step));
  }

  #keep(steps: readonly Step[]): void {
    this.#done.value = steps.slice(-mostSteps);
    attempt(() => sessionStorage.setItem(this.#name, JSON.stringify(this.#done.value)));
  }
}
