import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findUnseenRun, hasUnknownPurchases } from '../../../src/campaign/on-engine/record-of-run.ts';
import { forgetSubmit } from '../../../src/campaign/on-engine/run-on-engine.ts';
import type { OpenCampaign } from '../../../src/campaign/open-campaign.ts';
import { leaderQueue } from '../../../src/cluster/database/boss.ts';
import { type Database, openDatabase } from '../../../src/cluster/database/database.ts';
import { migrate } from '../../../src/cluster/database/schema.ts';
import { showEngine } from '../../../src/cluster/database/server-errors.ts';
import { openBodies } from '../../../src/cluster/leader/leader-run.ts';
import {
  insertEvents,
  openLines,
  RowWriter,
  readAllLines,
  readEarlierLines,
  readEvents,
} from '../../../src/cluster/leader/rows.ts';
import type { Engine } from '../../../src/cluster/open-engine.ts';
import {
  type RunHeader,
  type RunRecord,
  readOrders,
  type Submission,
  sealHeader,
} from '../../../src/cluster/runs/run-record.ts';
import {
  actOn,
  endRun,
  findOpenRun,
  lastEndedRuns,
  openRunsOf,
  readEnds,
  readRun,
  submitRun,
  writeEnds,
} from '../../../src/cluster/runs/runs.ts';
import { watchRun } from '../../../src/cluster/runs/watch-run.ts';
import { accountOf, makeSeal } from '../../../src/cluster/seal.ts';
import { systemClock } from '../../../src/contract/clock.ts';
import { LeadershipLostError } from '../../../src/contract/errors.ts';
import type { RunEvent } from '../../../src/contract/event.ts';
import { readEngineNote, writeEngineNote } from '../../../src/disk/lock/engine-note.ts';
import { takeGuard } from '../../../src/disk/lock/guard.ts';
import { type Lock, lockVersion, type Purchase } from '../../../src/lock/record.ts';
import { writeLines } from '../../../src/lock/write.ts';
import type { StepOrder } from '../../../src/plan/plan.ts';
import type { StepEnd } from '../../../src/run/step-end.ts';
import { images } from '../../rig/campaign.ts';
import { command } from '../../rig/command.ts';
import type { AnyFacts } from '../../rig/facts-of-purchase.ts';
import { makeFolder } from '../../rig/folder.ts';
import { losingLine } from '../../rig/losing-line.ts';
import { openFresh } from '../../rig/postgres.ts';
import { engineHere, submission, submittedHere } from './engine-here.ts';
import { scriptedDatabase } from './scripted-database.ts';

const account = 'a'.repeat(32);
const events = (first: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({ event: 'note', n: first + n }) as unknown as RunEvent);

/** A run, and the term of the head that has its account. */
async function runHere() {
  const { url, db, boss, id: run } = await submittedHere(submission({ account }));
  await db.query('UPDATE mediabatch.account SET epoch = 1');
  const term = { account, epoch: 1, run };
  return { url, db, boss, run, term, loseHead: () => db.query('UPDATE mediabatch.account SET epoch = epoch + 1') };
}

const count = async (db: Database, table: string) =>
  (await db.query<{ n: number }>(`SELECT count(*)::int AS n FROM ${table}`))[0]?.n;

