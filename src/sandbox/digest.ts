import { createHash } from 'node:crypto';

/** SHA-256 of the parts, hex. What they mean together is in their order and number. */
export function digest(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** A number from 0 to below 1, the same for the same seed (a hex digest) and place (0 to 7). */
export function lot(seed: string, place: number): number {
  return Number.parseInt(seed.slice(place * 8, place * 8 + 8), 16) / 2 ** 32;
}
