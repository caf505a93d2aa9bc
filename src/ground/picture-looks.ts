/** Appearance of a picture, reduced to what can be compared. */
export interface Looks {
  /** 64 bits as 16 hex digits; pictures that look alike differ in few. Undefined: it has a single color. */
  hash?: string;
  /** Its width divided by its height. */
  shape: number;
}

/** The two halves of 64 bits. */
export type Hash = readonly [high: number, low: number];

/** The bits in which hashes may differ, at most, to be found as neighbours. */
export const widestRadius = 4;

/** Pictures whose shapes differ by a larger part than this are not compared: one picture in two formats is no waste. */
const sameShape = 0.02;

export function isSameShape(one: number, other: number): boolean {
  return Math.abs(one - other) <= sameShape * Math.max(one, other);
}

export function readHash(hex: string): Hash {
  return [Number.parseInt(hex.slice(0, 8), 16), Number.parseInt(hex.slice(8), 16)];
}

/** Number of bits in which two hashes differ. */
export function distanceOf([high, low]: Hash, [otherHigh, otherLow]: Hash): number {
  return bitsIn(high ^ otherHigh) + bitsIn(low ^ otherLow);
}

/** Returns the distance of the two that differ most. */
export function widestDistance(hashes: readonly Hash[]): number {
  const distinct = [...new Map(hashes.map((hash) => [hash.join(), hash])).values()].slice(0, mostCompared);
  let widest = 0;
  for (const [index, one] of distinct.entries()) {
    for (const other of distinct.slice(index + 1)) widest = Math.max(widest, distanceOf(one, other));
  }
  return widest;
}

/** Most that differ, and are near the same one, that are compared each with each. */
const mostCompared = 200;

/**
 * Finds a hash within a few bits of another. Of hashes that are so near at least one of `widestRadius + 1` bands of bits is
 * the same: only those are looked at.
 */
export class Neighbours<T> {
  readonly #radius: number;
  readonly #bands: Map<number, { hash: Hash; value: T }[]>[] = bands.map(() => new Map());

  /** `radius`: in bits, `widestRadius` at most. */
  constructor(radius: number) {
    this.#radius = radius;
  }

  add(hash: Hash, value: T): void {
    for (const [index, band] of this.#bands.entries()) {
      const key = bandOf(hash, index);
      const known = band.get(key);
      if (known === undefined) band.set(key, [{ hash, value }]);
      else known.push({ hash, value });
    }
  }

  /** The nearest of those that fit, the first of several. */
  find(hash: Hash, fits: (value: T) => boolean): T | undefined {
    let nearest: { distance: number; value: T } | undefined;
    for (const [index, band] of this.#bands.entries()) {
      for (const { hash: other, value } of band.get(bandOf(hash, index)) ?? []) {
        const distance = distanceOf(hash, other);
        if (distance > this.#radius || distance >= (nearest?.distance ?? Infinity) || !fits(value)) continue;
        nearest = { distance, value };
      }
      if (nearest?.distance === 0) break;
    }
    return nearest?.value;
  }
}

/** First bit and number of bits of each band: 64 bits in five. */
const bands: readonly (readonly [from: number, length: number])[] = [
  [0, 13],
  [13, 13],
  [26, 13],
  [39, 13],
  [52, 12],
];

function bandOf([high, low]: Hash, index: number): number {
  const [from, length] = bands[index] ?? [0, 0];
  const bits = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  return Number(BigInt.asUintN(length, bits >> BigInt(64 - from - length)));
}

/** Counts the bits that are set, of 32. */
function bitsIn(value: number): number {
  let bits = value - ((value >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
