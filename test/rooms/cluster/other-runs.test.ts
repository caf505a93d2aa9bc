import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findUnseenRun, forgetSubmit, hasNews } from '../../../src/campaign/on-engine/other-runs.ts';
import type { OpenCampaign } from '../../../src/campaign/open-campaign.ts';
import type { Engine } from '../../../src/cluster/open-engine.ts';
import { sealHeader } from '../../../src/cluster/runs/header.ts';
import type { RunHeader, RunRecord } from '../../../src/cluster/runs/run-record.ts';
import { makeSeal } from '../../../src/cluster/seal.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import { readEngineNote, writeEngineNote } from '../../../src/disk/lock/engine-note.ts';
import { takeGuard } from '../../../src/disk/lock/guard.ts';
import { type Lock, lockVersion, type Purchase } from '../../../src/lock/record.ts';
import { writeLines } from '../../../src/lock/write.ts';
import type { AnyFacts } from '../../rig/facts-of-purchase.ts';
import { makeFolder } from '../disk/folder.ts';
import { scriptedDatabase } from './scripted-database.ts';

const bought = (state: Purchase['state'], rest: AnyFacts): Purchase =>
  ({ ...{ fingerprint: 'f', generation: 1, attempt: 1, key: 'k', state }, ...rest }) as Purchase;
const lockOf = (address: string, ...purchases: Purchase[]): Lock => ({
  version: lockVersion,
  steps: new Map([[address, { address, kind: 'video', purchases }]]),
});
const none: Lock = { version: lockVersion, steps: new Map() };
const open = bought('unresolved', { send: 's' });

test('a job, or a send without an answer, that a lock does not know is news to it', () => {
  const done = lockOf('film', bought('done', { jobId: 'j' }));
  expect(hasNews(done, none)).toBe(true);
  expect(hasNews(done, lockOf('renamed', bought('running', { jobId: 'j' })))).toBe(false);
  expect(hasNews(done, lockOf('film', bought('done', { jobId: 'other' })))).toBe(true);
  expect(hasNews(lockOf('film', bought('refused', {})), none)).toBe(false);
  expect(hasNews(lockOf('film', open), none)).toBe(true);
  const two = lockOf('film', bought('done', { jobId: 'j' }), bought('done', { jobId: 'older', generation: 2 }));
  expect(hasNews(two, lockOf('film', bought('done', { jobId: 'j' })))).toBe(true);
});

test('a send that was answered or decided about since is no news', () => {
  expect(hasNews(lockOf('film', open), lockOf('film', open))).toBe(false);
  expect(hasNews(lockOf('film', open), lockOf('film', bought('done', { jobId: 'j' })))).toBe(false);
  const decided = { address: 'film', kind: 'video', purchases: [], decisions: { sends: ['s'] } };
  expect(hasNews(lockOf('film', open), { ...none, steps: new Map([['film', decided]]) })).toBe(false);
});

/** A campaign in an empty folder, and its engine, which has these runs, the last one first. */
function openCampaign(runs: readonly { id: string; addresses: string[]; lock: Lock }[]) {
  const paths = { lock: join(makeFolder(), 'campaign.lock.jsonl') };
  const access = { baseUrl: 'http://127.0.0.1:9/api/v1', token: 'key_of_a_test_of_other_runs' };
  const campaign = { paths, tell: () => {}, environment: access } as unknown as OpenCampaign;
  const headerOf = (run: (typeof runs)[number] | undefined) => {
    const outline = { tasks: [], addresses: run?.addresses ?? [] };
    return sealHeader(makeSeal(access.token), { outline } as unknown as RunHeader, run as unknown as RunRecord);
  };
  const runOf = (id: unknown) => runs.find((run) => run.id === id);
  const database = scriptedDatabase(
    [/state = 'ended'/, () => runs.map(({ id }) => ({ id }))],
    [/SELECT header/, ([id]) => [{ header: headerOf(runOf(id)) }]],
    [/FROM mediabatch\.run WHERE id/, ([id]) => [runOf(id)].filter((run) => run !== undefined)],
    [
      /FROM mediabatch\.line/,
      ([id, after]) => {
        const [, ...lines] = writeLines(runOf(id)?.lock ?? none);
        return after === '0' ? [{ seq: '1', text: lines.join('') }] : [];
      },
    ],
  );
  const engine = { database, account: 'a', shown: 'the engine' } as unknown as Engine;
  return { campaign, engine, lock: paths.lock };
}

test('an older run that bought what nobody saw is found behind newer ones of which nothing is left', async () => {
  const graph = { name: 'spring', steps: [{ address: 'film' }] } as unknown as Parameters<typeof findUnseenRun>[2];
  const { campaign, engine } = openCampaign([
    { id: 'namesake', addresses: ['other'], lock: lockOf('other', bought('done', { jobId: 'theirs' })) },
    { id: 'empty', addresses: ['film'], lock: none },
    { id: 'bought', addresses: ['film'], lock: lockOf('film', bought('running', { jobId: 'j' })) },
  ]);
  expect(await findUnseenRun(engine, campaign, graph)).toMatchObject({ id: 'bought' });
});

test('a submit that came to nothing is forgotten, but not what was submitted while the lock was waited for', async () => {
  const { campaign, engine, lock } = openCampaign([]);
  const note = { run: 'first', account: 'a', engine: 'the engine', since: '2026', submitted: false };
  const options = { lockTimeoutMs: 10_000 };
  await writeEngineNote(lock, note);
  const held = await takeGuard(lock, { waitMs: 0, clock: systemClock });
  const forgetting = forgetSubmit({ engine, campaign, options }, 'first');
  await writeEngineNote(lock, { ...note, run: 'second' });
  if (held.is === 'taken') await held.guard.release();
  await forgetting;
  expect(readEngineNote(lock)?.run).toBe('second');
  await forgetSubmit({ engine, campaign, options }, 'second');
  expect(readEngineNote(lock)).toBeUndefined();
});
