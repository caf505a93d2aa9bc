import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { bin } from '../../rig/command.ts';
import { findLosses, remainsOf } from '../../rig/killed-run.ts';
import { readLockFile } from '../../rig/oracle.ts';
import { applied as args, createsSeen, makePlace, type Place, pictures, until } from '../../rig/place.ts';

function expectNothingLost(place: Place): void {
  expect(findLosses(remainsOf(place))).toEqual([]);
}

describe('the first signal', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s: the create on the wire is awaited and recorded, no other one leaves',
    async (signal) => {
      const place = await makePlace(pictures('a', 'b', 'c', 'd'), {
        speed: 1,
        faults: [{ on: 'create', do: { type: 'delay', ms: 600 } }],
      });
      const run = place.start([...args, '--concurrency', '1']);
      await until(() => createsSeen(place.service) === 1);
      run.child.kill(signal);
      expect(await run.ended).toMatchObject({ code: 130, signal: null });
      expect(place.service.ledger()).toHaveLength(1);
      expect(createsSeen(place.service)).toBe(1);
      expect(run.err()).toContain('1 job still running, paid');
      expect(run.err()).toContain('3 steps not started');
      expectNothingLost(place);
      const purchases = [...readLockFile(place.lock).steps.values()].flatMap((step) => step.purchases);
      expect(purchases.map(({ state }) => state)).toEqual(['running']);
    },
  );
});

describe('the second signal', () => {
  test('leaves at once; what is on the wire stays on record as an intent, and is found by the next run', async () => {
    const place = await makePlace(pictures('a', 'b'), {
      faults: [{ on: 'create', do: { type: 'hang', booked: true } }],
    });
    const run = place.start([...args, '--concurrency', '1']);
    await until(() => place.service.ledger().length === 1);
    run.child.kill('SIGINT');
    await until(() => run.err().includes('Ctrl-C again quits now'));
    // Right after the first one it counts as the same wish.
    const repeated = setInterval(() => run.child.kill('SIGINT'), 400);
    expect(await run.ended.finally(() => clearInterval(repeated))).toMatchObject({ code: 130, signal: null });
    expect(run.err()).toContain('1 create request sent, outcome unknown');
    expectNothingLost(place);
    await place.apply([], { ends: 0 });
    expect(place.service.ledger()).toHaveLength(2);
    expectNothingLost(place);
  });
});

describe('readers that go away', () => {
  test('a closed stdout under --events - in the middle: quiet, and the run finishes', async () => {
    const place = await makePlace(pictures('a', 'b', 'c'), { speed: 20 });
    const run = place.start([...args, '--events', '-']);
    await until(() => place.service.ledger().length > 0);
    run.child.stdout?.destroy();
    expect(await run.ended, run.err()).toMatchObject({ code: 0, signal: null });
    expect(run.err()).toContain('all 3 steps done');
  });

  test('a closed stderr in the middle: quiet, and the run finishes', async () => {
    const place = await makePlace(pictures('a', 'b', 'c'), { speed: 20 });
    const run = place.start([...args]);
    await until(() => place.service.ledger().length > 0);
    run.child.stderr?.destroy();
    run.child.stdout?.destroy();
    expect(await run.ended).toMatchObject({ code: 0, signal: null });
    expect(place.service.ledger()).toHaveLength(3);
    expectNothingLost(place);
  });
});

describe.runIf(process.platform === 'linux')('npm dies (Linux)', () => {
  test.each([
    ['a plain script', `"${process.execPath}" "${bin}" ${args.join(' ')}`],
    [
      'a script of two commands, so that a shell stands in between',
      `true; "${process.execPath}" "${bin}" ${args.join(' ')}; true`,
    ],
  ])('%s: as with SIGTERM, what runs is recorded and collected next time', async (_name, script) => {
    const place = await makePlace(pictures('a', 'b'), { speed: 1 });
    writeFileSync(place.path('package.json'), JSON.stringify({ name: 'x', scripts: { go: script } }));
    const npm = spawn('npm', ['run', '--silent', 'go', '--', '--events', 'events.jsonl'], {
      cwd: place.folder,
      env: { ...place.env, MEDIABATCH_EVENTS: '' },
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    onTestFinished(() => {
      npm.kill('SIGKILL');
    });
    const holder = () => {
      try {
        return JSON.parse(readFileSync(place.path('.mediabatch/campaign.lock.jsonl.guard'), 'utf8')).pid as number;
      } catch {
        return 0;
      }
    };
    await until(() => place.service.ledger().length > 0 && holder() > 0);
    const pid = holder();
    npm.kill('SIGKILL');
    await until(() => holder() !== pid);
    expectNothingLost(place);
    const lock = readLockFile(place.lock);
    expect([...lock.steps.values()].every(({ purchases }) => purchases[0]?.state === 'running')).toBe(true);
  });
});
