import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { killAt, makeTrial, type Trial, withFaults } from '../rig/trial.ts';

const manifest = `version: 1
name: spring
vars: { word: oak }
prices: { image: 2 }
tasks:
  hero: { kind: image, foreach: products.csv, key: "{{row.sku}}", with: { prompt: "{{row.name}} on {{vars.word}}", resolution: 1k } }
`;
const products = 'sku,name\nlamp,Aurora Lamp\nvase,Tide Vase\nrug,Dune Rug\n';
const name = 'spring.plan.json';

async function makeCampaign(text = manifest): Promise<Trial> {
  const trial = await makeTrial(text);
  trial.write('products.csv', products);
  return trial;
}

async function save(trial: Trial, options: string[] = [], out = name): Promise<{ [key: string]: unknown }> {
  const saved = await trial.run(['plan', 'campaign.yaml', '--out', out, ...options], { ends: 0 });
  expect(saved.err).toContain(`saved  ${out}; apply it: mediabatch apply ${out}`);
  return JSON.parse(readFileSync(trial.path(out), 'utf8'));
}

/** The text of a saved plan that names other purchases. */
function named(text: string, change: (purchases: { [address: string]: object }) => unknown): string {
  const document = JSON.parse(text);
  change(document.saved.purchases);
  return JSON.stringify(document, null, 2);
}

/** The text of a saved plan that says something else of one purchase. */
const vase = (text: string, more: object) =>
  named(text, (purchases) => Object.assign(purchases['hero@vase'] ?? {}, more));
const options = (more: string): [string, string] => ['"options": {', `"options": { ${more}`];

const booked = ({ sandbox }: Trial) => sandbox.ledger().length;

/** However often the plan is applied from here on, it ends so, and no more was bought than these. */
async function expectSettled(trial: Trial, jobs: number, ends = 0): Promise<void> {
  for (let again = 0; again < 2; again += 1) {
    await trial.run(['apply', name, '--yes'], { ends });
    expect(booked(trial)).toBe(jobs);
  }
}

/** The account is empty at the second create that matches. */
const emptyAtSecond = (match?: string) =>
  withFaults([
    {
      ...{ on: 'create', nth: 2, times: 1, ...(match !== undefined && { match }) },
      do: { type: 'status', status: 402, body: { success: false, error: 'Insufficient credits' } },
    },
  ]).service;

