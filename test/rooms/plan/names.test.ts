import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressPart, stepAddress, taskOfAddress } from '../../../src/graph/address.ts';
import { findNamed, type Named, nearNames, readName, writeName } from '../../../src/plan/select/names.ts';
import { parseSelection } from '../../../src/plan/select/parse-selection.ts';
import { matchSelection, vocabularyOf } from '../../../src/plan/select/select.ts';
import { safeText } from '../../../src/report/safe-text.ts';
import { runs } from '../../rig/runs.ts';
import { graphOfSteps } from '../../rig/steps.ts';

/** Texts made of what has a meaning somewhere, and of what does not show. */
const odd = fc.string({
  unit: fc.constantFrom(
    'a',
    'b',
    '1',
    ':',
    '+',
    '"',
    "'",
    '\\',
    '-',
    '.',
    '#',
    '[',
    '…',
    'ä',
    '\u3164',
    'kind:',
    'tag:a',
    '@',
    ',',
    '*',
    ' ',
  ),
  minLength: 1,
  maxLength: 6,
});
const task = fc.constantFrom('hero', 'a', 'kind', 'tag', 'upload');

/** Addresses as a manifest makes them. */
const made = fc
  .record({
    task,
    key: fc.option(odd.map(addressPart), { nil: undefined }),
    values: fc.array(odd.map(addressPart), { maxLength: 3 }),
    take: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  })
  .map(({ task: id, ...parts }) => stepAddress(id, parts));

/** Addresses as only somebody else's lock can have them. With a + at an end, `+b+` may mean one of these, or `b` with others. */
const any = fc
  .string({ minLength: 1, maxLength: 8 })
  .filter((text) => text.trim() === text && text !== '' && !text.startsWith('+') && !text.endsWith('+'));

function selecting(addresses: readonly string[], tags: readonly string[]) {
  const graph = graphOfSteps(addresses.map((address) => ({ address, kind: 'image', request: { prompt: address } })));
  for (const step of graph.steps) step.tags = [...tags];
  const facts = { graph, stateOf: () => 'done' as const, costOf: () => 1 };
  return (text: string): string[] => {
    const selection = parseSelection(text, vocabularyOf(graph));
    if ('problem' in selection) throw new Error(`${text}: ${selection.problem}`);
    const found = matchSelection(selection, facts);
    if (!(found instanceof Set)) throw new Error(found.problem);
    return [...found];
  };
}

describe('an address', () => {
  const graphs = fc.oneof({ arbitrary: made, weight: 4 }, { arbitrary: any, weight: 1 });
  const campaign = fc.uniqueArray(graphs, { minLength: 1, maxLength: 12 });

  test('selects its step and nothing else, however it was printed', () => {
    fc.assert(
      fc.property(campaign, fc.array(odd, { maxLength: 2 }), (addresses, tags) => {
        const select = selecting(addresses, tags);
        for (const address of addresses) {
          expect(select(address)).toEqual([address]);
          expect(select(writeName(address))).toEqual([address]);
          // What is shown differs where a character takes no room; two such addresses may be shown alike.
          if (!addresses.includes(safeText(address))) expect(select(safeText(address))).toHaveLength(1);
        }
      }),
      { numRuns: runs(2000) },
    );
  });

  test('means the same among others, with + around it, and with conditions', () => {
    fc.assert(
      fc.property(campaign, (addresses) => {
        const select = selecting(addresses, ['launch']);
        for (const address of addresses) {
          const name = writeName(address);
          expect(select(`+${name}+`)).toEqual([address]);
          expect(select(`tag:launch,${name}`)).toEqual([address]);
          expect(select(`${name},kind:image`)).toEqual([address]);
        }
        expect(new Set(select(addresses.map(writeName).join(' ')))).toEqual(new Set(addresses));
      }),
      { numRuns: runs(1000) },
    );
  });

  test('is written as it is where nobody could take it for something else', () => {
    for (const plain of [
      'logo',
      'hero@lamp,1:1',
      'share@NL-003,en/2',
      'upload@assets:logo.png',
      'hero@a+b',
      "hero@l'été",
    ]) {
      expect(writeName(plain)).toBe(plain);
    }
    expect(['a b', 'hero@a+', 'hero@x,kind:image', 'hero@*', 'kind:x', 'a,b', '"q"'].map(writeName)).toEqual([
      '"a b"',
      '"hero@a+"',
      '"hero@x,kind:image"',
      '"hero@*"',
      '"kind:x"',
      '"a,b"',
      '"\\"q\\""',
    ]);
  });
});

describe('a name that stands by itself', () => {
  const known: Named[] = ['hero', 'hero@a', 'hero@a,1:1', 'hero@a,9:16', 'song/1', 'song/2', 'old @*'].map(
    (address) => ({
      address,
      task: taskOfAddress(address),
    }),
  );
  const find = (text: string) =>
    findNamed(
      readName(text, (one) => known.some(({ address }) => address === one)),
      known,
    ).map(({ address }) => address);

  test.each([
    ['hero', ['hero']],
    ['hero@a', ['hero@a']],
    ['hero@a,*', ['hero@a,1:1', 'hero@a,9:16']],
    ['hero@*,1:1', ['hero@a,1:1']],
    ['song', ['song/1', 'song/2']],
    ['old @*', ['old @*']],
    ['"old @*"', ['old @*']],
    ['"hero@a"', ['hero@a']],
    ['"hero@*"', []],
    ['hero+', []],
  ])('%s', (text, addresses) => {
    expect(find(text)).toEqual(addresses);
  });

  test.each([
    ['hero@a,1:2', ['hero@a,1:1']],
    ['hreo@a,9:16', ['hero@a,9:16']],
    ['nothing', []],
  ])('near %s there are %j', (text, names) => {
    expect(nearNames(text, known)).toEqual(expect.arrayContaining(names));
    if (names.length === 0) expect(nearNames(text, known)).toEqual([]);
  });
});
