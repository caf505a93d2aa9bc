import fc from 'fast-check';
import { expect, it } from 'vitest';
import { canonicalJson, type Json } from '../../../src/ground/json.ts';
import { pathFrom } from '../../../src/manifest/file-path.ts';
import type { Manifest } from '../../../src/manifest/manifest.ts';
import { runs } from '../../rig/runs.ts';
import { parse, summarize } from './load.ts';

type JsonMap = { [key: string]: Json };

/** The sections that may stand in any file. */
interface Sections {
  vars: JsonMap;
  defaults: { [kind: string]: JsonMap };
  selectors: JsonMap;
  prices: JsonMap;
  tasks: { [id: string]: JsonMap };
}

const words = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .filter((text) => text.trim() !== '' && !text.includes('{{'));
const name = fc.constantFrom('a', 'b', 'c', 'long-name', 'd_1');
const value = fc.oneof(words, fc.integer(), fc.boolean(), fc.array(words, { maxLength: 2 }));
const request = fc.dictionary(fc.constantFrom('prompt', 'model', 'resolution', 'aspectRatio'), words);

const rows = fc.oneof(
  fc.constant({}),
  fc.constant({ foreach: 'p.csv' }),
  fc.constant({ foreach: 'data/p.json', schema: 's.json' }),
  fc.constant({ foreach: 'photos/*.jpg' }),
  fc.constant({ foreach: '{{vars.list}}' }),
  fc.constant({ foreach: '{{tasks.talk.clips}}', maxItems: 7 }),
  fc.array(words, { minLength: 1, maxLength: 3 }).map((foreach) => ({ foreach })),
);

const options = fc.record(
  {
    with: request,
    key: fc.constant('{{row.sku}}'),
    when: fc.constantFrom(true, false, '{{row.active}}'),
    timeout: fc.constantFrom('90s', '30m', '2h'),
    retry: fc.constantFrom({ attempts: 2 }, { attempts: 3, credits: 9 }),
    expect: fc.constantFrom({ width: 5, ratio: '1:1' }, { bytes: { min: 1, max: 9 }, type: 'image' }),
    matrix: fc.constantFrom({ r: ['x', 'y'] }, { r: [1], s: '{{vars.list}}', exclude: [{ r: 1 }] }),
    takes: fc.integer({ min: 1, max: 20 }),
    needs: fc.array(name, { maxLength: 2 }),
    from: fc.constant({ b: { key: 'k' } }),
    save: fc.constant('out/{{row.sku}}'),
    tags: fc.constantFrom(['t'], ['t', 'u']),
    description: words,
  },
  { requiredKeys: [] },
);

const task = fc
  .record({ rows, options })
  .map(({ rows: from, options: more }): JsonMap => ({ kind: 'image', ...from, ...more }) as unknown as JsonMap);

const sections: fc.Arbitrary<Sections> = fc.record({
  vars: fc.dictionary(name, value),
  defaults: request.map((fields) => ({ image: fields }) as { [kind: string]: JsonMap }),
  selectors: fc.dictionary(name, words),
  prices: fc.dictionary(fc.constantFrom('video', 'image/alpha-2', 'music'), fc.nat(99)),
  tasks: fc.dictionary(name, task, { minKeys: 1 }),
});

/** All that a manifest says, but for where it is written and in which order. */
function meaning(text: string, files: Record<string, string> = {}): string {
  const { manifest, diagnostics } = parse(text, { data: files });
  if (manifest === undefined || diagnostics.length > 0) {
    throw new Error(`${diagnostics.map((one) => `${summarize(one)} ${one.message}`).join('\n')}\n${text}`);
  }
  const { places: _places, tasks, ...rest } = manifest;
  const said = { ...rest, tasks: tasks.map(taskMeaning).sort((a, b) => (a.id < b.id ? -1 : 1)) };
  return canonicalJson(said as unknown as Json);
}

function taskMeaning({ folder, rows: source, schema, matrix, with: fields, ...rest }: Manifest['tasks'][number]) {
  return {
    ...rest,
    ...(schema !== undefined && { schema: pathFrom(folder, schema) }),
    rows:
      source.from === 'file'
        ? { ...source, path: pathFrom(folder, source.path) }
        : source.from === 'files'
          ? { ...source, pattern: pathFrom(folder, source.pattern) }
          : source,
    with: Object.fromEntries(fields.map(({ field, value: written }) => [field, written])),
    ...(matrix && {
      matrix: { ...matrix, axes: Object.fromEntries(matrix.axes.map((axis) => [axis.name, axis.values])) },
    }),
  };
}

/** JSON is YAML. */
const plain = (written: JsonMap): string => JSON.stringify({ version: 1, name: 'test', ...written });

function reversed(written: Json): Json {
  if (Array.isArray(written)) return written.map(reversed);
  if (typeof written !== 'object' || written === null) return written;
  return Object.fromEntries(
    Object.entries(written)
      .reverse()
      .map(([key, item]) => [key, reversed(item)]),
  );
}

/** In blocks, with a comment on every line and between them. */
function commented(written: JsonMap, indent = ''): string {
  return Object.entries(written)
    .map(([key, item]) => {
      const head = `${indent}# about "${key}": {{nothing}}\n${indent}${JSON.stringify(key)}:`;
      const isMap = typeof item === 'object' && item !== null && !Array.isArray(item) && Object.keys(item).length > 0;
      return isMap
        ? `${head} # a map\n\n${commented(item as JsonMap, `${indent}  `)}`
        : `${head} ${JSON.stringify(item)} # a value\n`;
    })
    .join('');
}

