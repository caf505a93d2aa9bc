import { nameInGit } from '../../campaign/person.ts';
import { call } from '../../ground/advice.ts';
import { CampaignHost } from '../../review/campaign-host.ts';
import { describeReview, describeReviewed } from '../../review/review-text.ts';
import { open, type SelectionOptions, type StateOptions } from '../open.ts';
import { servePage } from '../serve-page.ts';
import { listenForInterruption } from '../signals.ts';
import type { Terminal } from '../terminal.ts';

type ReviewOptions = StateOptions & SelectionOptions & { port: number; open: boolean };

export async function review(file: string, options: ReviewOptions, terminal: Terminal): Promise<void> {
  const campaign = await open(file, options, terminal);
  const { paste } = terminal;
  // Prints notices only when the campaign is read first, because each later read would repeat them.
  let isShown = false;
  const host = new CampaignHost(
    { ...campaign, notify: (notice) => (isShown ? undefined : campaign.notify(notice)) },
    { select: options.select, exclude: options.exclude, by: await nameInGit(campaign.paths.folder), paste },
  );
  const first = await host.read();
  isShown = true;
  if (first.assets.every(({ state }) => state === 'planned')) {
    terminal.err(
      `nothing has been bought yet, so the page is empty; to create outputs, in another terminal: ${paste(call('apply'))}\n`,
    );
  }
  const interruption = listenForInterruption();
  const { state } = campaign.paths;
  const running = await servePage(host, {
    ...{ ...options, state, terminal },
    about: `${describeReview(first)}; Ctrl-C stops the page`,
  });
  await interruption.firstSignal;
  interruption.stop();
  await running.close();
  // The lock may be missing or damaged by now; decisions are already recorded.
  const last = await host.read().catch(() => first);
  await host.close();
  terminal.err(describeReviewed(first, last, terminal.paste));
}