describe('a submit', () => {
  test('whose COMMIT was not answered is made once, whole, even of what can be read only once', async () => {
    const { url, db, boss } = await engineHere();
    const line = await losingLine(url);
    const shaky = await openDatabase(line.url, { name: 'test' });
    onTestFinished(() => shaky.close());
    const orders = Array.from({ length: 450 }, (_, n) => ({ address: `hero@${n}` }) as StepOrder);
    const lines = Array.from({ length: 30 }, (_, n) => `{"line":${n}}\n`);
    const once = { ...submission({ account }), orders: orders.values(), lines: lines.values() };
    // Cut before it is carried out as well: then everything is written a second time.
    line.lose('INSERT INTO mediabatch.part');
    expect(await submitRun(shaky, boss, once)).toEqual({ id: once.id, attached: false });
    expect(line.lost).toBe(1);
    const stored = [];
    for await (const order of readOrders(db, once)) stored.push(order);
    expect(stored).toEqual(JSON.parse(JSON.stringify(orders)));
    expect(await readAllLines(db, once.id)).toEqual(lines);

    const second = { ...submission({ account, campaign: 'summer' }), orders: orders.values(), lines: lines.values() };
    line.lose('COMMIT');
    expect(await submitRun(shaky, boss, second)).toEqual({ id: second.id, attached: false });
    expect(line.lost).toBe(2);
    expect(await readAllLines(db, second.id)).toEqual(lines);
    expect(await count(db, 'mediabatch.part')).toBe(6);
    expect(await count(db, `mediabatch_queue.job WHERE name = '${leaderQueue(account)}'`)).toBe(1);
  });

  test('of two at once wins one, and the others attach to it', async () => {
    const { db, boss } = await engineHere();
    const answers = await Promise.all(Array.from({ length: 6 }, () => submitRun(db, boss, submission({ account }))));
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(answers.filter(({ attached }) => !attached)).toHaveLength(1);
    expect(await count(db, 'mediabatch.run')).toBe(1);
  });

  test('finds what heads have written under its keys and fingerprints in earlier runs of its campaign', async () => {
    const { db, boss, run, term } = await runHere();
    const line = (key: string) => `{"address":"hero","key":"${key}"}\n`;
    const lines = openLines(db, term);
    const retried = '{"address":"hero","fingerprint":"same","key":"again"}\n';
    await Promise.all([lines.append(line('mine')), lines.append(line('other')), lines.append(retried)]);
    await endRun(db, term, { exit: 0, outcomes: {} });
    const later = { ...submission({ account }), keys: new Set(['mine']), fingerprints: new Set(['same']) };
    expect(await submitRun(db, boss, later)).toMatchObject({ attached: false });
    expect(await readEarlierLines(db, later, later)).toEqual([line('mine'), retried]);
    for (const other of [{ id: run }, { campaign: 'summer' }, { account: 'b'.repeat(32) }]) {
      expect(await readEarlierLines(db, { ...later, ...other }, later)).toEqual([]);
    }
    expect(await lastEndedRuns(db, { account, campaign: 'spring', most: 5 })).toMatchObject([{ id: run }]);
    expect(await lastEndedRuns(db, { account: 'b'.repeat(32), campaign: 'spring', most: 5 })).toEqual([]);
  });

  const order = (fingerprint: string, action = 'create') =>
    ({ address: 'hero@1', fingerprint, action }) as unknown as StepOrder;
  const ofKey = (account: string, ...orders: StepOrder[]) => ({ ...submission({ account }), orders });

  test('I47 with a purchase that another key is buying is refused, of two at once as well', async () => {
    const { db, boss } = await engineHere();
    const at = Array.from({ length: 6 }, (_, n) => String(n).repeat(32));
    const tried = await Promise.allSettled(at.map((key) => submitRun(db, boss, ofKey(key, order('f'), order('g')))));
    expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const [refused] = tried.filter((answer) => answer.status === 'rejected');
    const message = expect.stringContaining('hero@1 is already being bought on this engine');
    expect(refused?.reason).toMatchObject({ failure: { code: 'MB3704', message } });
    expect(await count(db, 'mediabatch.run')).toBe(1);
  });

  test.each([
    ['buys something else', (run: Submission) => ({ ...run, orders: [order('other')] })],
    ['only collects it', (run: Submission) => ({ ...run, orders: [order('f', 'attach')] })],
    ['is another campaign', (run: Submission) => ({ ...run, campaign: 'summer' })],
  ])('of another key that %s is taken', async (_, change) => {
    const { db, boss } = await submittedHere(ofKey(account, order('f')));
    expect(await submitRun(db, boss, change(ofKey('b'.repeat(32), order('f'))))).toMatchObject({ attached: false });
  });

  test('is refused while a run of another protocol is open, and leaves nothing', async () => {
    const { db, boss } = await submittedHere(submission({ account }));
    await db.query('UPDATE mediabatch.run SET protocol = 99');
    const refused = submitRun(db, boss, submission({ account, campaign: 'summer' }));
    const message = expect.stringContaining('started by mediabatch 0.1.0 (protocol 99; this version has protocol 1)');
    await expect(refused).rejects.toMatchObject({ failure: { code: 'MB3703', message } });
    expect(await count(db, 'mediabatch.run')).toBe(1);
  });
});

