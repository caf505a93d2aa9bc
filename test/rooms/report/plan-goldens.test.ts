import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Plan } from '../../../src/plan/plan.ts';
import { planText } from '../../../src/report/plan/plan-text.ts';
import { makeStyle } from '../../../src/report/style.ts';
import { displayWidth } from '../../../src/report/text-width.ts';
import { type RunOptions, TestCampaign } from '../../rig/campaign.ts';
import { type Facts, load } from '../manifest/load.ts';

const manifest = `version: 1
name: aurora-launch
budget: { credits: 200 }
vars: { style: northern }
defaults:
  image: { resolution: 1k }
tasks:
  logo: { kind: upload, with: { file: assets/logo.png } }
  hero:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    matrix: { ratio: ["1:1", "9:16"] }
    with:
      prompt: "{{row.name}} on an oak table, {{row.mood}} light, {{vars.style}} style"
      aspectRatio: "{{matrix.ratio}}"
      referenceImages: ["{{tasks.logo.url}}"]
  cover:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    with: { prompt: Story cover with this object, referenceImages: ["{{tasks.hero.url}}"] }
    from: { hero: { ratio: "9:16" } }
  theme: { kind: music, with: { model: song-7.5, prompt: "Slow {{vars.style}} strings" } }
  share:
    kind: post
    foreach: products.csv
    key: "{{row.sku}}"
    with: { caption: "New: {{row.name}}", accountIds: [ig-1], mediaUrls: ["{{tasks.cover.url}}"] }
`;
const products = `sku,name,mood
lamp,Aurora Lamp,warm
chair,Fjord Chair,warm
desk,Birch Desk,cold
`;
const logo = (letter: string): Facts => ({ uploads: { 'assets/logo.png': { sha256: letter.repeat(64), bytes: 5 } } });
const usual: Facts = { data: { 'products.csv': products }, ...logo('a') };

/** One kind of plan: the campaign that was bought before, if any, and what it is now. */
interface Scene {
  before?: [manifest: string, facts?: Facts];
  now?: [manifest: string, facts?: Facts];
  /** What breaks while it is bought. */
  breaks?(campaign: TestCampaign): void;
  options?: RunOptions;
  all?: true;
}

const before: Scene['before'] = [manifest];
const changed = (from: string, to: string, more: Scene = {}): Scene => ({
  before,
  now: [manifest.replace(from, to)],
  ...more,
});
const rows = (from: string, to: string): Scene => ({
  before,
  now: [manifest, { data: { 'products.csv': products.replace(from, to) } }],
});
const without = (...tasks: string[]) =>
  tasks.reduce((text, task) => text.replace(new RegExp(`\n  ${task}:(?:.*\n    )*.*`), ''), manifest);
const failHeroes = ({ service }: TestCampaign) => {
  service.endOf = ({ body }) => (body.includes('table') ? { is: 'failed', error: 'moderated' } : undefined);
};

const scenes: { [name: string]: Scene } = {
  'nothing bought': {},
  'nothing to do': { before },
  'one word changed': changed('oak', 'elm'),
  'one word changed, every step': changed('oak', 'elm', { all: true }),
  'a data row': rows('Fjord Chair', 'Glen Chair'),
  'a column of the data': rows('warm\nchair,Fjord Chair,warm', 'dim\nchair,Fjord Chair,dim'),
  'a variable': changed('style: northern', 'style: southern'),
  'a default': changed('resolution: 1k', 'resolution: 2k'),
  'an upload changed': { before, now: [manifest, logo('b')] },
  'a step asked for, and others changed': changed('Story cover', 'Tall cover', {
    options: { redo: ['hero@lamp,9:16', 'theme'] },
  }),
  'jobs failed': { before, breaks: failHeroes },
  'jobs failed, some to be bought again': {
    before,
    breaks: failHeroes,
    options: { redo: ['hero@lamp,1:1', 'hero@lamp,9:16', 'hero@chair,1:1'] },
  },
  'the budget is not enough': {
    before: [without('cover', 'share')],
    now: [manifest.replace('credits: 200', 'credits: 40')],
  },
  '--max-credits is not enough': changed('oak', 'elm', { options: { maxCredits: 8 } }),
  'posts to be sent': { before: [without('share')], now: [manifest] },
  'posts are out, and changed since': changed('New: ', 'Now: '),
  orphans: { before, now: [without('cover', 'share', 'theme')] },
  pinned: changed('oak', 'elm', {
    now: [manifest.replace('oak', 'elm').replace('  hero:\n', '  hero:\n    pin: true\n')],
  }),
  'another name': { before, now: [manifest.replaceAll('hero', 'picture')] },
};

/** Scenes that together have every colour of a plan. */
const painted = [
  'jobs failed, some to be bought again',
  'the budget is not enough',
  'posts to be sent',
  'another name',
];

const plans = new Map<string, Promise<Plan>>();
const planNamed = (name: string): Promise<Plan> => {
  const plan = plans.get(name) ?? planOf(scenes[name] ?? {});
  plans.set(name, plan);
  return plan;
};

describe('the plan as people read it', () => {
  test.each([
    [60, false],
    [80, true],
  ])('%i columns, colour: %j', async (width, color) => {
    const texts: string[] = [];
    for (const [name, scene] of Object.entries(scenes)) {
      const text = planText(await planNamed(name), { style: makeStyle(color), width, all: scene.all === true });
      for (const line of text.split('\n'))
        expect(displayWidth(stripVTControlCharacters(line)), line).toBeLessThanOrEqual(width);
      if (!color || painted.includes(name)) texts.push(`══ ${name}\n\n${text.replaceAll('\u001b', '␛')}`);
    }
    const file = `__snapshots__/plan-${width}${color ? '-colour' : ''}.txt`;
    await expect(texts.join('\n')).toMatchFileSnapshot(file);
  });

  test('colour says nothing that the text does not say', async () => {
    for (const name of Object.keys(scenes)) {
      const made = await planNamed(name);
      const [plain, painted] = [false, true].map((color) => planText(made, { style: makeStyle(color), width: 80 }));
      expect(stripVTControlCharacters(painted ?? '')).toBe(plain);
    }
  });
});

/** By the way of every plan: the text of a manifest, its graph, the lock of a run, and what traces the differences. */
async function planOf({ before, now = before ?? [manifest], breaks, options }: Scene): Promise<Plan> {
  const campaign = new TestCampaign(open(...(before ?? now)).graph);
  campaign.service.balance = 1_000_000;
  campaign.service.creditsOf = (body) => (body.includes('song') ? 4 : body.includes('prompt') ? 5 : 0);
  breaks?.(campaign);
  if (before !== undefined) await campaign.run({ concurrency: 64 });
  const { graph, trace } = open(...now);
  campaign.graph = graph;
  campaign.trace = trace;
  return campaign.plan(options);
}

function open(text: string, facts: Facts = {}) {
  const { graph, trace, found } = load(text, { ...usual, ...facts });
  if (graph === undefined || trace === undefined) throw new Error(found.join('; '));
  return { graph, trace };
}
