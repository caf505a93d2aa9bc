import { lstat, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxKey, startSandbox } from '../cli/commands/sandbox.ts';
import type { Terminal } from '../cli/terminal.ts';
import { systemClock } from '../contract/clock.ts';
import { CommandError, exitCodes } from '../contract/exit.ts';
import { advise, call } from '../plan/advice.ts';
import { createLibrary, type Library, ServiceError } from '../service/library.ts';
import { type Access, readEnvironment, requireAccess } from './environment.ts';

export interface ServiceOptions {
  /** Ask the embedded sandbox instead of the service. */
  sandbox?: boolean;
}

export interface OpenAccess {
  access: Access;
  library: Library;
}

const requestTimeoutMs = 30_000;

/**
 * Opens the way to the service, or to the sandbox of a folder, for as long as `use` takes. What the service refuses ends
 * the command: 77 for the key, 69 where it cannot be reached or understood.
 */
export async function withLibrary<T>(
  options: ServiceOptions & {
    /** Where the sandbox's state lies: the campaign's folder, or the working folder. */
    folder?: string;
    /** The sandbox is to remember what happens, even where it has never run before. */
    keeps?: boolean;
  },
  use: (open: OpenAccess) => Promise<T>,
): Promise<T> {
  const folder = options.folder ?? process.cwd();
  const embedded = options.sandbox === true ? await openSandbox(folder, options.keeps === true) : undefined;
  try {
    const access =
      embedded === undefined
        ? requireAccess(readEnvironment(process.env, process.cwd()))
        : { baseUrl: embedded.url, token: sandboxKey };
    const library = createLibrary({ ...access, clock: systemClock, requestTimeoutMs });
    try {
      return await use({ access, library });
    } catch (error) {
      throw error instanceof ServiceError ? asCommandError(error) : error;
    } finally {
      await library.close();
    }
  } finally {
    await embedded?.close();
  }
}

/** The embedded sandbox ends with the command, and its links with it. */
export function tellLinksEnd(options: ServiceOptions, terminal: Terminal): void {
  if (options.sandbox !== true) return;
  terminal.err(
    `${terminal.style.yellow('notice')} links of the sandbox work while it runs; \`${terminal.paste(call('sandbox'))}\` keeps one running\n`,
  );
}

/** Whether the service could be asked at all: there is a key, or it is the sandbox. */
export function hasAccess(options: ServiceOptions): boolean {
  return options.sandbox === true || readEnvironment(process.env, process.cwd()).token !== undefined;
}

/** The state of `apply --sandbox`. Where there is none yet, looking at it leaves none behind. */
async function openSandbox(folder: string, keeps: boolean): Promise<{ url: string; close(): Promise<void> }> {
  const state = join(folder, '.mediabatch');
  try {
    const stats = await lstatOrAbsent(state);
    if (stats !== undefined && !stats.isDirectory()) throw new Error(`${state} is not a folder`);
    const dataDir = join(state, 'sandbox');
    if (keeps || (await lstatOrAbsent(dataDir)) !== undefined) return await startSandbox({ dataDir, port: 0 });
    const passing = await mkdtemp(join(tmpdir(), 'mediabatch-'));
    const { url, close } = await startSandbox({ dataDir: passing, port: 0 });
    return {
      url,
      async close() {
        await close();
        await rm(passing, { recursive: true, force: true });
      },
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new CommandError(exitCodes.cannotWrite, `the embedded sandbox cannot start: ${message}`);
  }
}

async function lstatOrAbsent(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export function asCommandError({ why, message }: ServiceError): CommandError {
  switch (why) {
    case 'auth':
      return new CommandError(
        exitCodes.keyRefused,
        `the service refused the key: ${message}`,
        advise`check MEDIABATCH_API_KEY; ${call('doctor')} shows where it comes from`,
      );
    case 'unreachable':
      return new CommandError(
        exitCodes.unreachable,
        `the service cannot be reached: ${message}`,
        advise`check MEDIABATCH_BASE_URL and the network; ${call('doctor')} looks at both`,
      );
    case 'refused':
      return new CommandError(exitCodes.someFailed, `the service refused the request: ${message}`);
    case 'unusable':
      return new CommandError(
        exitCodes.unreachable,
        `the service gave an answer that cannot be used: ${message}`,
        advise`${call('doctor')} compares the service with what this version knows`,
      );
    default:
      return why satisfies never;
  }
}