describe('a run', () => {
  test('is found while it is open, told of, cancelled once, and ended', async () => {
    const { db, run, term } = await runHere();
    expect(await findOpenRun(db, account, 'spring')).toMatchObject({ id: run, cancelled: null });
    expect(await findOpenRun(db, 'b'.repeat(32), 'spring')).toBeUndefined();
    expect(await actOn(db, run, { act: 'cancel', by: 'me on here' })).toBe(true);
    const first = (await readRun(db, run))?.cancelled;
    expect(await actOn(db, run, { act: 'cancel', by: 'you on there' })).toBe(true);
    expect((await readRun(db, run))?.cancelled).toEqual(first);
    expect((await readRun(db, run))?.origin).toMatchObject({ host: 'here', cancelledBy: 'me on here' });
    await endRun(db, term, { exit: 3, outcomes: { hero: 'failed' } });
    expect(await actOn(db, run, { act: 'cancel', by: 'me on here' })).toBe(false);
    expect(await openRunsOf(db, account)).toEqual([]);
    expect(await readRun(db, run)).toMatchObject({ state: 'ended', result: { exit: 3 } });
  });

  test('takes its bodies and links along when it ends, and nothing when its head is another', async () => {
    const { db, run, term, loseHead } = await runHere();
    await openBodies(db, term, makeSeal('key_live_one')).keep('k', '{"link":"signed"}');
    await db.query("INSERT INTO mediabatch.file (id, run, state, task) VALUES ('f', $1, 'wanted', 'sealed')", [run]);
    await loseHead();
    await expect(endRun(db, term, { exit: 0, outcomes: {} })).rejects.toThrow(LeadershipLostError);
    expect(await readRun(db, run)).toMatchObject({ state: 'open', result: null });
    expect(await count(db, 'mediabatch.body')).toBe(1);
    expect(await count(db, 'mediabatch.file WHERE task IS NOT NULL')).toBe(1);
    await endRun(db, { ...term, epoch: 2 }, { exit: 0, outcomes: {} });
    expect(await count(db, 'mediabatch.body')).toBe(0);
    expect(await count(db, 'mediabatch.file WHERE task IS NOT NULL')).toBe(0);
  });

  test('knows how its orders have ended: the first word counts, and only that of its head', async () => {
    const { db, run, term, loseHead } = await runHere();
    const done: StepEnd = { outcome: 'done', credits: 4 };
    await writeEnds(db, term, new Map([['hero', done]]));
    const failed: StepEnd = { outcome: 'failed', credits: 0 };
    await writeEnds(db, term, new Map(Object.entries({ hero: failed, logo: done })));
    await loseHead();
    await expect(writeEnds(db, term, new Map([['late', done]]))).rejects.toThrow(LeadershipLostError);
    expect(await readEnds(db, run)).toEqual(new Map(Object.entries({ hero: done, logo: done })));
  });

  test('tells its events in order, a few rows for many, until its head is another', async () => {
    const { db, run, term, loseHead } = await runHere();
    const lost: unknown[] = [];
    const writer = new RowWriter(db, term, { statement: insertEvents, gather: () => wait(10) });
    const write = async (first: number, number: number) => {
      for (const event of events(first, number))
        writer.append(`${JSON.stringify(event)}\n`).catch((error) => lost.push(error));
      await writer.idle();
    };
    await write(0, 1000);
    const read = async (after?: string) => {
      const all: { events: RunEvent[]; last: string } = { events: [], last: '' };
      for await (const { events, last } of readEvents(db, run, after)) {
        all.events.push(...events);
        all.last = last;
      }
      return all;
    };
    const before = await read();
    expect(before.events).toEqual(events(0, 1000));
    expect(await count(db, 'mediabatch.event')).toBeLessThanOrEqual(4);
    await write(1000, 3);
    expect((await read(before.last)).events).toEqual(events(1000, 3));
    await loseHead();
    await write(2000, 3);
    expect(new Set(lost)).toEqual(new Set([expect.any(LeadershipLostError)]));
    expect((await read(before.last)).events).toEqual(events(1000, 3));
  });

  test('keeps bodies that only the same key can read, for its head alone', async () => {
    const { db, term, loseHead } = await runHere();
    const bodies = openBodies(db, term, makeSeal('key_live_one'));
    await bodies.keep('k', 'a signed link');
    expect(await bodies.read('k')).toBe('a signed link');
    expect(await openBodies(db, term, makeSeal('key_live_two')).read('k')).toBeUndefined();
    const [row] = await db.query<{ sealed: Buffer }>('SELECT sealed FROM mediabatch.body');
    expect(row?.sealed.toString('latin1')).not.toContain('signed');
    await bodies.drop('k');
    expect(await bodies.read('k')).toBeUndefined();
    await loseHead();
    await expect(bodies.keep('k', 'late')).rejects.toThrow(LeadershipLostError);
    await expect(bodies.drop('k')).rejects.toThrow(LeadershipLostError);
  });
});

