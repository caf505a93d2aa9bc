import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseSelection } from '../../../src/plan/select/parse-selection.ts';
import { matchSelection, type SelectionFacts, vocabularyOf } from '../../../src/plan/select/select.ts';
import type { StepState } from '../../../src/plan/situation/step-state.ts';
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
    ['ero', []],
    ['her*o', ['hero@A1', 'hero@A2', 'hero@B1']],
    ['her*ro', []],
    ['h*z', []],
    ['x*o', []],
    ['*h*o', ['hero@A1', 'hero@A2', 'hero@B1']],
    ['h*r*o', ['hero@A1', 'hero@A2', 'hero@B1']],
    ['h*x*o', []],
    ['h*o*o', []],
    ['h*ero*o', []],
    ['h*r*e*o', []],
    ['*o*', ['hero@A1', 'hero@A2', 'hero@B1', 'logo', 'song']],
    ['*', ['hero@A1', 'hero@A2', 'hero@B1', 'logo', 'song', 'teaser@A1']],
    ['+teaser', ['hero@A1', 'logo', 'teaser@A1']],
    ['logo+', ['hero@A1', 'logo', 'teaser@A1']],
    ['+hero@A1+', ['hero@A1', 'logo', 'teaser@A1']],
    ['hero@A2 song', ['hero@A2', 'song']],
    ['kind:image,hero@A*', ['hero@A1', 'hero@A2']],
    ['kind:music kind:video', ['song', 'teaser@A1']],
    ['tag:launch,kind:music', ['song']],
    ['tag:print,kind:music', ['song']],
    ['tag:pr*,kind:music', ['song']],
    ['tag:none', []],
    ['kind:*i*o', ['teaser@A1']],
    ['kind:image,kind:video', []],
    ['logo song+', ['logo', 'song']],
    ['hero@A1+', ['hero@A1', 'teaser@A1']],
    ['+hero@A1', ['hero@A1', 'logo']],
    ['state:failed', ['hero@A2']],
    ['+kind:video', ['hero@A1', 'logo', 'teaser@A1']],
    ['kind:upload+', ['hero@A1', 'logo', 'teaser@A1']],
    ['+tag:launch', ['hero@A1', 'hero@A2', 'hero@B1', 'logo', 'song']],
    ['tag:launch+', ['hero@A1', 'hero@A2', 'hero@B1', 'song', 'teaser@A1']],
    ['+selector:big', ['hero@A1', 'hero@A2', 'hero@B1', 'logo']],
    ['+state:done', ['hero@A1', 'logo']],
    ['state:done+,kind:video', ['teaser@A1']],
    ['+teaser,kind:image', ['hero@A1']],
    ['+cost:?', ['hero@A1', 'logo', 'teaser@A1']],
    ['"hero@A1"+', ['hero@A1', 'teaser@A1']],
    ['"hero@A*"', []],
    ['hero@A1,kind:image', ['hero@A1']],
    ['tag:launch,hero@A1', ['hero@A1']],
    ['state:not-bought,kind:image', ['hero@B1']],
    ['cost:>5', ['hero@A1', 'hero@A2', 'hero@B1']],
    ['cost:>6', ['hero@B1']],
    ['cost:>=9', ['hero@B1']],
    ['cost:=4', ['song']],
    ['cost:<99,kind:video', []],
    ['cost:<4', ['logo']],
    ['cost:<=4', ['logo', 'song']],
    ['cost:6,state:failed', ['hero@A2']],
    ['cost:?', ['teaser@A1']],
    ['selector:big', ['hero@A1', 'hero@A2', 'hero@B1']],
    ['selector:big,cost:9', ['hero@B1']],
  ])('%s', (text, addresses) => {
    expect(select(text)).toEqual(addresses);
  });

  test.each([
    ['', 'it is empty'],
    ['  ', 'it is empty'],
    ['hero,', 'there is nothing before or after a comma'],
    ['+', '`+` needs a name or a condition, as in +teaser or +tag:launch'],
    ['++', '`+` needs a name or a condition, as in +teaser or +tag:launch'],
    ['kind:', 'there is nothing after `kind:`'],
    ['colour:red', '`colour:` is not known; there are kind:, tag:, state:, cost: and selector:'],
    ['state:ready', expect.stringContaining('`ready` is not a state; states: done, running')],
    ['cost:many', expect.stringContaining('cost:>50')],
    ['selector:none', 'there is no selector `none`; there are launch, big, round, trip, broken'],
    ['selector:constructor', 'there is no selector `constructor`; there are launch, big, round, trip, broken'],
    [
      'logo,selector:broken',
      'in the selector `broken`: write a cost as cost:>50, cost:<=3, cost:5, or cost:? for an unknown one',
    ],
    ['selector:round', 'selectors use each other in a circle: round → trip → round'],
  ])('%j is told what is wrong with it', (text, problem) => {
    expect(select(text)).toEqual(problem);
  });

  test('a manifest without selectors is told apart from one that has others', () => {
    expect(select('selector:none', { ...facts, graph: { ...graph, selectors: {} } })).toBe(
      'there is no selector `none`; the manifest has no `selectors`',
    );
  });

  test('a step whose next purchase nobody can price has an unknown cost', () => {
    expect(select('cost:? logo', { ...facts, costOf: () => undefined })).toHaveLength(graph.steps.length);
  });

  test('any text is either read or told', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(select(text)).toBeDefined();
      }),
    );
  });

  test('many stars do not take long', () => {
    expect(select(`${'*a'.repeat(2000)}*b`)).toEqual([]);
  });
});

test('named selections that double each other are each read once', () => {
  const doubled = Array.from({ length: 200 }, (_, index) => [
    `a${index + 1}`,
    `selector:a${index} +selector:a${index}+`,
  ]);
  const selectors = { a0: 'hero', ...Object.fromEntries(doubled) };
  expect(select('selector:a200', { ...facts, graph: { ...graph, selectors } })).toEqual(select('hero +hero+'));
});
