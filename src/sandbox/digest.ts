import { createHash } from 'node:crypto';

/** Returns the SHA-256 of the parts in hex. Their boundaries and order count. */
export function digest(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Returns a number from 0 to below 1 that depends only on the seed (a hex digest) and the place (0 to 7). */
export function lot(seed: string, place: number): number {
  return Number.parseInt(seed.slice(place * 8, place * 8 + 8), 16) / 2 ** 32;
}
