import { expect, test } from 'vitest';
import { checkCall } from '../../../src/campaign/check-call.ts';
import { type LibraryCall, libraryCalls } from '../../../src/campaign/library-calls.ts';
import * as library from '../../../src/index.ts';

type Name = keyof typeof libraryCalls;
const functions = new Map<string, unknown>(Object.entries(library));
const calls = Object.entries<LibraryCall>(libraryCalls) as [Name, LibraryCall][];
const campaign = { paths: {}, checked: {} };
const planned = { plan: {}, campaign };

/** The arguments of a call as it is written. */
function argumentsOf(name: Name, example: string): unknown[] {
  let given: unknown[] = [];
  const hear = (...all: unknown[]) => {
    given = all;
  };
  const run = new Function(name, 'campaign', 'planned', 'bytes', 'env', example.replace(/^await /, ''));
  run(hear, campaign, planned, Buffer.from(''), {});
  return given;
}

/** What a call of the library came to, whether it threw or gave a promise that broke. */
async function outcomeOf(name: Name, given: readonly unknown[]): Promise<unknown> {
  const call = functions.get(name) as (...all: unknown[]) => unknown;
  try {
    return await call(...given);
  } catch (error) {
    return error;
  }
}

test('the table has every function of the library, and no other', () => {
  const names = [...functions].flatMap(([name, one]) =>
    typeof one === 'function' && !/^class\b/.test(String(one)) ? [name] : [],
  );
  expect(Object.keys(libraryCalls).sort()).toEqual(names.sort());
});

test.each(calls)('%s: its example is right', (name, { example, takes }) => {
  const given = argumentsOf(name, example);
  expect(given.length).toBeGreaterThan(0);
  expect(given.length).toBeLessThanOrEqual(Object.keys(takes).length);
  expect(() => checkCall(name, given)).not.toThrow();
});

test.each(calls)('%s: a wrong shape is told with the right one, whichever argument it is', async (name, call) => {
  const right = argumentsOf(name, call.example);
  for (const [index, [argument, shape]] of Object.entries(call.takes).entries()) {
    const wrong = [null, 7, 'a@b/1', ['a@b/1', 3], () => {}, Promise.resolve({}), { strange: 1 }, undefined];
    for (const value of wrong.filter((one) => !isRight(one, shape))) {
      const given = Array.from({ length: Math.max(right.length, index + 1) }, (_, at) =>
        at === index ? value : right[at],
      );
      const outcome = await outcomeOf(name, given);
      if (!(outcome instanceof library.CampaignError)) throw new Error(`${name}, ${argument}: ${String(outcome)}`);
      expect(outcome.failure).toMatchObject({ code: 'MB3003', hint: `as in: ${call.example}` });
      expect(outcome.failure.message).toContain(`${name}: \`${argument}`);
    }
  }
});

function isRight(value: unknown, { fits, fields, isOptional }: LibraryCall['takes'][string]): boolean {
  if (value === undefined) return isOptional === true;
  return fits(value) && (fields === undefined || Object.keys(value as object).every((name) => name in fields));
}

test.each([
  ['a list in the place of a choice', 'pick', [campaign, ['a@b/1']], '`chosen` is a list, and is to be a map'],
  ['a field that nothing reads', 'pick', [campaign, { addresses: ['a'] }], 'it takes names, select'],
  ['a cap that is misspelt', 'plan', [campaign, { maxCredit: 5 }], 'did you mean `maxCredits`?'],
  [
    'a path in the place of a campaign',
    'pin',
    ['c.yaml', {}],
    '`campaign` is the text "c.yaml", and is to be what load',
  ],
  ['a promise', 'plan', [Promise.resolve()], '`campaign` is a promise that nobody awaited'],
  ['a field of a field', 'apply', [planned, { rehearsal: { fast: 1 } }], '`options.rehearsal` has a field `fast`'],
  ['a finding that is none', 'resolve', [campaign, { address: 'a', finding: 'spent' }], '`found.finding` is the text'],
  ['nothing at all', 'move', [], '`campaign` is missing'],
] as const)('%s', async (_name, name, given, said) => {
  const outcome = await outcomeOf(name, given);
  expect(outcome).toBeInstanceOf(library.CampaignError);
  expect((outcome as library.CampaignError).failure.message).toContain(said);
});
