import { describe, expect, test } from 'vitest';
import type { CreateAnswer } from '../../../src/contract/answer.ts';
import { nextAfterCreate } from '../../../src/run/outcome.ts';

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

/**
 * What to do, and whether spending stops. Columns: first try; key sent before; no replay; a kind with a list; after its
 * list was searched; key older than 23 h; 8 tries, maybe sent; 8 tries, never sent.
 */
const table = `
  not-sent     again          again           again          again          again           again           give-up:unreachable drop:unreachable
  throttled    again          again           again          again          again           again           again               again
  in-progress  again          again           give-up        look-up        look-up         give-up         give-up             give-up
  ambiguous    again          again           give-up        look-up        look-up         give-up         give-up             give-up
  invalid      refuse         give-up         refuse         refuse         refuse          give-up         give-up             refuse
  no-route     refuse         give-up         refuse         refuse         refuse          give-up         give-up             refuse
  known        hold           hold            hold           hold           hold            hold            hold                hold
  auth         refuse:auth    give-up:auth    refuse:auth    refuse:auth    give-up:auth    give-up:auth    give-up:auth        refuse:auth
  credits      refuse:balance give-up:balance refuse:balance refuse:balance give-up:balance give-up:balance give-up:balance     refuse:balance
  user         refuse:auth    give-up:auth    refuse:auth    refuse:auth    give-up:auth    give-up:auth    give-up:auth        refuse:auth
`;

const situations: Record<string, CreateSituation> = { fresh, replayed, jwt, listed, resent, old, tired, tiredFresh };

describe('what follows from the answer to a create', () => {
  for (const row of table.trim().split('\n')) {
    const [answer = '', ...cells] = row.trim().split(/ +/);
    for (const [index, [name, situation]] of Object.entries(situations).entries()) {
      const expected = cells[index]?.replace(':', ' ');
      test(`${answer} / ${name}: ${expected}`, () => {
        const next = nextAfterCreate(answers[answer] as Answer, situation);
        const stop = 'stop' in next && next.stop !== undefined ? ` ${next.stop}` : '';
        expect(`${next.do}${stop}`).toBe(expected);
      });
    }
  }

  test('a wait that a server asks for is neither busy nor endless', () => {
    for (const afterMs of [null, 0, -5, 1, 999, 60_000, 599_000]) {
      for (let tries = 1; tries < 100; tries += 1) {
        const next = nextAfterCreate({ is: 'throttled', afterMs, message }, { ...fresh, tries });
        const waitMs = next.do === 'again' ? next.afterMs : Number.NaN;
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
