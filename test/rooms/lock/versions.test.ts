import { describe, expect, it } from 'vitest';
import { openSends } from '../../../src/lock/sends.ts';
import { writeLock } from '../../../src/lock/write.ts';
import { golden, jobIds, read } from './records.ts';

describe('a file of version 2, the first that was released,', () => {
  it('is read as it is, byte for byte', () => {
    const reading = read(golden);
    expect(reading.diagnostics.map(({ code }) => code)).toEqual(['MB2006']);
    expect(reading.needsRewrite).toBe(false);
    expect(writeLock(reading.lock)).toBe(golden.toString());
    expect(jobIds(reading.lock)).toEqual([
      'hero@de,16:9 img_8f1',
      'hero@de,16:9 img_902',
      'hero@en/2 img_777',
      'logo up_1',
      'song mus_1',
      'song mus_2',
      'teaser img_7',
    ]);
    expect(openSends(reading.lock, new Set()).map(({ purchase }) => purchase.send)).toEqual([
      '0123456789abcdef',
      'fedcba9876543210',
    ]);
  });
});