/** Every task stands behind an anchor of its own, half of it merged in; every request is an alias. */
function anchored({ tasks, ...rest }: Sections): string {
  const anchors: string[] = [];
  const written = Object.entries(tasks).map(([id, { with: fields, kind, ...more }]) => {
    if (fields !== undefined) anchors.push(`x-with-${id}: &with-${id} ${JSON.stringify(fields)}`);
    anchors.push(`x-base-${id}: &base-${id} ${JSON.stringify({ ...more, takes: 20 })}`);
    const own = [
      `kind: ${JSON.stringify(kind)}`,
      ...(fields === undefined ? [] : [`with: *with-${id}`]),
      `takes: ${more.takes ?? 1}`,
    ];
    return `  ${id}: { <<: *base-${id}, ${own.join(', ')} }`;
  });
  const others = Object.entries(rest).map(([key, item]) => `${key}: ${JSON.stringify(item)}`);
  return ['version: 1', 'name: test', ...anchors, ...others, 'tasks:', ...written, ''].join('\n');
}

it('the order of keys, comments and white space mean nothing', () => {
  fc.assert(
    fc.property(sections, (written) => {
      const all = { ...written } as unknown as JsonMap;
      const expected = meaning(plain(all));
      expect(meaning(plain(reversed(all) as JsonMap))).toBe(expected);
      expect(meaning(commented({ version: 1, name: 'test', ...all }))).toBe(expected);
      expect(meaning(JSON.stringify({ version: 1, name: 'test', ...all }, null, 4))).toBe(expected);
    }),
    { numRuns: runs(100) },
  );
});

it('anchors and merge keys mean what they stand for', () => {
  fc.assert(
    fc.property(sections, (written) => {
      const tasks = Object.fromEntries(Object.entries(written.tasks).map(([id, one]) => [id, { takes: 1, ...one }]));
      expect(meaning(anchored({ ...written, tasks }))).toBe(
        meaning(plain({ ...written, tasks } as unknown as JsonMap)),
      );
    }),
    { numRuns: runs(100) },
  );
});

/** Files that the main manifest includes, each further one wins over those before it. */
const files = ['a.yaml', 'sub/b.yaml', 'sub/deep/c.yaml', 'campaign.yaml'] as const;

/** Paths of files as they have to be written in another folder. */
function moved(one: JsonMap, file: string): JsonMap {
  const up = '../'.repeat(file.split('/').length - 1);
  const { foreach, schema } = one;
  const isPath = typeof foreach === 'string' && !foreach.startsWith('{{');
  return {
    ...one,
    ...(isPath && { foreach: `${up}${foreach}` }),
    ...(typeof schema === 'string' && { schema: `${up}${schema}` }),
  };
}

it('a manifest may be split over files in any way', () => {
  const seed = fc.array(fc.nat(files.length - 1), { minLength: 40, maxLength: 40 });
  fc.assert(
    fc.property(sections, seed, fc.boolean(), (written, choices, isChain) => {
      let next = 0;
      const choose = () => choices[next++ % choices.length] ?? 0;
      const parts = files.map(
        (): Sections => ({ vars: {}, defaults: { image: {} }, selectors: {}, prices: {}, tasks: {} }),
      );
      /** Into one file, and something else into one that counts less. */
      const put = (into: (part: Sections) => JsonMap, key: string, item: Json, other: Json) => {
        const at = choose();
        const [target, weaker] = [parts[at], parts[Math.min(at, choose())]];
        if (weaker !== undefined && weaker !== target) into(weaker)[key] = other;
        if (target !== undefined) into(target)[key] = item;
      };
      for (const [key, item] of Object.entries(written.vars)) put((part) => part.vars, key, item, 'other');
      for (const [key, item] of Object.entries(written.selectors)) put((part) => part.selectors, key, item, 'other');
      for (const [key, item] of Object.entries(written.prices)) put((part) => part.prices, key, item, 12345);
      for (const [key, item] of Object.entries(written.defaults.image ?? {})) {
        put((part) => part.defaults.image ?? {}, key, item, 'other');
      }
      for (const [id, one] of Object.entries(written.tasks)) {
        const at = choose();
        const part = parts[at];
        if (part !== undefined) part.tasks[id] = moved(one, files[at] ?? '');
      }
      const texts = parts.map(({ tasks, ...rest }) => ({ ...rest, ...(Object.keys(tasks).length > 0 && { tasks }) }));
      const [a, b, c, main] = texts;
      const included = {
        'a.yaml': JSON.stringify(a),
        'sub/b.yaml': JSON.stringify({ ...b, ...(isChain && { include: ['../a.yaml'] }) }),
        'sub/deep/c.yaml': JSON.stringify({
          version: 1,
          ...c,
          ...(isChain && { include: ['../b.yaml', '../../a.yaml'] }),
        }),
      };
      const include = isChain ? ['sub/deep/c.yaml'] : ['a.yaml', './sub/b.yaml', 'sub/deep/c.yaml'];
      const split = meaning(plain({ ...main, include } as unknown as JsonMap), included);
      expect(split).toBe(meaning(plain({ ...written } as unknown as JsonMap)));
    }),
    { numRuns: runs(200) },
  );
});
