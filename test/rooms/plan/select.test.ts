import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Condition,
  matchSelection,
  parseSelection,
  type SelectionFacts,
  vocabularyOf,
} from '../../../src/plan/select/select.ts';
import type { StepState } from '../../../src/plan/situation/situation.ts';
import { forAll } from '../../rig/runs.ts';
import { graphOfSteps, type WrittenStep } from '../../rig/steps.ts';

const url = (address: string) => ({ $ref: address, field: 'url' });
const written: WrittenStep[] = [
  { address: 'logo', kind: 'upload', request: { url: 'https://a.example/l.png' } },
  { address: 'hero@A1', kind: 'image', request: { prompt: 'a', referenceImages: [url('logo')] } },
  { address: 'hero@A2', kind: 'image', request: { prompt: 'b' } },
  { address: 'hero@B1', kind: 'image', request: { prompt: 'c' } },
  { address: 'teaser@A1', kind: 'video', request: { prompt: 't', image: url('hero@A1') } },
  { address: 'song', kind: 'music', request: { prompt: 's' } },
];
const graph = graphOfSteps(written, {
  selectors: {
    launch: 'tag:launch',
    big: 'selector:launch,kind:image',
    round: 'selector:trip',
    trip: 'selector:round',
    broken: 'song cost:many',
  },
});
for (const step of graph.steps) if (step.task === 'hero' || step.task === 'song') step.tags = ['launch', 'print'];
const states: Record<string, StepState> = { 'hero@A1': 'done', 'hero@A2': 'failed' };
const costs: Record<string, number> = { logo: 0, 'hero@A1': 6, 'hero@A2': 6, 'hero@B1': 9, song: 4 };
const facts = {
  graph,
  stateOf: (address: string): StepState => states[address] ?? 'not-bought',
  costOf: (address: string) => costs[address] ?? null,
};

function select(text: string, given: SelectionFacts = facts): string[] | string {
  const selection = parseSelection(text, vocabularyOf(given.graph));
  if ('problem' in selection) return selection.problem;
  const found = matchSelection(selection, given);
  return found instanceof Set ? [...found].sort() : found.problem;
}

describe('what a selection names', () => {
  test.each([
    ['hero', ['hero@A1', 'hero@A2', 'hero@B1']],
    ['hero@A1', ['hero@A1']],
    ['hero@A*', ['hero@A1', 'hero@A2']],
    ['*@A1', ['hero@A1', 'teaser@A1']],
    ['h*o', ['hero@A1', 'hero@A2', 'hero@B1']],
    ['her', []],
    ['her*ro', []],
    ['*h*o', ['hero@A1', 'hero@A2', 'hero@B1']],
    ['h*x*o', []],
    ['h*r*e*o', []],
    ['*', ['hero@A1', 'hero@A2', 'hero@B1', 'logo', 'song', 'teaser@A1']],
    ['+teaser', ['hero@A1', 'logo', 'teaser@A1']],
    ['logo+', ['hero@A1', 'logo', 'teaser@A1']],
    ['+hero@A1+', ['hero@A1', 'logo', 'teaser@A1']],
    ['hero@A2 song', ['hero@A2', 'song']],
    ['kind:image,hero@A*', ['hero@A1', 'hero@A2']],
    ['kind:music kind:video', ['song', 'teaser@A1']],
    ['tag:launch,kind:music', ['song']],
    ['tag:pr*,kind:music', ['song']],
    ['tag:none', []],
    ['state:failed', ['hero@A2']],
    ['+kind:video', ['hero@A1', 'logo', 'teaser@A1']],
    ['kind:upload+', ['hero@A1', 'logo', 'teaser@A1']],
    ['tag:launch+', ['hero@A1', 'hero@A2', 'hero@B1', 'song', 'teaser@A1']],
    ['+selector:big', ['hero@A1', 'hero@A2', 'hero@B1', 'logo']],
    ['+teaser,kind:image', ['hero@A1']],
    ['"hero@A1"+', ['hero@A1', 'teaser@A1']],
    ['"hero@A*"', []],
    ['hero@A1,kind:image', ['hero@A1']],
    ['tag:launch,hero@A1', ['hero@A1']],
    ['state:not-bought,kind:image', ['hero@B1']],
    ['cost:>5', ['hero@A1', 'hero@A2', 'hero@B1']],
    ['cost:>=9', ['hero@B1']],
    ['cost:=4', ['song']],
    ['cost:<4', ['logo']],
    ['cost:6,state:failed', ['hero@A2']],
    ['cost:?', ['teaser@A1']],
    ['selector:big', ['hero@A1', 'hero@A2', 'hero@B1']],
    ['selector:big,cost:9', ['hero@B1']],
  ])('%s', (text, addresses) => {
    expect(select(text)).toEqual(addresses);
  });

  test('a manifest without selectors is distinguished from one that has others', () => {
    expect(select('selector:none', { ...facts, graph: { ...graph, selectors: {} } })).toBe(
      'there is no selector `none`; the manifest has no `selectors`',
    );
  });

  forAll([fc.string()])('any text is either read or refused', (text) => {
    expect(select(text)).toBeDefined();
  });

  test('many stars do not take long', () => {
    expect(select(`${'*a'.repeat(2000)}*b`)).toEqual([]);
  });

  test('selectors that name another one twice do not take long', () => {
    const doubled = Array.from({ length: 60 }, (_, n) => [`s${n}`, `selector:s${n + 1} selector:s${n + 1}`] as const);
    const selectors = { ...Object.fromEntries(doubled), s60: 'song' };
    expect(select('selector:s0', { ...facts, graph: { ...graph, selectors } })).toEqual(['song']);
  });

  test('selectors in a circle are reported in their order, without those that are matched already', () => {
    const selectors = { ...graph.selectors, start: 'selector:launch selector:round' };
    expect(select('selector:start', { ...facts, graph: { ...graph, selectors } })).toBe(
      'selectors use each other in a circle: start → round → trip → round',
    );
  });
});

