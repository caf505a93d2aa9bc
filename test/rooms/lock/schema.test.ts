import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Schema, withoutNotes } from '../../../schemas/schema.ts';
import type { Json } from '../../../src/ground/json.ts';
import { joinParts, lineOf } from '../../../src/lock/join.ts';
import type { LockLine, Purchase } from '../../../src/lock/record.ts';
import { writeLine, writeLock } from '../../../src/lock/write.ts';
import { runs } from '../../rig/runs.ts';
import { golden, good, header, lock, purchase, read } from './records.ts';

const recordOfRun = purchase.map((one) => joinParts('hero', [{ kind: 'image', purchases: [one] }]));

const open = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../schemas/${name}`, import.meta.url), 'utf8')) as Schema;
const schema = open('lock.schema.json') as { $defs: Record<string, { properties: object }> };
const validate = new Ajv2020({ allErrors: true, strictRequired: false }).compile(schema);
const purchaseFields = Object.keys(schema.$defs.purchase?.properties ?? {});
const lineFields = ['address', ...purchaseFields, 'decisions', 'earlier', 'closes'];

/** A purchase that has every field that its state may have. */
const output = { path: 'a.png', sha256: '0'.repeat(64), bytes: 1, type: 'image/png', edited: true as const };
const told = { fingerprint: '1:aa', generation: 1, attempt: 1, key: 'k', take: 1, request: { prompt: 'x' } };
const full: { send: Purchase; refusal: Purchase; job: Purchase } = {
  send: {
    ...{ ...told, kind: 'music', state: 'unresolved', send: 's1', account: 'a1', digest: 'd1', fence: 'job-0' },
    ...{ since: '2030-01-01T00:00:00Z', resent: true, keyKnown: true, writtenOff: true, forgotten: true, error: 'no' },
  },
  refusal: { ...told, kind: 'music', state: 'refused', decided: true, error: 'no' },
  job: {
    ...{ ...told, kind: 'music', state: 'done', jobId: 'job-1', credits: 3, outputs: [output], revision: 2 },
    ...{ recordId: 'rec', url: 'https://a.example/', forgotten: true },
  },
};
const fullLine: LockLine = {
  ...{ ...full.send, address: 'hero', kind: 'image', earlier: [full.job, full.refusal, full.send], closes: ['s2'] },
  decisions: {
    pin: { fingerprint: '1:aa', revision: 1 },
    accepted: [{ wanted: '1:bb', fingerprint: '1:aa', revision: 1 }],
    verdicts: [{ fingerprint: '1:aa', job: 'job-1', is: 'picked', note: 'the warm one', revision: 1 }],
    sends: ['s3'],
  },
};

/** What a schema cannot say, and the reader does: ids that mean folders, days that are none, logins, depth. */
const crossing = /"(jobId|recordId)" that is not an id|"fence" that is not an id|"since"|"url"|"request"/;

describe('the schema', () => {
  it('accepts every line that is written', () => {
    fc.assert(
      fc.property(lock, (value) => {
        for (const line of `${writeLock(value)}${golden}`.trimEnd().split('\n')) {
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
          const line = writeLine({ ...lineOf(record), ...closes } as LockLine);
          expect(validate(JSON.parse(line)), `${line} ${JSON.stringify(validate.errors)}`).toBe(true);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('is what the reader goes by, for lines with any mistake', () => {
    const odd = fc.oneof(
      fc.constantFrom<Json>('', 'a b', '..', '.', 'x', 7, 0, -1, 0.5, 1e9 + 1, 2 ** 53, null, true, false),
      fc.constantFrom<Json>([], {}, [7], [{}], 'done', 'intent', 'job-1', 'a\u007f', '2030-13-01T00:00:00Z'),
      fc.constantFrom<Json>('é'.repeat(300), 'a'.repeat(65), 'a'.repeat(129), 'a'.repeat(257), 'a'.repeat(4097)),
    );
    const lines: Json[] = [fullLine, { ...fullLine, ...full.job }, good].map((line) =>
      JSON.parse(JSON.stringify(line)),
    );
    const seen = { right: 0, wrong: 0 };
    fc.assert(
      fc.property(fc.constantFrom(...lines), fc.nat(), odd, fc.boolean(), (line, at, value, drops) => {
        const mutated = mutate(line, { at, value, drops });
        const { diagnostics } = read(`${header}${JSON.stringify(mutated)}\n`);
        const said = diagnostics.find(({ code }) => code === 'MB2001')?.message;
        const isRight = validate(mutated);
        seen[isRight ? 'right' : 'wrong'] += 1;
        if (isRight && said !== undefined) expect(said).toMatch(crossing);
        else expect(said === undefined, `${JSON.stringify(mutated)}: ${said}`).toBe(isRight);
      }),
      { numRuns: runs(3000) },
    );
    expect(Math.min(seen.right, seen.wrong)).toBeGreaterThan(runs(3000) / 10);
  });

  it('has the fields of a line in the order in which they are written, and a line has all of them', () => {
    const written = JSON.parse(writeLine(fullLine)) as LockLine;
    expect(validate(written), JSON.stringify(validate.errors)).toBe(true);
    expect(Object.keys(written)).toEqual(lineFields.filter((field) => field in fullLine));
    expect(written).toEqual(fullLine);
    const [job, ...others] = written.earlier ?? [];
    expect(Object.keys(job ?? {})).toEqual(purchaseFields.filter((field) => field in full.job));
    expect(new Set([job, ...others].flatMap((one) => Object.keys(one ?? {})))).toEqual(new Set(purchaseFields));
  });

  it('has no field that a join loses', () => {
    for (const { kind, ...one } of Object.values(full)) {
      const again = joinParts('hero', [
        { kind: 'image', purchases: [one] },
        { kind: 'image', purchases: [one] },
      ]);
      expect(again.purchases).toEqual([one]);
    }
  });

  it('takes fields that it does not describe', () => {
    expect(validate({ ...good, colour: 'red' })).toBe(true);
  });

  it('is made from the base, and nothing of our own notes is published', () => {
    expect(schema, 'run `npm run generate` and commit the schema').toEqual(withoutNotes(open('lock.base.json')));
  });

  it.each([
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
        if (key === 'properties' && !/\/(if|then)$/.test(path)) {
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

/** The same line with one value replaced, or taken out. */
function mutate(line: Json, how: { at: number; value: Json; drops: boolean }): Json {
  const copy = structuredClone(line);
  const places: [parent: { [key: string]: Json }, key: string][] = [];
  const walk = (parent: Json) => {
    if (typeof parent !== 'object' || parent === null) return;
    for (const [key, item] of Object.entries(parent)) {
      places.push([parent as { [key: string]: Json }, key]);
      walk(item);
    }
  };
  walk(copy);
  const [parent, key] = places[how.at % places.length] ?? [];
  if (parent === undefined || key === undefined) throw new Error('nothing to change');
  if (how.drops && !Array.isArray(parent)) delete parent[key];
  else parent[key] = how.value;
  return copy;
}
