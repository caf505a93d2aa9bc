import { CampaignError } from '../contract/failure.ts';
import type { ReviewHost } from '../contract/review.ts';
import { messageOf } from '../ground/values.ts';
import { safeText } from '../report/safe-text.ts';
import { type RunningReview, type ServeOptions, serveReview } from '../review/serve/serve-review.ts';
import { openPage } from './open-file.ts';
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
    terminal.err(`  no browser was opened: open the address yourself, or leave this out with --no-open\n`);
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
      hint: 'give another one with --port, or leave it out for any that is free',
      port,
    });
  }
}
