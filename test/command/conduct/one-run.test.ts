import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bin, type CommandResult, command, temporaryFolder } from '../../rig/command.ts';
import { findLosses, remainsOf } from '../../rig/killed-run.ts';
import { createsSeen, makePlace, type Place, pictures, type RunningCommand, until } from '../../rig/place.ts';

const args = ['apply', 'campaign.yaml', '--yes', '--poll-interval', '10', '--concurrency', '1'];
const rows = ['a', 'b', 'c', 'd'];
const hasFaketime = spawnSync('faketime', ['-f', '+1h', 'true']).status === 0;

/** A run that has bought something and is far from its end. */
async function startedRun(env: Record<string, string> = {}): Promise<{ place: Place; run: RunningCommand }> {
  const place = await makePlace(pictures(...rows), { speed: 4 });
  const run = place.start(args, env);
  await until(() => createsSeen(place.service) > 0);
  return { place, run };
}

function second(place: Place, cwd = place.folder): Promise<CommandResult> {
  return command([...args, '--lock-timeout', '0'], { cwd, env: place.env });
}

function expectRefused({ code, err }: Pick<CommandResult, 'code' | 'err'>, run: RunningCommand): void {
  expect(code, err).toBe(75);
  expect(err).toContain(`another run holds campaign.lock.jsonl: process ${run.child.pid}`);
  // It lives, so nothing is to be unlocked.
  expect(err).toContain(`or end it: it is process ${run.child.pid} of this machine`);
  expect(err).not.toContain('mediabatch unlock');
}

async function expectWholeAndPaidOnce(place: Place, run: RunningCommand): Promise<void> {
  expect(await run.ended, run.err()).toEqual({ code: 0, signal: null });
  const ledger = place.service.ledger();
  expect(ledger).toHaveLength(rows.length);
  expect(findLosses(remainsOf(place))).toEqual([]);
  expect(readdirSync(place.path('out'))).toHaveLength(rows.length);
}

describe.runIf(process.platform !== 'win32')('I13 in the whole command', () => {
  test('I13 a suspended run keeps its lock and continues', async () => {
    const { place, run } = await startedRun();
    run.child.kill('SIGSTOP');
    const before = createsSeen(place.service);
    expectRefused(await second(place), run);
    expect(createsSeen(place.service)).toBe(before);
    run.child.kill('SIGCONT');
    await expectWholeAndPaidOnce(place, run);
  });

  test('I13 a run whose event loop is blocked keeps its lock', async () => {
    const { place, run } = await startedRun({ NODE_OPTIONS: `--import=${blocker()}` });
    run.child.kill('SIGUSR2');
    await until(() => run.err().includes('blocked'));
    expectRefused(await second(place), run);
    await expectWholeAndPaidOnce(place, run);
  });

  test('I13 a link to the folder leads to the same lock', async () => {
    const { place, run } = await startedRun();
    const link = `${place.folder}-link`;
    symlinkSync(place.folder, link);
    onTestFinished(() => rmSync(link));
    expectRefused(await second(place, link), run);
    await expectWholeAndPaidOnce(place, run);
  });

  test.runIf(hasFaketime)(
    'I13 a second run is refused whatever its clock: two days later or earlier (faketime)',
    async () => {
      const { place, run } = await startedRun();
      run.child.kill('SIGSTOP');
      for (const step of ['+50h', '-50h']) {
        const { status, stderr } = spawnSync(
          'faketime',
          ['-f', step, process.execPath, bin, ...args, '--lock-timeout', '0'],
          { cwd: place.folder, env: place.env, encoding: 'utf8' },
        );
        expectRefused({ code: status, err: stderr }, run);
      }
      run.child.kill('SIGCONT');
      await expectWholeAndPaidOnce(place, run);
    },
  );

  test('I13 a run whose guard was removed by hand buys nothing more, and the next one goes on', async () => {
    const { place, run } = await startedRun();
    run.child.kill('SIGSTOP');
    rmSync(place.path('.mediabatch/campaign.lock.jsonl.guard'));
    const before = createsSeen(place.service);
    run.child.kill('SIGCONT');
    expect((await run.ended).code, run.err()).not.toBe(0);
    expect(createsSeen(place.service)).toBeLessThanOrEqual(before + 1);
    const next = await place.apply();
    expect(next.code, next.err).toBe(0);
    expect(place.service.ledger()).toHaveLength(rows.length);
    expect(findLosses(remainsOf(place))).toEqual([]);
  });
});

/** A module that holds up the event loop of its process for two seconds at SIGUSR2. */
function blocker(): string {
  const { path: folder, remove } = temporaryFolder();
  onTestFinished(remove);
  const path = join(folder, 'block.mjs');
  const text = `process.on('SIGUSR2', () => {
  process.stderr.write('blocked\\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000);
});
`;
  writeFileSync(path, text);
  return path;
}
