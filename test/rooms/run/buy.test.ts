import { describe, expect, it } from 'vitest';
import type { CreateAnswer } from '../../../src/contract/answer.ts';
import { ServiceError } from '../../../src/contract/errors.ts';
import type { Begin, LookUp } from '../../../src/contract/ports.ts';
import { buyJob } from '../../../src/run/send-create.ts';
import { orderOf, type Script, tracedPorts } from './traced-ports.ts';

const accepted: CreateAnswer = { is: 'accepted', job: { jobId: 'job-1', credits: 3, balance: 97 }, model: 'm1' };
const ambiguous: CreateAnswer = { is: 'ambiguous', message: 'reset' };
const since = '2029-12-31T23:00:00.000Z';

/** Buys one step; `answers` of creates in turn, the last one for ever. */
async function buy(
  answers: CreateAnswer[],
  script: Script & { begin?: Begin; facts?: Parameters<typeof orderOf>[0] } = {},
) {
  const sent: unknown[] = [];
  const traced = tracedPorts({
    ...script,
    ledger: { ...(script.begin !== undefined && { begin: async () => script.begin as Begin }), ...script.ledger },
    service: {
      create: async (call) => {
        sent.push(call);
        return answers[Math.min(sent.length, answers.length) - 1] as CreateAnswer;
      },
      ...script.service,
    },
  });
  const order = orderOf(script.facts);
  const end = await buyJob(order, traced.ports);
  if ('order' in end) {
    const { order: bought, ...job } = end;
    expect(bought).toBe(order);
    return { end: job, sent, told: traced.told, events: traced.events, sleeps: traced.sleeps };
  }
  return { end, sent, told: traced.told, events: traced.events, sleeps: traced.sleeps };
}

const call = { kind: 'image', body: '{"prompt":"p"}', key: 'mb1-key' };
const at = Date.parse('2030-01-01T00:00:00Z');
const created = [
  'created',
  { jobId: 'job-1', credits: 3, balance: 97 },
  { id: 'send-1', replays: true, at: expect.any(Number) },
];
const intended = ['intent', { body: '{"prompt":"p"}', replays: true, at }];
const sent = { id: 'send-0', since };
const left = { outcome: 'left', credits: 0 };

describe('the paid act', () => {
  it('is an intent, one request, and its job on record', async () => {
    expect(await buy([accepted])).toEqual({
      end: { jobId: 'job-1', credits: 3, fresh: true },
      sent: [call],
      told: [intended, created],
      events: [
        { event: 'create-intended', address: 'hero@de', key: 'mb1-key', reserved: 3 },
        { event: 'job-created', address: 'hero@de', jobId: 'job-1', credits: 3, balance: 97, model: 'm1' },
      ],
      sleeps: [],
    });
  });

  it.each([
    [null, null],
    [3, null],
    [0, 0],
  ])('is told with the charge that nobody named: price %s, told %s', async (credits, told) => {
    const answer: CreateAnswer = { is: 'accepted', job: { jobId: 'job-1', credits: null, balance: null } };
    const { events } = await buy([answer], { facts: { price: { class: 'c', credits, source: 'unknown' } } });
    expect(events.at(-1)).toEqual({
      event: 'job-created',
      address: 'hero@de',
      jobId: 'job-1',
      credits: told,
      balance: null,
    });
  });

  it.each<[string, CreateAnswer[], number | null]>([
    ['the charge', [], 0],
    ['no charge in the answer to a repeated request', [ambiguous], null],
  ])('reads a charge of 0 as %s', async (_, before, credits) => {
    const job = { jobId: 'job-1', credits: 0, balance: 97 };
    const { told } = await buy([...before, { is: 'accepted', job }]);
    expect(told[1]).toMatchObject(['created', { credits }, {}]);
  });

  it('does not happen in a run that is ending, nor where the ledger says no', async () => {
    const nothing = { end: left, sent: [], told: [], events: [], sleeps: [] };
    expect(await buy([accepted], { aborted: true })).toEqual(nothing);
    expect(await buy([accepted], { begin: { do: 'stop', because: 'budget' } })).toEqual(nothing);
    expect(await buy([accepted], { gate: { enter: async () => 'stop' } })).toEqual({
      ...nothing,
      told: [['release']],
    });
  });

  it('is not done twice: a job that is on record is taken', async () => {
    const begin: Begin = { do: 'go', reserved: 3, job: { jobId: 'job-0', credits: 2 } };
    expect(await buy([accepted], { begin })).toMatchObject({
      end: { jobId: 'job-0', credits: 2, fresh: false },
      sent: [],
    });
  });

  it('gives its reservation back where the request cannot be made, and keeps it where one may have been sent', async () => {
    const facts = { request: { a: { $ref: 'x' } }, paidRequest: { a: { $ref: '1:x' } } };
    const end = { outcome: 'blocked', credits: 0, error: 'x has no finished job' };
    expect(await buy([], { facts })).toMatchObject({ end, told: [['release']] });
    const begin: Begin = { do: 'go', reserved: 3, open: sent };
    const open = { ...facts, send: sent };
    expect(await buy([], { facts: open, begin })).toMatchObject({ end, told: [['doubt']] });
    const kept: Begin = { do: 'go', reserved: 3, open: sent, body: '{"kept":1}' };
    expect((await buy([accepted], { facts: open, begin: kept })).sent).toEqual([{ ...call, body: '{"kept":1}' }]);
  });

  it('says the id aloud when it cannot be recorded, and still collects the job', async () => {
    const full = async () => Promise.reject(Object.assign(new Error('disk full'), { code: 'ENOSPC' }));
    const { end, told, events } = await buy([accepted], { ledger: { created: full } });
    expect(end).toEqual({ jobId: 'job-1', credits: 3, fresh: true });
    expect(told).toContainEqual(['stop', 'disk', 'disk full']);
    expect(events).toContainEqual({
      event: 'noticed',
      address: 'hero@de',
      message: 'job job-1 was created for hero@de and could not be recorded (disk full); keep this line',
    });
  });
});

