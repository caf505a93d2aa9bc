import { equal } from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { commandHere, isBusyHere, shortWaits, testEnvironment } from './command-here.ts';
import { type Ended, startProgram } from './program.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const bin = join(root, 'dist', 'cli', 'bin.js');
export const sandboxKey = 'sandbox_live_local';

export interface CommandOptions {
  cwd: string;
  env?: Record<string, string>;
  /** In a process of its own, whatever else runs. */
  apart?: boolean;
  /** Loaded into the process before the command, as with `node --import`. */
  preload?: string;
  /** The exit code that is expected. */
  ends?: number;
  /** Called with everything seen so far on stderr, after each piece. */
  onErr?(seen: string, child: ChildProcess): void;
}

export type CommandResult = Omit<Ended, 'said'>;

/**
 * Runs the built command as users do, with an environment of its own. One at a time runs in this process, because a start
 * of Node takes longer than most commands; another beside it, and what is loaded first, looked at or killed, has its own.
 */
export async function command(args: string[], options: CommandOptions): Promise<CommandResult> {
  const { cwd, env = {}, apart = false, preload, onErr, ends } = options;
  // Node reads them when it starts.
  const isForNode = Object.keys(env).some((name) => name.startsWith('NODE_'));
  // Where what is built changes under the tests, each command loads it anew.
  const isRebuilt = testEnvironment().MEDIABATCH_TEST_APART === '1';
  const needsProcess = apart || isRebuilt || isForNode || preload !== undefined || onErr !== undefined || isBusyHere();
  const ran = needsProcess ? commandApart(args, options) : commandHere(args, { cwd, env: { ...usual(), ...env } });
  return ends === undefined ? ran : expectExit(ends, ran);
}

/** Waits for a command, which has to end with this exit code. */
export async function expectExit<Ran extends Pick<CommandResult, 'code' | 'err'>>(
  code: number,
  ran: Ran | Promise<Ran>,
): Promise<Ran> {
  const ended = await ran;
  equal(ended.code, code, ended.err);
  return ended;
}

/** What a person's shell has. */
function usual(): Record<string, string> {
  const { PATH = '', HOME = '', XDG_STATE_HOME = '' } = testEnvironment();
  return { PATH, HOME, XDG_STATE_HOME };
}

function commandApart(args: string[], options: CommandOptions): Promise<CommandResult> {
  const { cwd, env = {}, preload, onErr } = options;
  const { child, err, ended } = startProgram(
    [process.execPath, ...(preload === undefined ? [] : ['--import', preload]), bin, ...args],
    {
      cwd,
      env: {
        ...usual(),
        ...(testEnvironment().MEDIABATCH_TEST_SHORT_WAITS === '1' && { NODE_OPTIONS: `--import ${shortWaits}` }),
        ...env,
      },
    },
  );
  child.stderr?.on('data', () => onErr?.(err(), child));
  return ended;
}

export function readLines<T>(path: string): T[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as T);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** A folder that goes away with the test. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'mediabatch-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) };
}
