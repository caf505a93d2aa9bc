import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { accountOf } from '../../../src/cluster/account-id.ts';
import { showEngine } from '../../../src/cluster/database/engine-url.ts';
import type { RunHeader } from '../../../src/cluster/runs/run-record.ts';
import { readRun, submitRun } from '../../../src/cluster/runs/runs.ts';
import { makeSeal } from '../../../src/cluster/seal.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import { readEngineNote, writeEngineNote } from '../../../src/disk/lock/engine-note.ts';
import { takeGuard } from '../../../src/disk/lock/guard.ts';
import { images } from '../../rig/campaign.ts';
import { command, temporaryFolder } from '../../rig/command.ts';
import { engineHere, submission } from './engine-here.ts';

const access = { baseUrl: 'http://127.0.0.1:9/api/v1', token: 'key_of_a_test_of_attaching' };
const account = accountOf(access);

async function campaignHere() {
  const { url, db, boss } = await engineHere();
  const { path: cwd, remove } = temporaryFolder();
  onTestFinished(remove);
  writeFileSync(join(cwd, 'campaign.yaml'), images(2));
  const [, name = ''] = /^name: (.*)$/m.exec(images(2)) ?? [];
  const env = { MEDIABATCH_ENGINE: url, MEDIABATCH_BASE_URL: access.baseUrl, MEDIABATCH_API_KEY: access.token };
  const apply = () => command(['apply', 'campaign.yaml', '--yes', '--lock-timeout', '0'], { cwd, env });
  const cancel = () => command(['cancel', 'campaign.yaml'], { cwd, env });
  const run = (...args: string[]) => command([...args, 'campaign.yaml'], { cwd, env });
  return { url, db, boss, name, run, apply, cancel, lock: join(cwd, 'campaign.lock.jsonl') };
}

test('a campaign that only has the same name is not attached to, and gets no line of it', async () => {
  const { db, boss, name, apply, lock } = await campaignHere();
  const outline = { tasks: [], addresses: ['somebody@else'] };
  const header = { ...({} as RunHeader), outline };
  await submitRun(db, boss, { ...submission({ account, campaign: name }), header, seal: makeSeal(access.token) });
  const { code, err } = await apply();
  expect([code, err]).toEqual([75, expect.stringContaining(`another campaign named ${name} has an open run`)]);
  expect(readEngineNote(lock)).toBeUndefined();
});

test('the note of a submit that may still come to something is left to whoever holds the lock', async () => {
  const { url, apply, lock } = await campaignHere();
  const note = { run: 'r'.repeat(8), account, engine: showEngine(url), since: '2026', submitted: false };
  await writeEngineNote(lock, note);
  const held = await takeGuard(lock, { waitMs: 0, clock: systemClock });
  expect(held.is).toBe('taken');
  expect((await apply()).code).toBe(75);
  expect(readEngineNote(lock)).toMatchObject({ run: note.run });
});

test('cancel stops the open run of another clone where the one that was submitted here has ended', async () => {
  const { url, db, boss, name, cancel, lock } = await campaignHere();
  const { id: ended } = await submitRun(db, boss, submission({ account, campaign: name }));
  await db.query("UPDATE mediabatch.run SET state = 'ended', ended = now() WHERE id = $1", [ended]);
  await writeEngineNote(lock, { run: ended, account, engine: showEngine(url), since: '2026', submitted: true });
  expect((await cancel()).err).toContain('had ended already');
  const { id: open } = await submitRun(db, boss, submission({ account, campaign: name }));
  expect((await cancel()).err).toContain('nothing more is bought');
  expect((await readRun(db, open))?.cancelled).not.toBeNull();
});

test('what the workers let be spent bounds the plan, and is told with the run', async () => {
  const { db, boss, name, run } = await campaignHere();
  await db.query('INSERT INTO mediabatch.account (id, spent) VALUES ($1, $2)', [
    account,
    JSON.stringify({ at: new Date().toISOString(), day: 10, month: 70 }),
  ]);
  await db.query(
    `INSERT INTO mediabatch.worker (id, account, host, pid, protocol, version, files, doing)
     VALUES ('one', $1, 'here', 1, 1, '1', 0, '{"limits":{"day":400,"month":70}}')`,
    [account],
  );
  const planned = await run('apply');
  expect([planned.code, planned.err]).toEqual([
    4,
    expect.stringMatching(/^limit +70 a month by all workers, 0 left$/m),
  ]);
  expect(planned.err).toContain('the limit of the workers does not reach 2 steps');
  await submitRun(db, boss, submission({ account, campaign: name }));
  expect((await run('status')).err).toContain('its limit: 70 a month by all workers, 0 left');
});
