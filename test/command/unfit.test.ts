import { expect, test } from 'vitest';
import { makeTrial } from '../rig/trial.ts';

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

test('an unfit output counts as failed for every command, and accepting it is free', async () => {
  const trial = await makeTrial(manifest);
  const first = await trial.apply();
  expect(first.code).toBe(3);
  // Reasons that differ only in their path are one.
  expect(first.err).toMatch(
    /3 steps {2}… does not fit `expect`: it is 1024 × 1024 px, which is not 16:9; the file is kept/,
  );
  expect(first.err).toContain(
    'if `expect` is too strict, change it: files that then fit count as done, for 0 credits\n    they are paid and kept; to accept them, for 0 credits: mediabatch accept campaign.yaml --select state:failed\n',
  );
  expect(first.err).toContain('to buy them again: mediabatch apply campaign.yaml --redo state:failed\n');

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
  expect([accepted.code, accepted.err]).toEqual([0, expect.stringContaining('although it does not fit `expect`')]);
  const after = JSON.parse((await trial.run(['plan', '--json'])).out);
  expect(after.rows.map(({ action }: { action: string }) => action)).toEqual(['keep', 'keep', 'failed']);
  expect((await trial.run(['explain', 'pic@a'])).out).toContain('up to date');
  expect((await trial.run(['status'])).out).toContain('fit: 2 of 3 steps done');
  expect(JSON.parse((await trial.run(['cost', '--json'])).out).totals).toMatchObject({
    failed: spent / 3,
    delivered: (spent / 3) * 2,
  });
  // It was said of this file: another one is looked at anew.
  const again = await trial.apply(['--redo', 'pic@a']);
  expect(again.code).toBe(3);
  expect(again.err).toMatch(/pic@a {2}pics\/a\.png does not fit/);
  expect(trial.sandbox.ledger()).toHaveLength(4);
}, 120_000);
