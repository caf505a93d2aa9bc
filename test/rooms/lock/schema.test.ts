import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { joinParts, lineOf } from '../../../src/lock/join.ts';
import { writeLine, writeLock } from '../../../src/lock/write.ts';
import { goldens, good, lock, purchase } from './records.ts';

const recordOfRun = purchase.map((one) => joinParts('hero', [{ kind: 'image', purchases: [one] }]));

describe('the schema', () => {
  const schema = JSON.parse(readFileSync(new URL('../../../schemas/lock.schema.json', import.meta.url), 'utf8'));
  const validate = new Ajv2020({ allErrors: true }).compile(schema);

  it('accepts every line that is written', () => {
    fc.assert(
      fc.property(lock, (value) => {
        for (const line of `${writeLock(value)}${goldens[2]}`.trimEnd().split('\n')) {
          expect(validate(JSON.parse(line)), `${line} ${JSON.stringify(validate.errors)}`).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('accepts every line of a run', () => {
    fc.assert(
      fc.property(recordOfRun, (record) => {
        for (const closes of [{}, { closes: ['s1', 's2'] }]) {
          const line = writeLine({ ...lineOf(record), ...closes });
          expect(validate(JSON.parse(line)), `${line} ${JSON.stringify(validate.errors)}`).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['an unknown field', { ...good, colour: 'red' }],
    ['a job without an id', { ...good, jobId: undefined }],
    ['an intent with one', { ...good, state: 'intent' }],
    ['an unknown state', { ...good, state: 'ready' }],
    ['a newer version', { mediabatch: 'lock', version: 3 }],
    ['what is closed by no id', { ...good, closes: ['a b'] }],
    ['a mark that is false', { ...good, forgotten: false }],
    [
      'a path that climbs',
      { ...good, outputs: [{ path: '../a', sha256: '0'.repeat(64), bytes: 1, type: 'image/png' }] },
    ],
  ])('refuses %s', (_name, line) => {
    expect(validate(JSON.parse(JSON.stringify(line)))).toBe(false);
  });

  it('describes every property', () => {
    const undescribed: string[] = [];
    const walk = (value: unknown, path: string) => {
      if (typeof value !== 'object' || value === null) return;
      for (const [key, item] of Object.entries(value)) {
        if (key === 'properties') {
          for (const [name, property] of Object.entries(item as Record<string, object>)) {
            if (!('description' in property)) undescribed.push(`${path}/${name}`);
          }
        }
        walk(item, `${path}/${key}`);
      }
    };
    walk(schema, '');
    expect(undescribed).toEqual([]);
  });
});
