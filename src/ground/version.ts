export function isProgramVersion(text: unknown): text is string {
  return typeof text === 'string' && /^\d{1,9}(\.\d{1,9}){0,3}(-[0-9A-Za-z.-]{1,64})?$/.test(text);
}

/** Compares version numbers. A prerelease sorts before its release. */
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

const conditionForm = /^(>=|<|\^)(\d{1,9}(?:\.\d{1,9}){0,2})$/;

/** Returns `undefined` for an invalid range. `^1` rejects 2.0.0-rc.1, a prerelease of its upper bound. */
export function fitsRange(version: string, range: string): boolean | undefined {
  let fits = true;
  for (const condition of range.trim().split(/\s+/)) {
    const [, sign, bound = ''] = conditionForm.exec(condition) ?? [];
    if (sign === undefined) return undefined;
    if (sign !== '<') fits &&= compareVersions(version, bound) >= 0;
    if (sign !== '>=') fits &&= isBelow(version, sign === '<' ? bound : endOfCaret(bound));
  }
  return fits;
}

function isBelow(version: string, bound: string): boolean {
  const [release = ''] = version.split('-');
  return compareVersions(release, bound) < 0;
}

/** Returns the exclusive upper bound of `^`: 1.2 gives 2, 0.3 gives 0.4. */
function endOfCaret(bound: string): string {
  const numbers = bound.split('.').map(Number);
  const first = numbers.findIndex((number) => number !== 0);
  const raised = first === -1 ? numbers.length - 1 : first;
  return [...numbers.slice(0, raised), (numbers[raised] ?? 0) + 1].join('.');
}
