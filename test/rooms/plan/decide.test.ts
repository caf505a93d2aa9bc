import { describe, expect, test } from 'vitest';
import type { Graph } from '../../../src/graph/graph.ts';
import type { Lock, OpenSend, Purchase } from '../../../src/lock/record.ts';
import { type Decision, type DecisionFacts, decide } from '../../../src/plan/decide.ts';
import type { MediaFacts } from '../../../src/plan/outputs/expectation.ts';
import { type SeenFiles, situate, withFiles } from '../../../src/plan/situation/situation.ts';
import { graphOfSteps } from '../../rig/steps.ts';
import {
  clips,
  create,
  earlier,
  forgotten,
  job,
  lockOf,
  now,
  output,
  saved,
  song,
  stepOf,
  type Told,
  told,
} from './facts.ts';

/** What happens to a file that somebody changed. */
const renamed = 'the original is downloaded again, and your file is renamed (`accept` keeps your file instead)';

describe('what is done with one step', () => {
  const graph = graphOfSteps([song('a')]);
  const a = stepOf(graph, 'a');
  const decideA = (purchases: Purchase[], facts: GivenFacts = {}) =>
    decideOn(graph, purchases.length === 0 ? lockOf({}) : lockOf({ a: purchases }), facts);

  type ToldDecision = Told<Decision>;
  type GivenFacts = Partial<DecisionFacts & SeenFiles>;

  function decideOn(given: Graph, lock: Lock, facts: GivenFacts = {}): ToldDecision {
    const seen = withFiles(situate(given, lock), { fileState: () => 'intact', ...facts });
    const match = seen.matches.at(-1);
    if (match === undefined) throw new Error('no step');
    return told(decide(match, { ...seen, replays: 'yes', now, redo: new Set<string>(), ...facts }));
  }

  const withoutRequest = ({ request: _request, ...purchase }: Purchase): Purchase => purchase;
  const nth = (generation: number, repeat = generation) => ({ generation, repeat });
  const hoursAgo = (hours: number) => new Date(now - hours * 3_600_000).toISOString();
  const old = earlier(a);

  describe('that has no purchase of its own', () => {
    const first = (purchase: { generation: number; repeat: number }): ToldDecision => ({
      ...{ action: 'create', reason: 'not bought yet', purchase },
    });
    const changed = (purchase: { generation: number; repeat: number }): ToldDecision => ({
      ...{ action: 'redo', reason: 'prompt: before → a', purchase },
    });
    const asking = (prompt: string) => earlier(a, { ...a.request, prompt });
    const refusedSince = create(asking('refused'), { state: 'refused', generation: 2 });
    const failedSince = job(asking('failed'), { state: 'failed', generation: 2 });

    test.each<[string, Purchase[], ToldDecision]>([
      ['nothing on record', [], first(nth(1))],
      ['another request was refused', [create(old, { state: 'refused' })], first(nth(1))],
      ['another request was bought', [saved(old)], changed(nth(2, 1))],
      ['a third request was refused since', [refusedSince, job(old, { state: 'failed' })], changed(nth(2, 1))],
      ['a redo of a third request failed: the finished job is compared', [failedSince, saved(old)], changed(nth(3, 1))],
      ['a send of another request is open: its own row asks about it', [create(old)], first(nth(2, 1))],
      ['a send of this very request was written off', [create(a, { writtenOff: true })], first(nth(2))],
      [
        'what was bought has lost its request',
        [withoutRequest(saved(old))],
        { action: 'redo', reason: 'an input changed', purchase: nth(2, 1) },
      ],
    ])('%s', (_name, purchases, expected) => {
      expect(decideA(purchases)).toEqual(expected);
    });

    test('the change is the reason, although the person asks as well', () => {
      expect(decideA([saved(old)], { redo: new Set(['a']) })).toEqual(changed(nth(2, 1)));
    });

    test('a job that is forgotten is bought anew, and a refusal that is forgotten was never a job', () => {
      const forget = (purchases: Purchase[]) => decideA(purchases.map(forgotten));
      expect(forget([saved(a)])).toEqual({
        action: 'create',
        reason: 'the purchase was forgotten',
        purchase: nth(2),
      });
      expect(forget([create(a, { state: 'refused' })])).toMatchObject({ reason: 'not bought yet' });
      expect(forget([create(a, { state: 'refused', attempt: 2 }), saved(a)])).toMatchObject({
        reason: 'the purchase was forgotten',
      });
    });
  });

  describe('that is to be bought again', () => {
    test.each<[string, Purchase, ToldDecision]>([
      ['done', saved(a), { action: 'redo', reason: '--redo requests a new output', purchase: nth(2) }],
      [
        'running',
        job(a),
        {
          action: 'attach',
          reason: 'job a-1 is running; apply collects this job first, and a later --redo buys a new job',
        },
      ],
      [
        'failed',
        job(a, { state: 'failed', error: 'moderated' }),
        { action: 'retry', reason: 'job a-1 failed: moderated; --redo retries it', purchase: nth(2) },
      ],
      [
        'lost',
        job(a, { state: 'lost' }),
        { action: 'retry', reason: 'job a-1 lost; --redo retries it', purchase: nth(2) },
      ],
      [
        'refused',
        create(a, { state: 'refused', attempt: 2, error: 'too long' }),
        { action: 'create', reason: 'refused before: too long', purchase: nth(1) },
      ],
    ])('%s', (_name, purchase, expected) => {
      expect(decideA([purchase], { redo: new Set(['a']) })).toEqual(expected);
    });

    test.each(['intent', 'unresolved'] as const)('an unanswered create request (%s) is settled first', (state) => {
      const purchase = create(a, { state, since: hoursAgo(1) });
      expect(decideA([purchase], { redo: new Set(['a']) })).toEqual(decideA([purchase]));
    });
  });

  describe('whose create was never answered', () => {
    /** The open send itself is what is asked about, and nothing new is bought. */
    const asking =
      (reason: string) =>
      (open: OpenSend): ToldDecision => ({ action: 'create', reason, asks: open });
    const sentAgain = asking(
      'the answer to the create request was lost; the same key is sent again, so the request is charged once',
    );
    const waiting = (reason: string) => (): ToldDecision => ({ action: 'unresolved', reason });
    const tooLate = waiting(
      'the answer to the create request was lost more than 23 hours ago, and the service no longer replays the answer',
    );
    const tooEarly = waiting(
      'the answer to the create request was lost at a time in the future (check the clock of this machine), and the service no longer replays the answer',
    );
    const cannotAsk = waiting(
      'the answer to the create request was lost, and this credential cannot request the answer again (only an API key can)',
    );
    const held = waiting('the answer to the create request was lost, and is not requested again (--on-unknown hold)');
    const foreign = waiting(
      'the create request was sent with another API key, and the current key cannot show whether the other account was charged',
    );
    const own = { accountOf: (send: string) => `${send} with the key at hand` };
    const ours = own.accountOf('send of a 2.3');

    test.each<[string, Partial<OpenSend>, GivenFacts, (open: OpenSend) => ToldDecision]>([
      ['just now', { since: hoursAgo(0) }, {}, sentAgain],
      ['23 hours ago', { since: hoursAgo(23) }, {}, tooLate],
      ['23 hours but a millisecond ago', { since: new Date(now - 23 * 3_600_000 + 1).toISOString() }, {}, sentAgain],
      ['5 minutes ahead, by another clock', { since: hoursAgo(-5 / 60) }, {}, sentAgain],
      ['more than that: one of the clocks is wrong', { since: new Date(now + 300_001).toISOString() }, {}, tooEarly],
      ['with the API key at hand', { since: hoursAgo(1), account: ours }, own, sentAgain],
      ['with another API key', { since: hoursAgo(1), account: 'another' }, own, foreign],
      ['with another API key, and it is to be held', { account: 'another' }, { ...own, onUnknown: 'hold' }, held],
      ['with another API key, and there is none at hand', { since: hoursAgo(1), account: 'another' }, {}, sentAgain],
      [
        'with another API key, and nobody knows about the one at hand',
        { since: hoursAgo(1), account: 'another' },
        { accountOf: () => undefined },
        sentAgain,
      ],
      ['with a key that nobody noted', { since: hoursAgo(1) }, own, sentAgain],
      ['nobody knows when', {}, {}, tooLate],
      ['nobody knows whether this credential can ask', { since: hoursAgo(1) }, { replays: 'unknown' }, sentAgain],
      ['this credential cannot ask', { since: hoursAgo(1) }, { replays: 'no' }, cannotAsk],
      ['the person wants to hold', { since: hoursAgo(1) }, { onUnknown: 'hold' }, held],
    ])('%s', (_name, more, facts, expected) => {
      const open = create(a, { generation: 2, attempt: 3, key: 'the key', ...more });
      expect(decideA([open], facts)).toEqual(expected(open));
    });

    const unknown = 'it is not known whether the create request was charged';
    const searched = asking(
      "the answer to the create request was lost; the service's list is searched first, so the request is charged once",
    );

    test.each<[string, Partial<OpenSend>, GivenFacts, (open: OpenSend) => ToldDecision]>([
      ['there is a list to search', { fence: 'job-9' }, {}, searched],
      ['there is an empty list to search', { fence: '' }, { onUnknown: 'ask' }, searched],
      ['the person wants to hold', { fence: 'job-9' }, { onUnknown: 'hold' }, held],
      ['long ago: the list goes back to the fence', { fence: 'job-9', since: hoursAgo(999) }, {}, searched],
      ['with a credential that cannot ask for answers again', { fence: 'job-9' }, { replays: 'no' }, searched],
      ['the list is that of another account', { fence: 'job-9', account: 'another' }, own, foreign],
      ['nothing tells', {}, {}, waiting(unknown)],
      ['something went wrong', { error: 'cut off' }, {}, waiting(`${unknown}: cut off`)],
    ])('unresolved: %s', (_name, more, facts, expected) => {
      const open = create(a, { state: 'unresolved', generation: 2, attempt: 3, key: 'the key', ...more });
      expect(decideA([open], facts)).toEqual(expected(open));
    });

    const before = create(a, { since: hoursAgo(30) });
    const after = create(a, { generation: 2, since: hoursAgo(1) });

    test('several times: the first that can be asked for is asked for, and where none can the newest waits', () => {
      expect(decideA([after, before])).toEqual(sentAgain(after));
      expect(
        decideA([
          { ...after, since: hoursAgo(25) },
          { ...before, since: hoursAgo(2) },
        ]),
      ).toEqual(sentAgain({ ...before, since: hoursAgo(2) }));
      expect(decideA([{ ...after, since: hoursAgo(25) }, before])).toEqual(tooLate());
      expect(decideA([forgotten(after), before])).toEqual(tooLate());
    });

    test('beside a job that is done or runs: the step stands on the job', () => {
      expect(decideA([after, saved(a)])).toEqual({ action: 'keep', reason: 'up to date' });
      expect(decideA([after, job(a)])).toMatchObject({ action: 'attach' });
    });

    test('beside a job that is done, when it is to be bought again: the interrupted redo goes on', () => {
      expect(decideA([after, saved(a)], { redo: new Set(['a']) })).toEqual(sentAgain(after));
      expect(decideA([{ ...after, since: hoursAgo(25) }, saved(a)], { redo: new Set(['a']) })).toEqual(tooLate());
      expect(decideA([{ ...after, attempt: 2 }, saved(a, { generation: 2 })], { redo: new Set(['a']) }).action).toBe(
        'redo',
      );
    });

    test('after a job that failed, or a refusal: it is asked about before anything is bought', () => {
      const patient = graphOfSteps([song('a', { retry: { attempts: 3 } })]);
      const failed = job(a, { state: 'failed' });
      expect(decideOn(patient, lockOf({ a: [after, failed] }))).toEqual(sentAgain(after));
      expect(decideOn(patient, lockOf({ a: [{ ...failed, generation: 3 }, after] }))).toEqual(sentAgain(after));
      expect(decideA([create(a, { state: 'refused', generation: 3 }), after])).toEqual(sentAgain(after));
    });

    test('beside the failed job of the same purchase: nothing is bought before it is settled', () => {
      const patient = graphOfSteps([song('a', { retry: { attempts: 3 } })]);
      const lock = lockOf({ a: [job(a, { state: 'failed', generation: 2, error: 'no' }), { ...after, attempt: 2 }] });
      const reason =
        'job a-2 failed: no; another create request of this step is unresolved, so this step buys nothing until that create request is resolved';
      expect(decideOn(patient, lock)).toEqual({ action: 'failed', reason });
      expect(decideOn(patient, lock, { redo: new Set(['a']) })).toEqual({ action: 'failed', reason });
      expect(decideA([job(a, { state: 'lost', generation: 2 }), after], { redo: new Set(['a']) })).toMatchObject({
        action: 'attach',
      });
    });

    test('but was written off: it is bought as another purchase', () => {
      const off = create(a, { generation: 2, state: 'unresolved', writtenOff: true });
      expect(decideA([off, job(a, { state: 'failed' })]).action).toBe('failed');
      expect(decideA([off])).toEqual({ action: 'create', reason: 'not bought yet', purchase: nth(3, 2) });
    });
  });

  describe('that is not finished', () => {
    test.each<[string, Purchase[], ToldDecision]>([
      [
        'refused, after a job that failed: the failure counts',
        [create(a, { state: 'refused', generation: 2, attempt: 2 }), job(a, { state: 'failed' })],
        { action: 'failed', reason: 'job a-1 failed; --redo buys the step again' },
      ],
      [
        'refused, with what the service said',
        [create(a, { state: 'refused', error: 'too long' })],
        { action: 'create', reason: 'refused before: too long', purchase: nth(1) },
      ],
      [
        'refused, as a person decided, whatever the service said beside it',
        [create(a, { state: 'refused', decided: true, error: 'too long' })],
        { action: 'create', reason: 'decided: the create request was not charged', purchase: nth(1) },
      ],
      [
        'refused, several times: it still is the same purchase, and nothing was bought',
        [create(a, { state: 'refused', generation: 4, attempt: 2 }), create(a, { state: 'refused', attempt: 3 })],
        { action: 'create', reason: 'refused before', purchase: nth(1) },
      ],
      ['running', [job(a)], { action: 'attach', reason: 'job a-1 is running' }],
      [
        'lost',
        [job(a, { state: 'lost' })],
        {
          action: 'attach',
          reason: 'the service had no record of job a-1; apply checks once more (--redo buys the step again)',
        },
      ],
      [
        'failed, and nothing more is known',
        [job(a, { state: 'failed' })],
        { action: 'failed', reason: 'job a-1 failed; --redo buys the step again' },
      ],
    ])('%s', (_name, purchases, expected) => {
      expect(decideA(purchases)).toEqual(expected);
    });

    test('a failed job is bought again as often as `retry` allows', () => {
      const patient = graphOfSteps([song('a', { retry: { attempts: 3 } })]);
      const failures = [1, 2, 3].map((generation) => job(a, { state: 'failed', generation, error: 'no' })).reverse();
      expect(decideOn(patient, lockOf({ a: failures.slice(1) }))).toEqual({
        action: 'retry',
        reason: 'job a-2 failed: no; attempt 3 of 3',
        purchase: nth(3),
      });
      expect(decideOn(patient, lockOf({ a: failures }))).toEqual({
        action: 'failed',
        reason: 'job a-3 failed: no; all 3 attempts allowed by `retry` were used (--redo buys the step again)',
      });
    });
  });

  describe('that is done', () => {
    const keep: ToldDecision = { action: 'keep', reason: 'up to date' };

    test.each(['missing', 'changed'] as const)('a file that is %s is fetched again', (state) => {
      const said = { missing: 'is missing', changed: 'differs from the file that was saved' }[state];
      const end = { missing: '', changed: `; ${renamed}` }[state];
      const facts = { fileState: () => state };
      expect(decideA([saved(a)], facts)).toEqual({ action: 'download', reason: `paid; output/a.mp3 ${said}${end}` });
      expect(decideOn(graph, lockOf({ old: [saved(a)] }), facts)).toEqual({
        action: 'download',
        reason: `paid; output/a.mp3 ${said} (bought as old)${end}`,
      });
    });

    test('what was not saved yet is downloaded', () => {
      const unsaved = job(a, { state: 'done' });
      expect(decideA([unsaved])).toEqual({ action: 'download', reason: 'paid, and not saved yet' });
      expect(decideA([{ ...unsaved, outputs: [] }])).toMatchObject({ action: 'download' });
      expect(decideOn(graph, lockOf({ old: [unsaved] }))).toEqual({
        action: 'download',
        reason: 'paid, and not saved yet (bought as old)',
      });
    });

    test('an older purchase of this request is kept where its file is there, and fetched where it is not', () => {
      const purchases = [saved(old, { generation: 2 }), saved(a)];
      expect(decideA(purchases)).toEqual(keep);
      expect(decideA(purchases, { fileState: () => 'changed' })).toEqual({
        action: 'download',
        reason: 'the same request was bought before; its output is downloaded again',
      });
      expect(decideOn(graph, lockOf({ old: purchases }), { fileState: () => 'missing' })).toEqual({
        action: 'download',
        reason: 'paid; output/a.mp3 is missing (bought as old)',
      });
    });

    test('what stands under an old address moves, whatever the names of its files', () => {
      const moved = { action: 'move', reason: 'was old' };
      expect(decideOn(graph, lockOf({ old: [saved(a)] }))).toEqual(moved);
      expect(decideOn(graph, lockOf({ old: [saved(a, { outputs: [output('x.mp3')] })] }))).toEqual(moved);
    });

    describe('a list of files', () => {
      const talks = graphOfSteps([clips('talk')]);
      const talk = stepOf(talks, 'talk');
      const listed = (...paths: string[]) =>
        lockOf({ talk: [job(talk, { state: 'done', outputs: paths.map((path) => output(path)) })] });

      test('is kept while it is whole', () => {
        expect(decideOn(talks, listed('output/talk-1.mp4', 'output/talk-2.mp4'))).toEqual(keep);
      });

      test('may be empty, and may not be known yet', () => {
        expect(decideOn(talks, listed())).toEqual({ action: 'keep', reason: 'the job has no output' });
        expect(decideOn(talks, lockOf({ talk: [job(talk, { state: 'done' })] }))).toEqual({
          action: 'download',
          reason: 'paid, and not saved yet',
        });
      });

      test('tells the file that has another name', () => {
        expect(decideOn(talks, listed('output/talk-1.mp4', 'x/talk-2.mp4'))).toEqual({
          action: 'move',
          reason: 'saved under a new name; was x/talk-2.mp4',
        });
      });
    });

    const unfit = (text: string): ToldDecision => ({
      action: 'failed',
      reason: `output/a.mp3 does not fit \`expect\`: ${text}, wanted at least 10 s; change \`expect\`, keep the file with \`accept\`, or buy the step again with --redo`,
    });

    test.each<[string, MediaFacts | undefined, ToldDecision]>([
      ['is', { durationSeconds: 12 }, keep],
      ['is not', { durationSeconds: 9 }, unfit('its duration is 9 s')],
      ['cannot be measured', undefined, unfit('its duration cannot be measured')],
    ])('its expected duration %s', (_name, measured, expected) => {
      const strict = graphOfSteps([song('a', { expect: { durationSeconds: { min: 10 } } })]);
      expect(decideOn(strict, lockOf({ a: [saved(a)] }), { mediaFacts: () => measured })).toEqual(expected);
    });
  });
});