test('the tables are made once by many workers at the same time, and never a second time', async () => {
  const { database } = await openFresh();
  const migrateAtOnce = () => Promise.all(Array.from({ length: 5 }, () => migrate(database)));
  await migrateAtOnce();
  // These connections remember what is gone.
  await database.query('DROP SCHEMA mediabatch CASCADE');
  await migrateAtOnce();
  await migrate(database);
  expect(await count(database, 'mediabatch.meta')).toBe(1);
});

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
  expect(hasUnknownPurchases(done, none)).toBe(true);
  expect(hasUnknownPurchases(done, lockOf('renamed', bought('running', { jobId: 'j' })))).toBe(false);
  expect(hasUnknownPurchases(done, lockOf('film', bought('done', { jobId: 'other' })))).toBe(true);
  expect(hasUnknownPurchases(lockOf('film', bought('refused', {})), none)).toBe(false);
  expect(hasUnknownPurchases(lockOf('film', open), none)).toBe(true);
  const two = lockOf('film', bought('done', { jobId: 'j' }), bought('done', { jobId: 'older', generation: 2 }));
  expect(hasUnknownPurchases(two, lockOf('film', bought('done', { jobId: 'j' })))).toBe(true);
});

test('a send that was answered or decided about since is no news', () => {
  expect(hasUnknownPurchases(lockOf('film', open), lockOf('film', open))).toBe(false);
  expect(hasUnknownPurchases(lockOf('film', open), lockOf('film', bought('done', { jobId: 'j' })))).toBe(false);
  const decided = { address: 'film', kind: 'video', purchases: [], decisions: { sends: ['s'] } };
  expect(hasUnknownPurchases(lockOf('film', open), { ...none, steps: new Map([['film', decided]]) })).toBe(false);
});

/** A campaign in an empty folder, and its engine, which has these runs, the last one first. */
function openCampaign(runs: readonly { id: string; addresses: string[]; lock: Lock }[]) {
  const paths = { lock: join(makeFolder(), 'campaign.lock.jsonl') };
  const access = { baseUrl: 'http://127.0.0.1:9/api/v1', token: 'key_of_a_test_of_other_runs' };
  const campaign = { paths, notify: () => {}, environment: access } as unknown as OpenCampaign;
  const headerOf = (run: (typeof runs)[number] | undefined) => {
    const outline = { tasks: [], addresses: run?.addresses ?? [] };
    return sealHeader(makeSeal(access.token), { outline } as unknown as RunHeader, run as unknown as RunRecord);
  };
  const runOf = (id: unknown) => runs.find((run) => run.id === id);
  const linesOf = (run: (typeof runs)[number] | undefined) => [...writeLines(run?.lock ?? none)].slice(1).join('');
  const database = scriptedDatabase(
    [/state = 'ended'/, () => runs.map(({ id }) => ({ id }))],
    [/SELECT header/, ([id]) => [{ header: headerOf(runOf(id)) }]],
    [/FROM mediabatch\.run WHERE id/, ([id]) => [runOf(id)].filter((run) => run !== undefined)],
    [/FROM mediabatch\.line/, ([id, after]) => (after === '0' ? [{ seq: '1', text: linesOf(runOf(id)) }] : [])],
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
  await writeEngineNote(lock, note);
  const held = await takeGuard(lock, { waitMs: 0, clock: systemClock });
  const forgetting = forgetSubmit(engine, campaign, { run: 'first', waitMs: 10_000 });
  await writeEngineNote(lock, { ...note, run: 'second' });
  if (held.is === 'taken') await held.guard.release();
  await forgetting;
  expect(readEngineNote(lock)?.run).toBe('second');
  await forgetSubmit(engine, campaign, { run: 'second', waitMs: 0 });
  expect(readEngineNote(lock)).toBeUndefined();
});

type Row = { seq: string; text: string };

/** A run that is open at the first look, and has ended at the next ones. */
function endsSoon() {
  let looks = 0;
  const look = () => [{ id: 'r', error: null, state: looks++ === 0 ? 'open' : 'ended' }];
  return { looks: () => looks, entry: [/FROM mediabatch\.run /, look] as const };
}

