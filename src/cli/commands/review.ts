import { Worker } from 'node:worker_threads';
import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { nameInGit } from '../../campaign/person.ts';
import { exitCodes } from '../../contract/exit.ts';
import type { ReviewData, ReviewHost } from '../../contract/review.ts';
import { call } from '../../ground/advice.ts';
import { CampaignHost, type CampaignHostOptions } from '../../review/campaign-host.ts';
import { tellReview, tellReviewed } from '../../review/tell.ts';
import type { ClosingHost } from '../../review/thread/answer-thread.ts';
import { ThreadHost } from '../../review/thread/thread-host.ts';
import { open, type StateOptions } from '../open.ts';
import type { Called } from '../paste.ts';
import { servePage } from '../serve-page.ts';
import { listenForInterruption } from '../signals.ts';
import type { Terminal } from '../terminal.ts';

interface ReviewOptions extends StateOptions {
  port: number;
  open: boolean;
  select?: string[];
  exclude?: string[];
}

export interface ReviewThreadData {
  file: string;
  options: StateOptions & Omit<CampaignHostOptions, 'paste'>;
  called: Called;
}

export async function review(file: string, options: ReviewOptions, terminal: Terminal): Promise<number> {
  const campaign = await open(file, options, terminal);
  const { paste } = terminal;
  // Only the notices of the first read are shown, because later reads repeat them.
  let isShown = false;
  const host = await startHost(file, options, {
    terminal,
    campaign: { ...campaign, tell: (notice) => (isShown ? undefined : campaign.tell(notice)) },
  });
  const first = await host.look();
  isShown = true;
  if (first.assets.every(({ state }) => state === 'planned')) {
    terminal.err(
      `nothing is bought yet, so the page is empty; to fill it, in another terminal: ${paste(call('apply'))}\n`,
    );
  }
  const interruption = listenForInterruption();
  const { state } = campaign.paths;
  const running = await servePage(host, {
    ...{ ...options, state, terminal },
    about: `${tellReview(first)}; Ctrl-C ends it`,
  });
  await untilAborted(interruption.signal);
  interruption.stop();
  await running.close();
  const last = await lastLook(host, first);
  await host.close();
  terminal.err(tellReviewed(first, last, terminal.paste));
  return exitCodes.done;
}

/**
 * Starts the host of the review page. In a build, the campaign is read in a separate thread, so that this one can
 * answer meanwhile. From TypeScript sources it is read in this thread, because another one would need the loader of
 * the sources.
 */
async function startHost(
  file: string,
  options: ReviewOptions,
  { campaign, terminal }: { campaign: OpenCampaign; terminal: Terminal },
): Promise<ClosingHost> {
  const { sandbox, lock, var: vars, varFile, strict, select, exclude } = options;
  const chosen = { select, exclude, by: await nameInGit(campaign.paths.folder) };
  if (!import.meta.url.endsWith('.js')) return new CampaignHost(campaign, { ...chosen, paste: terminal.paste });
  const data: ReviewThreadData = {
    file,
    options: { sandbox, lock, var: vars, varFile, strict, ...chosen },
    called: terminal.called,
  };
  const worker = new Worker(new URL('../review-thread.js', import.meta.url), { workerData: data, name: 'review' });
  return new ThreadHost(worker, campaign);
}

/**
 * Reads the campaign a last time. Falls back to the first data if the lock is missing or damaged by now; verdicts are
 * already recorded.
 */
function lastLook(host: ReviewHost, first: ReviewData): Promise<ReviewData> {
  return host.look().catch(() => first);
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
