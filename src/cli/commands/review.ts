import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError } from '../../contract/failure.ts';
import type { ReviewData } from '../../contract/review.ts';
import { messageOf } from '../../ground/values.ts';
import { call } from '../../plan/advice.ts';
import { safeText } from '../../report/safe-text.ts';
import { CampaignHost } from '../../review/campaign-host.ts';
import { type RunningReview, serveReview } from '../../review/serve/serve-review.ts';
import { tellReview, tellReviewed } from '../../review/tell.ts';
import { open, type StateOptions } from '../open.ts';
import { openPage } from '../open-file.ts';
import { listenForInterruption } from '../signals.ts';
import type { Terminal } from '../terminal.ts';

export interface ReviewOptions extends StateOptions {
  port: number;
  open: boolean;
  select?: string[];
  exclude?: string[];
}

/** Serves the review page until it is interrupted. */
export async function review(file: string, options: ReviewOptions, terminal: Terminal): Promise<number> {
  const campaign = await open(file, options, terminal);
  const { select, exclude } = options;
  const { paste, style } = terminal;
  // What is wrong is told once, by the first look: later ones only look again.
  let isTold = false;
  const quiet: OpenCampaign = { ...campaign, tell: (notice) => (isTold ? undefined : campaign.tell(notice)) };
  const host = new CampaignHost(quiet, { select, exclude, paste });
  const first = await host.look();
  isTold = true;
  if (first.assets.every(({ state }) => state === 'planned')) {
    terminal.err(
      `nothing is bought yet, so there is nothing to look at; the page fills while ${paste(call('apply'))} runs in another terminal\n`,
    );
  }
  const interruption = listenForInterruption();
  const running = await serve(host, options, terminal);
  terminal.err(`${style.green('review')}  ${running.url}\n`);
  terminal.err(style.dim(`  ${tellReview(first)}; Ctrl-C ends it\n`));
  if (options.open && !(await openPage(running.url))) {
    terminal.err(`  no browser was opened: open the address yourself, or leave this out with --no-open\n`);
  }
  await untilAborted(interruption.signal);
  interruption.stop();
  await running.close();
  terminal.err(tellReviewed(first, await lastLook(host, first), terminal.paste));
  return exitCodes.done;
}

async function serve(host: CampaignHost, { port }: ReviewOptions, terminal: Terminal): Promise<RunningReview> {
  try {
    return await serveReview(host, {
      port,
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

/** The lock may be gone or damaged by now: what was written is written. */
function lastLook(host: CampaignHost, first: ReviewData): Promise<ReviewData> {
  return host.look().catch(() => first);
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
