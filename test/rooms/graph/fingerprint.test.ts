import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kinds } from '../../../src/kinds/index.ts';
import { dropDefaults } from '../../../src/kinds/price.ts';
import type { DataFile } from '../../../src/manifest/parse.ts';
import { runs } from '../../rig/runs.ts';
import { type Facts, load, steps, summarize, tasks } from '../manifest/load.ts';

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

it('does not depend on the order of keys, quotes, comments, anchors and line ends', () => {
  fc.assert(
    fc.property(request, fc.boolean(), fc.boolean(), (fields, reverse, windows) => {
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
    }),
    { numRuns: runs(60) },
  );
});

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

it('depends on every field that is paid for', () => {
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
  fc.assert(
    fc.property(pair, ([a, b]) => {
      const write = (fields: object) =>
        manifest(Object.entries(fields).map(([key, value]) => [key, doubleQuoted(String(value))]));
      const paid = (fields: object) => JSON.stringify(Object.entries(dropDefaults(kinds.image, { ...fields })).sort());
      const equal = paid(a) === paid(b);
      expect(fingerprints(write(a))[0] === fingerprints(write(b))[0]).toBe(equal);
    }),
    { numRuns: runs(100) },
  );
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

it('any text is a manifest or a list of mistakes, never a crash', () => {
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
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const { graph, diagnostics } = load(pieces.join(''));
      expect(graph !== undefined || diagnostics.some((one) => one.severity === 'error')).toBe(true);
      for (const { place } of diagnostics) expect((place?.start.offset ?? 0) <= (place?.end.offset ?? 0)).toBe(true);
    }),
    { numRuns: runs(500) },
  );
});

