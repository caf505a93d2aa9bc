import { inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Database } from '../../../src/cluster/database/database.ts';
import { checkEngineUrl, showEngine } from '../../../src/cluster/database/server-errors.ts';
import { readEngineState } from '../../../src/cluster/engine-state.ts';
import { ReportedEvents, unreportedEnds } from '../../../src/cluster/leader/reported-events.ts';
import { accountOf, makeSeal } from '../../../src/cluster/seal.ts';
import type { RunEvent, RunFact } from '../../../src/contract/event.ts';
import { countSteps } from '../../../src/plan/actions.ts';
import type { StepOrder } from '../../../src/plan/plan.ts';
import { createRunView, foldEvent } from '../../../src/report/run/run-view.ts';
import { progressText } from '../../../src/report/run/run-words.ts';
import { resumePlan } from '../../../src/run/resume-plan.ts';
import { type StepEnd, stepFinished } from '../../../src/run/step-end.ts';
import { images, TestCampaign } from '../../rig/campaign.ts';
import { forAll } from '../../rig/runs.ts';
import { submission, submittedHere } from './engine-here.ts';

const account = 'a'.repeat(32);

const submitted = (store: string | null = null) => submittedHere(submission({ account, store }));

function addWorker(db: Database, { id = 'one', store = 's', protocol = 1 } = {}) {
  return db.query(
    `INSERT INTO mediabatch.worker (id, account, host, pid, protocol, version, store, files)
     VALUES ($1, $2, 'here', 1, $3, '0', $4, 8)`,
    [id, account, protocol, store],
  );
}

async function lackIn(db: Database) {
  return (await readEngineState(db)).runs[0]?.lacks;
}

test.each([
  ['a worker', undefined, 'worker'],
  ['a worker of its version', { protocol: 2 }, 'version'],
  ['a worker with its store', { store: 'other' }, 'store'],
  ['nothing that a worker will not give it within moments', {}, undefined],
])('a run lacks %s', async (_what, worker, lacks) => {
  const { db } = await submitted('s');
  if (worker !== undefined) await addWorker(db, worker);
  expect(await lackIn(db)).toBe(lacks);
});

test('a leader whose lease has run out leads no more, and its runs lack one', async () => {
  const { db } = await submitted();
  await addWorker(db);
  await db.query("UPDATE mediabatch.run SET submitted = now() - interval '1 hour'");
  await db.query("UPDATE mediabatch.account SET head = 'one', beat = now()");
  expect(await readEngineState(db)).toMatchObject({ accounts: [{ head: 'one' }], workers: [{ isHead: true }] });
  expect(await lackIn(db)).toBeUndefined();
  // Also where the clock of the server was set back.
  for (const seconds of [-11, 3600]) {
    await db.query("UPDATE mediabatch.account SET beat = now() + $1 * interval '1 s'", [seconds]);
    expect(await readEngineState(db)).toMatchObject({ accounts: [{ head: null }], workers: [{ isHead: false }] });
    expect(await lackIn(db), String(seconds)).toBe('leader');
  }
});

test('counts steps by how they ended, files and credits of an ended run', async () => {
  const { db, id } = await submitted();
  await db.query("INSERT INTO mediabatch.part VALUES ($1, 1, '', 9, '{}')", [id]);
  const outcomes = ['done', 'done', 'unneeded', 'failed', 'unresolved', 'blocked'].map((outcome) => ({ outcome }));
  const ends = [...outcomes, { outcome: 'running', unsaved: true }];
  for (const [index, end] of ends.entries())
    await db.query('INSERT INTO mediabatch.ended VALUES ($1, $2, 1, $3)', [id, `step-${index}`, JSON.stringify(end)]);
  // A row holds a line for each of several events.
  const told = [
    [{ event: 'output-saved' }, { event: 'credits-changed', spentNow: 3 }],
    [{ event: 'credits-changed', spentNow: 5 }, { event: 'output-saved' }, { event: 'credits-changed', spentNow: 7 }],
    [{ event: 'job-created' }],
  ];
  for (const [no, events] of told.entries())
    await db.query('INSERT INTO mediabatch.event (run, epoch, no, text) VALUES ($1, 1, $2, $3)', [
      id,
      no,
      events.map((event) => `${JSON.stringify(event)}\n`).join(''),
    ]);
  const counted = { credits: 7, files: { wanted: 0, saved: 2, failed: 1 } };
  expect((await readEngineState(db)).runs).toMatchObject([
    { ...counted, steps: { done: 3, failed: 2, waiting: 3, left: 1, of: 9 } },
  ]);
  await db.query("UPDATE mediabatch.run SET state = 'ended', ended = now()");
  expect((await readEngineState(db)).runs).toMatchObject([
    { ...counted, steps: { done: 3, failed: 2, waiting: 1, left: 3, of: 9 } },
  ]);
});

