import { describe, expect, it } from 'vitest';
import type { LockLine, Purchase, StepRecord } from '../../../src/lock/record.ts';
import { openSends } from '../../../src/lock/sends.ts';
import { writeLock } from '../../../src/lock/write.ts';
import { goldens, jobIds, read } from './records.ts';

describe('a file of version 1, as it was first written', () => {
  const reading = read(goldens[1]);

  it('is read without a word about its version, and is written anew', () => {
    expect(reading.diagnostics.map(({ code }) => code)).toEqual(['MB2006']);
    expect(reading.needsRewrite).toBe(true);
    expect(reading.tornTailAt).toBeUndefined();
  });

  it('loses no job, no send, and nothing that says what was bought', () => {
    expect(jobIds(reading.lock)).toEqual([
      'hero@de,16:9 img_8f1',
      'hero@de,16:9 img_902',
      'hero@en/2 img_777',
      'song mus_1',
      'song mus_2',
    ]);
    expect(openSends(reading.lock, new Set()).map(({ record }) => record.address)).toEqual(['poster']);
    const [first, ...lines] = goldens[1].toString().trimEnd().split('\n');
    expect(writeLock(reading.lock).split('\n')[0]).toBe(first?.replace('"version":1', '"version":2'));
    for (const line of lines) {
      const { address, earlier = [], ...newest } = JSON.parse(line) as LockLine;
      const record = reading.lock.steps.get(address);
      for (const purchase of [newest, ...earlier]) {
        // The clock of a job is of no use, and of what was refused only that nothing came of it.
        const { since, kind: _kind, ...facts } = purchase as Purchase;
        const kept = purchase.jobId === undefined && since !== undefined ? { ...facts, since } : facts;
        if (purchase.state === 'refused') expect(purchasesOf(record, purchase.fingerprint)).toHaveLength(1);
        else expect(purchasesOf(record, purchase.fingerprint)).toContainEqual(expect.objectContaining(kept));
      }
    }
  });

  it('is whole after one round trip', () => {
    const text = writeLock(reading.lock);
    const again = read(text);
    expect(again.diagnostics.map(({ code }) => code)).toEqual(['MB2006']);
    expect(again.needsRewrite).toBe(false);
    expect(writeLock(again.lock)).toBe(text);
    expect(jobIds(again.lock)).toEqual(jobIds(reading.lock));
  });

  it('names a lost create the same wherever it is read', () => {
    const [open] = openSends(read(goldens[1]).lock, new Set());
    expect(open?.purchase.send).toBe(openSends(reading.lock, new Set())[0]?.purchase.send);
    expect(open?.purchase.send).toMatch(/^v1-[0-9a-f]{16}$/);
  });
});

describe('a file of version 2, as it was first written', () => {
  it('is read as it is, byte for byte', () => {
    const reading = read(goldens[2]);
    expect(reading.diagnostics.map(({ code }) => code)).toEqual(['MB2006']);
    expect(reading.needsRewrite).toBe(false);
    expect(writeLock(reading.lock)).toBe(goldens[2].toString());
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

function purchasesOf(record: StepRecord | undefined, fingerprint: string): Purchase[] {
  return record?.purchases.filter((purchase) => purchase.fingerprint === fingerprint) ?? [];
}
