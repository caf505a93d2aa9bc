import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { writeSealedFile } from '../../src/disk/state/sealed-file.ts';
import { readLines, root } from '../rig/command.ts';
import { makeTrial, type Trial } from '../rig/trial.ts';

const manifest = `version: 1
name: spring
include: [more.yaml]
vars: { word: oak }
tasks:
  hero: { kind: image, foreach: products.csv, key: "{{row.sku}}", with: { prompt: "{{row.name}} on {{vars.word}}", resolution: 1k }, save: "{{row.sku}}" }
  logo: { kind: upload, with: { file: logo.png } }
`;
const included = `tasks:
  cover: { kind: image, foreach: "notes/*.txt", key: "{{row.stem}}", with: { prompt: "A cover", resolution: 1k } }
`;
const products = 'sku,name\nlamp,Aurora Lamp\nvase,Tide Vase\n';
const seenFile = '.mediabatch/campaign.lock.jsonl.seen';
/** A number that no plan comes to: whoever says it has it from the finding. */
const told = 777;

interface Finding {
  finding?: { steps: number };
}

/** A campaign of which everything is there, and a run that has found that out and kept it. */
async function makeDone(): Promise<Trial> {
  const trial = await makeTrial(manifest);
  // The finding is sealed with the secret of the trial's user.
  vi.stubEnv('XDG_STATE_HOME', trial.sandbox.env.XDG_STATE_HOME);
  onTestFinished(() => void vi.unstubAllEnvs());
  mkdirSync(trial.path('notes'));
  trial.write('notes/one.txt', 'one');
  trial.write('more.yaml', included);
  trial.write('products.csv', products);
  trial.write('logo.png', 'not much of a picture\0');
  await trial.run(['apply', 'campaign.yaml', '--yes'], { ends: 0 });
  // What has changed in the last seconds is not gone by, so it takes some runs.
  for (let runs = 0; runs < 60; runs += 1) {
    await wait(250);
    const again = await trial.run(['apply', 'campaign.yaml']);
    expect(again, again.err).toMatchObject({ code: 0, err: expect.stringMatching(/^Nothing to do: all 4 steps/) });
    if (!existsSync(trial.path(seenFile))) continue;
    const [, text = ''] = readFileSync(trial.path(seenFile), 'utf8').split('\n');
    const kept = JSON.parse(text) as Finding;
    if (kept.finding === undefined) continue;
    kept.finding.steps = told;
    await writeSealedFile(trial.path('.mediabatch'), basename(seenFile), JSON.stringify(kept));
    return trial;
  }
  return expect.fail('no run kept what it found');
}

const isTold = ({ err }: { err: string }) => err.startsWith(`Nothing to do: all ${told} steps are up to date`);

test('a run that finds no change prints the same result at once; any difference makes it plan', async () => {
  const trial = await makeDone();
  const { path, write } = trial;
  const bought = trial.sandbox.ledger().length;
  const edit = (name: string, change: (text: string) => string) => () =>
    write(name, change(readFileSync(path(name), 'utf8')));
  const remove = (name: string) => () => rmSync(path(name));
  const lock = 'campaign.lock.jsonl';
  const guard = `.mediabatch/${lock}.guard`;
  interface Case {
    what: string;
    change?(): void;
    args?: string[];
    env?: Record<string, string>;
  }
  const cases: Case[] = [
    { what: 'the manifest', change: edit('campaign.yaml', (text) => text.replace('spring', 'summer')) },
    { what: 'an included file', change: edit('more.yaml', (text) => text.replace('A cover', 'Two covers')) },
    { what: 'a row', change: edit('products.csv', (text) => `${text}rug,Dune Rug\n`) },
    { what: 'a file that a pattern matches', change: () => write('notes/two.txt', '') },
    { what: 'the bytes of an upload', change: edit('logo.png', (text) => `${text}!`) },
    { what: 'a variable', args: ['--var', 'word=ash'] },
    { what: 'a variable of the environment', env: { MEDIABATCH_VAR_word: 'ash' } },
    { what: 'an option', args: ['--max-credits', '9'] },
    { what: 'another service', env: { MEDIABATCH_BASE_URL: 'http://127.0.0.1:9/api/v1' } },
    { what: 'a changed output', change: edit('lamp.png', (text) => `${text.slice(0, -1)}!`) },
    { what: 'an output that is gone', change: remove('lamp.png') },
    { what: 'a lock without its last record', change: edit(lock, (text) => text.replace(/\n[^\n]*\n$/, '\n')) },
    { what: 'a lock that is gone', change: remove(lock) },
    { what: 'a finding that was not kept here', change: edit(seenFile, (text) => text.split('\n')[1] ?? '') },
    { what: 'a finding of another person', env: { XDG_STATE_HOME: path('.') } },
    { what: 'a guard that nobody can read', args: ['--lock-timeout', '0'], change: () => write(guard, '?') },
  ];
  const files = ['campaign.yaml', 'more.yaml', 'products.csv', 'logo.png', 'lamp.png', lock, seenFile];
  const before = files.map((name) => [name, readFileSync(path(name))] as const);
  const restore = () => {
    for (const [name, bytes] of before) writeFileSync(path(name), bytes);
    for (const name of ['notes/two.txt', guard]) rmSync(path(name), { force: true });
  };
  for (const { what, change, args = [], env } of cases) {
    change?.();
    const changed = await trial.run(['apply', 'campaign.yaml', ...args], { ...(env && { env }) });
    expect(isTold(changed), `${what}: ${changed.err}`).toBe(false);
    restore();
    const again = await trial.run(['apply', 'campaign.yaml', '--yes']);
    expect([again.code, isTold(again)], `${what}, undone: ${again.err}`).toEqual([0, true]);
  }
  expect(trial.sandbox.ledger()).toHaveLength(bought);
});

