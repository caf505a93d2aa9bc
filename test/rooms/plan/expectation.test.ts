import { describe, expect, test } from 'vitest';
import { aspectsOf, findUnmet } from '../../../src/plan/outputs/expectation.ts';

const output = { path: 'a.png', sha256: '0'.repeat(64), bytes: 1000, type: 'image/png' };
const wide = { width: 1920, height: 1080 };

describe('what a file is expected to be', () => {
  test.each([
    [{ width: { min: 1920, max: 1920 } }, wide, []],
    [{ width: { min: 2000 } }, wide, ['its width is 1920 px, wanted at least 2000 px']],
    [{ height: { max: 1000 } }, wide, ['its height is 1080 px, wanted at most 1000 px']],
    [{ height: { min: 1, max: 9 } }, wide, ['its height is 1080 px, wanted 1 to 9 px']],
    [{ ratio: '16:9' }, wide, []],
    [{ ratio: '16:9' }, { width: 1920, height: 1088 }, ['it is 1920 × 1088 px, which is not 16:9']],
    [{ ratio: '16:9' }, { width: 1360, height: 768 }, []],
    [{ width: { min: 1, max: 1 } }, wide, ['its width is 1920 px, wanted 1 px']],
    [{ ratio: '16:9' }, { width: 16 }, ['its ratio cannot be measured, wanted 16:9']],
    [{ ratio: '16:9' }, { height: 9 }, ['its ratio cannot be measured, wanted 16:9']],
    [{ ratio: '16:9' }, { width: 16, height: 0 }, ['its ratio cannot be measured, wanted 16:9']],
    [{ ratio: '1:1' }, undefined, ['its ratio cannot be measured, wanted 1:1']],
    [{ durationSeconds: { min: 4.5, max: 5.5 } }, { durationSeconds: 5.04 }, []],
    [{ durationSeconds: { max: 5 } }, { durationSeconds: 5.04 }, ['its duration is 5.04 s, wanted at most 5 s']],
    [{ durationSeconds: { max: 5 } }, wide, ['its duration cannot be measured, wanted at most 5 s']],
    [{ bytes: { max: 999 } }, undefined, ['its size is 1000 bytes, wanted at most 999 bytes']],
    [{ type: 'image/png' }, undefined, []],
    [{ type: 'image' }, undefined, []],
    [{ type: 'image/jpeg' }, undefined, ['it is image/png, wanted image/jpeg']],
    [{ type: 'imag' }, undefined, ['it is image/png, wanted imag']],
  ])('%j of %j', (expected, facts, unmet) => {
    expect(findUnmet(expected, output, facts)).toEqual(unmet);
  });

  test('only pixels and seconds have to be measured', () => {
    expect(aspectsOf(undefined)).toEqual([]);
    expect(aspectsOf({ type: 'image', bytes: { max: 1 } })).toEqual([]);
    expect(aspectsOf({ ratio: '1:1' })).toEqual(['size']);
    expect(aspectsOf({ durationSeconds: { min: 1 } })).toEqual(['size']);
  });
});
