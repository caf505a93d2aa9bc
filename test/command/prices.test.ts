import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { knownService } from '../../src/campaign/paths.ts';
import { expectExit } from '../rig/command.ts';
import { runInProcess } from './in-process.ts';
import { folderWith, header, record, type Scripted, scripted } from './scripted.ts';

const campaign = `version: 1
name: shop
budget: { credits: 50 }
tasks:
  hero: { kind: image, foreach: [a, b], with: { prompt: "a {{row}}" } }
  film: { kind: video, foreach: [a, b], with: { prompt: "a {{row}}", duration: 4 } }
`;

interface Planned {
  rows: { address: string; credits: number | null; price?: { source: string; likely?: number; high?: number } }[];
  totals: {
    knownPrices: number;
    unknownPrices: number;
    estimate: { likely: number; high: number | null; unpriced: number };
  };
}

const post = (schema: object) => ({ post: { requestBody: { content: { 'application/json': { schema } } } } });
const documentOf = (image: object, video: object) => ({
  openapi: '3.1.0',
  info: { version: '1.2.0' },
  paths: { '/image-generations/create': post(image), '/videos/create': post(video) },
});

async function planWith(
  answers: { [operation: string]: Scripted },
  folder = folderWith({ 'campaign.yaml': campaign }),
) {
  const { env, seen } = await scripted(answers);
  const run = (...args: string[]) => runInProcess(['plan', 'campaign.yaml', ...args], env, folder);
  return { run, seen, env, folder };
}

const parse = (out: string) => JSON.parse(out) as Planned;
const sourcesOf = ({ rows }: Planned) => rows.map(({ price }) => `${price?.source} ${price?.likely ?? ''}`.trim());

describe('list prices of the service', () => {
  const models = { 'alpha-2': { credits: { '1k': 2, '2k': 3 }, resolution: ['1k', '2k'] } };
  const motion = {
    properties: { model: { default: 'motion-2' } },
    'x-models': { 'motion-2': { credits: 2, per: 'second' } },
  };

  const unpriced: [string[], object] = [Array(4).fill('unknown'), { likely: 0, high: null, unpriced: 4 }];

  it.each<[string, { [operation: string]: Scripted }, string[], object]>([
    [
      'a document with x-models',
      { 'GET /openapi.json': [200, documentOf({ 'x-models': models }, motion)] },
      ['list 3', 'list 3', 'list 8', 'list 8'],
      { likely: 22, high: null, unpriced: 0 },
    ],
    [
      'a catalog alone, with prices as strings',
      { 'GET /catalog': [200, { data: [{ key: 'alpha-2', type: 'IMAGE', cost: '3' }] }] },
      ['list 3', 'list 3', 'unknown', 'unknown'],
      { likely: 6, high: null, unpriced: 2 },
    ],
    ['a catalog without prices', { 'GET /catalog': [200, { data: [{ key: 'alpha-2', kind: 'image' }] }] }, ...unpriced],
    [
      'prices below nothing and beyond all sense',
      {
        'GET /catalog': [200, { image: [{ key: 'alpha-2', credits: -3 }], video: [{ key: 'm', credits: 1e18 }] }],
        'GET /openapi.json': [200, documentOf({ 'x-models': { 'alpha-2': { credits: 'free' } } }, { 'x-models': [] })],
      },
      ...unpriced,
    ],
    ['nothing', {}, ...unpriced],
  ])('%s: counts with --refresh, and is stored for a plan without it', async (_name, answers, sources, estimate) => {
    const { run, seen } = await planWith(answers);
    expect(sourcesOf(parse((await run('--json')).out)).every((source) => source === 'unknown')).toBe(true);
    expect(seen).toEqual([]);
    const refreshed = parse((await run('--json', '--refresh')).out);
    expect(seen).toContain('GET /catalog');
    expect(seen).toContain('GET /openapi.json');
    expect(sourcesOf(refreshed)).toEqual(sources);
    expect(refreshed.totals).toMatchObject({ knownPrices: 0, unknownPrices: 4, estimate });
    seen.length = 0;
    expect(parse((await run('--json')).out)).toEqual(refreshed);
    expect(seen).toEqual([]);
  });

  test('the price limit of a saved plan applies in each apply, also if the list price is unknown', async () => {
    const job = { id: 'j1', status: 'PROCESSING' };
    const only = campaign.replace(/^ {2}film.*\n/m, '');
    const { run, env, seen, folder } = await planWith(
      {
        'GET /catalog': [200, { data: [{ key: 'alpha-2', kind: 'image', credits: 3, maxCredits: 4 }] }],
        'GET /accounts': [200, { success: true, data: [] }],
        'POST /image-generations/create': [202, { success: true, generation: job, creditsDeducted: 9 }],
      },
      folderWith({ 'campaign.yaml': only }),
    );
    const creates = () => seen.filter((one) => one.startsWith('POST')).length;
    await run('--refresh', '--out', 'a.plan.json');
    const elsewhere = folderWith({ 'campaign.yaml': only });
    copyFileSync(join(folder, 'a.plan.json'), join(elsewhere, 'a.plan.json'));
    // Another machine has no purchase journal of this one.
    const other = { ...env, XDG_STATE_HOME: folderWith({}) };
    for (const [place, own, bought] of [
      [folder, env, 1],
      [elsewhere, other, 2],
    ] as const) {
      const first = await runInProcess(['apply', 'a.plan.json', '--yes', '--patience', '1s'], own, place);
      expect({ code: first.code, bought: creates() }, first.err).toEqual({ code: 4, bought });
      const again = await runInProcess(['apply', 'a.plan.json', '--yes', '--patience', '1s'], own, place);
      expect({ code: again.code, bought: creates() }, again.err).toEqual({ code: 65, bought });
      expect(again.err).toContain('hero@b would be bought now for 9');
    }
  });
});

