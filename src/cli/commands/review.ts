import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { exitCodes } from '../../contract/exit.ts';
import type { ReviewData } from '../../contract/review.ts';
import { call } from '../../plan/advice.ts';
import { CampaignHost } from '../../review/campaign-host.ts';
import { tellReview, tellReviewed } from '../../review/tell.ts';
import { open, type StateOptions } from '../open.ts';
import { servePage } from '../serve-page.ts';
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
  const { paste } = terminal;
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
  const { state } = campaign.paths;
  const running = await servePage(host, { ...options, state, terminal, about: `${tellReview(first)}; Ctrl-C ends it` });
  await untilAborted(interruption.signal);
  interruption.stop();
  await running.close();
  terminal.err(tellReviewed(first, await lastLook(host, first), terminal.paste));
  return exitCodes.done;
}

/** The lock may be gone or damaged by now: what was written is written. */
function lastLook(host: CampaignHost, first: ReviewData): Promise<ReviewData> {
  return host.look().catch(() => first);
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
