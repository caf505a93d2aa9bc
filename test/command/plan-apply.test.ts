import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readLines, root } from '../rig/command.ts';
import { makeTrial } from '../rig/trial.ts';

/** Campaigns of every shape that a plan knows, from numbers alone. */
const campaigns = fc.record({
  rows: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1, maxLength: 4 }),
  ratios: fc.uniqueArray(fc.constantFrom('1:1', '9:16', '16:9'), { minLength: 1, maxLength: 2 }),
  takes: fc.integer({ min: 1, max: 2 }),
  songs: fc.integer({ min: 0, max: 2 }),
  over: fc.boolean(),
  words: fc.constantFrom('red', 'blue'),
});

type Campaign = typeof campaigns extends fc.Arbitrary<infer T> ? T : never;

function manifestOf({ rows, ratios, takes, songs, over, words }: Campaign): string {
  const song =
    songs === 0
      ? ''
      : `
  song: { kind: music, foreach: [${Array.from({ length: songs }, (_, index) => `s${index}`)}], with: { model: song-7.5, prompt: "{{row}}" } }`;
  const second = over
    ? `
  over: { kind: image, foreach: [${rows}], with: { prompt: "over {{row}}", resolution: 1k, referenceImages: ["{{tasks.pic.url}}"] }, from: { pic: { ratio: "${ratios[0]}", take: 1 } } }`
    : '';
  return `version: 1
name: generated
tasks:
  pic: { kind: image, takes: ${takes}, foreach: [${rows}], matrix: { ratio: [${ratios.map((ratio) => `"${ratio}"`)}] }, with: { prompt: "${words} {{row}}", resolution: 1k, aspectRatio: "{{matrix.ratio}}" } }${second}${song}
`.replace(takes === 1 ? ', take: 1' : '\u0000', '');
}

/** What is written for other programs, held against its published schema. */
const ajv = new Ajv2020({ allErrors: true, strict: false });
ajv.addFormat('date-time', true);
const schemaOf = (name: string) =>
  ajv.compile(JSON.parse(readFileSync(join(root, `schemas/${name}.schema.json`), 'utf8')));
const schemas = { plan: schemaOf('plan'), event: schemaOf('event'), lock: schemaOf('lock') };

function expectValid(name: keyof typeof schemas, value: unknown): void {
  const validate = schemas[name];
  expect(validate(value), JSON.stringify({ value, errors: validate.errors }, null, 2)).toBe(true);
}

describe('apply does what plan says', () => {
  test('for six generated campaigns, each after an earlier one was applied', async () => {
    const pairs = fc.sample(fc.tuple(campaigns, campaigns), { numRuns: 6, seed: 20_260_101 });
    for (const [before, after] of pairs) {
      const trial = await makeTrial(manifestOf(before));
      const first = await trial.apply();
      expect(first.code, first.err).toBe(0);
      trial.write('campaign.yaml', manifestOf(after));
      const lock = readFileSync(trial.path('campaign.lock.jsonl'));
      const planned = await trial.run(['plan', 'campaign.yaml', '--json']);
      expect(planned.code, planned.err).toBe(0);
      expect(readFileSync(trial.path('campaign.lock.jsonl'))).toEqual(lock);
      const plan = JSON.parse(planned.out) as { rows: { address: string; action: string }[] };
      expectValid('plan', plan);
      const applied = await trial.apply();
      expect(applied.code, applied.err).toBe(0);
      const taken = trial
        .events()
        .flatMap(({ event, address, action }) =>
          event === 'step-started' || event === 'step-left' ? [[address, action]] : [],
        );
      expect(Object.fromEntries(taken)).toEqual(
        Object.fromEntries(plan.rows.map(({ address, action }) => [address, action])),
      );
      expect(taken).toHaveLength(plan.rows.length);
      for (const event of trial.events()) expectValid('event', event);
      for (const line of readLines(trial.path('campaign.lock.jsonl'))) expectValid('lock', line);
    }
  }, 120_000);
});
