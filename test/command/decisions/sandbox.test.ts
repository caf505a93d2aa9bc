import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readLock } from '../../../src/lock/read.ts';
import { makeTrial } from '../../rig/trial.ts';

const manifest = `version: 1
name: films
tasks:
  say: { kind: voiceover, takes: 2, with: { text: Hello from the workshop, voice_id: Aria } }
  pic: { kind: image, with: { prompt: a dog, resolution: 1k } }
  next: { kind: image, with: { prompt: a cat, resolution: 1k, referenceImages: ["{{tasks.pic.url}}"] } }
`;

describe('against the service', () => {
  test('a lost lock: paid jobs are adopted, and nothing is bought twice', async () => {
    const trial = await makeTrial(manifest);
    expect((await trial.apply()).code).toBe(0);
    const { lock } = readLock('lock', readFileSync(trial.path('campaign.lock.jsonl')));
    const jobOf = (address: string) => lock.steps.get(address)?.purchases[0]?.jobId ?? '';
    rmSync(trial.path('campaign.lock.jsonl'));
    // On another machine, whose purchase journal is empty.
    const elsewhere = { env: { XDG_STATE_HOME: trial.path('elsewhere') } };
    const adopted = await trial.run(['adopt', 'campaign.yaml', '--yes'], elsewhere);
    expect(adopted.code, adopted.err).toBe(0);
    expect(adopted.err).toContain(`adopted say/1: its job is ${jobOf('say/1')}`);
    for (const address of ['pic', 'next']) {
      const words = ['adopt', 'campaign.yaml', address, '--job', jobOf(address), '--credits', '2'];
      const imported = await trial.run(words, elsewhere);
      expect(imported.code, imported.err).toBe(0);
    }
    const wrong = await trial.run(['adopt', 'campaign.yaml', 'pic', '--job', jobOf('say/1')], elsewhere);
    expect(wrong.code).toBe(64);
    const before = trial.sandbox.ledger().length;
    const { code, err } = await trial.apply([], elsewhere);
    expect(code, err).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(before);
    const collected = readLock('lock', readFileSync(trial.path('campaign.lock.jsonl'))).lock;
    for (const [address, { purchases }] of lock.steps) {
      expect(collected.steps.get(address)?.purchases[0]).toMatchObject({
        state: 'done',
        jobId: purchases[0]?.jobId,
        outputs: purchases[0]?.outputs,
      });
    }
  });

  test('pinned, accepted, retouched: apply changes nothing and buys nothing', async () => {
    const trial = await makeTrial(manifest);
    await trial.apply();
    await trial.run(['pin', 'campaign.yaml', 'pic']);
    trial.write('campaign.yaml', manifest.replace('a dog', 'a wolf').replace('a cat', 'a lynx'));
    const picture = readFileSync(trial.path('output/pic.png'));
    writeFileSync(trial.path('output/next.png'), picture);
    const accepted = await trial.run(['accept', 'campaign.yaml', 'next']);
    expect(accepted.err).toContain('output/next.png as it is now; its output, although prompt: cat → lynx');
    const before = trial.sandbox.ledger().length;
    const lock = readFileSync(trial.path('campaign.lock.jsonl'), 'utf8');
    const { code, err } = await trial.apply();
    expect(code, err).toBe(0);
    expect(trial.sandbox.ledger()).toHaveLength(before);
    expect(readFileSync(trial.path('output/next.png'))).toEqual(picture);
    expect(readFileSync(trial.path('campaign.lock.jsonl'), 'utf8')).toBe(lock);
  });
});
