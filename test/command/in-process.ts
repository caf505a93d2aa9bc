import { CommanderError } from 'commander';
import { onTestFinished } from 'vitest';
import { makeProgram } from '../../src/cli/program/program.ts';
import { failureOf, failures } from '../../src/contract/failure.ts';
import { failureText } from '../../src/report/failure-text.ts';
import { keepListeners } from '../rig/command-here.ts';
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
  const before = process.cwd();
  const removeListeners = keepListeners();
  process.chdir(folder);
  for (const name of names) delete process.env[name];
  Object.assign(process.env, env);
  onTestFinished(() => {
    for (const name of names) delete process.env[name];
    process.chdir(before);
    removeListeners();
  });
}