test('an unfit output counts as failed for every command, and accepting it is free', async () => {
  const manifest = `version: 1
name: fit
tasks:
  pic:
    kind: image
    foreach: [a, b, c]
    with: { prompt: "{{row}}", aspectRatio: "1:1", resolution: 1k }
    expect: { ratio: "16:9" }
    save: pics/{{row}}
`;
  const trial = await makeTrial(manifest);
  const first = await trial.apply();
  expect(first.code).toBe(3);
  // Reasons that differ only in their path are one.
  expect(first.err).toMatch(
    /3 steps {2}… does not fit `expect`: it is 1024 × 1024 px, which is not 16:9; the file was saved/,
  );
  expect(first.err).toContain(
    'if `expect` is too strict, change it: files that then fit count as done, for 0 credits\n  the outputs are paid and stored; to accept them, for 0 credits: mediabatch accept campaign.yaml --select state:failed\n',
  );
  expect(first.err).toContain('to buy the steps again: mediabatch apply campaign.yaml --redo state:failed\n');

  const plan = await trial.run(['plan']);
  expect(plan.out).toContain('3 failed');
  const status = await trial.run(['status']);
  expect(status.out).toContain('fit: 0 of 3 steps done');
  expect(status.out).toContain('3 failed');
  expect(status.out).toContain('mediabatch accept campaign.yaml --select state:failed');
  const { failed, delivered, spent } = JSON.parse((await trial.run(['cost', '--json'])).out).totals;
  expect({ failed, delivered }).toEqual({ failed: spent, delivered: 0 });
  expect(spent).toBeGreaterThan(0);
  const redo = JSON.parse((await trial.run(['plan', '--redo', 'state:failed', '--json'])).out);
  expect(redo.rows.map(({ action }: { action: string }) => action)).toEqual(['redo', 'redo', 'redo']);

  const accepted = await trial.run(['accept', 'pic@a', '-s', 'pic@b']);
  expect([accepted.code, accepted.err]).toEqual([0, expect.stringContaining('although `expect` is not met')]);
  const after = JSON.parse((await trial.run(['plan', '--json'])).out);
  expect(after.rows.map(({ action }: { action: string }) => action)).toEqual(['keep', 'keep', 'failed']);
  expect((await trial.run(['explain', 'pic@a'])).out).toContain('up to date');
  expect((await trial.run(['status'])).out).toContain('fit: 2 of 3 steps done');
  expect(JSON.parse((await trial.run(['cost', '--json'])).out).totals).toMatchObject({
    failed: spent / 3,
    delivered: (spent / 3) * 2,
  });
  // The acceptance was about this file: a new file is checked again.
  const again = await trial.apply(['--redo', 'pic@a']);
  expect(again.code).toBe(3);
  expect(again.err).toMatch(/pic@a {2}pics\/a\.png does not fit/);
  expect(trial.sandbox.ledger()).toHaveLength(4);
});

const campaign = `version: 1
name: changed
tasks:
  pic: { kind: image, foreach: [a, b, c], matrix: { ratio: ["1:1", "9:16"] }, with: { prompt: "red {{row}}", resolution: 1k, aspectRatio: "{{matrix.ratio}}" } }
  over: { kind: image, foreach: [a, b], with: { prompt: "over {{row}}", resolution: 1k, referenceImages: ["{{tasks.pic.url}}"] }, from: { pic: { ratio: "9:16" } } }
  song: { kind: music, foreach: [s, t], with: { model: song-7.5, prompt: "{{row}}" } }
`;

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

describe('apply does what plan shows', () => {
  test.each([
    ['nothing changed', campaign],
    ['another prompt', campaign.replace('red', 'blue')],
    ['other rows', campaign.replace('[a, b, c]', '[b, d, a]')],
    ['another shape', campaign.replace('"1:1", "9:16"', '"9:16", "16:9"')],
    ['one task fewer', campaign.replace(/ {2}over.*\n/, '')],
    ['takes', campaign.replace('pic: { kind', 'pic: { takes: 2, kind').replace('"9:16" } }', '"9:16", take: 1 } }')],
  ])('after an earlier one was applied: %s', async (_change, after) => {
    const trial = await makeTrial(campaign);
    await trial.apply([], { ends: 0 });
    trial.write('campaign.yaml', after);
    const lock = readFileSync(trial.path('campaign.lock.jsonl'));
    const planned = await trial.run(['plan', 'campaign.yaml', '--json'], { ends: 0 });
    expect(readFileSync(trial.path('campaign.lock.jsonl'))).toEqual(lock);
    const plan = JSON.parse(planned.out) as { rows: { address: string; action: string }[] };
    expectValid('plan', plan);
    await trial.apply([], { ends: 0 });
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
  });
});
