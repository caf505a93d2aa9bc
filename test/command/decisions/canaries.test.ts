import { expect, test } from 'vitest';
import { makeTrial, type Trial } from '../../rig/trial.ts';

const manifest = `version: 1
name: posters
prices: { image: 2 }
tasks:
  hero: { kind: image, foreach: [lamp, rug, vase], canary: 1, expect: { type: image }, with: { prompt: "a {{row}}", resolution: 1k } }
  card: { kind: image, foreach: [lamp, rug, vase], canary: { then: ask }, with: { prompt: "card {{row}}", resolution: 1k, referenceImages: ["{{tasks.hero.url}}"] } }
`;

const makeCampaign = (text = manifest): Promise<Trial> => makeTrial(text);
const booked = ({ sandbox }: Trial) => sandbox.ledger().length;

async function apply(trial: Trial, code: number, ...words: string[]): Promise<string> {
  const applied = await trial.run(['apply', ...(words.length === 0 ? ['campaign.yaml', '--yes'] : words)]);
  expect(applied.code, applied.err).toBe(code);
  return applied.out + applied.err;
}

test('buys the canary, then the others; waits at the next one, and continues after the pick', async () => {
  const trial = await makeCampaign();
  const planned = await trial.run(['plan', 'campaign.yaml', '--json']);
  const rows = JSON.parse(planned.out).rows as { address: string; canary?: true; canaries?: string[] }[];
  expect(rows.map(({ address, canary, canaries }) => [address, canary ?? canaries ?? 'waits'])).toEqual([
    ['hero@lamp', true],
    ['hero@rug', ['hero@lamp']],
    ['hero@vase', ['hero@lamp']],
    ['card@lamp', true],
    ['card@rug', 'waits'],
    ['card@vase', 'waits'],
  ]);
  expect((await trial.run(['plan', 'campaign.yaml', '--format', 'markdown'])).out).toContain(
    'not bought yet; after its canary hero@lamp',
  );
  expect((await trial.run(['explain', 'campaign.yaml', 'hero@rug'])).out).toMatch(/waits for +hero@lamp\n/);
  expect((await trial.run(['explain', 'campaign.yaml', '--origins'])).out).toContain('then: ask');

  const first = await apply(trial, 5);
  expect(booked(trial)).toBe(4);
  expect(first).toContain('canary of card: card@lamp to be picked');
  expect(first).toMatch(/to pick by name, as in: mediabatch pick campaign.yaml card@lamp\n {9}then: /);
  expect(first).toMatch(/to buy others instead, as in: mediabatch apply campaign.yaml --redo card@lamp/);
  expect((await trial.run(['status', 'campaign.yaml'])).out).toContain('1 gate open: canary of card (1 to see)');
  const other = await trial.run(['pick', 'campaign.yaml', 'hero@rug']);
  expect([other.code, other.err]).toEqual([64, expect.stringContaining('has no gate')]);

  expect((await trial.run(['reject', 'campaign.yaml', 'card@lamp'])).code).toBe(0);
  expect(await apply(trial, 5)).toMatch(/rejected .*\n *canary of card\n/);
  expect(booked(trial)).toBe(4);
  await apply(trial, 5, 'campaign.yaml', '--yes', '--redo', 'card@lamp');
  expect(booked(trial)).toBe(5);
  expect((await trial.run(['pick', 'campaign.yaml', 'card@lamp'])).code).toBe(0);
  await apply(trial, 0);
  expect(booked(trial)).toBe(7);

  // A new row needs no new answer; another template does.
  trial.write('campaign.yaml', manifest.replaceAll('[lamp', '[cup, lamp'));
  await apply(trial, 0);
  expect(booked(trial)).toBe(9);
  trial.write('campaign.yaml', manifest.replace('"card {{row}}"', '"new card {{row}}"'));
  await apply(trial, 5);
  expect(booked(trial)).toBe(10);
});

test('a saved plan continues where it stopped, and includes its canaries', async () => {
  const trial = await makeCampaign();
  const saved = await trial.run(['plan', 'campaign.yaml', '--out', 'p.plan.json']);
  expect(saved.code, saved.err).toBe(0);
  trial.write('campaign.yaml', manifest.replace('canary: 1, ', ''));
  expect(await apply(trial, 65, 'p.plan.json')).toContain('MB3102');
  expect(booked(trial)).toBe(0);
  trial.write('campaign.yaml', manifest);
  await apply(trial, 5, 'p.plan.json', '--yes');
  expect(booked(trial)).toBe(4);
  expect((await trial.run(['pick', 'campaign.yaml', 'card@lamp'])).code).toBe(0);
  await apply(trial, 0, 'p.plan.json', '--yes');
  expect(booked(trial)).toBe(6);
});