const alone = { needs: false, users: false };
type More = { needs?: true; users?: true; literal?: true };
const condition =
  (is: 'name' | 'tag' | 'kind') =>
  (text: string, more: More = {}): Condition => ({ is, text, literal: false, ...alone, ...more });
const [named, tagged, kind] = [condition('name'), condition('tag'), condition('kind')];
const cost = (operator: '>' | '>=' | '<' | '<=' | '=', credits: number | null): Condition => ({
  ...{ is: 'cost', operator, credits, ...alone },
});

/** There is nothing, so everything is read by the rules alone. */
const nothing = () => false;

describe('a selection', () => {
  test.each<[string, Condition[][]]>([
    ['  a\tb,c  ', [[named('a')], [named('b'), named('c')]]],
    ['+a+', [[named('a', { needs: true, users: true })]]],
    ['a+b', [[named('a+b')]]],
    ['++a', [[named('+a', { needs: true })]]],
    ['x@kind:image', [[named('x@kind:image')]]],
    ['kind:im*', [[kind('im*')]]],
    ['+tag:a+', [[tagged('a', { needs: true, users: true })]]],
    ['state:not-bought', [[{ is: 'state', state: 'not-bought', ...alone }]]],
    ['+selector:x', [[{ is: 'selector', name: 'x', needs: true, users: false }]]],
    ['cost:?', [[cost('=', null)]]],
    ['cost:=12', [[cost('=', 12)]]],
    ['cost:>123456789', [[cost('>', 123_456_789)]]],
    ['cost:<=0', [[cost('<=', 0)]]],
  ])('reads %j', (text, terms) => {
    expect(parseSelection(text, nothing)).toEqual({ terms });
  });

  test.each<[string, Condition[][]]>([
    ['hero@lamp,1:1', [[named('hero@lamp,1:1')]]],
    ['hero@*,9:16', [[named('hero@*,9:16')]]],
    ['hero@lamp,9:16+', [[named('hero@lamp,9:16', { users: true })]]],
    ['hero@lamp,9:16,en teaser', [[named('hero@lamp,9:16,en')], [named('teaser')]]],
    ['hero@A*,kind:image', [[named('hero@A*'), kind('image')]]],
    ['kind:image,hero@A*,1:1', [[kind('image'), named('hero@A*,1:1')]]],
    ['hero@A*,1:1,kind:image,tag:x', [[named('hero@A*,1:1'), kind('image'), tagged('x')]]],
    ['hero@lamp,+kind:video', [[named('hero@lamp'), { ...kind('video'), needs: true }]]],
    ['+teaser@a,hero@b', [[named('teaser@a', { needs: true }), named('hero@b')]]],
    ['+teaser@a,en,*@b,de', [[named('teaser@a,en', { needs: true }), named('*@b,de')]]],
    ['hero@lamp,colour:red', [[named('hero@lamp,colour:red')]]],
    ['hero,hero@lamp,1:1', [[named('hero'), named('hero@lamp,1:1')]]],
  ])('a comma within an address belongs to it: %j', (text, terms) => {
    expect(parseSelection(text, nothing)).toEqual({ terms });
  });

  test.each<[string, Condition[][]]>([
    ['"a b"', [[named('a b', { literal: true })]]],
    ['"a*,kind:x"+', [[named('a*,kind:x', { literal: true, users: true })]]],
    ['+"a+"', [[named('a+', { literal: true, needs: true })]]],
    ['+"a b"+,kind:x c', [[named('a b', { literal: true, needs: true, users: true }), kind('x')], [named('c')]]],
    ['tag:"a b*"', [[tagged('a b*', { literal: true })]]],
    ['hero@x,"y z"', [[named('hero@x'), named('y z', { literal: true })]]],
    ['"say \\"so\\" \\\\ "', [[named('say "so" \\ ', { literal: true })]]],
    ['a"b', [[named('a"b')]]],
  ])('in quotes every character is meant: %j', (text, terms) => {
    expect(parseSelection(text, nothing)).toEqual({ terms });
  });

  test('what exists is read as what it is, the longest first', () => {
    const addresses = ['hero@a,kind:image', 'hero@a', 'b+', 'two words', 'x*', 'y,z', '+c', 'hero@a\u3164b'];
    const read = (text: string) => parseSelection(text, (one) => addresses.includes(one));
    const exactly = (text: string, more = {}) => named(text, { literal: true, ...more });
    for (const address of addresses) {
      expect(read(address)).toEqual({ terms: [[exactly(address)]] });
      expect(read(` ${address}\n`)).toEqual({ terms: [[exactly(address)]] });
    }
    expect(read('hero@a,kind:image,tag:x')).toEqual({ terms: [[exactly('hero@a,kind:image'), tagged('x')]] });
    expect(read('hero@a,kind:music')).toEqual({ terms: [[exactly('hero@a'), kind('music')]] });
    expect(read('hero@a,en')).toEqual({ terms: [[named('hero@a,en')]] });
    expect(read('b++ ++c')).toEqual({ terms: [[exactly('b+', { users: true })], [exactly('+c', { needs: true })]] });
    expect(read('+y,z+,kind:x')).toEqual({ terms: [[exactly('y,z', { needs: true, users: true }), kind('x')]] });
    expect(read('tag:"c++"')).toEqual({ terms: [[tagged('c++', { literal: true })]] });
    expect(read('hero@a\\u3164b')).toEqual({ terms: [[exactly('hero@a\u3164b')]] });
    expect(read('hero@b\\u3164b')).toEqual({ terms: [[named('hero@b\\u3164b')]] });
  });

  const comma = 'a name is missing before or after a comma';
  const plus = '`+` needs a name or a condition, as in +teaser or +tag:launch';
  const wrongCost = 'write a cost as cost:>50, cost:<=3, cost:5, or cost:? for an unknown cost';

  test.each([
    ['', 0, 'it is empty'],
    [',a', 0, comma],
    ['one abc,def,,g', 12, comma],
    ['hero@a,', 0, comma],
    ['a +', 2, plus],
    ['a,kind:', 2, '`kind:` needs a value'],
    ['+tag:', 0, '`tag:` needs a value'],
    ['colour:red', 0, '`colour:` is unknown; write kind:, tag:, state:, cost: or selector:'],
    [
      'state:ready',
      0,
      '`ready` is not a state; states: done, running, failed, lost, unresolved, changed, not-bought, unneeded',
    ],
    ['a "b', 2, 'a quote is not closed'],
    ['a ""', 2, 'the quotes are empty'],
    ['"a"b', 3, 'a closing quote must be followed by a comma or white space'],
    ['cost:x5', 0, wrongCost],
    ['cost:>', 0, wrongCost],
    ['cost:-1', 0, wrongCost],
  ])('says where %j goes wrong', (text, at, problem) => {
    expect(parseSelection(text, nothing)).toEqual({ problem, at });
  });
});
