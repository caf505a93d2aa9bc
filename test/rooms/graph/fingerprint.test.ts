import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { kinds } from '../../../src/kinds/index.ts';
import { dropDefaults } from '../../../src/kinds/price.ts';
import { forAll, runs } from '../../rig/runs.ts';
import { load, steps, tasks } from '../manifest/load.ts';

function fingerprints(text: string, data: Record<string, string> = {}): string[] {
  return steps(text, { data })
    .map((step) => step.fingerprint)
    .sort();
}

it('is the digest of the kind, the request and the take, and nothing else', () => {
  const [step] = steps(tasks('  hero: { kind: image, with: { resolution: 1k, prompt: a lamp } }'));
  const covered = '{"kind":"image","request":{"prompt":"a lamp","resolution":"1k"}}';
  expect(step?.fingerprint).toBe(`1:${createHash('sha256').update(covered).digest('hex')}`);
  expect(step?.fingerprint).toBe('1:86768c2a5af80146456101169d742c59a9c9e39ef07dbe68d0caf7f4b3dc1d3f');
});

it('covers the take, and the fingerprints of what is referred to', () => {
  const list = steps(
    tasks(
      '  logo: { kind: image, takes: 2, with: { prompt: a lamp } }',
      '  use: { kind: image, with: { prompt: x, referenceImages: ["{{tasks.logo.url}}"] }, from: { logo: { take: 2 } } }',
    ),
  );
  const [first, second, use] = list;
  const take = '{"kind":"image","request":{"prompt":"a lamp"},"take":2}';
  expect(second?.fingerprint).toBe(`1:${createHash('sha256').update(take).digest('hex')}`);
  expect(first?.fingerprint).not.toBe(second?.fingerprint);
  const reference = `{"kind":"image","request":{"prompt":"x","referenceImages":[{"$ref":"${second?.fingerprint}","field":"url"}]}}`;
  expect(use?.fingerprint).toBe(`1:${createHash('sha256').update(reference).digest('hex')}`);
});

it('is the same for a reference alone, and for a template that renders to this reference and nothing else', () => {
  const using = (url: string) =>
    steps(
      tasks(
        '  logo: { kind: image, with: { prompt: a lamp } }',
        `  use: { kind: image, with: { prompt: x, referenceImages: [${JSON.stringify(url)}] } }`,
      ),
    ).at(-1);
  const plain = using('{{tasks.logo.url}}');
  expect(using('{{#if true}}{{tasks.logo.url}}{{else}}none{{/if}}')).toEqual(plain);
  expect(using('{{tasks.logo.url}}?large')?.fingerprint).not.toBe(plain?.fingerprint);
});

/** Texts that YAML, JSON and people treat differently. */
const words = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .filter((text) => text.trim() !== '' && !text.includes('{{'));

const request = fc.record(
  {
    prompt: words,
    model: fc.constantFrom('alpha-2', 'gamma-image-2'),
    resolution: fc.constantFrom('1k', '2k', '4k'),
    aspectRatio: fc.constantFrom('auto', '1:1', '16:9'),
  },
  { requiredKeys: ['prompt'] },
);

function manifest(fields: [string, string][], rest = ''): string {
  return tasks(
    '  hero:',
    '    kind: image',
    '    with:',
    ...fields.map(([key, value]) => `      ${key}: ${value}`),
    rest,
  );
}

const doubleQuoted = (text: string) => JSON.stringify(text);
const singleQuoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

forAll([request, fc.boolean(), fc.boolean()], runs(60))(
  'does not depend on the order of keys, quotes, comments, anchors and line ends',
  (fields, reverse, windows) => {
    const entries = Object.entries(fields);
    const plain = fingerprints(manifest(entries.map(([key, value]) => [key, doubleQuoted(value)])));
    const ordered = reverse ? [...entries].reverse() : entries;
    const printable = ordered.every(([, value]) => /^[\x20-\x7e\u00a1-\ud7ff]*$/.test(value));
    const quote = printable ? singleQuoted : doubleQuoted;
    const variants = [
      manifest(ordered.map(([key, value]) => [key, quote(value)])),
      manifest(ordered.map(([key, value]) => [key, `${doubleQuoted(value)} # a comment`])),
      `x-values:\n${ordered.map(([key, value]) => `  ${key}: &${key} ${doubleQuoted(value)}\n`).join('')}${manifest(ordered.map(([key]) => [key, `*${key}`]))}`,
      `x-with: &with\n${ordered.map(([key, value]) => `  ${key}: ${doubleQuoted(value)}\n`).join('')}${manifest([['<<', '*with']])}`,
      `defaults: { image: ${JSON.stringify(Object.fromEntries(ordered))} }\n${tasks('  hero: { kind: image }')}`,
      `vars: { p: ${doubleQuoted(fields.prompt)} }\n${manifest([...ordered.filter(([key]) => key !== 'prompt').map(([key, value]): [string, string] => [key, doubleQuoted(value)]), ['prompt', '"{{vars.p}}"']])}`,
    ];
    for (const variant of variants) {
      expect(fingerprints(windows ? variant.replaceAll('\n', '\r\n') : variant)).toEqual(plain);
    }
  },
);

