import { resolve } from 'node:path';
import { CommandError, exitCodes } from '../../contract/exit.ts';
import { findOddFile } from '../../disk/fs/odd-file.ts';
import { findWayOut } from '../../disk/fs/own-tree.ts';
import { readSmallFile } from '../../disk/fs/plain-file.ts';
import type { Json } from '../../ground/json.ts';
import type { Fault } from '../../sandbox/index.ts';
import { listenForInterruption } from '../signals.ts';
import type { Terminal } from '../terminal.ts';

/** What `apply --sandbox` and `mediabatch sandbox` sign in with. Worth nothing. */
export const sandboxKey = 'sandbox_live_local';

export interface SandboxCommandOptions {
  port: number;
  credits?: number;
  speed: number;
  failRate: number;
  faults?: string;
  data: string;
  files?: string;
}

export interface RunningSandbox {
  url: string;
  balance(): number;
  setBalance(credits: number): void;
  /** Whether this is a job, a post or a file that it has made. */
  knows(id: string): boolean;
  close(): Promise<void>;
}

const longestFaults = 1024 * 1024;

/** The embedded service on loopback. The only place where the runner's side touches it. */
export async function startSandbox(options: {
  dataDir: string;
  filesDir?: string;
  port: number;
  credits?: number;
  speed?: number;
  failRate?: number;
  faults?: Fault[];
}): Promise<RunningSandbox> {
  // It writes where its files lie, and a branch may have put links and pipes there.
  const odd = findWayOut(options.dataDir) ?? (await findOddFile(options.dataDir));
  if (odd !== undefined) throw new Error(`${odd}; remove it, or take another folder`);
  const { createSandbox } = await import('../../sandbox/index.ts');
  const { port, ...rest } = options;
  const sandbox = createSandbox({ ...rest, apiKey: sandboxKey });
  const { url, close } = await sandbox.listen({ port });
  return {
    url,
    balance: () => sandbox.balance(),
    setBalance: (credits) => sandbox.setBalance(credits),
    knows: (id) => sandbox.knows(id),
    close,
  };
}

/** Its OpenAPI document, without a socket and without state on disk. */
export async function sandboxDocument(): Promise<Json> {
  const { createSandbox } = await import('../../sandbox/index.ts');
  const sandbox = createSandbox({ apiKey: sandboxKey });
  try {
    const answer = await sandbox.fetch(
      new Request('http://127.0.0.1/api/v1/openapi.json', { headers: { authorization: `Bearer ${sandboxKey}` } }),
    );
    return (await answer.json()) as Json;
  } finally {
    await sandbox.close();
  }
}

/** Serves until it is interrupted. */
export async function sandbox(options: SandboxCommandOptions, terminal: Terminal): Promise<number> {
  const { style } = terminal;
  const faults = options.faults === undefined ? undefined : readFaults(options.faults);
  const running = await start(options, faults);
  terminal.err(`${style.green('sandbox')} ${running.url}  ${running.balance()} credits, state in ${options.data}\n`);
  terminal.err(style.dim(`  watch its jobs, credits and files: ${new URL('/', running.url).href}\n`));
  terminal.err(style.dim('  use it from another terminal:\n'));
  terminal.out(`export MEDIABATCH_BASE_URL=${running.url}\nexport MEDIABATCH_API_KEY=${sandboxKey}\n`);
  const interruption = listenForInterruption(() => {});
  await new Promise<void>((done) => interruption.signal.addEventListener('abort', () => done(), { once: true }));
  interruption.stop();
  await running.close();
  return exitCodes.done;
}

async function start(options: SandboxCommandOptions, faults: Fault[] | undefined): Promise<RunningSandbox> {
  try {
    return await startSandbox({
      dataDir: resolve(options.data),
      ...(options.files !== undefined && { filesDir: resolve(options.files) }),
      port: options.port,
      speed: options.speed,
      failRate: options.failRate,
      ...(options.credits !== undefined && { credits: options.credits }),
      ...(faults !== undefined && { faults }),
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new CommandError(
        exitCodes.wrongUsage,
        `port ${options.port} is taken`,
        'give another one with --port, or 0 for any',
      );
    }
    throw new CommandError(exitCodes.cannotWrite, `the sandbox cannot start: ${message}`);
  }
}

function readFaults(path: string): Fault[] {
  try {
    const bytes = readSmallFile(path, longestFaults);
    if (bytes === undefined) throw new Error('there is no such file, or it is none that can be read');
    const faults: unknown = JSON.parse(bytes.toString('utf8'));
    if (!Array.isArray(faults)) throw new Error('it is not a list');
    return faults as Fault[];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CommandError(exitCodes.wrongInput, `the faults in ${path} cannot be read: ${message}`);
  }
}
