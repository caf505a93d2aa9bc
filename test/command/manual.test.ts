import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { readTopic } from '../../src/cli/commands/help.ts';
import { namedCommands } from '../../src/cli/program/command-row.ts';
import { titles } from '../../src/contract/failure.ts';
import { pageText } from '../../src/report/manual/page-text.ts';
import { topics } from '../../src/report/manual/topics.ts';
import { makeStyle } from '../../src/report/style.ts';
import { displayWidth } from '../../src/report/text-width.ts';
import { root } from '../rig/command.ts';
import { blocksOf, codeSpansOf, pageNames, readPage, slugOf } from '../rig/manual-pages.ts';
import { makeReader } from './buffer-terminal.ts';
import { products, workplaceForEach } from './in-process.ts';

describe('manual', () => {
  const { run, write } = workplaceForEach();
  const plain = makeStyle(false);

  const shown = async (name: string, width: number) =>
    pageText(await readTopic(name, makeReader().program), { style: plain, width });

  /** `init` on a terminal, unless its options answer everything. */
  const asks = (line: string) => /^mediabatch init\b(?!.*--(?:example|from-csv|list))/.test(line);

  test('the table of contents lists exactly the pages', () => {
    expect(pageNames).toEqual(['index', ...topics.keys()].sort());
  });

  describe.each(pageNames)('%s', (name) => {
    test('fits 80 columns, and is not stretched over 200', async () => {
      const lines = (await shown(name, 80)).split('\n');
      expect(lines.filter((line) => displayWidth(line) > 80)).toEqual([]);
      const long = (await shown(name, 200)).split('\n');
      expect(long.filter((line) => displayWidth(line) > 100)).toEqual([]);
    });

    test('links lead to a page, and to a section that it has', () => {
      for (const [, page = '', anchor] of readPage(name).matchAll(/\]\((\w+)\.md(?:#([\w-]+))?\)/g)) {
        expect(pageNames).toContain(page);
        const anchors = Array.from(readPage(page).matchAll(/^##+ (.+)$/gm), ([, heading = '']) => slugOf(heading));
        if (anchor !== undefined) expect(anchors).toContain(anchor);
      }
    });

    test('a link in a terminal is the command that opens the page', () => {
      for (const [, words, page] of readPage(name).matchAll(/\[([^\]]+)\]\((\w+)\.md/g))
        expect(words).toBe(`help ${page}`);
    });

    test('commands of one block do not prompt, because the pasted next lines would be the answers', () => {
      const asking = blocksOf(name, 'sh').flatMap(({ text }) => text.split('\n').slice(0, -1).filter(asks));
      expect(asking).toEqual([]);
    });

    test('codes that it mentions exist', () => {
      for (const [code] of readPage(name).matchAll(/MB\d{4}/g)) expect(titles).toHaveProperty(code);
    });
  });

  describe.each([...pageNames, '../../README'])('%s', (name) => {
    test('manifests are valid', async () => {
      write('products.csv', products);
      // One with a folder in its name is included by another.
      const isIncluded = (block: { name: string }) => block.name.includes('/');
      const manifests = blocksOf(name, 'yaml');
      const files = [...blocksOf(name, 'csv'), ...manifests.filter(isIncluded)];
      for (const { name: path, text } of files) {
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, `${text}\n`);
      }
      for (const { text } of manifests.filter((block) => !isIncluded(block))) {
        write('campaign.yaml', /^version:/m.test(text) ? text : `version: 1\nname: spring\n${text}`);
        const said = await run('validate', '--json');
        expect(JSON.parse(said.out), text).toMatchObject({ diagnostics: [] });
      }
    });

    test('commands parse', async () => {
      const lines = blocksOf(name, 'sh').flatMap(({ text }) => text.split('\n'));
      const commands = [...lines, ...codeSpansOf(name)]
        .map((line) => line.replace(/^npx /, ''))
        .filter((line) => line.startsWith('mediabatch '));
      write('campaign.yaml', '');
      for (const line of commands) {
        const { program, said } = makeReader();
        const words = line
          .replace(/\s+#\s.*| \|\| .*| > .*/g, '')
          .split(/\s+/)
          .slice(1);
        if (words.some((word) => word === '--help' || word.startsWith('…'))) continue;
        await program.parseAsync(words, { from: 'user' });
        expect(said.err, line).toBe('');
      }
    });
  });

  test('recovery after a crash fits on one screen', async () => {
    const { out, code } = await run('help', 'recovery');
    expect(code).toBe(0);
    expect(out).toMatch(/^Recovery after a crash\n/);
    // The prompt takes a row, too. What follows below a heading is about a lost lock.
    const [screen = ''] = (await shown('recovery', 80)).split(/\n\n(?=[^\n]*lock[^\n]*\n\n)/);
    expect(screen.trimEnd().split('\n').length).toBeLessThanOrEqual(23);
  });

  test('a page as it is shown', async () => {
    expect(await shown('exit', 72)).toMatchSnapshot();
  });

  describe('every key', () => {
    const schema = JSON.parse(readFileSync(join(root, 'schemas/manifest.schema.json'), 'utf8'));
    /** Keys with their rules, as far as the reference shows them. */
    const keysOf = (part: { properties?: Record<string, object> }, path: string): [string, Record<string, unknown>][] =>
      Object.entries(part.properties ?? {}).flatMap(([key, rule]) => [
        [`${path}/properties/${key}`, rule as Record<string, unknown>],
        ...(key === 'defaults' ? [] : keysOf(rule, `${path}/properties/${key}`)),
      ]);
    const keys = [...keysOf(schema, '#'), ...keysOf(schema.definitions.task, '#/definitions/task')];

    test('has a description, and is in the manual', async () => {
      const page = await shown('keys', 100);
      expect(keys.length).toBeGreaterThan(40);
      for (const [path, { description }] of keys) {
        expect(description, path).toEqual(expect.any(String));
        const name = path.replace(/^#(\/definitions\/task)?\/properties\//, '').replaceAll('/properties/', '.');
        expect(page).toContain(`\n${name}\n`);
      }
    });

    test('has valid examples', () => {
      const ajv = new Ajv({ strict: false, validateFormats: false }).addSchema(schema, 'manifest');
      for (const [path, rule] of keys) {
        // Smallest and largest of a range explain themselves.
        if (/\/(min|max)$/.test(path)) continue;
        expect(rule.examples, path).toEqual(expect.any(Array));
        for (const example of rule.examples as unknown[]) {
          const isRight = ajv.validate({ $ref: `manifest${path}` }, example);
          expect(isRight, `${path}: ${JSON.stringify(example)}`).toBe(true);
        }
      }
    });
  });

  test('the pictures of README exist and are small', () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8');
    const pictures = Array.from(readme.matchAll(/^!\[[^\]]+\]\(([^)]+)\)$/gm), ([, path = '']) => join(root, path));
    expect(pictures.length).toBeGreaterThanOrEqual(2);
    const bytes = pictures.reduce((sum, path) => sum + statSync(path).size, 0);
    expect(bytes).toBeLessThanOrEqual(400 * 1024);
  });
});

describe('first screen', () => {
  const place = workplaceForEach();
  const commands = namedCommands(makeReader().program);
  const everyday = commands.flatMap(([name, , row]) => (row.isEveryday ? [name] : []));

  test.each([['--help'], ['-h'], []])(
    'the first screen fits a terminal of 24 rows and 80 columns: %s',
    async (...args) => {
      const { out, err } = await place.run(...args);
      const lines = (out === '' ? err : out).trimEnd().split('\n');
      expect(lines.length).toBeLessThan(24);
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      const named = lines.flatMap((line) => /^ {2}(\w+)/.exec(line)?.[1] ?? []);
      expect(named).toEqual(everyday);
      expect(lines.join('\n')).toContain('mediabatch help commands');
    },
  );

  test('lists all commands by theme before their options', async () => {
    const { out } = await place.run('help', 'commands');
    const first = out.slice(0, out.indexOf('\ninit\n') + 1 || out.length);
    for (const [name, command] of commands.filter(([, { parent }]) => parent?.parent === null)) {
      expect(first).toContain(command.helpGroup().replace(':', ''));
      expect(first).toContain(`\`${name}\``);
    }
  });
});

describe('help examples', () => {
  const place = workplaceForEach();

  const rows = namedCommands(makeReader().program).map(([, , row]) => row);

  test.each(rows)('the help of every command ends with examples: $name', async ({ name, examples: own }) => {
    // Add them to its row; manual-run.test.ts runs them.
    expect(own.length, `examples of ${name}`).toBeGreaterThanOrEqual(2);
    const { program, said } = makeReader();
    await expect(program.parseAsync([...name.split(' '), '--help'], { from: 'user' })).rejects.toThrow('outputHelp');
    const shown = said.out
      .slice(said.out.indexOf('\nExamples:\n'))
      .split('\n')
      .slice(2)
      .filter((text) => text !== '');
    expect(shown).toHaveLength(own.length);
    for (const [index, [line, about]] of own.entries()) {
      expect(shown[index]).toContain(line);
      expect(shown[index]).toContain(about);
      expect(shown[index]?.length).toBeLessThanOrEqual(110);
      expect(line, 'an example is of its command').toContain(`mediabatch ${name}`);
    }
  });

  test.each(rows.flatMap(({ examples }) => examples.filter(([, , how]) => how === 'not run').map(([line]) => line)))(
    'what is not run can be read: %s',
    async (line) => {
      place.write('campaign.yaml', '');
      const { program, said } = makeReader();
      await program.parseAsync(line.split(' ').slice(1), { from: 'user' });
      expect(said.err).toBe('');
    },
  );
});

const read = (name: string) => readFileSync(join(root, 'dist/page', name));

test.each([
  // The gallery has all of the review page, and its own views.
  { name: 'page', mostKb: 45 },
  { name: 'gallery', mostKb: 47.5 },
])('$name: a small classic script and style sheet', ({ name, mostKb }) => {
  const [script, style] = [read(`${name}.js`), read(`${name}.css`)];
  const zipped = [script, style].reduce((sum, part) => sum + gzipSync(part, { level: 9 }).length, 0);
  expect(zipped).toBeLessThanOrEqual(mostKb * 1000);
  // From disk a browser loads no modules, and its policy forbids code made of text.
  expect(String(script)).not.toMatch(/^\s*(import|export)\b|\bimport\(|\beval\(|new Function/m);
});

describe('reference', () => {
  const { run } = workplaceForEach();

  describe('schema', () => {
    test.each(['manifest', 'plan', 'lock', 'event', 'run', 'diagnostics', 'status', 'failure'])(
      '%s is the published file',
      async (name) => {
        const { code, out } = await run('schema', name);
        expect(code).toBe(0);
        expect(out).toBe(readFileSync(join(root, 'schemas', `${name}.schema.json`), 'utf8'));
        if (name === 'manifest') expect((await run('schema')).out).toBe(out);
      },
    );

    test('an unknown one gives a near one', async () => {
      expect(await run('schema', 'manifset')).toMatchObject({
        code: 64,
        err: expect.stringContaining('did you mean manifest?'),
      });
    });
  });

  describe('help', () => {
    test.each(['MB1203', 'mb1203'])('%s explains the code', async (code) => {
      const { out } = await run('help', code);
      expect(out).toContain('MB1203: a template refers to an unknown name');
      expect(out).toContain('Fix: use a name from the hint, here `row.name`.');
    });

    test('without a topic, prints the usual help and the contents of the manual; for a command, its help', async () => {
      const { code, out } = await run('help');
      expect(code).toBe(0);
      expect(out).toContain('All commands, by theme:  mediabatch help commands');
      expect(out.startsWith((await run('--help')).out)).toBe(true);
      expect(out).toMatch(/^ {2}recovery +recovery after a crash$/m);
      expect((await run('help', 'validate')).out).toBe((await run('validate', '--help')).out);
    });

    test('a page of the manual, and the command of that name', async () => {
      const { out } = await run('help', 'plan');
      expect(out).toMatch(/^How to read a plan\n/);
      expect(out.endsWith((await run('plan', '--help')).out)).toBe(true);
      expect((await run('help', 'RECOVERY')).out).toMatch(/^Recovery after a crash/);
    });

    test('of a kind matches the page of kinds', async () => {
      const { code, out } = await run('help', 'Video');
      expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('video') });
      expect(out).toMatch(/prompt/);
      expect(out).toContain('mediabatch help kinds');
      expect(out).not.toContain('voiceover');
    });

    test.each([
      ['MB1299', 'to list all codes: mediabatch help codes'],
      ['plna', 'did you mean plan?'],
      ['constructor', 'to list all pages and commands: mediabatch help'],
      ['templaets', 'did you mean templates?'],
    ])('%s gives near misses', async (topic, hint) => {
      expect(await run('help', topic)).toMatchObject({ code: 64, err: expect.stringContaining(hint) });
    });
  });
});