describe('a create without a plain answer', () => {
  it('is sent again under its key, after a wait, with one intent', async () => {
    const { sent, told, events, sleeps } = await buy([ambiguous, accepted], { random: 1 });
    expect(sent).toEqual([call, call]);
    expect(told).toEqual([intended, created]);
    const [repeated] = events.filter(({ event }) => event === 'create-repeated');
    expect(repeated).toEqual({ event: 'create-repeated', address: 'hero@de', because: 'reset', afterMs: sleeps[0] });
    expect((await buy([ambiguous, accepted], { random: 0.5 })).sleeps).toEqual([(sleeps[0] ?? 0) / 2]);
  });

  it('holds everybody back after a 429, and does not sleep by itself', async () => {
    const throttled: CreateAnswer = { is: 'throttled', afterMs: 7000, message: 'HTTP 429' };
    const { told, sleeps } = await buy([throttled, accepted], { random: 0 });
    expect(told).toEqual([intended, ['throttled', expect.any(Number)], created]);
    expect(told[1]).not.toEqual(['throttled', 0]);
    expect(sleeps).toEqual([]);
  });

  it('is unresolved when it is interrupted before the answer is known', async () => {
    const error = 'interrupted before the answer arrived';
    const stopping = await buy([ambiguous], { onSleep: (_ms, abort) => abort() });
    expect(stopping.end).toEqual({ outcome: 'unresolved', credits: null, error, recoverable: true });
    expect(stopping.told).toEqual([intended, ['doubt']]);
    expect(stopping.sent).toHaveLength(1);
  });

  it('was never accepted when it is interrupted after an answer that proves it', async () => {
    const notSent: CreateAnswer = { is: 'not-sent', message: 'refused' };
    const { end, told } = await buy([notSent], { onSleep: (_ms, abort) => abort() });
    expect(end).toEqual(left);
    expect(told).toEqual([intended, ['finish', { state: 'unsent', send: 'send-1' }]]);
  });

  it('is not sent again when the service has forgotten its key', async () => {
    const facts = { send: { ...sent, since: '2029-12-30T00:00:00Z' } };
    const begin: Begin = { do: 'go', reserved: 3, open: facts.send };
    const { end, sent: creates, told } = await buy([accepted], { begin, facts });
    const error = 'the service no longer replays the answer to the create request';
    expect(end).toEqual({ outcome: 'unresolved', credits: null, error });
    expect([creates, told]).toEqual([[], [['doubt']]]);
  });

  it('was not answered with the job of another request', async () => {
    const ledger = { created: async () => 'taken' as const };
    const { end, told } = await buy([accepted], { ledger, service: { replays: () => false } });
    const error = 'the service answered with job job-1, which belongs to another request';
    expect(end).toMatchObject({ outcome: 'unresolved', error: expect.stringContaining(error) });
    expect(told).toEqual([[...intended.slice(0, 1), { body: '{"prompt":"p"}', replays: false, at }], ['doubt']]);
  });

  it.each<[string, CreateAnswer, unknown[]]>([
    ['auth', { is: 'refused', status: 401, why: 'auth', message: 'HTTP 401' }, [['stop', 'auth', 'HTTP 401']]],
    ['credits', { is: 'refused', status: 402, why: 'credits', message: 'HTTP 402' }, [['out of credits', 'HTTP 402']]],
    ['invalid', { is: 'refused', status: 400, why: 'invalid', message: 'HTTP 400' }, []],
  ])('is refused (%s): nothing was charged', async (_name, answer, stops) => {
    const error = 'message' in answer ? answer.message : '';
    expect(await buy([answer])).toMatchObject({
      end: { outcome: 'refused', credits: 0, error },
      told: [intended, ['finish', { state: 'refused', error, send: 'send-1' }], ...stops],
    });
  });
});

