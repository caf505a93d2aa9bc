import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { DataFile } from '../../../src/manifest/parse.ts';
import { runs } from '../../rig/runs.ts';
import { type Facts, load, summarize } from '../manifest/load.ts';

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
  const written = ordered.map(([key, value]) => `    ${key}: ${JSON.stringify(value)}${as.comments ? ' # why' : ''}\n`);
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
