import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CommanderError } from 'commander';
import { beforeEach, onTestFinished } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { makeProgram } from '../../src/cli/program/program.ts';
import { failureOf, failures } from '../../src/contract/failure.ts';
import { failureText } from '../../src/report/diagnostics/diagnostics-text.ts';
import { temporaryFolder } from '../rig/command.ts';
import { keepListeners, setEnvironment } from '../rig/command-here.ts';
import { bufferTerminal } from './buffer-terminal.ts';

export interface Said {
  code: number;
  out: string;
  err: string;
}

/**
 * Runs a command line in this process, in a folder and with an environment of its own: for commands that only look, and
 * meet no signals.
 */
export async function runInProcess(
  args: string[],
  env: Record<string, string>,
  folder: string,
  { terminal, said: texts } = bufferTerminal(),
): Promise<Said> {
  let code = 0;
  const exit = (given: number) => {
    code = given;
  };
  enter(env, folder);
  try {
    await makeProgram({ terminal, exit }).parseAsync(args, { from: 'user' });
  } catch (error) {
    const failure = failureOf(error);
    if (failure !== undefined) {
      code = failures[failure.code].exit;
      texts.err += failureText(failure, { style: terminal.style, paste: terminal.paste });
    } else if (error instanceof CommanderError) {
      code = 64;
    } else {
      throw error;
    }
  }
  return { code, ...texts };
}

const names = ['MEDIABATCH_BASE_URL', 'MEDIABATCH_API_KEY'];

function enter(env: Record<string, string>, folder: string): void {
  const before = { ...process.env };
  const cwdBefore = process.cwd();
  const removeListeners = keepListeners();
  process.chdir(folder);
  for (const name of names) delete process.env[name];
  Object.assign(process.env, env);
  onTestFinished(() => {
    // A limit or a state folder that stayed would apply to the next tests of this process.
    setEnvironment(before);
    process.chdir(cwdBefore);
    removeListeners();
  });
}

/** Where a test stands: a folder of its own, as the working folder of this process. */
export interface Workplace {
  readonly folder: string;
  run(...args: string[]): Promise<{ code: number; out: string; err: string }>;
  write(name: string, text: string): void;
  read(name: string): string;
}

/** A new folder for each test of a file. The commands run in this process: only those that meet no signals. */
export function workplaceForEach(): Workplace {
  let folder = '';
  beforeEach(() => {
    const temporary = temporaryFolder();
    const before = process.cwd();
    process.chdir(temporary.path);
    folder = temporary.path;
    onTestFinished(() => {
      process.chdir(before);
      temporary.remove();
    });
  });
  const ofTest = () => {
    // Hooks of a running test are ignored, so the files would land in the working folder of the tests.
    if (folder === '') throw new Error('call workplaceForEach outside of a test');
    return folder;
  };
  return {
    get folder() {
      return ofTest();
    },
    async run(...args) {
      const { terminal, said } = bufferTerminal();
      const code = await main(args, terminal);
      return { code, ...said };
    },
    write(name, text) {
      const path = join(ofTest(), name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    },
    read: (name) => readFileSync(join(ofTest(), name), 'utf8'),
  };
}

export const products = 'sku,name\nlamp,Aurora Lamp\nvase,Tide Vase\n';

/** Two pictures. */
export const manifest = `version: 1
name: spring
defaults:
  image: { model: alpha-2, resolution: 1k }
tasks:
  hero:
    kind: image
    foreach: products.csv
    key: "{{row.sku}}"
    with:
      prompt: "{{row.name}} on an oak table"
    save: images/{{row.sku}}
`;
