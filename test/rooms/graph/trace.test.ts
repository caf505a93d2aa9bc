import { describe, expect, test } from 'vitest';
import type { Origins } from '../../../src/graph/trace/tracer.ts';
import { findChanges } from '../../../src/plan/compare/changes.ts';
import type { Cause } from '../../../src/plan/plan.generated.ts';
import { type Facts, load } from '../manifest/load.ts';

const campaign = `version: 1
name: t
vars: { style: warm, logos: { "1:1": dark, "9:16": dim } }
defaults:
  image:
    model: alpha-2
    resolution: 1k
tasks:
  hero:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    matrix: { ratio: ["1:1", "9:16"] }
    with:
      prompt: "{{row.name}} on an oak table, {{vars.style}} style"
      aspectRatio: "{{matrix.ratio}}"
      referenceImages: ["https://a.example/{{row.sku}}.png", "https://a.example/{{lookup vars.logos matrix.ratio}}{{#if row.sale}}-sale{{/if}}.png"]
`;
const products = 'sku,name,sale\nlamp,Aurora Lamp,\nchair,"Fjord\nChair",true\n';

function open(text: string, facts: Facts = {}) {
  const { graph, trace, found } = load(text, { data: { 'products.csv': products }, ...facts });
  if (graph === undefined || trace === undefined) throw new Error(found.join('; '));
  return { graph, trace };
}

/** What made a step's request another one: of the campaign that was bought, and the one of now. */
function causes(address: string, before: [string, Facts?], now: [string, Facts?]): { [field: string]: string } {
  const was = open(...before).graph.steps.find((step) => step.address === address);
  const { graph, trace } = open(...now);
  const step = graph.steps.find((one) => one.address === address);
  if (was === undefined || step === undefined) throw new Error(`no step ${address}`);
  const { changes } = findChanges(was.paidRequest, step, { causeOf: trace });
  return Object.fromEntries(changes.map(({ field, cause }) => [field, cause === undefined ? '' : told(cause)]));
}

const told = ({ is, name, file, line }: Cause) => `${is} ${name} ${file}:${line}`;

describe('what made a value of a request another one', () => {
  const changed = (from: string, to: string): [string, Facts?] => [campaign.replace(from, to)];
  const rows = (from: string, to: string): [string, Facts?] => [
    campaign,
    { data: { 'products.csv': products.replace(from, to) } },
  ];
  const address = 'hero@lamp,1:1';

  test.each<[string, [string, Facts?], { [field: string]: string }, string?]>([
    ['a row', rows('Aurora Lamp', 'Boreal Lamp'), { prompt: 'data name products.csv:2' }],
    ['a row after one of two lines', rows('Fjord', 'Glen'), { prompt: 'data name products.csv:3' }, 'hero@chair,1:1'],
    ['a variable', changed('style: warm', 'style: cold'), { prompt: 'variable vars.style campaign.yaml:3' }],
    ['a given variable', [campaign, { vars: { style: 'cold' } }], { prompt: 'variable vars.style campaign.yaml:3' }],
    [
      'a default',
      changed('resolution: 1k', 'resolution: 2k'),
      { resolution: 'default defaults.image.resolution campaign.yaml:7' },
    ],
    [
      'words of the template',
      changed('an oak table', 'an elm table'),
      { prompt: 'template tasks.hero.with.prompt campaign.yaml:15' },
    ],
    [
      'anything, where the template has a condition',
      changed('dark', 'dull'),
      { 'referenceImages.1': 'template tasks.hero.with.referenceImages.1 campaign.yaml:17' },
    ],
  ])('%s', (_name, now, expected, of = address) => {
    expect(causes(of, [campaign], now)).toEqual(expected);
  });

  test('an axis, of which a value of an old address became another', () => {
    const { trace } = open(campaign);
    const difference: Parameters<Origins['trace']>[1] = { path: ['aspectRatio'], before: '4:3', after: '9:16' };
    expect(trace('hero@lamp,9:16', difference)).toEqual({
      is: 'matrix',
      name: 'ratio',
      file: 'campaign.yaml',
      line: 13,
    });
  });

  test('a field that the task has no longer, or has new, is of the task', () => {
    const { trace } = open(campaign);
    expect(trace(address, { path: ['seed'], before: 1, after: 2 })).toMatchObject({
      is: 'template',
      name: 'tasks.hero.with',
    });
    expect(trace('nobody', { path: ['prompt'], before: 'a', after: 'b' })).toBeUndefined();
  });
});
