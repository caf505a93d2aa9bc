import { createHash } from 'node:crypto';

/** Returns SHA-256 in hex. The digest depends on the order and the boundaries of the parts. */
export function digest(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Returns a number from 0 (inclusive) to 1 (exclusive). `seed`: hex digest. `place`: 0 to 7. */
export function lot(seed: string, place: number): number {
  return Number.parseInt(seed.slice(place * 8, place * 8 + 8), 16) / 2 ** 32;
}
