import type { Format, KeywordDefinition } from 'ajv';
import type { LinearPattern } from '../check/linear-pattern.ts';
import { effortKeyword } from '../check/metered-schema.ts';

export class TooMuchEffort extends Error {}

/** Limit for one value: far more than any row needs, and done within a second. */
const mostSteps = 1_000_000;
/** Time limit for all values of one schema, and the time that each value adds to it. */
const firstMs = 3000;
const eachMs = 0.2;
const stepsBetweenLooks = 1000;
/** Limit on the length of a text times the size of a pattern, because a match cannot be interrupted. */
const mostStatesSeen = 50_000_000;

/** Work spent on checking values with one schema. A step takes a few microseconds at most. */
export class Effort {
  readonly #now: () => number;
  #stepsLeft = mostSteps;
  #nextLook = mostSteps;
  #msLeft = firstMs;
  #begunAt = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  begin(): void {
    this.#stepsLeft = mostSteps;
    this.#nextLook = mostSteps - stepsBetweenLooks;
    this.#begunAt = this.#now();
    if (this.#msLeft <= 0) throw new TooMuchEffort();
  }

  end(): void {
    this.#msLeft += eachMs - (this.#now() - this.#begunAt);
  }

  spend(steps: number): void {
    this.#stepsLeft -= steps;
    if (this.#stepsLeft < 0) throw new TooMuchEffort();
    if (this.#stepsLeft > this.#nextLook) return;
    this.#nextLook = this.#stepsLeft - stepsBetweenLooks;
    if (this.#now() - this.#begunAt > this.#msLeft) throw new TooMuchEffort();
  }
}

/** Counts each use of a part of a schema: by the size of the part, and by the size of the value that it checks. */
export function countedParts(effort: Effort): KeywordDefinition {
  return {
    keyword: effortKeyword,
    before: '$ref',
    schemaType: 'number',
    validate: (written: number, value: unknown, part?: { uniqueItems?: unknown; patternProperties?: object }) => {
      const size = sizeOf(value);
      const compared = part?.uniqueItems === true && Array.isArray(value) ? size * size : 0;
      const names = part?.patternProperties === undefined ? 1 : 1 + Object.keys(part.patternProperties).length;
      effort.spend(1 + (written + size * names) / 16 + compared / 64);
      return true;
    },
  };
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length / 64;
  if (Array.isArray(value)) return value.length;
  return value !== null && typeof value === 'object' ? Object.keys(value).length : 0;
}

export function countedPattern(
  { test, size }: LinearPattern,
  { pattern, effort }: { pattern: string; effort: Effort },
) {
  return {
    test(text: string): boolean {
      const states = text.length * size;
      effort.spend(states > mostStatesSeen ? Number.POSITIVE_INFINITY : 1 + states / 1024);
      return test(text);
    },
    // The validator distinguishes patterns by this string.
    toString: () => pattern,
  };
}

/** Counts the work of formats. Their patterns backtrack, but take at most quadratic time. */
export function countedFormat(format: Format, effort: Effort): Format {
  const spend = (text: unknown) => {
    if (typeof text === 'string') effort.spend(1 + (text.length * text.length) / 256);
  };
  if (typeof format === 'string' || format instanceof RegExp) {
    const expression = new RegExp(format);
    return (text: string) => {
      spend(text);
      return expression.test(text);
    };
  }
  if (typeof format === 'function') {
    return (text: string) => {
      spend(text);
      return format(text);
    };
  }
  return format;
}
