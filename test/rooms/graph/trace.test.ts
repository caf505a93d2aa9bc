import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  conditionsOf,
  type Difference,
  findChangedSources,
  mostSources,
  type Piece,
  piecesOf,
} from '../../../src/graph/trace/tracer.ts';
import type { Json } from '../../../src/ground/json.ts';
import { parseTemplate } from '../../../src/manifest/template/parse-template.ts';
import { findChanges } from '../../../src/plan/compare/changes.ts';
import type { Cause } from '../../../src/plan/plan.generated.ts';
import { type Facts, load } from '../manifest/load.ts';

const campaign = `version: 1
name: t
vars: { style: warm, list: [oak, elm], sale: false }
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
      prompt: "{{row.name}} on an oak table, {{vars.style}} style{{#if row.sale}}, a red label{{/if}}"
      aspectRatio: "{{matrix.ratio}}"
      referenceImages: ["https://a.example/{{row.sku}}.png", "https://a.example/logo.png"]
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

test('a value that `lookup` finds is named by its column, or by its name in a map', () => {
  const text = `version: 1
name: t
vars: { cta: { de: Jetzt, en: Now } }
tables:
  copy: { file: copy.csv, on: [sku] }
tasks:
  hero:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    matrix: { locale: [de, en] }
    with: { prompt: "{{lookup copy matrix.locale}}, {{lookup row 'Picture idea'}}: {{lookup vars.cta matrix.locale}}" }