test('an event is told after the line that it tells of, although both come between two reads', async () => {
  const tables: { lines: Row[]; events: Row[] } = { lines: [], events: [] };
  const lookAt = (table: Row[], after: unknown) => {
    const found = table.filter(({ seq }) => Number(seq) > Number(after));
    // The head writes as soon as one of the two was read.
    tables.lines = [{ seq: '1', text: 'the job is on record\n' }];
    tables.events = [{ seq: '1', text: '{"event":"job-created"}\n' }];
    return found;
  };
  const database = scriptedDatabase(
    endsSoon().entry,
    [/FROM mediabatch\.event /, ([, after]) => lookAt(tables.events, after)],
    [/FROM mediabatch\.line /, ([, after]) => lookAt(tables.lines, after)],
  );
  const heard: string[] = [];
  const lock = new Set<string>();
  await watchRun(database, 'r', {
    signal: new AbortController().signal,
    onLines: async (lines) => {
      const fresh = lines.filter((text) => !lock.has(text));
      for (const text of fresh) lock.add(text);
      heard.push(...fresh.map(() => 'line'));
      return fresh.length;
    },
    onEvents: (events) => void heard.push(...events.map(({ event }) => event)),
  });
  expect(heard).toEqual(['line', 'job-created']);
});

test('rows that a database gives numbers of before are heard at the end', async () => {
  const first = { seq: '5', epoch: '1', text: 'first\n' };
  // An older copy was put back during the watch, so the next line got a number that had been read.
  const late = { seq: '4', epoch: '2', text: 'late\n' };
  const { looks, entry } = endsSoon();
  const rows = (after: unknown) =>
    (looks() === 1 ? [first] : [late, first]).filter(({ seq }) => Number(seq) > Number(after));
  const lines = [/FROM mediabatch\.line /, ([, after]: readonly unknown[]) => rows(after)] as const;
  const database = scriptedDatabase(entry, [/FROM mediabatch\.event /, () => []], lines);
  const heard = new Set<string>();
  await watchRun(database, 'r', {
    signal: new AbortController().signal,
    async onLines(lines) {
      const before = heard.size;
      for (const line of lines) heard.add(line);
      return heard.size - before;
    },
    onEvents: () => {},
  });
  expect([...heard]).toEqual(['first\n', 'late\n']);
});

describe('attach', () => {
  const access = { baseUrl: 'http://127.0.0.1:9/api/v1', token: 'key_of_a_test_of_attaching' };
  const account = accountOf(access);

  async function campaignHere() {
    const { url, db, boss } = await engineHere();
    const cwd = makeFolder();
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

  test('cancel stops the open run of another clone where the one that was submitted here has ended', async () => {
    const { url, db, boss, name, cancel, lock } = await campaignHere();
    const { id: ended } = await submitRun(db, boss, submission({ account, campaign: name }));
    await db.query("UPDATE mediabatch.run SET state = 'ended', ended = now() WHERE id = $1", [ended]);
    await writeEngineNote(lock, { run: ended, account, engine: showEngine(url), since: '2026', submitted: true });
    expect((await cancel()).err).toContain('had already ended');
    const { id: open } = await submitRun(db, boss, submission({ account, campaign: name }));
    expect((await cancel()).err).toContain('this run creates no more jobs');
    expect((await readRun(db, open))?.cancelled).not.toBeNull();
  });

  test('what the workers let be spent bounds the plan, and is told with the run', async () => {
    const { db, boss, name, run } = await campaignHere();
    const spent = JSON.stringify({ at: new Date().toISOString(), day: 10, month: 70 });
    await db.query('INSERT INTO mediabatch.account (id, spent) VALUES ($1, $2)', [account, spent]);
    await db.query(
      `INSERT INTO mediabatch.worker (id, account, host, pid, protocol, version, files, doing)
     VALUES ('one', $1, 'here', 1, 1, '1', 0, '{"limits":{"day":400,"month":70}}')`,
      [account],
    );
    const planned = await run('apply');
    expect(planned.code).toBe(4);
    expect(planned.err).toMatch(/^limit +70 a month by all workers, 0 left$/m);
    expect(planned.err).toContain('the limit of the workers is not enough for 2 steps');
    await submitRun(db, boss, submission({ account, campaign: name }));
    expect((await run('status')).err).toContain('limit of the run: 70 a month by all workers, 0 left');
  });
});