test('a saved plan with an unknown price is applied after a price list names it', async () => {
  const only = campaign.replace(/^ {2}film.*\n/m, '').replace('[a, b]', '[a]');
  const answers: { [operation: string]: Scripted } = {
    'GET /accounts': [200, { success: true, data: [] }],
    'POST /image-generations/create': [
      202,
      { success: true, generation: { id: 'j1', status: 'PROCESSING' }, creditsDeducted: 3 },
    ],
  };
  const { run, env, seen, folder } = await planWith(answers, folderWith({ 'campaign.yaml': only }));
  await run('--out', 'a.plan.json');
  answers['GET /catalog'] = [200, { data: [{ key: 'alpha-2', kind: 'image', credits: 3 }] }];
  expect(parse((await run('--refresh', '--json')).out).totals).toMatchObject({ estimate: { likely: 3, unpriced: 0 } });
  const applied = await runInProcess(['apply', 'a.plan.json', '--yes', '--patience', '1s'], env, folder);
  const creates = seen.filter((one) => one.startsWith('POST'));
  expect(creates, applied.err).toEqual(['POST /image-generations/create']);
});

test('--refresh names the models that are gone, deprecated or more expensive than their last charge', async () => {
  const answers: { [operation: string]: Scripted } = {};
  const listed = (...models: object[]) => {
    answers['GET /catalog'] = [200, { data: [...models, { key: 'other', kind: 'image', credits: 1 }] }];
  };
  listed({ key: 'alpha-2', kind: 'image', credits: 3 });
  const { run } = await planWith(
    answers,
    folderWith({
      'campaign.yaml': campaign.replace(/^ {2}film.*\n/m, ''),
      'campaign.lock.jsonl': `${header}\n${record({ kind: 'image', address: 'pic', jobId: 'j', credits: 3, request: { model: 'alpha-2', prompt: 'p' } })}\n`,
    }),
  );
  const models = async () => JSON.parse((await run('--refresh', '--json')).out).models;
  expect(await models()).toBeUndefined();
  const addresses = ['hero@a', 'hero@b'];
  const deprecated = 'image/alpha-2 is marked as deprecated by the service';
  const dearer = 'image/alpha-2 is listed for 4 credits, but cost 3 before';
  listed({ key: 'alpha-2', kind: 'image', credits: 4, deprecated: true });
  expect(await models()).toEqual([
    { text: deprecated, addresses },
    { text: dearer, addresses },
  ]);
  const shown = (await run('--refresh', '--format', 'markdown')).out.replaceAll('\\', '');
  for (const text of [deprecated, dearer]) {
    expect((await run('--refresh')).out).toContain(`${text} (2 steps: hero@a, hero@b)`);
    expect(shown).toContain(`${text} (2 steps: hero@a, hero@b)`);
  }
  listed();
  expect(await models()).toEqual([{ text: 'image/alpha-2 is no longer listed by the service', addresses }]);
  expect(await models()).toBeUndefined();
});