describe('a lost create of a kind with a list', () => {
  const facts = { kind: 'video' };
  const listed = (found: LookUp, begin?: Begin, more: Script['lost'] = {}) => {
    const asked: unknown[] = [];
    const lost: Script['lost'] = {
      fence: async () => 'job-fence',
      lookUp: async (_order, what) => {
        asked.push(what);
        return found;
      },
      ...more,
    };
    const service = { replays: () => false };
    return { asked, script: { facts, lost, service, ...(begin !== undefined && { begin }) } };
  };
  const found = (jobId: string) => ({ kind: 'video', jobId, status: 'x', createdAt: since, echoes: {} });

  it('is searched for from the fence, and its job is taken', async () => {
    const job = { ...found('job-9'), recordId: 'rec', credits: 5, model: 'm2' };
    const { asked, script } = listed({ do: 'adopt', job });
    const { end, sent, told, events } = await buy([ambiguous], script);
    expect(end).toEqual({ jobId: 'job-9', credits: 5, fresh: false });
    expect(sent).toHaveLength(1);
    expect(asked).toEqual([{ id: 'send-1', sentAt: at, fence: 'job-fence', resent: false }]);
    expect(told).toEqual([
      ['intent', { body: '{"prompt":"p"}', replays: false, at, fence: 'job-fence' }],
      [
        'created',
        { jobId: 'job-9', credits: 5, isListed: true, balance: null, recordId: 'rec' },
        { id: 'send-1', replays: false, at },
      ],
    ]);
    expect(events.slice(1)).toEqual([
      { event: 'create-searched', address: 'hero@de', because: expect.stringContaining('reset') },
      { event: 'job-found', address: 'hero@de', jobId: 'job-9' },
      { event: 'job-created', address: 'hero@de', jobId: 'job-9', credits: 5, balance: null, model: 'm2' },
    ]);
    const unpriced = await buy([ambiguous], listed({ do: 'adopt', job: { ...job, credits: 0 } }).script);
    expect(unpriced.told[1]).toMatchObject(['created', { jobId: 'job-9', credits: null }, {}]);
  });

  it('is not sent while its list cannot be read, and a wait that the list asks for is one of the account', async () => {
    const error = new ServiceError('unreachable', 'busy', { status: 429, retryAfterMs: 7000 });
    let reads = 0;
    const fence = async () => {
      reads += 1;
      if (reads === 1) throw error;
      return 'job-fence';
    };
    const { told, sent } = await buy([accepted], listed({ do: 'resend' }, undefined, { fence }).script);
    expect(told[0]).toEqual(['throttled', 7000]);
    expect(told[1]).toMatchObject(['intent', { fence: 'job-fence' }]);
    expect(sent).toHaveLength(1);
  });

  it('is sent once more where the list proves that nothing was made, with another intent', async () => {
    const { script } = listed({ do: 'resend' });
    const { sent, told, end } = await buy([ambiguous, accepted], script);
    expect(sent).toHaveLength(2);
    expect(told).toEqual([
      ['intent', { body: '{"prompt":"p"}', replays: false, at, fence: 'job-fence' }],
      ['intent', { body: '{"prompt":"p"}', replays: false, at, fence: 'job-fence', resent: 'send-1' }],
      [created[0], created[1], { id: 'send-1', replays: false, at }],
    ]);
    expect(end).toMatchObject({ jobId: 'job-1', fresh: true });
  });

  it('is sent again where the service asked to wait after its list proved that nothing was made', async () => {
    const { script } = listed({ do: 'resend' });
    const throttled: CreateAnswer = { is: 'throttled', afterMs: 7000, message: 'HTTP 429' };
    const { sent, told, end } = await buy([ambiguous, throttled, accepted], script);
    expect(sent).toHaveLength(3);
    expect(told).toMatchObject([
      ['intent', { fence: 'job-fence' }],
      ['intent', { resent: 'send-1' }],
      ['throttled', expect.any(Number)],
      ['intent', { resent: expect.any(String) }],
      ['created', {}, {}],
    ]);
    expect(end).toMatchObject({ jobId: 'job-1', fresh: true });
  });

  it('is not sent once more, nor called interrupted, when nothing more is bought by then', async () => {
    const { script } = listed({ do: 'resend' });
    let turns = 0;
    const enter = async () => (++turns === 1 ? ('in' as const) : ('stop' as const));
    const { sent, end } = await buy([ambiguous, accepted], { ...script, gate: { enter } });
    expect(sent).toHaveLength(1);
    const error = 'reset; nothing more is bought, so the request was not sent again';
    expect(end).toEqual({ outcome: 'unresolved', credits: null, error, recoverable: true });
  });

  it('of an earlier run is searched for before anything is sent', async () => {
    const send = { ...sent, fence: 'f' };
    const first = listed({ do: 'stop' }, { do: 'go', reserved: 3, open: send });
    const { end, sent: creates } = await buy([accepted], { ...first.script, facts: { ...facts, send } });
    expect(first.asked).toEqual([{ id: 'send-0', sentAt: Date.parse(since), fence: 'f', resent: false }]);
    expect(creates).toEqual([]);
    const error = 'the answer to the create request was lost in an earlier run; interrupted before the list was read';
    expect(end).toEqual({ outcome: 'unresolved', credits: null, error, recoverable: true });
    const again = listed({ do: 'stop' }, { do: 'go', reserved: 3, open: { ...send, resent: true } });
    await buy([accepted], { ...again.script, facts: { ...facts, send: { ...send, resent: true } } });
    expect(again.asked).toEqual([{ id: 'send-0', sentAt: at, fence: 'f', resent: true }]);
  });

  const person = (ids: string[]): LookUp => ({ do: 'hold', error: 'two look alike', candidates: ids.map(found) });
  const earlier = 'the answer to the create request was lost in an earlier run; ';
  it.each<[LookUp, string, boolean]>([
    [{ do: 'held' }, 'the job was not searched for (--on-unknown hold)', true],
    [{ do: 'unread', error: 'HTTP 500' }, 'the list could not be read (HTTP 500)', true],
    [person([]), 'two look alike', false],
    [person(['a', 'b', 'c']), 'two look alike; the job may be a, b, c', false],
    [person(['a', 'b', 'c', 'd', 'e']), 'two look alike; the job may be a, b, c and 2 more', false],
  ])('is left as it is: %o', async (verdict, why, recoverable) => {
    const send = { ...sent, fence: 'f' };
    const { script } = listed(verdict, { do: 'go', reserved: 3, open: send });
    const { end, told } = await buy([accepted], { ...script, facts: { ...facts, send } });
    expect(end).toEqual({
      outcome: 'unresolved',
      credits: null,
      error: earlier + why,
      ...(recoverable && { recoverable }),
    });
    expect(told).toEqual([['doubt']]);
  });

  it('lets the next of its kind go only when its answer is known', async () => {
    const order: string[] = [];
    const gate: Script['gate'] = {
      enter: async () => {
        order.push('in');
        return 'in';
      },
      leave: () => {
        order.push('out');
        return 'over';
      },
    };
    const created = async () => {
      order.push('recorded');
      return { credits: 3 };
    };
    const { script } = listed({ do: 'held' });
    await buy([accepted], { ...script, gate, ledger: { created } });
    expect(order).toEqual(['in', 'recorded', 'out']);
  });
});
