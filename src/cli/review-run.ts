import type { LiveRun } from '../campaign/live-run.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { nameInGit } from '../campaign/person.ts';
import { noteOpenPage } from '../disk/state/own-files.ts';
import { LiveHost } from '../review/live-host.ts';
import type { ApplyOptions } from './open.ts';
import { servePage } from './serve-page.ts';
import type { Terminal } from './terminal.ts';

/** Serves the review page of a run until `end`, which reports to open pages that the run is over. */
export async function showRun(
  live: LiveRun,
  { port = 0, open = true }: ApplyOptions,
  { campaign, terminal }: { campaign: OpenCampaign; terminal: Terminal },
): Promise<{ url: string; end(): Promise<void> }> {
  const { paths } = campaign;
  const host = new LiveHost(live, { campaign, paste: terminal.paste, by: await nameInGit(paths.folder) });
  const about = 'shows what arrives; at a gate the run waits there until it is decided';
  const running = await servePage(host, { port, open, state: paths.state, terminal, about });
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
