import { cpSync, mkdirSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type CommandOptions, temporaryFolder } from '../rig/command.ts';
import { makeTrial } from '../rig/trial.ts';

vi.setConfig({ testTimeout: 120_000 });

const manifest = (name: string) => `version: 1
name: ${name}
prices: { image: 2 }
tasks:
  hero: { kind: image, foreach: [a, b, c, d], with: { prompt: "a ${name} {{row}}", resolution: 1k } }
`;

/** Three campaigns of one person, who lets so much be spent. */
async function limited(limit: string) {
  const trial = await makeTrial(manifest('lamp'));
  const state = temporaryFolder();
  onTestFinished(() => state.remove());
  for (const name of ['vase', 'clock']) trial.write(`${name}.yaml`, manifest(name));
  const run = (args: string[], { env, ...options }: Partial<CommandOptions> = {}) =>
    trial.run(args, { ...options, env: { XDG_STATE_HOME: state.path, MEDIABATCH_LIMIT: limit, ...env } });
  const apply = (file = 'campaign.yaml', options: Partial<CommandOptions> = {}) =>
    run(['apply', file, '--yes', '--poll-interval', '10'], options);
  const spent = () => trial.sandbox.ledger().reduce((sum, { credits }) => sum + credits, 0);
  return { trial, run, apply, spent };
}

test('I44 three campaigns at once never pass the limit of a day, nor does what follows', async () => {
  const { apply, run, spent } = await limited('10/day,100/month');
  const ran = await Promise.all(['campaign.yaml', 'vase.yaml', 'clock.yaml'].map((file) => apply(file)));
  expect(spent(), ran.map(({ err }) => err).join('\n')).toBe(10);
  expect(ran.map(({ code }) => code)).toContain(4);
  const plan = await run(['plan', 'clock.yaml', '--json']);
  expect(JSON.parse(plan.out).totals.limit).toEqual({ credits: 10, per: 'day', left: 0 });
  const later = await apply('clock.yaml');
  expect([0, 4], later.err).toContain(later.code);
  expect(spent()).toBe(10);
  expect((await run(['doctor'])).out).toContain('MEDIABATCH_LIMIT is 10 credits a day over all campaigns: 0 are left');
});

test('I44 a killed run keeps its reservation, also for other runs', async () => {
  const { apply, run, spent, trial } = await limited('6/day');
  const killed = await run(['apply', 'campaign.yaml', '--yes', '-v', '--poll-interval', '10'], {
    onErr: (seen, child) => {
      if (/hero@\w {2}created/.test(seen)) child.kill('SIGKILL');
    },
  });
  expect(killed.signal, killed.err).toBe('SIGKILL');
  mkdirSync(trial.path('copy'));
  cpSync(trial.path('vase.yaml'), trial.path('copy/vase.yaml'));
  for (const file of ['copy/vase.yaml', 'campaign.yaml', 'vase.yaml']) await apply(file);
  expect(spent()).toBeLessThanOrEqual(6);
  expect(spent()).toBeGreaterThan(2);
});

test('a plan that was saved while a limit held steps back does what it said once more is left, and no more', async () => {
  const { run, spent } = await limited('5/day');
  const saved = await run(['plan', 'campaign.yaml', '--out', 'a.plan.json']);
  expect(saved.code, saved.err).toBe(0);
  const more = { env: { MEDIABATCH_LIMIT: '400/day' } };
  for (let time = 0; time < 2; time += 1) {
    const applied = await run(['apply', 'a.plan.json', '--yes', '--poll-interval', '10'], more);
    expect(applied.code, applied.err).toBe(4);
    expect(spent()).toBe(4);
  }
});

test('sandbox credits neither count nor are limited', async () => {
  const { run, spent } = await limited('2/day');
  const played = await run(['apply', 'campaign.yaml', '--sandbox', '--yes', '--poll-interval', '10']);
  expect(played.code, played.err).toBe(0);
  expect(spent()).toBe(0);
  expect((await run(['plan', 'campaign.yaml'])).out).toMatch(/^limit +2 a day, 2 left$/m);
});

test.each(['400', '400/week', '400/day,10/day', '-1/day', 'day'])(
  '%s is no limit, and is not taken for none',
  async (limit) => {
    const { run } = await limited(limit);
    const refused = await run(['apply', 'campaign.yaml', '--yes']);
    expect(refused.code, refused.err).toBe(64);
    expect(refused.err).toContain('error MB3000 MEDIABATCH_LIMIT is');
  },
);
