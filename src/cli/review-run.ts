import type { LiveRun } from '../campaign/live-run.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { nameInGit } from '../campaign/person.ts';
import type { OthersDesk } from '../contract/review.ts';
import { noteOpenPage } from '../disk/state/own-files.ts';
import { LiveHost } from '../review/live-host.ts';
import type { RunningReview } from '../review/serve/serve-review.ts';
import type { ApplyOptions } from './open.ts';
import { type AgreedOthers, mayBuyOthers, RunOthersDesk } from './others-desk.ts';
import { servePage } from './serve-page.ts';
import type { Terminal } from './terminal.ts';

interface PageContext {
  campaign: OpenCampaign;
  terminal: Terminal;
  /** Exactly what was planned is carried out. */
  isSaved: boolean;
}

interface Served {
  host: LiveHost;
  running: RunningReview;
  forget(): Promise<void>;
}

/** The review page of a run, and of those that follow it to buy others of what was rejected: they have one address. */
export class RunPage {
  readonly #context: PageContext;
  #served: Served | undefined;
  #desk: OthersDesk | undefined;
  #agreed: AgreedOthers | undefined;
  /** Group of which others were agreed to, until the run that buys them is shown. */
  #awaited: string | undefined;
  /** Digests of all that was agreed to here. */
  readonly #before = new Set<string>();

  constructor(context: PageContext) {
    this.#context = context;
  }

  /** Whether the run has ended for others that a person had bought. */
  get isFollowed(): boolean {
    return this.#agreed !== undefined;
  }

  /** Gives out, once, what is to be bought by the run that follows. */
  takeAgreed(): AgreedOthers | undefined {
    const agreed = this.#agreed;
    this.#agreed = undefined;
    return agreed;
  }

  /** Shows a run until `end`; where others are agreed to by then, the page stays for the next one. */
  async show(live: LiveRun, options: ApplyOptions): Promise<{ url: string; end(): Promise<void> }> {
    const { terminal, isSaved } = this.#context;
    const canBuy = !isSaved && mayBuyOthers(options, terminal, process.env);
    if (canBuy) {
      live.waitForOthers();
      const onAgreed = (others: AgreedOthers) => {
        this.#agreed = others;
        this.#awaited = others.group;
        this.#before.add(others.digest);
        this.#served?.host.makeWay(`others of ${others.group} are bought now`);
      };
      this.#desk = new RunOthersDesk({ ...this.#context, options, live }, { before: this.#before, onAgreed });
    }
    this.#awaited = undefined;
    this.#served?.host.follow(live);
    this.#served ??= await this.#serve(live, options, canBuy);
    return {
      url: this.#served.running.url,
      end: async () => {
        if (this.#agreed === undefined) await this.close();
      },
    };
  }

  /** Tells open pages how it ended, and ends. `why`: what kept the next run from it. To be called once more does nothing. */
  async close(why?: string): Promise<void> {
    const served = this.#served;
    this.#served = undefined;
    if (served === undefined) return;
    const { host, running, forget } = served;
    await forget();
    // Whoever said yes was told that they are bought.
    const missed = this.#awaited && `others of ${this.#awaited} were not bought`;
    host.end(missed ? `${missed}: ${why ?? 'the run was ended before'}` : why);
    await running.settle();
    await running.close();
  }

  async #serve(live: LiveRun, { port = 0, open = true }: ApplyOptions, canBuy: boolean): Promise<Served> {
    const { campaign, terminal } = this.#context;
    const { paths } = campaign;
    const host = new LiveHost(live, { campaign, paste: terminal.paste, by: await nameInGit(paths.folder) });
    const about = 'shows what arrives; at a gate the run waits there until it is decided';
    const others: OthersDesk = {
      price: (group) => this.#requireDesk().price(group),
      agree: (digest) => this.#requireDesk().agree(digest),
    };
    const running = await servePage(host, {
      ...{ port, open, state: paths.state, terminal, about },
      ...(canBuy && { others }),
    });
    return { host, running, forget: await noteOpenPage(paths.lock, { pid: process.pid, url: running.url }) };
  }

  #requireDesk(): OthersDesk {
    if (this.#desk === undefined) throw new Error('internal error: others are bought, and no run waits');
    return this.#desk;
  }
}
