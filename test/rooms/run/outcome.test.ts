import { describe, expect, test } from 'vitest';
import type { CreateAnswer } from '../../../src/contract/answer.ts';
import { clampRetryAfter, nextAfterCreate } from '../../../src/run/outcome.ts';

type Answer = Exclude<CreateAnswer, { is: 'accepted' }>;

const hours = 3_600_000;
type CreateSituation = Parameters<typeof nextAfterCreate>[1];
const fresh: CreateSituation = {
  replays: true,
  searches: false,
  maybeSent: false,
  tries: 1,
  ageMs: 0,
  elapsedMs: 0,
};
const replayed: CreateSituation = { ...fresh, maybeSent: true };
const jwt: CreateSituation = { ...fresh, replays: false };
const listed: CreateSituation = { ...jwt, searches: true };
/** The list showed that the first request had made nothing, and it was sent once more. */
const resent: CreateSituation = { ...listed, maybeSent: true, ageMs: 25 * hours };
const old: CreateSituation = { ...replayed, ageMs: 23 * hours };
const tired: CreateSituation = { ...replayed, tries: 8 };
const tiredFresh: CreateSituation = { ...fresh, tries: 8 };

const message = 'm';
const answers: Record<string, Answer> = {
  'not-sent': { is: 'not-sent', message },
  throttled: { is: 'throttled', afterMs: 5000, message },
  'in-progress': { is: 'in-progress', message },
  ambiguous: { is: 'ambiguous', message },
  invalid: { is: 'refused', status: 400, why: 'invalid', message },
  auth: { is: 'refused', status: 401, why: 'auth', message },
  credits: { is: 'refused', status: 402, why: 'credits', message },
  user: { is: 'refused', status: 404, why: 'user', message },
  'no-route': { is: 'no-route', message },
  known: { is: 'known', message },
};

/** What to do, and whether spending stops. Written out: this is the promise, not the program's own opinion of it. */
const table: Record<string, Record<string, string>> = {
  // fresh: first try; replayed: key sent before; jwt: no replay; listed: a kind with a list; resent: after its list was
  // searched; old: key older than 23 h; tired: 8 tries, maybe sent; tiredFresh: 8 tries, never sent
  'not-sent': {
    fresh: 'again',
    replayed: 'again',
    jwt: 'again',
    listed: 'again',
    resent: 'again',
    old: 'again',
    tired: 'give-up unreachable',
    tiredFresh: 'drop unreachable',
  },
  throttled: {
    fresh: 'again',
    replayed: 'again',
    jwt: 'again',
    listed: 'again',
    resent: 'again',
    old: 'again',
    tired: 'again',
    tiredFresh: 'again',
  },
  'in-progress': {
    fresh: 'again',
    replayed: 'again',
    jwt: 'give-up',
    listed: 'look-up',
    resent: 'look-up',
    old: 'give-up',
    tired: 'give-up',
    tiredFresh: 'give-up',
  },
  ambiguous: {
    fresh: 'again',
    replayed: 'again',
    jwt: 'give-up',
    listed: 'look-up',
    resent: 'look-up',
    old: 'give-up',
    tired: 'give-up',
    tiredFresh: 'give-up',
  },
  invalid: {
    fresh: 'refuse',
    replayed: 'give-up',
    jwt: 'refuse',
    listed: 'refuse',
    resent: 'refuse',
    old: 'give-up',
    tired: 'give-up',
    tiredFresh: 'refuse',
  },
  // No other kind has to do with it: nothing is stopped.
  'no-route': {
    fresh: 'refuse',
    replayed: 'give-up',
    jwt: 'refuse',
    listed: 'refuse',
    resent: 'refuse',
    old: 'give-up',
    tired: 'give-up',
    tiredFresh: 'refuse',
  },
  known: {
    fresh: 'hold',
    replayed: 'hold',
    jwt: 'hold',
    listed: 'hold',
    resent: 'hold',
    old: 'hold',
    tired: 'hold',
    tiredFresh: 'hold',
  },
  auth: {
    fresh: 'refuse auth',
    replayed: 'give-up auth',
    jwt: 'refuse auth',
    listed: 'refuse auth',
    resent: 'give-up auth',
    old: 'give-up auth',
    tired: 'give-up auth',
    tiredFresh: 'refuse auth',
  },
  credits: {
    fresh: 'refuse balance',
    replayed: 'give-up balance',
    jwt: 'refuse balance',
    listed: 'refuse balance',
    resent: 'give-up balance',
    old: 'give-up balance',
    tired: 'give-up balance',
    tiredFresh: 'refuse balance',
  },
  user: {
    fresh: 'refuse auth',
    replayed: 'give-up auth',
    jwt: 'refuse auth',
    listed: 'refuse auth',
    resent: 'give-up auth',
    old: 'give-up auth',
    tired: 'give-up auth',
    tiredFresh: 'refuse auth',
  },
};

const situations: Record<string, CreateSituation> = { fresh, replayed, jwt, listed, resent, old, tired, tiredFresh };

describe('what follows from the answer to a create', () => {
  for (const [answer, row] of Object.entries(table)) {
    for (const [situation, expected] of Object.entries(row)) {
      test(`${answer} / ${situation}: ${expected}`, () => {
        const next = nextAfterCreate(answers[answer] as Answer, situations[situation] as CreateSituation);
        const stop = 'stop' in next && next.stop !== undefined ? ` ${next.stop}` : '';
        expect(`${next.do}${stop}`).toBe(expected);
      });
    }
  }

  test('a wait that a server asks for is neither busy nor endless', () => {
    for (const asked of [null, 0, -5, 1, 999, 60_000, 1e12, Number.POSITIVE_INFINITY]) {
      for (let tries = 1; tries < 100; tries += 1) {
        const waitMs = clampRetryAfter(asked, tries);
        expect(waitMs).toBeGreaterThanOrEqual(1000);
        expect(waitMs).toBeLessThanOrEqual(150_000);
      }
    }
  });

  test('a throttled create gives up after ten minutes', () => {
    const next = nextAfterCreate(answers.throttled as Answer, { ...fresh, elapsedMs: 600_000 });
    expect(next).toMatchObject({ do: 'drop', stop: 'unreachable' });
  });

  test('what the service asks to wait beyond ten minutes, or beyond the patience of somebody, ends it at once', () => {
    const day: Answer = { is: 'throttled', afterMs: 86_400_000, message };
    expect(nextAfterCreate(day, fresh)).toEqual({ do: 'drop', error: message, stop: 'throttled', waitMs: 86_400_000 });
    expect(nextAfterCreate(day, { ...fresh, maybeSent: true })).toMatchObject({ do: 'give-up', stop: 'throttled' });
    expect(nextAfterCreate(day, { ...fresh, patienceMs: 90_000_000 })).toMatchObject({ do: 'again', throttled: true });
    expect(nextAfterCreate({ ...day, afterMs: 599_000 }, fresh)).toMatchObject({ do: 'again' });
  });
});
