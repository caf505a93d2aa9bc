import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTrial } from '../rig/trial.ts';

/** How many clips are found depends on the service; the sandbox never finds as many as nine. */
test('every command reports skipped steps alike, and counts posts as they are', async () => {
  const trial = await makeTrial('');
  await trial.run(['init', 'pc', '--example', 'podcast-clips']);
  const cwd = trial.path('pc');
  const manifest = join(cwd, 'campaign.yaml');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replaceAll('maxItems: 3', 'maxItems: 9'));
  const run = (...args: string[]) => trial.run(args, { cwd });
  const first = await run('apply', '--yes', '--poll-interval', '10');
  expect(first.code).toBe(5);
  const waiting = Number(/posts +(\d+) waits? for consent/.exec(first.err)?.[1]);
  const unneeded = 2 * (9 - waiting);
  const note = `(${unneeded} not needed)`;
  expect(first.err).toContain(`: ${20 - waiting} of 20 steps done ${note}`);
  // Those that are not needed wait for nobody.
  expect(first.err).toMatch(new RegExp(`waiting {2}${waiting} posts? to Instagram`));

  const second = await run('apply', '--yes', '--publish', '--poll-interval', '10');
  expect(second.code).toBe(0);
  expect(second.err).toContain(`all 20 steps done (${2 + waiting} of them from before, ${unneeded} not needed`);
  expect(second.err).toMatch(new RegExp(`^posts +${waiting} scheduled$`, 'm'));

  const status = await run('status');
  expect(status.out).toContain(`: 20 of 20 steps done ${note}`);
  expect(status.out).toContain(`9 of 9  ${9 - waiting} not needed`);
  expect(status.out).toMatch(new RegExp(`^posts +${waiting} scheduled$`, 'm'));
  const { rows } = JSON.parse((await run('status', '--json', '-s', 'state:unneeded')).out) as { rows: unknown[] };
  expect(rows).toHaveLength(unneeded);

  expect((await run('plan')).out).toContain('all 20 steps are up to date');
  expect((await run('status', '--graph')).out).toContain(`${waiting} done · ${9 - waiting} unneeded`);
  const report = await run('report');
  expect(report.err).toContain(`${1 + waiting} outputs of ${1 + waiting} steps`);
}, 120_000);
