import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');
const listName = 'imports.json';

/** What the files of a folder may import beside each other: stands in the folder, and holds for all below it without a list. */
interface ImportList {
  /** Other folders that have a list. */
  folders: string[];
  /** Folders of which only types may be imported. */
  types?: string[];
  packages?: string[];
  /** Modules of Node. */
  node?: string[];
  /** It computes: no disk, network, clock, randomness or process. */
  pure?: true;
  /** The budget of the module: lines of its `.ts` and `.tsx` files, without generated ones. */
  lines?: number;
}

interface Import {
  from: string;
  to: string;
  isType: boolean;
}

const entries = readdirSync(source, { recursive: true, encoding: 'utf8' }).map((path) => path.replaceAll('\\', '/'));
const files = entries.filter((path) => /\.tsx?$/.test(path) && !path.includes('.generated.'));
const lists = new Map(
  entries
    .filter((path) => path.endsWith(`/${listName}`))
    .map((path) => [dirname(path), JSON.parse(readFileSync(join(source, path), 'utf8')) as ImportList]),
);
const rooms = readdirSync(source, { withFileTypes: true }).filter(
  (entry) => entry.isDirectory() && entry.name !== 'manual',
);

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
const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** The nearest folder around a file that has a list. */
function folderOf(file: string): string {
  const folder = dirname(file);
  return folder === '.' || lists.has(folder) ? folder : folderOf(folder);
}

type EntryName = 'folders' | 'types' | 'packages' | 'node';

/** What has to be listed for an import, and under which names of the list. */
function neededFor({ from, to, isType }: Import): { from: string; folder: string; entry: string; under: EntryName[] } {
  const common = { from, folder: folderOf(from) };
  if (isInside({ to })) return { ...common, entry: folderOf(to), under: isType ? ['folders', 'types'] : ['folders'] };
  if (to.startsWith('node:')) return { ...common, entry: to, under: ['node'] };
  return { ...common, entry: packageOf(to), under: ['packages'] };
}

/** `index.ts` is the library, and re-exports what it likes. */
const needed = imports
  .filter(({ from }) => from !== 'index.ts')
  .map(neededFor)
  .filter(({ folder, entry }) => folder !== entry);

