import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { namedCommands } from '../../src/cli/program/command-row.ts';
import { pasteAfter } from '../../src/cli/program/program.ts';
import { call } from '../../src/ground/advice.ts';
import { root } from '../rig/command.ts';
import { makeReader } from './buffer-terminal.ts';
import { workplaceForEach } from './in-process.ts';

describe('next steps', () => {
  const place = workplaceForEach();
  const manifest = `version: 1
name: shop
prices: { image: 2 }
tasks:
  draft: { kind: image, takes: 2, gate: { choose: 1 }, with: { prompt: a lamp, resolution: 1k } }
  share:
    kind: post
    with: { accountIds: [acc_a26a6b25c78b1c8d], caption: Hello, media: ["{{tasks.draft.url}}"] }
`;

  const only = `version: 1
name: shop
tasks:
  logo: { kind: image, with: { prompt: a sign, resolution: 1k } }
`;

  interface Step {
    command: string;
    credits: number | null;
    needs: 'person' | null;
  }

  /** The commands that were printed as next steps; each is parsed. */
  async function nextOf(...args: string[]): Promise<Step[]> {
    const { out, err } = await place.run(...args, '--json');
    const { next } = JSON.parse(out) as { next?: Step[] };
    if (next === undefined) throw new Error(err);
    for (const { command } of next) {
      const { program, said } = makeReader();
      await program.parseAsync(command.split(' ').slice(1), { from: 'user' });
      expect(said.err, command).toBe('');
    }
    return next;
  }

  test('a plan is saved, approved in a terminal, and applied', async () => {
    place.write('campaign.yaml', manifest);
    const next = await nextOf('plan');
    expect(next).toEqual([
      { command: 'mediabatch plan campaign.yaml --out campaign.plan.json', credits: 0, needs: null },
      { command: 'mediabatch approve campaign.plan.json', credits: 0, needs: 'person' },
      { command: 'mediabatch apply campaign.plan.json', credits: 4, needs: null },
    ]);
    const part = await nextOf('plan', 'campaign.yaml', '-s', 'draft', '--out', 'a.plan.json');
    expect(part.map(({ command }) => command)).toEqual([
      'mediabatch approve a.plan.json',
      'mediabatch apply a.plan.json',
    ]);
  });

  test('a rehearsal leads from its plan to the gate, and each printed command runs', async () => {
    place.write('campaign.yaml', manifest);
    const status = await nextOf('status', 'campaign.yaml', '--sandbox');
    expect(status).toEqual([{ command: 'mediabatch plan campaign.yaml --sandbox --json', credits: 0, needs: null }]);
    const [begin] = await nextOf('plan', 'campaign.yaml', '--sandbox');
    expect(begin).toEqual({ command: 'mediabatch apply campaign.yaml --sandbox --yes', credits: 4, needs: null });
    const applied = await nextOf(...(begin?.command.split(' ').slice(1) ?? []), '--sandbox-speed', '100000');
    expect(applied).toEqual([
      { command: 'mediabatch review campaign.yaml --sandbox', credits: 0, needs: 'person' },
      { command: 'mediabatch plan campaign.yaml --sandbox --json', credits: 0, needs: null },
    ]);
    for (const command of ['plan', 'status']) {
      const next = await nextOf(command, 'campaign.yaml', '--sandbox');
      expect(next).toContainEqual({
        command: 'mediabatch review campaign.yaml --sandbox',
        credits: 0,
        needs: 'person',
      });
    }
  });

  test('an apply without an approval leads to its plan; one of a saved plan to its approval', async () => {
    place.write('campaign.yaml', manifest);
    const commands = async (...args: string[]) => (await nextOf(...args)).map(({ command }) => command);
    const agreed = ['mediabatch approve campaign.plan.json', 'mediabatch apply campaign.plan.json'];
    expect(await commands('apply', 'campaign.yaml')).toEqual([
      'mediabatch plan campaign.yaml --out campaign.plan.json',
      ...agreed,
    ]);
    await place.run('plan', 'campaign.yaml', '--out', 'campaign.plan.json');
    expect(await commands('apply', 'campaign.plan.json')).toEqual(agreed);
  });

  test('prints no next command if nothing is left to do', async () => {
    place.write('campaign.yaml', only);
    await place.run('apply', 'campaign.yaml', '--sandbox', '--yes', '--sandbox-speed', '100000');
    expect(await nextOf('plan', 'campaign.yaml', '--sandbox')).toEqual([]);
    expect(await nextOf('status', 'campaign.yaml', '--sandbox')).toEqual([]);
  });
});

