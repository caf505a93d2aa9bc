import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { makeTrial, type Trial } from '../rig/trial.ts';

const manifest = `version: 1
name: one
tasks:
  pic: { kind: image, with: { prompt: a dog, resolution: 1k } }
`;

/** A campaign whose only create was sent two days ago and never answered. */
async function unresolved(): Promise<Trial> {
  const trial = await makeTrial(manifest);
  await trial.apply();
  const [header, record] = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8').trimEnd().split('\n');
  const { jobId: _job, credits: _credits, outputs: _outputs, ...open } = JSON.parse(record ?? '{}');
  const since = new Date(Date.now() - 48 * 3_600_000).toISOString();
  trial.write(
    'campaign.lock.jsonl',
    `${header}\n${JSON.stringify({ ...open, state: 'intent', send: 'lost', since })}\n`,
  );
  return trial;
}

describe('resolve', () => {
  test('the plan requires a decision, and apply exits with 6 and buys nothing', async () => {
    const trial = await unresolved();
    const plan = await trial.run(['plan', 'campaign.yaml']);
    expect(plan.out).toContain('unresolved');
    const { code } = await trial.apply();
    expect(code).toBe(6);
    expect(trial.sandbox.ledger()).toHaveLength(1);
  });

  test('--job: the next apply collects it', async () => {
    const trial = await unresolved();
    const job = trial.sandbox.ledger()[0]?.id ?? '';
    const said = await trial.run(['resolve', 'campaign.yaml', 'pic', '--job', job, '--credits', '2', '--json']);
    expect(said.code, said.err).toBe(0);
    expect(JSON.parse(said.out)).toMatchObject({
      mediabatch: 'decisions',
      steps: [{ address: 'pic', result: 'recorded' }],
    });
    const again = await trial.apply();
    expect(again.code, again.err).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(1);
  });

  test('a wrong --not-spent: the next apply uses the first key, and pays nothing twice', async () => {
    const trial = await unresolved();
    expect((await trial.run(['resolve', 'campaign.yaml', 'pic', '--not-spent'])).code).toBe(0);
    expect((await trial.apply()).code).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(1);
  });

  test('reports steps that need no decision', async () => {
    const trial = await unresolved();
    for (const args of [
      ['pic', '--job', 'a b'],
      ['pic', '--not-spent', '--spend-again'],
      ['other', '--not-spent'],
    ]) {
      const { code, err } = await trial.run(['resolve', 'campaign.yaml', ...args]);
      expect(code, err).toBe(64);
    }
    expect((await trial.run(['resolve', 'campaign.yaml', 'other', '--not-spent'])).err).toContain('pic');
  });
});

describe('unlock', () => {
  test('needs the id that the refusal shows', async () => {
    const trial = await makeTrial(manifest);
    mkdirSync(trial.path('.mediabatch'));
    const note = {
      mediabatch: 'guard',
      version: 1,
      id: 'f00df00df00df00d',
      host: 'elsewhere',
      pid: 1,
      since: '2026-01-01T00:00:00.000Z',
    };
    writeFileSync(trial.path('.mediabatch/campaign.lock.jsonl.guard'), JSON.stringify(note));
    const held = await trial.apply(['--lock-timeout', '0']);
    expect(held.code).toBe(75);
    expect(held.err).toContain('unlock campaign.yaml --id f00df00df00df00d');
    expect((await trial.run(['unlock', 'campaign.yaml', '--id', 'beefbeefbeefbeef'])).code).toBe(64);
    const unlocked = await trial.run(['unlock', 'campaign.yaml', '--id', 'f00df00df00df00d', '--json']);
    expect(unlocked.code).toBe(0);
    expect(JSON.parse(unlocked.out)).toMatchObject({ mediabatch: 'unlocked', run: 'f00df00df00df00d' });
    expect((await trial.apply()).code).toBe(0);
  });
});