describe('apply of a saved plan', () => {
  test('carries out the plan without a prompt, and continues after an interruption', async () => {
    const trial = await makeCampaign();
    const document = await save(trial);
    const schema = JSON.parse(readFileSync(new URL('../../schemas/plan.schema.json', import.meta.url), 'utf8'));
    const validate = new Ajv2020({ strict: false }).compile(schema);
    expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
    // Nothing but the plan: what is done belongs to nobody yet.
    expect(booked(trial)).toBe(0);
    // One step is bought, as a run would have that was killed after it.
    expect((await trial.run(['apply', 'campaign.yaml', '--yes', '-s', 'hero@vase'])).code).toBe(0);
    await expectSettled(trial, 3);
  });

  test('uses the options of the plan, from any folder', async () => {
    const trial = await makeCampaign();
    mkdirSync(trial.path('plans'));
    const options = ['-s', 'hero@lamp', '--var', 'word=ash', '--lock', 'other.lock.jsonl', '--max-credits', '5'];
    const document = await save(trial, options, 'plans/one.plan.json');
    expect(document.saved).toMatchObject({
      manifest: '../campaign.yaml',
      options: { lock: '../other.lock.jsonl', maxCredits: 5, select: ['hero@lamp'], var: { word: 'ash' } },
    });
    const applied = await trial.run(['apply', 'one.plan.json', '--yes', '--var', 'word=ash'], {
      cwd: trial.path('plans'),
    });
    expect(applied, applied.err).toMatchObject({ code: 0 });
    expect(trial.sandbox.ledger()).toMatchObject([{ body: { prompt: 'Aurora Lamp on ash' } }]);
    expect(readFileSync(trial.path('other.lock.jsonl'), 'utf8')).toContain('hero@lamp');
  });

  test('prompts if the plan lacks a price', async () => {
    const trial = await makeCampaign(manifest.replace('prices: { image: 2 }\n', ''));
    await save(trial);
    const applied = await trial.run(['apply', name]);
    expect(applied).toMatchObject({
      code: 5,
      err: expect.stringContaining('no approval for 3 steps of unknown price'),
    });
    expect(booked(trial)).toBe(0);
    expect((await trial.run(['apply', name, '--yes'])).code).toBe(0);
    expect(booked(trial)).toBe(3);
  });

  test.each<[string, (trial: Trial) => void, string]>([
    ['a changed row', ({ write }) => write('products.csv', products.replace('Dune', 'Sand')), 'its data'],
    ['one more row', ({ write }) => write('products.csv', `${products}cup,Fog Cup\n`), 'its data'],
    ['one row less', ({ write }) => write('products.csv', products.replace('rug,Dune Rug\n', '')), 'its data'],
    [
      'another place',
      ({ write }) =>
        write('campaign.yaml', manifest.replace('resolution: 1k } }', 'resolution: 1k }, save: "x/{{row.sku}}" }')),
      'its data',
    ],
    [
      'more attempts',
      ({ write }) =>
        write('campaign.yaml', manifest.replace('resolution: 1k } }', 'resolution: 1k }, retry: { attempts: 3 } }')),
      'its data',
    ],
    [
      'a higher price',
      ({ write }) => write('campaign.yaml', manifest.replace('image: 2', 'image: 3')),
      'for 3 (not bought yet), and 2 more',
    ],
  ])('refuses as stale, and buys nothing: %s', async (_, change, why) => {
    const trial = await makeCampaign();
    await save(trial);
    change(trial);
    const applied = await trial.run(['apply', name, '--yes']);
    expect(applied.code).toBe(65);
    expect(applied.err).toContain(`${name} is stale: `);
    expect(applied.err).toContain(why);
    expect(applied.err).toContain(
      `nothing was spent; plan again, with the same options: mediabatch plan campaign.yaml --out ${name}\n`,
    );
    expect(booked(trial)).toBe(0);
  });

  test.each([
    ['after', /hero@lamp {2}created/],
    ['before', /hero@lamp {2}sending/],
  ])('redoes the requested steps once, also if killed %s an answer', async (_when, seen) => {
    const trial = await makeCampaign();
    expect((await trial.apply()).code).toBe(0);
    await save(trial, ['--redo', 'hero']);
    await killAt(seen, (options) => trial.run(['apply', name, '--yes', '-v', '--concurrency', '1'], options));
    await expectSettled(trial, 6);
  });

  test('redoes a step that was refused in its first run', async () => {
    const trial = await makeTrial(manifest, { service: emptyAtSecond('Tide') });
    trial.write('products.csv', products);
    expect((await trial.apply()).code).toBe(0);
    await save(trial, ['--redo', 'hero']);
    expect((await trial.run(['apply', name, '--yes', '--concurrency', '1'])).code).toBe(4);
    await expectSettled(trial, 6);
  });

  test('continues after a refused attempt of `retry`', async () => {
    const text = manifest.replace('resolution: 1k } }', 'resolution: 1k }, retry: { attempts: 2 } }');
    const trial = await makeTrial(text, { service: { ...emptyAtSecond(), failRate: 1 } });
    trial.write('products.csv', 'sku,name\nlamp,Aurora Lamp\n');
    await save(trial);
    expect((await trial.run(['apply', name, '--yes'])).code).toBe(4);
    await expectSettled(trial, 2, 3);
  });

  test('covers the steps that were selected in the plan, even if the selection differs now', async () => {
    const trial = await makeCampaign();
    await save(trial, ['-s', 'state:not-bought']);
    await killAt(/hero@lamp {2}created/, (options) =>
      trial.run(['apply', name, '--yes', '-v', '--concurrency', '1'], options),
    );
    await expectSettled(trial, 3);
    expect((await trial.run(['plan', 'campaign.yaml', '--detailed-exitcode'])).code).toBe(0);
  });

  test('continues with `retry` after a kill between two attempts', async () => {
    const text = manifest.replace('resolution: 1k } }', 'resolution: 1k }, retry: { attempts: 2 } }');
    const trial = await makeTrial(text, { service: { failRate: 1 } });
    trial.write('products.csv', products);
    const document = await save(trial);
    expect(document.saved).toMatchObject({ purchases: { 'hero@lamp': { repeat: 1, retries: [2] } } });
    await killAt(/another job is bought/, (options) =>
      trial.run(['apply', name, '--yes', '-v', '--concurrency', '1'], options),
    );
    await expectSettled(trial, 6, 3);
  });

  test('refuses to buy a step again whose job is newer than the plan', async () => {
    const text = manifest.replace('resolution: 1k } }', 'resolution: 1k }, retry: { attempts: 3 } }');
    const trial = await makeCampaign(text);
    expect((await trial.apply()).code).toBe(0);
    await save(trial);
    const redo = ['apply', 'campaign.yaml', '--yes', '-v', '--redo', 'hero@lamp'];
    await killAt(/hero@lamp {2}created/, (options) => trial.run(redo, options));
    expect(await trial.run(['apply', name, '--yes'])).toMatchObject({
      code: 65,
      err: expect.stringContaining('hero@lamp would be bought again if its job fails'),
    });
  });

  test('does not buy a step that was forgotten since', async () => {
    const trial = await makeCampaign();
    await save(trial);
    expect((await trial.run(['apply', name, '--yes'])).code).toBe(0);
    expect((await trial.run(['forget', 'campaign.yaml', 'hero@lamp'])).code).toBe(0);
    expect((await trial.run(['apply', name, '--yes'])).code).toBe(65);
    expect(booked(trial)).toBe(3);
  });

  test.each<[string, [from: string, to: string] | ((text: string) => string), string]>([
    ['of a newer version', ['"version": 2', '"version": 3'], 'is a plan of version 3'],
    ['of an older version', ['"version": 2', '"version": 1'], 'is a plan of version 1'],
    [
      'that was only printed',
      (text) => JSON.stringify({ ...JSON.parse(text), saved: undefined }),
      'was printed, not saved with --out',
    ],
    ['with an unknown option', options('"yes": true'), 'has an unknown option or option value: yes'],
    [
      'of an unknown version',
      (text) => text.replace('"version": 2', `"version": ${'['.repeat(50_000)}${']'.repeat(50_000)}`),
      'is a plan of an unknown version',
    ],
    ['with an invalid lock path', options('"lock": "a\\u0000b"'), 'unknown option or option value: lock'],
    ['that selects nothing', options('"select": []'), 'unknown option or option value: select'],
    ['of an invalid manifest path', ['"manifest": "', '"manifest": "\\u0000'], 'is incomplete'],
    ['with invalid rows', (text) => JSON.stringify({ ...JSON.parse(text), rows: [1] }), 'is incomplete'],
    [
      'that buys more than it shows',
      (text) => named(text, (purchases) => delete purchases['hero@vase']),
      'hero@vase would be bought now',
    ],
    ['that buys another request', (text) => vase(text, { fingerprint: '1:ab' }), 'hero@vase would be bought now'],
    ['that buys it a second time', (text) => vase(text, { repeat: 2 }), 'hero@vase would be bought now'],
    [
      'that shows nothing to buy',
      (text) => text.replaceAll('"action": "create"', '"action": "keep"'),
      'has a cost but buys nothing',
    ],
    [
      'that buys what it does not show',
      (text) => named(text, (purchases) => Object.assign(purchases, { 'hero@more': purchases['hero@vase'] })),
      'the approval includes hero@more, but no row',
    ],
    ['with a smaller total', ['"knownPrices": 6', '"knownPrices": 2'], 'its rows do not add up'],
    ['with a cheaper row', ['"credits": 2', '"credits": 200'], 'its rows do not add up'],
    [
      'with a row of negative credits',
      ['"credits": 2', '"credits": -2'],
      'written by another version: /rows/0/credits',
    ],
    ['with a limit that it does not show', options('"maxCredits": 9'), 'its stored limit differs'],
    ['at another pace', options('"concurrency": 900'), 'its stored concurrency differs'],
    [
      'that publishes what it does not show',
      ['"saved": {', '"saved": { "publishes": ["hero@vase"],'],
      'the approval publishes hero@vase, but no row shows this post',
    ],
    [
      'with retries that its total does not show',
      ['"credits": 2', '"credits": 2, "mayRetry": 4'],
      'its retries do not add up',
    ],
    ['of another kind than its rows show', ['"kind": "image"', '"kind": "upload"'], 'which the plan does not show'],
    ['under another name', ['"campaign": "spring"', '"campaign": "harmless"'], 'is stale'],
    ['of other steps', (text) => text.replace(/"steps": "[0-9a-f]{8}/, '"steps": "00000000'), 'is stale'],
  ])('refuses one %s', async (_, change, why) => {
    const trial = await makeCampaign();
    await save(trial);
    const saved = readFileSync(trial.path(name), 'utf8');
    const text = typeof change === 'function' ? change(saved) : saved.replace(...change);
    JSON.parse(text);
    trial.write(name, text);
    const applied = await trial.run(['apply', name, '--yes']);
    expect(applied).toMatchObject({ code: 65, err: expect.stringContaining(why) });
    expect(booked(trial)).toBe(0);
  });

  test('refuses a plan of a campaign outside its repository, and names the campaign', async () => {
    const trial = await makeCampaign();
    await save(trial);
    mkdirSync(trial.path('repository/.git'), { recursive: true });
    const text = readFileSync(trial.path(name), 'utf8');
    trial.write(`repository/${name}`, text.replace('"manifest": "', '"manifest": "../'));
    const inside = await trial.run(['apply', `repository/${name}`, '--yes']);
    expect(inside).toMatchObject({ code: 65, err: expect.stringContaining('its manifest campaign.yaml is outside') });
    trial.write(`repository/${name}`, text.replace('"options": {', '"options": { "lock": "../../other.lock.jsonl"'));
    expect((await trial.run(['apply', `repository/${name}`, '--yes'])).code).toBe(65);
    const out = await trial.run(['plan', 'campaign.yaml', '--out', `repository/new.plan.json`]);
    expect(out).toMatchObject({ code: 64, err: expect.stringContaining('is in a git repository') });
    expect(booked(trial)).toBe(0);
    const applied = await trial.run(['apply', name, '--yes']);
    expect(applied).toMatchObject({ code: 0, err: expect.stringContaining(`${name} is a plan of campaign.yaml\n`) });
    expect(booked(trial)).toBe(3);
  });
});

describe('plan --out', () => {
  test('overwrites an earlier plan, and no other file', async () => {
    const trial = await makeCampaign();
    await save(trial);
    await save(trial, ['--max-credits', '4']);
    trial.write(
      'gated.yaml',
      'version: 1\nname: gated\ntasks: { a: { kind: image, gate: approve, with: { prompt: a } } }\n',
    );
    for (const _ of [1, 2]) await trial.run(['plan', 'gated.yaml', '--out', 'gated.plan.json'], { ends: 0 });
    trial.write('mine.json', '{"mine": true}');
    symlinkSync(trial.path(name), trial.path('link.json'));
    for (const [out, code, why] of [
      ['mine.json', 73, 'already exists and is not a saved plan'],
      ['link.json', 73, 'is a symbolic link'],
      ['plan.yaml', 64, 'does not end in .json'],
      ['nowhere/at.plan.json', 73, 'nowhere'],
    ] as const) {
      const result = await trial.run(['plan', 'campaign.yaml', '--out', out]);
      expect(result, out).toMatchObject({ code, err: expect.stringContaining(why) });
    }
    expect(readFileSync(trial.path('mine.json'), 'utf8')).toBe('{"mine": true}');
  });

  test('writes nothing else to stdout', async () => {
    const trial = await makeCampaign();
    const { code, out } = await trial.run(['plan', 'campaign.yaml', '--json', '--detailed-exitcode', '--out', name]);
    expect(code).toBe(2);
    // What leads on is of the moment, and is not kept.
    const { next, ...printed } = JSON.parse(out);
    expect(next).toHaveLength(2);
    const { saved, ...rest } = JSON.parse(readFileSync(trial.path(name), 'utf8'));
    expect(rest).toEqual(printed);
    expect(saved).toMatchObject({ manifest: 'campaign.yaml', options: {} });
  });
});