describe('the house', () => {
  test('every room says what it may import', () => {
    const silent = rooms.filter(({ name }) => !existsSync(join(source, name, listName)));
    expect(silent).toEqual([]);
    expect(files.filter((file) => !file.includes('/'))).toEqual(['index.ts']);
  });

  test('nothing is imported that the list of its folder does not name', () => {
    const strays = needed
      .filter(({ folder, entry, under }) => !under.some((name) => lists.get(folder)?.[name]?.includes(entry)))
      .map(({ from, folder, entry }) => `${from} imports ${entry}, which ${folder}/${listName} does not name`);
    expect([...new Set(strays)]).toEqual([]);
  });

  test('nothing is named that is no longer imported', () => {
    const idle = [...lists].flatMap(([folder, list]) =>
      (['folders', 'types', 'packages', 'node'] as const).flatMap((under) =>
        (list[under] ?? [])
          .filter(
            (entry) => !needed.some((one) => one.folder === folder && one.entry === entry && one.under.includes(under)),
          )
          .map((entry) => `${folder}/${listName} names ${entry}, which nothing there imports`),
      ),
    );
    expect(idle).toEqual([]);
  });

  test('rooms import downwards: no room imports one that imports it, however far around', () => {
    const below = new Map<string, Set<string>>();
    for (const [folder, { folders, types = [] }] of lists) {
      const room = roomOf(folder);
      const others = [...folders, ...types].map(roomOf).filter((other) => other !== room);
      below.set(room, new Set([...(below.get(room) ?? []), ...others]));
    }
    expect(circlesOf([...below.keys()], (room) => [...(below.get(room) ?? [])])).toEqual([]);
  });

  test('no file is part of a circle', () => {
    const edges = new Map<string, string[]>();
    for (const { from, to } of imports.filter(isInside)) edges.set(from, [...(edges.get(from) ?? []), to]);
    expect(circlesOf(files, (file) => edges.get(file) ?? [])).toEqual([]);
  });

  test('the sandbox shares no code with the runner, and one file opens its door', () => {
    expect(lists.get('sandbox')?.folders).toEqual([]);
    const doors = imports.filter(({ from, to }) => roomOf(to) === 'sandbox' && roomOf(from) !== 'sandbox');
    expect([...new Set(doors.map(({ from }) => from))]).toEqual(['campaign/embed-sandbox.ts']);
  });

  test('a package is the business of one room', () => {
    const owners = new Map<string, Set<string>>();
    for (const [folder, { packages = [] }] of lists) {
      if (roomOf(folder) === 'sandbox') continue;
      for (const name of packages) owners.set(name, new Set([...(owners.get(name) ?? []), roomOf(folder)]));
    }
    const shared = [...owners].filter(([, own]) => own.size > 1).map(([name]) => name);
    // Places are counted on the ground; the review page's server has some of its own.
    expect(shared).toEqual(['p-queue']);
  });

  test('pure rooms touch no disk, network, clock, randomness or process', () => {
    const pure = [...lists].filter(([, list]) => list.pure === true);
    // Digests and addresses are arithmetic.
    const builtins = new Set(pure.flatMap(([, { node = [] }]) => node));
    expect([...builtins].sort()).toEqual(['node:crypto', 'node:net']);
    const words = /\b(Date\.now|new Date\(\)|Math\.random|process\.|console\.|setTimeout|setInterval|fetch\()/;
    const touching = files.filter((file) => lists.get(folderOf(file))?.pure === true && words.test(codeOf(file)));
    expect(touching).toEqual([]);
  });

  test('the application knows neither process nor terminal', () => {
    const touching = files
      .filter((file) => roomOf(file) === 'campaign')
      .filter((file) => /\b(process\.|console\.)/.test(codeOf(file)));
    expect(touching).toEqual([]);
  });

  test('files are renamed by what tries again on Windows', () => {
    const bare = /import \{[^}]*\brename(?:Sync)?\b[^}]*\} from 'node:fs/;
    const strays = files.filter((file) => roomOf(file) !== 'sandbox' && bare.test(codeOf(file)));
    expect(strays).toEqual(['disk/fs/durable.ts']);
  });

  // Plain tests share a process: what another file has loaded by then is not mocked any more.
  test('no test mocks a module: what it stands in for is handed in', () => {
    const here = fileURLToPath(import.meta.url);
    const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
      .map((path) => join(root, 'test', path))
      .filter((path) => path.endsWith('.test.ts') && path !== here);
    expect(tests.filter((path) => /\bvi\.(?:do)?[mM]ock\(/.test(readFileSync(path, 'utf8')))).toEqual([]);
  });

  /** Words of a translation; each has a plain term instead. `heard` stays: of sounds. */
  const foreign =
    /\b(?:[Ww]hoever|[Aa]new|[Oo]f which|(?:[Uu]n)?[Tt]old|[Hh]ears?|[Tt]ak(?:e|es|en|ing) in)\b|\bAbsent:|\btold(?=[A-Z])|(?:Told|Anew)(?![a-z])/;

  test.each([
    ['buys it anew', true],
    ['a step, of which', true],
    ['Whoever pays', true],
    ['isTold', true],
    ['what it is told', true],
    ['toldEvents', true],
    ['takes in a charge', true],
    ['#hear(', true],
    ['/** Absent: all. */', true],
    ['isAbsent: boolean', false],
    ['forgetOldest(absent: Set)', false],
    ['what is heard', false],
  ])('%s is of a translation: %s', (text, isForeign) => {
    expect(foreign.test(text)).toBe(isForeign);
  });

  test('texts, names and schemas are in the words of the field', () => {
    const schemas = join(root, 'schemas');
    const texts = [
      ...entries.filter((path) => /\.(?:tsx?|md|html|css)$/.test(path)).map((path) => join(source, path)),
      ...readdirSync(schemas).map((name) => join(schemas, name)),
      join(root, 'README.md'),
      join(root, 'CHANGELOG.md'),
    ];
    const found = texts.flatMap((path) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .flatMap((line, index) => (foreign.test(line) ? [`${relative(root, path)}:${index + 1} ${line.trim()}`] : [])),
    );
    expect(found).toEqual([]);
  });

  test('only renderers pad, wrap and colour', () => {
    // `padStart` writes the digits of clocks and code points.
    const layout = /\.padEnd\(|\bpad(?:Left|Right)\(|\bdisplayWidth\(|\bcut(?:ToWidth|Middle)\(|\\u001b\[/;
    const places = files.filter((file) => /^(?:report|cli)\/(?!render\/)/.test(file));
    const found = places.filter((file) => layout.test(readFileSync(join(source, file), 'utf8')));
    expect(found.sort()).toEqual([
      // A line of progress that is written over, and the cursor.
      'cli/terminal.ts',
      // Carets stand below the characters of a source line.
      'report/diagnostics/diagnostics-text.ts',
      'report/text-width.ts',
    ]);
  });

  test('a docstring begins with the name of a thing or an act', () => {
    const strays = files.filter((file) =>
      /\/\*\*\s+(?:\* )?(?:Of|So|What)\b/.test(readFileSync(join(source, file), 'utf8')),
    );
    expect(strays).toEqual([]);
  });

  // To exceed a budget, remove something first. A higher number needs a reason in src/DECISIONS.md.
  test.each(rooms.map(({ name }) => name))('%s stays within its budget of lines', (room) => {
    const sizes = files
      .filter((file) => roomOf(file) === room)
      .map((file) => ({ file, lines: readFileSync(join(source, file), 'utf8').split('\n').length - 1 }))
      .sort((one, other) => other.lines - one.lines);
    const total = sizes.reduce((sum, { lines }) => sum + lines, 0);
    const largest = sizes.slice(0, 5).map(({ file, lines }) => `${file} ${lines}`);
    const budget = lists.get(room)?.lines ?? 0;
    expect(total, `${room}: ${total} of ${budget} lines; largest: ${largest.join(', ')}`).toBeLessThanOrEqual(budget);
  });

  test('no file is longer than 500 lines', () => {
    const long = files.filter((file) => readFileSync(join(source, file), 'utf8').split('\n').length > 501);
    expect(long).toEqual([]);
  });
});

function circlesOf(all: readonly string[], next: (one: string) => readonly string[]): string[][] {
  const state = new Map<string, 'open' | 'closed'>();
  const circles: string[][] = [];
  const visit = (one: string, path: string[]) => {
    if (state.get(one) === 'closed') return;
    if (state.get(one) === 'open') {
      circles.push([...path.slice(path.indexOf(one)), one]);
      return;
    }
    state.set(one, 'open');
    for (const other of next(one)) visit(other, [...path, one]);
    state.set(one, 'closed');
  };
  for (const one of all) visit(one, []);
  return circles;
}
