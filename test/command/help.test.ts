import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { namedCommands } from '../../src/cli/program/command-row.ts';
import { makeProgram } from '../../src/cli/program/program.ts';
import { root } from '../rig/command.ts';
import { bufferTerminal } from './buffer-terminal.ts';
import { workplaceForEach } from './workplace.ts';

describe('first screen', () => {
  const place = workplaceForEach();
  const commands = namedCommands(makeProgram({ ...bufferTerminal(), exit() {} }));
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

  /** A program whose commands do nothing: it only reads a command line. */
  function makeReader() {
    const { terminal, said } = bufferTerminal();
    const program = makeProgram({ terminal, exit: () => {} });
    for (const [, command] of namedCommands(program)) if (command.commands.length === 0) command.action(() => {});
    return { program, said };
  }

  const rows = namedCommands(makeReader().program).map(([, , row]) => row);

  describe('the help of every command ends with examples', () => {
    test.each(rows)('$name', async ({ name, examples: own }) => {
      // Add them to its row; examples-run.test.ts runs them.
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

    test('without a topic it is the usual help and the contents of the manual; for a command its help', async () => {
      const { code, out } = await run('help');
      expect(code).toBe(0);
      expect(out).toContain('All commands, by theme:  mediabatch help commands');
      expect(out.startsWith((await run('--help')).out)).toBe(true);
      expect(out).toMatch(/^ {2}recovery +recovery after a crash$/m);
      expect((await run('help', 'validate')).out).toBe((await run('validate', '--help')).out);
    });

    test('a page of the manual, and the command of that name', async () => {
      const { out } = await run('help', 'plan');
      expect(out).toMatch(/^How a plan reads\n/);
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
      ['MB1299', 'near it: MB1301'],
      ['1203', 'near it: MB1203 (a template refers to an unknown name)'],
      ['plna', 'did you mean plan?'],
      ['constructor', 'to see pages and commands: mediabatch help'],
      ['templaets', 'did you mean templates?'],
      ['crash', 'did you mean recovery?'],
    ])('%s gives near misses', async (topic, hint) => {
      expect(await run('help', topic)).toMatchObject({ code: 64, err: expect.stringContaining(hint) });
    });
  });
});
