import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const bin = join(root, 'dist', 'cli', 'bin.js');
export const sandboxKey = 'sandbox_live_local';

export interface CommandOptions {
  cwd: string;
  env?: Record<string, string>;
  /** Loaded into the process before the command, as with `node --import`. */
  preload?: string;
  /** Called with everything seen so far on stderr, after each piece. */
  onErr?(seen: string, child: ChildProcess): void;
}

export interface CommandResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

const shortWaits = new URL('short-waits.mjs', import.meta.url).href;

/** Runs the built command as users do, with an environment of its own. */
export function command(args: string[], options: CommandOptions): Promise<CommandResult> {
  const { cwd, env = {}, preload, onErr } = options;
  const child = spawn(process.execPath, [...(preload === undefined ? [] : ['--import', preload]), bin, ...args], {
    cwd,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      XDG_STATE_HOME: process.env.XDG_STATE_HOME ?? '',
      ...(process.env.MEDIABATCH_TEST_SHORT_WAITS === '1' && { NODE_OPTIONS: `--import ${shortWaits}` }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    onErr?.(err, child);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, out, err }));
  });
}

export interface LedgerLine {
  id: string;
  key: string | null;
  credits: number;
  kind: string;
  body: { prompt?: string };
}

export interface SandboxProcess {
  env: Record<string, string>;
  data: string;
  /** What the service has charged: read from its own file, outside the client's process. */
  ledger(): LedgerLine[];
  stop(): Promise<void>;
}

/** The service in a process of its own. */
export async function sandboxProcess(data: string, args: string[] = ['--speed', 'Infinity']): Promise<SandboxProcess> {
  const files = process.env.MEDIABATCH_TEST_FILES;
  const shared = files === undefined ? [] : ['--files', files];
  const child = spawn(process.execPath, [bin, 'sandbox', '--port', '0', '--data', data, ...shared, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      const found = /MEDIABATCH_BASE_URL=(\S+)\n/.exec(out)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.on('exit', (code) => reject(new Error(`the sandbox ended with ${code}`)));
  });
  return {
    env: { MEDIABATCH_BASE_URL: url, MEDIABATCH_API_KEY: sandboxKey },
    data,
    ledger: () => readLines<LedgerLine>(join(data, 'ledger.jsonl')).filter(({ key }) => key !== undefined),
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
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
