import type { LiveRun } from '../campaign/live-run.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { portRange } from '../campaign/option-table.ts';
import { nameInGit } from '../campaign/person.ts';
import { CampaignError } from '../contract/failure.ts';
import { noteOpenPage } from '../disk/state/own-files.ts';
import { LiveHost } from '../review/live-host.ts';
import { servePage } from './serve-page.ts';
import type { Terminal } from './terminal.ts';

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
    hint: 'give a port from 0 to 65535; 0 takes any that is free',
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
  const about = 'shows what arrives; at a gate the run waits there until it is decided';
  const open = port === undefined;
  const running = await servePage(host, { port: port ?? 0, open, state: paths.state, terminal, about });
  const forget = await noteOpenPage(paths.lock, { pid: process.pid, url: running.url });
  return {
    url: running.url,
    async end() {
      await forget();
      host.end();
      await running.settle();
      await running.close();
    },
  };
}
