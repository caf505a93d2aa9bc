import { CommanderError } from 'commander';
import { onTestFinished } from 'vitest';
import { CommandError } from '../../src/cli/exit.ts';
import { makeProgram } from '../../src/cli/program/program.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { makeStyle } from '../../src/report/style.ts';

export interface Said {
  code: number;
  out: string;
  err: string;
}

/**
 * Runs a command line in this process, in a folder and with an environment of its own: for commands that only look, and
 * meet no signals.
 */
export async function runInProcess(args: string[], env: Record<string, string>, folder: string): Promise<Said> {
  const said: Said = { code: 0, out: '', err: '' };
  const style = makeStyle(false);
  const terminal: Terminal = {
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    style,
    outStyle: style,
    width: 100,
    outWidth: 100,
    screen: false,
    interactive: false,
  };
  const exit = (code: number) => {
    said.code = code;
  };
  enter(env, folder);
  try {
    await makeProgram({ terminal, exit }).parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommandError) {
      said.code = error.exitCode;
      said.err += `${error.message}\n${error.hint ?? ''}\n`;
    } else if (error instanceof CommanderError) {
      said.code = 64;
    } else {
      throw error;
    }
  }
  return said;
}

const names = ['MEDIABATCH_BASE_URL', 'MEDIABATCH_API_KEY'];

function enter(env: Record<string, string>, folder: string): void {
  const before = process.cwd();
  process.chdir(folder);
  for (const name of names) delete process.env[name];
  Object.assign(process.env, env);
  onTestFinished(() => {
    for (const name of names) delete process.env[name];
    process.chdir(before);
  });
}