describe('pasteable', () => {
  const place = workplaceForEach();

  /** Fields of kinds are described as in the manual; the review page adds the steps to its commands. */
  const sourceFile = /^src\/(?!page\/|kinds\/|review\/review-text).*(?<!\.generated)\.ts$/;

  function readAll(wanted: RegExp): { file: string; text: string }[] {
    return ['src', 'test']
      .flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
      )
      .filter((file) => wanted.test(file))
      .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
  }

  /** Words of each command, by the shell itself; undefined where it does not understand one. */
  function split(commands: readonly string[]): (string[] | undefined)[] {
    const script = `mediabatch() { printf '%s\\0' "$@"; }
for text; do if eval "parsed() { $text
}" 2>/dev/null; then eval "$text"; else printf '\\2'; fi; printf '\\1'; done`;
    const { stdout } = spawnSync('bash', ['-c', script, 'bash', ...commands], { encoding: 'utf8' });
    return stdout
      .split('\u0001')
      .slice(0, -1)
      .map((words) => (words === '\u0002' ? undefined : words.split('\0').slice(0, -1)));
  }

  /** What the program's own command line says against these words. */
  async function refusalOf(words: readonly string[]): Promise<string | undefined> {
    const { program, said } = makeReader();
    try {
      await program.parseAsync([...words], { from: 'user' });
      return undefined;
    } catch (error) {
      return `${error instanceof Error ? error.message : error} ${said.err}`;
    }
  }

  /** What is wrong with command lines; each is one line, which the shell and the command line take. */
  async function findUnpasteable(commands: readonly string[]): Promise<string[]> {
    const words = split(commands);
    const wrong: string[] = [];
    for (const [index, command] of commands.entries()) {
      const own = words[index];
      const why = own === undefined ? 'the shell does not read it' : await refusalOf(own);
      if (why !== undefined) wrong.push(`${command}\n    ${why}`);
    }
    return wrong;
  }

  /** The arguments of each call of these functions: literals as they are, `STEP` for what is only known later, 1 for `N`. */
  function argumentsOf(text: string, named: RegExp): string[][] {
    return [...text.matchAll(named)].map(({ index, 0: name }) => {
      const args = [''];
      let depth = 0;
      for (const character of text.slice(index + name.length)) {
        if (depth === 0 && character === ')') break;
        if (depth === 0 && character === ',') args.push('');
        else args.push(`${args.pop()}${character}`);
        depth += '([{'.includes(character) ? 1 : ')]}'.includes(character) ? -1 : 0;
      }
      const written = args.map((arg) => arg.trim()).filter((arg) => arg !== '' && !arg.startsWith('...'));
      return written.map((arg) => (arg === "'N'" ? '1' : (/^'([^']*)'$/.exec(arg)?.[1] ?? 'STEP')));
    });
  }

  test('every command in the sources parses', async () => {
    place.write('campaign.yaml', 'version: 1\n');
    const texts = readAll(sourceFile).map(({ text }) => text);
    const paste = pasteAfter(makeReader().program, {
      file: undefined,
      options: {},
    });
    const calls = texts.flatMap((text) => [
      ...argumentsOf(text, /(?<![.#\w])call\(/g),
      ...argumentsOf(text, /callAbout\(/g).map(([, ...words]) => words),
    ]);
    // Where the name of the command is handed in, those who hand it in name it.
    const named = calls.filter(([name]) => name !== 'STEP' && !/[:=]/.test(name ?? ''));
    const commands = [...new Set(named.map(([name = '', ...words]) => paste(call(name, ...words))))];
    expect(commands.length).toBeGreaterThan(40);
    expect(await findUnpasteable(commands)).toEqual([]);
    const names = new Set(namedCommands(makeReader().program).map(([name]) => name.split(' ')[0]));
    const quoted = texts.flatMap((text) => [...text.matchAll(/(?:\\|'[^'()\n]*)`mediabatch ([a-z]+)/g)]);
    expect(quoted.filter(([, name]) => !names.has(name))).toEqual([]);
  });

  test('a printed command ends its line', () => {
    const followed = readAll(sourceFile).flatMap(({ file, text }) =>
      [...text.matchAll(/\bpaste\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\}(?!`|\\n).*/g)].map(
        ([found]) => `${file}: ${found}`,
      ),
    );
    expect(followed).toEqual([]);
    // Nor is one quoted inside a sentence: hints have ways for it.
    const quoted = readAll(sourceFile).flatMap(({ file, text }) =>
      text
        .split('\n')
        .filter(
          (line) =>
            /[`"](?:mediabatch|git|npm) [a-z-]+[^`"]*\\?[`"] [a-z]/.test(line) && !/^\s*(?:\*|\/[/*])/.test(line),
        )
        .map((line) => `${file}: ${line.trim()}`),
    );
    expect(quoted).toEqual([]);
  });
});
