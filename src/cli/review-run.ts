import type { LiveRun } from '../campaign/live-run.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { LiveHost } from '../review/live-host.ts';
import type { ApplyOptions } from './apply-options.ts';
import { servePage } from './serve-page.ts';
import type { Terminal } from './terminal.ts';

/** Serves the review page of a run, until `end`. */
export async function reviewRun(
  live: LiveRun,
  context: { campaign: OpenCampaign; options: ApplyOptions; terminal: Terminal },
): Promise<{ url: string; end(): Promise<void> }> {
  const { campaign, options, terminal } = context;
  const host = new LiveHost(live, { campaign, paste: terminal.paste });
  const about = 'shows what arrives; at a gate the run waits there until it is decided';
  const { port = 0, open = true } = options;
  const running = await servePage(host, { port, open, state: campaign.paths.state, terminal, about });
  return {
    url: running.url,
    async end() {
      host.end();
      await running.settle();
      await running.close();
    },
  };
}
