import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { LiveRun } from '../campaign/live-run.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { portRange } from '../campaign/option-table.ts';
import { nameInGit } from '../campaign/person.ts';
import { CampaignError } from '../contract/failure.ts';
import type { ReviewHost } from '../contract/review.ts';
import { messageOf } from '../ground/values.ts';
import { safeText } from '../report/safe-text.ts';
import { LiveHost } from '../review/live-host.ts';
import { type RunningReview, type ServeOptions, serveReview } from '../review/serve/serve-review.ts';
import type { Terminal } from './terminal.ts';

/**
 * Serves the review page of a host, prints its address, and opens it. `about`: text to print on a line of its own.
 * `state`: folder for small pictures, which is never committed.
 */
export async function servePage(
  host: ReviewHost,
  {
    port,
    open,
    terminal,
    about,
    ...given
  }: {
    port: number;
    open: boolean;
    state: string;
    terminal: Terminal;
    about: string;
  },
): Promise<RunningReview> {
  const running = await serve(host, { port, ...given }, terminal);
  terminal.err(`${terminal.style.green('review')}  ${running.url}\n`);
  terminal.err(terminal.style.dim(`  ${about}\n`));
  if (open && !(await openPage(running.entrance))) {
    terminal.err(`  no browser was opened: open the address yourself; --no-open does not try\n`);
  }
  return running;
}

async function serve(
  host: ReviewHost,
  { port, ...given }: Pick<ServeOptions, 'state'> & { port: number },
  terminal: Terminal,
): Promise<RunningReview> {
  try {
    return await serveReview(host, {
      ...{ port, ...given },
      paste: terminal.paste,
      onError(error) {
        terminal.err(`${terminal.style.red('internal error')} ${safeText(messageOf(error), 500)}\n`);
      },
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new CampaignError({
      code: 'MB3303',
      message: `port ${port} is taken`,
      hint: 'give another port with --port, or omit --port for any free port',
      port,
    });
  }
}

/** Time in ms in which a program that cannot open the address fails. A viewer may stay in the foreground for longer. */
const failsWithinMs = 1500;

/** Opens a page of this machine in the user's browser. Returns false if no program does. */
async function openPage(url: string): Promise<boolean> {
  // A system's opener may interpret its argument, so only an address of this exact form is passed.
  if (!/^http:\/\/127\.0\.0\.1:\d{1,5}\/[0-9a-f]{32}\/$/.test(url)) throw new Error('internal error: no page of ours');
  const { program, words } = openerOf(url, process.platform);
  return (await start(program, words)) === undefined;
}

/** Returns the program that opens an address, and its arguments. No shell is involved. */
function openerOf(address: string, platform: NodeJS.Platform): { program: string; words: string[] } {
  switch (platform) {
    case 'darwin':
      return { program: '/usr/bin/open', words: [address] };
    case 'win32': {
      // `start` is a builtin of the shell; it calls this program.
      const program = join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'rundll32.exe');
      return { program, words: ['url.dll,FileProtocolHandler', address] };
    }
    default:
      return { program: 'xdg-open', words: [address] };
  }
}

/** Why the program did not start or failed at once; undefined if it did neither. */
function start(program: string, words: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, words, { stdio: 'ignore', detached: true });
    const timer = setTimeout(() => {
      child.unref();
      resolve(undefined);
    }, failsWithinMs);
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      resolve(error.code === 'ENOENT' ? 'it is not installed' : error.message);
    });
    child.on('exit', (code) => {
      clearTimeout(timer);
      resolve(code === 0 ? undefined : `it ended with ${code ?? 'a signal'}`);
    });
  });
}

/**
 * Returns the port in `MEDIABATCH_REVIEW_PORT`. On that port the review page of a run is served without opening a
 * browser. Throws MB3000.
 */
export function reviewPortIn({ MEDIABATCH_REVIEW_PORT: text = '' }: NodeJS.ProcessEnv): number | undefined {
  if (text === '') return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= (portRange.most ?? 0)) return Number(text);
  throw new CampaignError({
    code: 'MB3000',
    message: `MEDIABATCH_REVIEW_PORT cannot be ${JSON.stringify(text)}`,
    hint: 'give a port from 0 to 65535; 0 takes any free port',
    value: text,
  });
}

/** Serves the review page of a run until `end`, which reports to open pages that the run is over. */
export async function showRun(
  live: LiveRun,
  port: number | undefined,
  { campaign, terminal }: { campaign: OpenCampaign; terminal: Terminal },
): Promise<{ url: string; end(): Promise<void> }> {
  const { paths } = campaign;
  const host = new LiveHost(live, { campaign, paste: terminal.paste, by: await nameInGit(paths.folder) });
  const about =
    'each pick starts its finals at once; to pick first and buy later, end this and use `mediabatch review`';
  const open = port === undefined;
  const running = await servePage(host, { port: port ?? 0, open, state: paths.state, terminal, about });
  return {
    url: running.url,
    async end() {
      host.end();
      await running.settle();
      await running.close();
    },
  };
}