it('does not depend on what is not paid for', () => {
  const plain = fingerprints(manifest([['prompt', 'x']]));
  const variants = [
    `budget: { credits: 5 }\nservice: { concurrency: 2 }\ndescription: y\n${manifest([['prompt', 'x']])}`,
    manifest([['prompt', 'x']], '    save: other/place'),
    manifest([['prompt', 'x']], '    tags: [a, b]'),
    manifest([['prompt', 'x']], '    description: words'),
    manifest([['prompt', 'x']]).replace('hero:', 'banner:'),
    manifest([['prompt', 'x']]).replace('name: test', 'name: other'),
    manifest([['prompt', 'x']], '    foreach: [a]'),
    manifest([['prompt', 'x']], '    matrix: { a: [b] }'),
  ];
  for (const variant of variants) expect(fingerprints(variant)).toEqual(plain);
});

// Two requests at random differ in their prompts already, and then prove nothing about the other fields.
const pair = fc.oneof(
  fc.tuple(request, request),
  fc
    .tuple(request, request, fc.constantFrom('prompt', 'model', 'resolution', 'aspectRatio'))
    .map(([a, other, field]) => {
      const changed = Object.entries(other).filter(([name]) => name === field);
      return [a, { ...a, ...Object.fromEntries(changed) }] as const;
    }),
);
forAll([pair], runs(100))('depends on every field that is paid for', ([a, b]) => {
  const write = (fields: object) =>
    manifest(Object.entries(fields).map(([key, value]) => [key, doubleQuoted(String(value))]));
  const paid = (fields: object) => JSON.stringify(Object.entries(dropDefaults(kinds.image, { ...fields })).sort());
  const equal = paid(a) === paid(b);
  expect(fingerprints(write(a))[0] === fingerprints(write(b))[0]).toBe(equal);
});

it('a change travels to the steps that refer to it', () => {
  const text = (prompt: string) =>
    tasks(
      `  logo: { kind: image, with: { prompt: ${prompt} } }`,
      '  use: { kind: image, with: { prompt: "{{tasks.logo.url}}" } }',
      '  last: { kind: image, with: { prompt: "{{tasks.use.url}}" } }',
      '  other: { kind: image, needs: [logo], with: { prompt: z } }',
    );
  const [a, b] = [steps(text('x')), steps(text('y'))];
  expect(a.map((step, index) => [step.address, step.fingerprint === b[index]?.fingerprint])).toEqual([
    ['logo', false],
    ['use', false],
    ['last', false],
    ['other', true],
  ]);
});

it('rows in another order, and line ends in a table, change nothing', () => {
  const text = tasks('  a: { kind: image, foreach: p.csv, key: "{{row.sku}}", with: { prompt: "{{row.text}}" } }');
  const plain = fingerprints(text, { 'p.csv': 'sku,text\nA,"one\ntwo"\nB,three\n' });
  expect(fingerprints(text, { 'p.csv': '\ufeffsku,text\r\nB,three\r\nA,"one\r\ntwo"\r\n' })).toEqual(plain);
  expect(fingerprints(text, { 'p.csv': 'text,sku\nthree,B\n"one\ntwo",A\n' })).toEqual(plain);
});

const piece = fc.constantFrom(
  'version: 1\n',
  'name: x\n',
  'tasks:\n',
  '  a:\n',
  '    kind: image\n',
  '    with:\n',
  '      prompt: ',
  '"{{',
  'vars.x',
  '}}"',
  '{{',
  '}}',
  '#if',
  '/if',
  ' ',
  '\n',
  '- ',
  '[',
  ']',
  '{',
  '}',
  ': ',
  '&a ',
  '*a',
  '<<',
  '\t',
  '"',
  "'",
  '|',
  '\\',
  'null',
  '007',
  'foreach: [1, 2]',
  'matrix: ',
  '__proto__',
);
forAll([fc.array(piece, { maxLength: 30 })], runs(500))('any text is a manifest or a list of mistakes', (pieces) => {
  const { graph, diagnostics } = load(pieces.join(''));
  expect(graph !== undefined || diagnostics.some((one) => one.severity === 'error')).toBe(true);
  for (const { place } of diagnostics) expect((place?.start.offset ?? 0) <= (place?.end.offset ?? 0)).toBe(true);
});