test('shows runs of a campaign, or in a state', async () => {
  const { db } = await submitted();
  const names = async (shown: Parameters<typeof readEngineState>[1]) =>
    (await readEngineState(db, shown)).runs.map(({ campaign }) => campaign);
  expect(await names({ campaign: 'spring' })).toEqual(['spring']);
  expect(await names({ campaign: 'autumn' })).toEqual([]);
  expect(await names({ state: 'open' })).toEqual(['spring']);
  expect(await names({ state: 'ended' })).toEqual([]);
});

interface Death {
  /** The line it dies at. */
  line: number;
  written: boolean;
  /** How many of its ends and events are on record then. */
  ends: number;
  events: number;
  /** No answer to its creates arrives, and none of its ends is on record: what it reported of them does not hold. */
  loses: boolean;
}

const deaths = fc.array(
  fc.record({ line: fc.nat(20), written: fc.boolean(), ends: fc.nat(4), events: fc.nat(40), loses: fc.boolean() }),
  { maxLength: 4 },
);

/** The events of a run that one head after the other carries out. */
async function relay(moments: readonly Death[]) {
  const campaign = new TestCampaign(images(4));
  campaign.service.endOf = ({ body }) => (body.includes('p3') ? { is: 'failed', error: 'boom' } : undefined);
  const plan = campaign.plan();
  const before = campaign.file.read();
  const known = new Map<string, StepEnd>();
  const stream: RunFact[] = [];
  for (const moment of [...moments, undefined]) {
    const reported = new ReportedEvents();
    for (const fact of stream) reported.note(fact);
    const lock = campaign.file.read();
    const facts = { before, lock, ends: known, now: campaign.clock.now(), replays: 'yes' as const };
    const resumed = resumePlan(plan, { ...facts, prices: campaign.graph.prices });
    for (const [name, end] of resumed.newEnds) known.set(name, end);
    let left = moment?.events ?? Number.POSITIVE_INFINITY;
    const emit = (fact: RunFact) => {
      if (!reported.note(fact)) return;
      left -= 1;
      if (left >= 0) stream.push(fact);
    };
    const { campaign: name, concurrency, totals } = plan;
    const tasks = [{ id: 'pic', kind: 'image', steps: 4 }];
    emit({ event: 'run-started', version: 1, campaign: name, steps: countSteps(plan), concurrency, totals, tasks });
    const emitEnd = (order: StepOrder, end: StepEnd) => emit(stepFinished(order, end, campaign.clock.now()));
    for (const { order, end, before } of unreportedEnds(resumed.plan, resumed.ends, { lock, reported })) {
      for (const fact of before) emit(fact);
      emitEnd(order, end);
    }
    const most = known.size + (moment?.loses ? 0 : (moment?.ends ?? Number.POSITIVE_INFINITY));
    // As a head does: an end is reported when it is on record.
    const onEnd = (step: string, end: StepEnd, order: StepOrder) => {
      if (known.size >= most) return;
      known.set(step, end);
      emitEnd(order, end);
    };
    const lost = { answer: { is: 'ambiguous', message: 'lost' }, booked: true } as const;
    campaign.service.trouble = () => (moment?.loses ? lost : undefined);
    const options = { resumed, onEnd, onEvent: emit, unsettled: true };
    if (moment === undefined) await campaign.run(options);
    else await campaign.runAndDie(moment, options);
  }
  return stream;
}

/** What a screen shows at the end. */
function shown(stream: readonly RunFact[]) {
  const view = createRunView();
  const at = new Date(0).toISOString();
  for (const fact of stream) foldEvent(view, { at, ...fact } as RunEvent);
  const stages = [...view.tasks.values()].map((task) => [...task.stages].filter(([, count]) => count > 0).sort());
  return { stages, files: view.files, text: progressText(view, { isOver: true }) };
}

