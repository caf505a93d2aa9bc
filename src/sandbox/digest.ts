import { createHash } from 'node:crypto';

/** SHA-256 of the parts, hex. What they mean together is in their order and number. */
export function digest(...parts: string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
