import { smaller } from './join-purchases.ts';
import type { Lock } from './record.ts';
import { joinUnknown } from './unknown-fields.ts';

/** Facts that a header states beside the version of the format. */
export type Header = Pick<Lock, 'writtenBy' | 'service' | 'unknownFields'>;

/** Accepts a version such as `0.2.0`, `1.0` or `2.0.0-rc.1`. */
export function isProgramVersion(text: unknown): text is string {
  return typeof text === 'string' && /^\d{1,9}(\.\d{1,9}){0,3}(-[0-9A-Za-z.-]{1,64})?$/.test(text);
}

/** Joins two headers: commutative, associative, idempotent. Of two services the smaller digest stays. */
export function joinHeaders(a: Header, b: Header): Header {
  const service = smaller(a.service, b.service);
  const writtenBy = newestVersion(a.writtenBy, b.writtenBy);
  return {
    ...(writtenBy !== undefined && { writtenBy }),
    ...(service !== undefined && { service }),
    ...joinUnknown(a, b),
  };
}

/** The newer of two versions of this program; a lock keeps the newest that has written it. */
export function newestVersion(a: string | undefined, b: string | undefined): string | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return compareVersions(a, b) >= 0 ? a : b;
}

/** Total order: by numbers, a release after what came before it, and equal ones by their text. */
export function compareVersions(a: string, b: string): number {
  const [one, other] = [partsOf(a), partsOf(b)];
  for (const [index, number] of one.numbers.entries()) {
    const difference = number - (other.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if ((one.before === '') !== (other.before === '')) return one.before === '' ? 1 : -1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function partsOf(version: string): { numbers: number[]; before: string } {
  const [release = '', ...before] = version.split('-');
  const [major = 0, minor = 0, patch = 0, build = 0] = release.split('.').map(Number);
  return { numbers: [major, minor, patch, build], before: before.join('-') };
}
