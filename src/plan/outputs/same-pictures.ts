import { isSameShape, type Looks, Neighbours, readHash } from '../../ground/picture-looks.ts';
import type { Output } from '../../lock/record.ts';
import type { Match } from '../situation/find-purchases.ts';
import { findUnfit, type MediaFacts, type Unfit } from './expectation.ts';

/**
 * Bits of the hash in which pictures may differ that are the same to the eye. Another compression changes at most two; of
 * pictures of the sandbox the nearest differ in three. A step must not fail for chance, so it is no more.
 */
const radius = 2;

/** How the files on record of a step came: `second`, another of its task had the same picture. Absent: they are new. */
export type Came = 'first' | 'second';

export function howTheyCame(outputs: readonly Output[] | undefined): Came | undefined {
  return outputs && (outputs.some(({ same }) => same === true) ? 'second' : 'first');
}

interface Seen {
  address: string;
  shape: number;
  came: Came | undefined;
}

/** Pictures of the steps of one task, each by its looks, but those that look like an earlier one. */
export class SeenPictures {
  readonly #near = new Neighbours<Seen>(radius);
  readonly #latest = new Map<string, Seen>();

  /** Takes a picture in, in place of an earlier one of its step. Returns the other step whose picture looks the same. */
  add(address: string, { hash, shape }: Looks, came?: Came): string | undefined {
    this.#latest.delete(address);
    // Pictures of a single color have nothing that could be compared.
    if (hash === undefined) return undefined;
    const bits = readHash(hash);
    const isBefore = (other: Seen) => came !== 'first' || other.came !== 'second';
    const isLike = (other: Seen) =>
      this.#latest.get(other.address) === other && isSameShape(other.shape, shape) && isBefore(other);
    const same = this.#near.find(bits, isLike);
    if (same !== undefined) return same.address;
    const seen = { address, shape, came };
    this.#latest.set(address, seen);
    this.#near.add(bits, seen);
    return undefined;
  }
}

/** The looks of the first picture among the files of a step. */
export function firstLooks(
  outputs: readonly Output[],
  factsOf: (output: Output) => MediaFacts | undefined,
): Looks | undefined {
  for (const output of outputs) {
    const looks = factsOf(output)?.looks;
    if (looks !== undefined) return looks;
  }
  return undefined;
}

/** Those whose files came second after the others, each in the order in which they are given. */
export function firstComers<One>(all: readonly One[], outputsOf: (one: One) => readonly Output[] | undefined): One[] {
  const isSecond = (one: One) => howTheyCame(outputsOf(one)) === 'second';
  return [...all.filter((one) => !isSecond(one)), ...all.filter(isSecond)];
}

/**
 * Finds steps whose files are all here, and one of which does not fit `expect`. A picture that is to differ is compared with
 * those of its task that came before it in a run, or that stand before it in the graph where no run saw both.
 */
export function findUnfitSteps(
  matches: readonly Match[],
  files: { isIntact(output: Output): boolean; factsOf?: ((output: Output) => MediaFacts | undefined) | undefined },
): ReadonlyMap<string, Unfit> {
  const { isIntact, factsOf } = files;
  const tasks = new Map<string, SeenPictures>();
  const sameAs = ({ step }: Match, outputs: readonly Output[]) => {
    const looks = step.expect?.same === false && factsOf !== undefined ? firstLooks(outputs, factsOf) : undefined;
    if (looks === undefined) return undefined;
    const seen = tasks.get(step.task) ?? new SeenPictures();
    tasks.set(step.task, seen);
    return seen.add(step.address, looks);
  };
  const unfit = new Map<string, Unfit>();
  const expecting = matches.filter(({ step }) => step.expect !== undefined);
  for (const match of firstComers(expecting, ({ purchase }) => purchase?.outputs)) {
    const { step, purchase } = match;
    const outputs = purchase?.state === 'done' ? (purchase.outputs ?? []) : [];
    if (!outputs.every(isIntact)) continue;
    const found = findUnfit(step.expect, outputs, { factsOf, same: sameAs(match, outputs) });
    if (found !== undefined) unfit.set(step.address, found);
  }
  return unfit;
}