`;
  const data = { 'products.csv': 'sku,Picture idea\nlamp,on oak\n', 'copy.csv': 'sku,de,en\nlamp,Hallo,Hello\n' };
  const prompt = (address: string, from: string, to: string) =>
    causes(address, [text.replace(from, to), { data: mapped(data, from, to) }], [text, { data }]).prompt;
  const mapped = (files: { [path: string]: string }, from: string, to: string) =>
    Object.fromEntries(Object.entries(files).map(([path, one]) => [path, one.replace(from, to)]));
  expect(prompt('hero@lamp,de', 'Hallo', 'Servus')).toBe('data de copy.csv:2');
  expect(prompt('hero@lamp,en', 'Hello', 'Hi')).toBe('data en copy.csv:2');
  expect(prompt('hero@lamp,en', 'on oak', 'on elm')).toBe('data Picture idea products.csv:2');
  expect(prompt('hero@lamp,en', 'Now', 'Soon')).toBe('variable vars.cta.en campaign.yaml:3');
});

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
    [
      'a variable from outside',
      [campaign, { vars: { style: 'cold' } }],
      { prompt: 'variable vars.style campaign.yaml:3' },
    ],
    [
      'a default',
      changed('resolution: 1k', 'resolution: 2k'),
      { resolution: 'default defaults.image.resolution campaign.yaml:7' },
    ],
    ['a row that leaves a branch', rows(',true', ','), { prompt: 'data sale products.csv:3' }, 'hero@chair,1:1'],
    [
      'words of a branch',
      changed('red label', 'blue label'),
      { prompt: 'template tasks.hero.with.prompt campaign.yaml:15' },
      'hero@chair,1:1',
    ],
  ])('%s', (_name, now, expected, of = address) => {
    expect(causes(of, [campaign], now)).toEqual(expected);
  });

  test('an axis, of which a value of an old address became another', () => {
    const { trace } = open(campaign);
    const difference: Difference = { path: ['aspectRatio'], before: '4:3', after: '9:16' };
    expect(trace('hero@lamp,9:16', difference)).toEqual({
      is: 'matrix',
      name: 'ratio',
      file: 'campaign.yaml',
      line: 13,
    });
  });

  test('a loop is one text of its list, or of what its body names', () => {
    const text = (list: string, name: string) =>
      campaign
        .replace('[oak, elm]', `${list}, brand: ${name}`)
        .replace(
          /prompt: .*/,
          'prompt: "{{#each vars.list}}{{this}} of {{vars.brand}}, {{/each}}by {{vars.brand}}, for all"',
        );
    const from = text('[oak, elm]', 'North');
    expect(causes(address, [from], [text('[oak, ash]', 'North')])).toEqual({
      prompt: 'variable vars.list campaign.yaml:3',
    });
    expect(causes(address, [from], [text('[oak, elm]', 'South')])).toEqual({
      prompt: 'variable vars.brand campaign.yaml:3',
    });
    expect(causes(address, [from], [from.replace('for all', 'for some')])).toEqual({
      prompt: 'template tasks.hero.with.prompt campaign.yaml:15',
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

describe('the pieces of a template', () => {
  const scope = {
    names: { vars: { a: 'oak', list: ['x', 'y'], flag: true, off: false }, row: { name: 'Lamp' } } as unknown as {
      [name: string]: Json;
    },
  };
  const piecesIn = (text: string, flipped?: string) => {
    const { template } = parseTemplate(text);
    return template === undefined ? undefined : piecesOf(template, scope, flipped);
  };

  test.each<[string, Piece[]]>([
    ['plain {{vars.a}}', [{ text: 'plain ' }, { text: 'oak', sources: ['vars.a'] }]],
    ['{{upper (default row.name vars.a)}}!', [{ text: 'LAMP', sources: ['row.name', 'vars.a'] }, { text: '!' }]],
    ['{{#if vars.off}}yes{{else}}no {{vars.a}}{{/if}}', [{ text: 'no ' }, { text: 'oak', sources: ['vars.a'] }]],
    ['{{#unless vars.off}}yes{{/unless}}', [{ text: 'yes' }]],
    [
      '{{#each vars.list}}{{this}}{{row.name}} {{/each}}.',
      [{ text: 'xLamp yLamp ', sources: ['vars.list', 'row.name'] }, { text: '.' }],
    ],
  ])('%s', (text, expected) => {
    expect(piecesIn(text)).toEqual(expected);
  });

  test('with a condition flipped, the other branch counts, and what it asks for may be anything', () => {
    const text = '{{#if vars.flag}}yes {{row.name}}{{else}}no {{vars.a}}{{/if}}{{#if vars.off}} off{{/if}}.';
    expect(piecesIn(text, 'vars.flag')).toEqual([{ text: 'no ' }, { text: 'oak', sources: ['vars.a'] }, { text: '.' }]);
    expect(piecesIn('{{#if row.price}}now {{row.price}} {{row.name}}{{/if}}', 'row.price')).toEqual([
      { text: 'now ' },
      { text: '', sources: ['row.price'] },
      { text: ' ' },
      { text: 'Lamp', sources: ['row.name'] },
    ]);
    const { template } = parseTemplate('{{#if (and vars.a row.b)}}x{{#unless row.c}}y{{/unless}}{{/if}}{{row.d}}');
    expect(conditionsOf(template?.body ?? [])).toEqual(['vars.a', 'row.b', 'row.c']);
  });

  test('of a template that gives no text there are none', () => {
    expect(piecesIn('like {{tasks.hero.url}}, warm')).toBeUndefined();
    expect(piecesIn('{{row.missing}} x')).toBeUndefined();
  });
});

describe('the sources that explain an earlier text', () => {
  /** Texts of few letters, so that they are in each other. */
  const word = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 4 });
  const pieces = fc.array(
    fc.record(
      { text: word, sources: fc.array(fc.constantFrom<string>('x', 'y', 'z'), { minLength: 1, maxLength: 1 }) },
      { requiredKeys: ['text'] },
    ),
    { maxLength: 8 },
  );
  /** Each source has one value; here, another one. */
  const render = (of: readonly Piece[], values: { [source: string]: string }) =>
    of.map(({ text, sources: [source] = [] }) => (source === undefined ? text : (values[source] ?? text))).join('');

  test('one that alone has changed is found, or another that explains the same', () => {
    fc.assert(
      fc.property(pieces, fc.constantFrom<string>('x', 'y', 'z'), word, (of, source, value) => {
        fc.pre(of.some(({ sources }) => sources?.[0] === source));
        const found = findChangedSources(of, render(of, { [source]: value }));
        expect(found).toHaveLength(1);
        const [first = ''] = found;
        const names = [...new Set(of.flatMap(({ sources }) => sources ?? []))];
        expect(names.indexOf(first)).toBeLessThanOrEqual(names.indexOf(source));
      }),
    );
  });

  test('what is named explains the text: with other values in its places, the pieces give it', () => {
    fc.assert(
      fc.property(pieces, word, word, (of, one, other) => {
        const before = render(of, { x: one, y: other });
        const found = findChangedSources(of, before);
        if (found.length === 0) return;
        const free = (piece: Piece) => piece.sources?.some((source) => found.includes(source)) === true;
        const pattern = of.map((piece) => (free(piece) ? '[^]*' : piece.text)).join('');
        expect(before).toMatch(new RegExp(`^${pattern}$`));
      }),
    );
  });

  test('a template without words of its own explains nothing but what one name does', () => {
    const of: Piece[] = [{ text: 'a', sources: ['x'] }, { text: ' ' }, { text: 'b', sources: ['y'] }];
    expect(findChangedSources(of, 'c b')).toEqual(['x']);
    expect(findChangedSources(of, 'c d')).toEqual([]);
  });

  test.each<[string, (index: number) => Piece]>([
    ['of many names', (index) => (index % 2 === 0 ? { text: 'b', sources: [`s${index}`] } : { text: 'a' })],
    ['of one name', (index) => (index % 2 === 0 ? { text: 'b', sources: ['s'] } : { text: 'aa' })],
    ['of names alone', (index) => ({ text: 'b', sources: [`s${index % 50}`] })],
  ])('long texts that nearly fit in many ways take no longer than they are: %s', (_name, pieceAt) => {
    const of: Piece[] = [...Array.from({ length: 2000 }, (_, index) => pieceAt(index)), { text: 'c' }];
    let read = 0;
    const before = counting('a'.repeat(100_000), (characters) => {
      read += characters;
    });
    expect(findChangedSources(of, before)).toEqual([]);
    // Once for each name that may explain it alone, and for all together.
    expect(read).toBeLessThan((mostSources + 1) * 110_000);
  });
});

/** A text that tells how much of it was searched. */
function counting(text: string, onRead: (characters: number) => void): string {
  return Object.assign(new String(text), {
    indexOf(part: string, from = 0) {
      const found = text.indexOf(part, from);
      onRead((found < 0 ? text.length : found + part.length) - from);
      return found;
    },
    startsWith(part: string, from = 0) {
      onRead(part.length);
      return text.startsWith(part, from);
    },
    slice: (from: number, to: number) => text.slice(from, to),
  }) as unknown as string;
}