test('other locks of the folder and the folder above give prices that this lock lacks, of the same service only; damaged locks are skipped', async () => {
  const bought = (credits: number, model = 'alpha-2') =>
    record({ kind: 'image', address: 'pic', jobId: 'j', credits, request: { model, prompt: 'p' } });
  const headOf = (service: string) => `{"mediabatch":"lock","version":2,"service":"${service}"}`;
  const { env, run, folder } = await planWith({});
  const service = knownService(false, { baseUrl: env.MEDIABATCH_BASE_URL }) ?? '';
  const lock = (path: string, ...lines: string[]) => {
    mkdirSync(join(folder, path, '..'), { recursive: true });
    writeFileSync(join(folder, path), `${lines.join('\n')}\n`);
    writeFileSync(join(folder, path.replace('.lock.jsonl', '.yaml')), 'version: 1\nname: other\ntasks: {}\n');
  };
  lock('other/shop.lock.jsonl', headOf('0123456789abcdef'), bought(9));
  lock('broken.lock.jsonl', headOf(service), '{"address":"x"}', bought(8));
  lock('two.lock.jsonl', headOf(service), headOf('0123456789abcdef'), bought(7));
  lock('.hidden/shop.lock.jsonl', headOf(service), bought(6));
  lock('node_modules/shop.lock.jsonl', headOf(service), bought(5));
  symlinkSync('other/shop.lock.jsonl', join(folder, 'link.lock.jsonl'));
  if (process.platform !== 'win32') symlinkSync('/dev/zero', join(folder, 'endless.lock.jsonl'));
  expect(sourcesOf(parse((await run('--json')).out)).every((source) => source === 'unknown')).toBe(true);
  lock('deep/shop.lock.jsonl', headOf(service), bought(4));
  lock('absurd.lock.jsonl', headOf(service), bought(9_007_199_254_740_991, 'alpha-pro'));
  const { rows, totals } = parse((await run('--json')).out);
  expect(rows[0]).toMatchObject({ credits: null, price: { source: 'other-lock', likely: 4, high: 4 } });
  expect(totals).toMatchObject({
    knownPrices: 0,
    unknownPrices: 4,
    estimate: { likely: 8, high: null, unpriced: 2 },
  });
  const text = (await run()).out.replaceAll(/\s+/g, ' ');
  expect(text).toContain(
    'to spend ≈ 8 credits, at most 10 + 2 steps of unknown price (2 steps by charges of another campaign; one step of each price runs first; its charge sets the price of the other steps)',
  );
});

describe('a model that is newer than this version', () => {
  const manifest = campaign.replace('prompt: "a {{row}}" } }', 'prompt: "a {{row}}", model: omega-9 } }');
  const document = documentOf(
    { required: ['prompt'], properties: { prompt: { maxLength: 40 } }, 'x-models': { 'omega-9': { credits: 3 } } },
    {},
  );

  test('is an error with a hint, and every command accepts it once the document is stored', async () => {
    const { run, env, folder } = await planWith(
      { 'GET /openapi.json': [200, document] },
      folderWith({ 'campaign.yaml': manifest }),
    );
    const before = await run();
    expect(before.code).toBe(65);
    expect(before.err).toContain('`plan --refresh` with a key reads the fields and models of your service');
    const refreshed = await expectExit(0, run('--refresh'));
    expect(refreshed.err).toContain('warning MB1507 "omega-9" is a model of kind image that is new at the service');
    expect(refreshed.err.match(/MB1507/g)).toHaveLength(1);
    expect(refreshed.out).toMatch(/hero {2}image {2}2 steps {2}≈ 6/);
    for (const args of [
      ['plan'],
      ['validate'],
      ['explain', 'campaign.yaml', '--origins'],
      ['status'],
      ['explain', 'campaign.yaml', 'hero@a'],
    ]) {
      await expectExit(0, runInProcess(args.length > 1 ? args : [...args, 'campaign.yaml'], env, folder));
    }
    const elsewhere = { MEDIABATCH_BASE_URL: 'http://127.0.0.1:9/api/v1', MEDIABATCH_API_KEY: env.MEDIABATCH_API_KEY };
    expect((await runInProcess(['validate', 'campaign.yaml'], elsewhere, folder)).code).toBe(65);
  });

  test('is checked against the document', async () => {
    const long = manifest.replace('"a {{row}}", model', `"${'a'.repeat(41)} {{row}}", model`);
    const { run } = await planWith({ 'GET /openapi.json': [200, document] }, folderWith({ 'campaign.yaml': long }));
    const refused = await run('--refresh');
    expect(refused.code).toBe(65);
    expect(refused.err).toContain('MB1506');
  });
});
