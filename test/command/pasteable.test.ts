import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pasteAfter } from '../../src/cli/paste.ts';
import { namedCommands } from '../../src/cli/program/command-row.ts';
import { makeProgram } from '../../src/cli/program/program.ts';
import { call } from '../../src/ground/advice.ts';
import { root } from '../rig/command.ts';
import { bufferTerminal } from './buffer-terminal.ts';
import { workplaceForEach } from './workplace.ts';

const place = workplaceForEach();

/** Goldens, expectations beside the tests, and pages of codes, of what people are told. */
const told = /^test\/(.*__snapshots__\/|command\/goldens\/|(command|rooms\/report)\/.*\.test\.ts$)|code-pages\//;
/** Fields of kinds are described as in the manual; the review page adds the steps to its commands. */
const sourceFile = /^src\/(?!page\/|kinds\/|review\/tell).*(?<!\.generated)\.ts$/;

function readAll(wanted: RegExp): { file: string; text: string }[] {
  return ['src', 'test']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
    )
    .filter((file) => wanted.test(file))
    .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
}

/** Options of expectations that stand for something else, and what is no command line. */
const isText = (line: string) =>
  !/^mediabatch itself made|[\\[(){}$^]|[<>|]|…|\.\.\.|', |`mediabatch [^`]*$/.test(line) &&
  !/^mediabatch (\d|\w+$)/.test(line);

/** Commands of a text: in backticks, or from `mediabatch` to the end of the line. */
function commandsIn(text: string): string[] {
  return text.split('\n').flatMap((line) => {
    const plain = line.replace(/(?:\\n)?(?:['"`][,;)\]]+|(?<=')")$/, '');
    const quoted = [...plain.matchAll(/`(mediabatch [a-z][^`]*)`/g)].map(([, found]) => found ?? '');
    const open = /(?:^ *|: | {2}|['"])(mediabatch [a-z].*)$/.exec(plain)?.[1];
    return [...quoted, ...(open === undefined ? [] : [open])].filter(isText);
  });
}

/** Words of each command, by the shell itself; undefined where it does not understand one. */
function split(commands: readonly string[]): (string[] | undefined)[] {
  const script = `mediabatch() { printf '%s\\0' "$@"; }
for text; do if bash -n -c "$text" 2>/dev/null; then eval "$text"; else printf '\\2'; fi; printf '\\1'; done`;
  const { stdout } = spawnSync('bash', ['-c', script, 'bash', ...commands], { encoding: 'utf8' });
  return stdout
    .split('\u0001')
    .slice(0, -1)
    .map((words) => (words === '\u0002' ? undefined : words.split('\0').slice(0, -1)));
}

/** What the program's own command line says against these words. */
async function refusalOf(words: readonly string[]): Promise<string | undefined> {
  const { terminal, said } = bufferTerminal();
  const program = makeProgram({ terminal, exit: () => {} });
  for (const [, command] of namedCommands(program)) command.action(() => {});
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

test('every command of every golden can be pasted: it is one line, and the command line takes it', async () => {
  place.write('campaign.yaml', 'version: 1\n');
  const files = readAll(told);
  const commands = [...new Set(files.flatMap(({ text }) => commandsIn(text)))];
  expect(commands.length).toBeGreaterThan(40);
  expect(await findUnpasteable(commands)).toEqual([]);
});

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
  const paste = pasteAfter(makeProgram({ terminal: bufferTerminal().terminal, exit: () => {} }), {
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
        (line) => /[`"](?:mediabatch|git|npm) [a-z-]+[^`"]*\\?[`"] [a-z]/.test(line) && !/^\s*(?:\*|\/[/*])/.test(line),
      )
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(quoted).toEqual([]);
});
