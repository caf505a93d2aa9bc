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
import { type RunningReview, serveReview } from '../review/serve/serve-review.ts';
import type { Terminal } from './terminal.ts';

/**
 * Serves the review page, prints its URL and opens it in a browser. `about`: line to print after the URL. `state`:
 * folder for thumbnails.
 */
export async function servePage(
  host: ReviewHost,
  given: { port: number; open: boolean; state: string; terminal: Terminal; about: string },
): Promise<RunningReview> {
  const { port, open, state, terminal, about } = given;
  const { err, style, paste } = terminal;
  const onError = (error: unknown) => err(`${style.red('internal error')} ${safeText(messageOf(error), 500)}\n`);
  const running = await serveReview(host, { port, state, paste, onError }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new CampaignError({
      code: 'MB3303',
      message: `port ${port} is already in use`,
      hint: 'choose another port with --port, or omit --port for any free port',
      port,
    });
  });
  err(`${style.green('review')}  ${running.url}\n`);
  err(style.dim(`  ${about}\n`));
  if (open && !(await openPage(running.entrance))) {
    err(`  no browser was opened: open the address yourself\n`);
  }
  return running;
}

/** A browser command that cannot open the URL fails within this time, in ms. */
const failsWithinMs = 1500;

/** Returns false if no browser command works. Uses no shell. */
function openPage(url: string): Promise<boolean> {
  // The program that opens URLs may interpret its argument, so only an address of this exact form is passed.
  if (!/^http:\/\/127\.0\.0\.1:\d{1,5}\/[0-9a-f]{32}\/$/.test(url)) throw new Error('internal error: unknown address');
  // On Windows, `start` exists only in the shell, so this code calls the program that `start` calls.
  const windows = join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'rundll32.exe');
  const openers: Readonly<Record<string, [program: string, ...words: string[]]>> = {
    darwin: ['/usr/bin/open'],
    win32: [windows, 'url.dll,FileProtocolHandler'],
  };
  const [program, ...words] = openers[process.platform] ?? ['xdg-open'];
  return new Promise((resolve) => {
    const child = spawn(program, [...words, url], { stdio: 'ignore', detached: true });
    const timer = setTimeout(() => end(true), failsWithinMs);
    const end = (isOpen: boolean) => {
      clearTimeout(timer);
      child.unref();
      resolve(isOpen);
    };
    child.on('error', () => end(false));
    child.on('exit', (code) => end(code === 0));
  });
}

/** Returns `MEDIABATCH_REVIEW_PORT`: if set, a run serves its page on this port and opens no browser. Throws MB3000. */
export function reviewPortIn({ MEDIABATCH_REVIEW_PORT: text = '' }: NodeJS.ProcessEnv): number | undefined {
  if (text === '') return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= (portRange.most ?? 0)) return Number(text);
  throw new CampaignError({
    code: 'MB3000',
    message: `MEDIABATCH_REVIEW_PORT cannot be ${JSON.stringify(text)}`,
    hint: 'use a port from 0 to 65535; 0 selects any free port',
    value: text,
  });
}

/** Serves the review page of a run. `end` closes the server and notifies open pages. */
export async function showRun(
  live: LiveRun,
  port: number | undefined,
  { campaign, terminal }: { campaign: OpenCampaign; terminal: Terminal },
): Promise<{ url: string; end(): Promise<void> }> {
  const { paths } = campaign;
  const host = new LiveHost(live, { campaign, paste: terminal.paste, by: await nameInGit(paths.folder) });
  const about =
    'each pick starts its finals at once; to pick first and buy later, stop this run and use `mediabatch review`';
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