describe('include fingerprint', () => {
  type Fields = { [field: string]: string | string[] };
  interface Task {
    foreach: 'none' | 'table' | 'photos';
    fields: Fields;
    logo: boolean;
    needsHero: boolean;
  }

  /** The folders that a task may be written in, and the path of the campaign's folder from there. */
  const folders = [
    { file: 'campaign.yaml', up: '' },
    { file: 'flat.yaml', up: '' },
    { file: 'shop/part.yaml', up: '../' },
    { file: 'shop/deep/part.yaml', up: '../../' },
  ] as const;

  const words = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    .filter((text) => text.trim() !== '' && !text.includes('{{'));
  const rows = fc.uniqueArray(fc.record({ sku: fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/), name: words }), {
    selector: ({ sku }) => sku,
    minLength: 1,
    maxLength: 5,
  });
  const task: fc.Arbitrary<Task> = fc.record({
    foreach: fc.constantFrom('none', 'table', 'photos'),
    fields: fc.record({ prompt: words, resolution: fc.constantFrom('1k', '2k') }, { requiredKeys: ['prompt'] }),
    logo: fc.boolean(),
    needsHero: fc.boolean(),
  });
  const campaign = fc.record({ rows, tasks: fc.array(task, { minLength: 1, maxLength: 3 }), style: words });

  /** How the same campaign may be written. */
  interface Writing {
    /** The file of each task, as an index of `folders`. */
    at: number[];
    reverseKeys: boolean;
    comments: boolean;
    anchors: boolean;
    rowOrder: (list: readonly { sku: string; name: string }[]) => readonly { sku: string; name: string }[];
  }
  const plain: Writing = { at: [0], reverseKeys: false, comments: false, anchors: false, rowOrder: (list) => list };
  const writing: fc.Arbitrary<Writing> = fc.record({
    at: fc.array(fc.nat(folders.length - 1), { minLength: 3, maxLength: 3 }),
    reverseKeys: fc.boolean(),
    comments: fc.boolean(),
    anchors: fc.boolean(),
    rowOrder: fc.constantFrom(
      (list: readonly { sku: string; name: string }[]) => list,
      (list: readonly { sku: string; name: string }[]) => [...list].reverse(),
      (list: readonly { sku: string; name: string }[]) => [...list].sort((a, b) => (a.name < b.name ? -1 : 1)),
    ),
  });

  const photos = ['photos/x.jpg', 'photos/y.jpg'];
  const bytes = (letter: string) => ({ sha256: letter.repeat(64), bytes: 1 });
  const uploads = { 'assets/logo.png': bytes('a'), 'photos/x.jpg': bytes('b'), 'photos/y.jpg': bytes('c') };

  /** One task as it has to be written in a folder. */
  function writeTask(one: Task, name: string, how: { up: string; writing: Writing }): string {
    const { up, writing: as } = how;
    const links = [
      ...(one.logo ? [`{{upload "${up}assets/logo.png"}}`] : []),
      ...(one.needsHero ? ['{{tasks.hero.url}}'] : []),
      ...(one.foreach === 'photos' ? ['{{upload row.path}}'] : []),
    ];
    const prompt = `${String(one.fields.prompt)}, {{vars.style}}${one.foreach === 'table' ? ', {{row.name}}' : ''}`;
    const fields: Fields = { ...one.fields, prompt, ...(links.length > 0 && { referenceImages: links }) };
    const from = { none: undefined, table: `${up}p.json`, photos: `${up}photos/*.jpg` }[one.foreach];
    const keys: [string, unknown][] = [
      ['kind', 'image'],
      ...(from === undefined ? [] : ([['foreach', from]] as [string, unknown][])),
      ...(one.foreach === 'table' ? ([['key', '{{row.sku}}']] as [string, unknown][]) : []),
    ];
    const ordered = as.reverseKeys ? [...keys].reverse() : keys;
    const request = Object.fromEntries(as.reverseKeys ? Object.entries(fields).reverse() : Object.entries(fields));
    const written = ordered.map(
      ([key, value]) => `    ${key}: ${JSON.stringify(value)}${as.comments ? ' # why' : ''}\n`,
    );
    const body = as.anchors ? `*with-${name}` : JSON.stringify(request);
    const text = `${as.comments ? '  # about it\n' : ''}  ${name}:\n${written.join('')}    with: ${body}\n`;
    return as.anchors ? `x-with-${name}: &with-${name} ${JSON.stringify(request)}\n\u0000${text}` : text;
  }

  /** A file with some of the tasks. Anchors stand before what uses them. */
  function writeFile(head: string, written: readonly string[]): string {
    const anchors = written.flatMap((text) => (text.includes('\u0000') ? [text.split('\u0000')[0] ?? ''] : []));
    const tasks = written.map((text) => text.split('\u0000').at(-1) ?? '');
    return `${head}${anchors.join('')}${tasks.length > 0 ? `tasks:\n${tasks.join('')}` : ''}`;
  }

  /** Every step of the campaign by its address, with what is paid for. */
  function bought(one: { rows: { sku: string; name: string }[]; tasks: Task[]; style: string }, as: Writing): string[] {
    const files = folders.map(({ up }, folder) =>
      one.tasks.flatMap((each, index) =>
        (as.at[index % as.at.length] ?? 0) === folder ? [writeTask(each, `t${index}`, { up, writing: as })] : [],
      ),
    );
    const used = folders.slice(1).filter((_, index) => (files[index + 1] ?? []).length > 0);
    const include = used.length === 0 ? '' : `include: ${JSON.stringify(used.map(({ file }) => file))}\n`;
    const hero = '  hero: { kind: image, with: { prompt: hero } }\n';
    const head = `version: 1\nname: t\n${include}vars: { style: ${JSON.stringify(one.style)} }\n`;
    const data: Record<string, string | DataFile> = {
      'p.json': JSON.stringify(as.rowOrder(one.rows)),
      'photos/*.jpg': { files: photos },
    };
    for (const [index, { file }] of folders.entries()) if (index > 0) data[file] = writeFile('', files[index] ?? []);
    const facts: Facts = { data, uploads };
    const { graph, diagnostics } = load(writeFile(head, [hero, ...(files[0] ?? [])]), facts);
    if (graph === undefined) throw new Error(diagnostics.map((d) => `${summarize(d)} ${d.message}`).join('\n'));
    return graph.steps.map(({ address, fingerprint }) => `${address} ${fingerprint}`).sort();
  }

  it('what is bought does not depend on the order of keys and rows, comments, anchors, nor on the file that a task is in', () => {
    fc.assert(
      fc.property(campaign, writing, (one, as) => {
        expect(bought(one, as)).toEqual(bought(one, plain));
      }),
      { numRuns: runs(150) },
    );
  });

  it('what is bought does depend on what is asked for', () => {
    fc.assert(
      fc.property(campaign, words, (one, other) => {
        fc.pre(other !== one.style);
        expect(bought({ ...one, style: other }, plain)).not.toEqual(bought(one, plain));
      }),
      { numRuns: runs(30) },
    );
  });
});
