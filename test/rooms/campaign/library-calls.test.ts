import { expect, test } from 'vitest';
import { checkCall, type LibraryCall, libraryCalls } from '../../../src/campaign/library-calls.ts';
import * as library from '../../../src/index.ts';

type Name = keyof typeof libraryCalls;
const functions = new Map<string, unknown>(Object.entries(library));
const calls = Object.entries<LibraryCall>(libraryCalls) as [Name, LibraryCall][];

/** Returns the arguments of a call as it is written. */
function argumentsOf(name: Name, example: string): unknown[] {
  let given: unknown[] = [];
  const receive = (...all: unknown[]) => {
    given = all;
  };
  new Function(name, 'campaign', 'planned', 'bytes', 'env', example.replace(/^await /, ''))(receive, {}, {}, '', {});
  return given;
}

test('the table has every function of the library, and no other', () => {
  const names = [...functions].flatMap(([name, one]) =>
    typeof one === 'function' && !/^class\b/.test(String(one)) ? [name] : [],
  );
  expect(Object.keys(libraryCalls).sort()).toEqual(names.sort());
});

test.each(calls)('%s: its example is accepted, and each function refuses unknown fields', async (name, call) => {
  const { example, takes } = call;
  const given = argumentsOf(name, example);
  expect(given.length).toBeLessThanOrEqual(Object.keys(takes).length);
  expect(() => checkCall(name, given)).not.toThrow();
  const run = functions.get(name) as (...all: unknown[]) => unknown;
  for (const [index, known] of Object.values(takes).entries()) {
    if (known === null) continue;
    const wrong = Object.values(takes).map((_, at) => (at === index ? { strange: 1 } : given[at]));
    const outcome = await Promise.resolve(run(...wrong)).catch((error: unknown) => error);
    if (!(outcome instanceof library.CampaignError)) throw new Error(`${name}: ${String(outcome)}`);
    expect(outcome.failure).toMatchObject({ code: 'MB3000', hint: `as in: ${example}`, value: 'strange' });
  }
});

test('a misspelt cap is refused with the name that was meant', () => {
  expect(() => checkCall('plan', [{}, { maxCredit: 5 }])).toThrow('did you mean `maxCredits`?');
  expect(() => checkCall('pick', [{}, ['a@b/1']])).toThrow('it takes names, select');
});
