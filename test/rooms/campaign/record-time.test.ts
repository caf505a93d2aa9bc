import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { historyLines } from '../../../src/campaign/find-run.ts';
import { TimeLines, ToldTimes } from '../../../src/campaign/record-time.ts';
import type { RunFact } from '../../../src/contract/event.ts';
import type { Json } from '../../../src/ground/json.ts';
import type { Remaining } from '../../../src/report/run/run-time.ts';
import { root } from '../../rig/command.ts';
import { at } from '../report/samples.ts';

const ajv = new Ajv2020({ strict: false });
ajv.addFormat('date-time', true);
const isRunLine = ajv.compile(JSON.parse(readFileSync(join(root, 'schemas/run.schema.json'), 'utf8')));

const begun = (address: string) =>
  at(0, { event: 'step-started', address, task: 'hero', kind: 'image', action: 'create' } as RunFact);
const ended = (address: string) =>
  at(0, { event: 'step-finished', address, task: 'hero', outcome: 'done', credits: 2 } as RunFact);

/** What the history says of time, as it is read back. */
function hear(told: ToldTimes, ...lines: (Json | undefined)[]): ToldTimes {
  for (const line of historyLines(JSON.parse(JSON.stringify(lines))))
    if ('mediabatch' in line && line.mediabatch === 'run-time') told.hear(line);
  return told;
}

test('what is said of time is written when it changes, and read as it was said', () => {
  let remaining: Remaining | undefined;
  const lines = new TimeLines({ remaining: () => remaining, usual: (address) => (address === 'b' ? undefined : 1500) });
  const told = new ToldTimes();
  const say = () => {
    const line = lines.next(0);
    if (line === undefined) return false;
    expect(isRunLine(line), JSON.stringify(isRunLine.errors)).toBe(true);
    hear(told, line as unknown as Json);
    return true;
  };
  expect(say()).toBe(false);
  for (const next of ['unknown', 'overdue', { low: 1.5, high: 60 }, { low: 0, high: 1, until: 'gate' }] as const) {
    remaining = next;
    expect(say()).toBe(true);
    expect(told.remaining()).toEqual(next);
    expect(say()).toBe(false);
  }
  for (const address of ['a', 'b']) lines.on(begun(address));
  expect(say()).toBe(true);
  expect([told.usual('a'), told.usual('b'), told.remaining()]).toEqual([1500, undefined, remaining]);
  remaining = undefined;
  expect(lines.next(0)).not.toHaveProperty('usualMs');
});

test('what is no longer known is no longer said', () => {
  let remaining: Remaining | undefined = 'overdue';
  const lines = new TimeLines({ remaining: () => remaining, usual: () => undefined });
  const told = new ToldTimes();
  hear(told, lines.next(0) as unknown as Json);
  remaining = undefined;
  hear(told, lines.next(0) as unknown as Json);
  expect(told.remaining()).toBe(undefined);
});

test('of a job that has ended nothing is said', () => {
  const lines = new TimeLines({ remaining: () => 'unknown', usual: () => 1500 });
  for (const address of ['a', 'b']) lines.on(begun(address));
  lines.on(ended('a'));
  expect(lines.next(0)).toMatchObject({ usualMs: { b: 1500 } });
});

test('of many jobs only the time left is said', () => {
  const lines = new TimeLines({ remaining: () => 'unknown', usual: () => 1500 });
  for (let index = 0; index < 51; index++) lines.on(begun(`hero@${index}`));
  expect(lines.next(0)).not.toHaveProperty('usualMs');
});

test('what has no sense is left out', () => {
  const after = (...lines: Json[]) => hear(new ToldTimes(), ...lines);
  const line = (more: { [name: string]: Json }) => ({ mediabatch: 'run-time', version: 1, at: '2026-01-01', ...more });
  for (const remaining of ['soon', { lowMs: -1, highMs: 1 }, { lowMs: 2, highMs: 1 }, { lowMs: 1 }, [1, 2], null]) {
    expect(after(line({ remaining })).remaining()).toBe(undefined);
  }
  for (const wrong of ['1', -1, null]) expect(after(line({ usualMs: { a: wrong } })).usual('a')).toBe(undefined);
  const odd = after(line({ usualMs: { a: 1e12, c: 5 } }));
  expect(['a', 'c', 'toString'].map((address) => odd.usual(address))).toEqual([undefined, 5, undefined]);
  expect(after(line({ remaining: { lowMs: 1, highMs: 1e12 } })).remaining()).toBe(undefined);
  expect(after(line({ remaining: { lowMs: 1, highMs: 5 } })).remaining()).toEqual({ low: 0.001, high: 0.005 });
  const others = [null, [], 'run-time', { mediabatch: 'run' }, { remaining: 'overdue' }];
  expect(after(line({ remaining: 'unknown' }), ...others).remaining()).toBe('unknown');
});