test('the event stream of several leaders reads like that of one', async () => {
  const expected = shown(await relay([]));
  expect(expected.text).toBe('3 of 4 done, 1 failed');
  await fc.assert(
    fc.asyncProperty(deaths, async (moments) => {
      expect(shown(await relay(moments))).toEqual(expected);
    }),
    { numRuns: 60 },
  );
});

const whole = deaths.map((moments) => moments.map((moment) => ({ ...moment, ends: 99, events: 999, loses: false })));
forAll([whole], 40)('reports the begin and end of a step once across leaders', async (moments) => {
  const stream = await relay(moments);
  const count = (event: RunFact['event']) => stream.filter((fact) => fact.event === event).length;
  expect([count('run-started'), count('step-started'), count('step-finished')]).toEqual([1, 4, 4]);
});

describe('an account', () => {
  const token = 'booking_live_one';
  const baseUrl = 'https://api.example.com/v1';

  test('is a key at an address', () => {
    const id = accountOf({ token, baseUrl });
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    expect(accountOf({ token, baseUrl: `${baseUrl}/` })).toBe(id);
    expect(accountOf({ token: 'booking_live_two', baseUrl })).not.toBe(id);
    expect(accountOf({ token, baseUrl: 'https://api.example.com/v2' })).not.toBe(id);
  });

  test('is the same however its address is spelled', () => {
    for (const spelling of ['https://API.example.com:443/v1/', 'https://api.example.com./v1//', `${baseUrl}?a=1`])
      expect(accountOf({ token, baseUrl: spelling }), spelling).toBe(accountOf({ token, baseUrl }));
  });

  test('stays one person’s while tokens are renewed', () => {
    const signedIn = (claims: object) => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
    const me = accountOf({ token: signedIn({ iss: 'a', sub: 'me', exp: 1 }), baseUrl });
    expect(accountOf({ token: signedIn({ iss: 'a', sub: 'me', exp: 2 }), baseUrl })).toBe(me);
    expect(accountOf({ token: signedIn({ iss: 'a', sub: 'you', exp: 1 }), baseUrl })).not.toBe(me);
  });
});

describe('a seal', () => {
  const seal = makeSeal('booking_live_one');

  test('never looks the same twice, and shows nothing of the text', () => {
    const text = 'https://a.example/x?sig=1';
    expect(seal.seal(text).equals(seal.seal(text))).toBe(false);
    // The text is compressed before it is encrypted, so it would not be readable in any case.
    expect(inflated(seal.seal(text).subarray(12, -16))).not.toContain('a.example');
  });

  test('tells another key and each damaged byte', () => {
    const sealed = seal.seal('a link');
    expect(makeSeal('booking_live_two').open(sealed)).toBeUndefined();
    for (let at = 0; at < sealed.length; at += 1) {
      const damaged = Buffer.from(sealed);
      damaged.writeUInt8((damaged.readUInt8(at) + 1) % 256, at);
      expect(seal.open(damaged)).toBeUndefined();
    }
    for (let length = 0; length < sealed.length; length += 1) {
      expect(seal.open(sealed.subarray(0, length))).toBeUndefined();
    }
  });
});

function inflated(bytes: Buffer): string {
  try {
    return inflateRawSync(bytes).toString();
  } catch {
    return '';
  }
}

describe('the address of an engine', () => {
  test.each([
    ['postgres://me:pass-word@db.example:5432/media', 'postgres://me@db.example:5432/media'],
    ['postgresql://db.example/media?password=pass-word&sslmode=require', 'postgresql://db.example/media'],
    ['postgres://me:p%40ss-word@[::1]/media#pass-word', 'postgres://me@[::1]/media'],
    ['postgres://:pass-word@db.example/', 'postgres://db.example/'],
    ['postgres://me:pass-word@db.example:port/media', 'the engine'],
  ])('is shown without what signs in: %s', (given, shown) => {
    expect(showEngine(given)).toBe(shown);
  });

  test.each([
    '',
    'mysql://me:pass-word@db.example/media',
    'me:pass-word@db.example',
    'postgres://me:pass-word@db.example:port/x',
  ])('is refused, and not told with its password: %s', (given) => {
    let error: unknown;
    try {
      checkEngineUrl(given);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ failure: { code: 'MB3705' } });
    expect(JSON.stringify(error) + String(error)).not.toContain('pass-word');
  });
});
