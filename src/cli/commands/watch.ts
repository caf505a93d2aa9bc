import type { OpenCampaign } from '../../campaign/open-campaign.ts';
import { nameInGit } from '../../campaign/person.ts';
import { type Round, watchCampaign } from '../../campaign/watch/watch.ts';
import { exitCodes } from '../../contract/exit.ts';
import { CampaignError, failureOf } from '../../contract/failure.ts';
import type { Diagnostic } from '../../ground/diagnostic.ts';
import type { Plan } from '../../plan/plan.ts';
import { countOf } from '../../report/numbers.ts';
import { safeJson, safeText } from '../../report/safe-text.ts';
import { cutToWidth } from '../../report/text-width.ts';
import { type WatchView, watchJson, watchText } from '../../report/watch-text.ts';
import { CampaignHost } from '../../review/campaign-host.ts';
import type { ScopeOptions } from '../open.ts';
import { open } from '../open.ts';
import { servePage } from '../serve-page.ts';
import { listenForInterruption } from '../signals.ts';
import { listenForReader, type Terminal } from '../terminal.ts';

interface WatchCommandOptions extends ScopeOptions {
  json?: boolean;
  review?: boolean;
  port?: number;
  open?: boolean;
}

const clearLine = '\r\u001b[2K';

/**
 * Plans at every save, until somebody ends it, or nobody reads it any more. No network, no spending; nothing is written but
 * verdicts that somebody gives on the page.
 */
export async function watch(file: string, options: WatchCommandOptions, terminal: Terminal): Promise<number> {
  const { out, err, screen, style, paste } = terminal;
  const campaign = await open(file, options, terminal);
  const interruption = listenForInterruption();
  const seen = new Seen();
  const page = options.review === true ? await serveBeside(campaign, options, terminal) : undefined;
  await watchCampaign(campaign, options, {
    signal: AbortSignal.any([interruption.signal, listenForReader()]),
    show(round, { at, files }) {
      const { failure } = round;
      // A wrong name is better said than watched.
      if (seen.rounds === 0 && failure?.code === 'MB1001') throw new CampaignError(failure);
      page?.refresh();
      if (screen) err(clearLine);
      const view = seen.viewOf(round, at);
      if (options.json === true) out(`${safeJson(watchJson(view, paste))}\n`);
      else out(watchText(view, { style: terminal.outStyle, width: terminal.outWidth, paste, rule: screen }));
      // Short: a line that a narrower terminal has wrapped cannot be wiped away.
      const status = `watching ${countOf(files, 'file')} · Ctrl-C ends`;
      if (screen) err(style.dim(cutToWidth(status, terminal.width - 1)));
    },
  }).finally(() => page?.close());
  interruption.stop();
  if (screen) err(clearLine);
  err(`watched ${safeText(file)}: ${countOf(seen.rounds, 'plan')}, nothing spent\n`);
  return exitCodes.done;
}

/** Serves the review page, which follows every save. What is wrong is told by the watch, not by the page's reading. */
async function serveBeside(
  campaign: OpenCampaign,
  { select, exclude, port = 0, open: opens = true }: WatchCommandOptions,
  terminal: Terminal,
): Promise<{ refresh(): void; close(): Promise<void> }> {
  const { paste } = terminal;
  const by = await nameInGit(campaign.paths.folder);
  const host = new CampaignHost({ ...campaign, tell: () => {} }, { select, exclude, paste, by, isEdited: true });
  // A wrong name is better said than served; mistakes in the manifest are mended while it is watched.
  await host.look().catch((error: unknown) => {
    if (failureOf(error)?.code === 'MB1001') throw error;
  });
  const about = 'follows every save; what is picked or rejected there goes into the lock';
  const running = await servePage(host, { port, open: opens, state: campaign.paths.state, terminal, about });
  return {
    refresh: () => host.refresh(),
    async close() {
      await running.close();
      await host.close();
    },
  };
}

/** Remembers what was shown: what was said of the last save is not said again. */
export class Seen {
  rounds = 0;
  #plan: Plan | undefined;
  #told: ReadonlySet<string> = new Set();

  viewOf({ planned, ...round }: Round, at: number): WatchView {
    this.rounds += 1;
    const before = this.#plan;
    const told = this.#told;
    // Of a warning its place is left out: it moves with every line above.
    const nameOf = ({ code, message }: Diagnostic) => `${code} ${message}`;
    this.#told = new Set([...round.notices, ...round.diagnostics.map(nameOf)]);
    if (planned !== undefined) this.#plan = planned.plan;
    return {
      ...round,
      at,
      ...(planned !== undefined && { plan: planned.plan }),
      ...(before !== undefined && { before }),
      notices: round.notices.filter((text) => !told.has(text)),
      diagnostics: round.diagnostics.filter((one) => one.severity === 'error' || !told.has(nameOf(one))),
    };
  }
}
