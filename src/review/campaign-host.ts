import { lstat } from 'node:fs/promises';
import { judgeBatch } from '../campaign/decisions/judge-batch.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { findPriceHints } from '../campaign/price-hints.ts';
import { requireLock } from '../campaign/read-lock.ts';
import { makeSelector } from '../campaign/select-steps.ts';
import { CampaignError, failureOf } from '../contract/failure.ts';
import type { JudgeAnswer, ReviewData, ReviewFile, ReviewHost, WantedVerdict } from '../contract/review.ts';
import { PlacedFiles } from '../disk/outputs/placed-files.ts';
import type { Graph } from '../graph/graph.ts';
import type { PriceHints } from '../plan/prices.ts';
import { type Situation, situate } from '../plan/situation.ts';
import type { Paste } from '../report/advice-text.ts';
import { reviewCommands } from './commands.ts';
import { describeCampaign } from './describe/describe-campaign.ts';
import { FileFinder } from './find-files.ts';
import { LatestGraph } from './latest-graph.ts';
import { planForPage } from './plan-for-page.ts';
import { refusalsOf } from './refusals.ts';
import { tellGivenUp, tellNext } from './tell.ts';

/** How often lock, manifest and outputs are looked at for changes, in ms. */
const lookEveryMs = 700;
/** Pauses are at least so many times as long as a look for changes, and as reading what has changed. */
const pauses = { looking: 20, reading: 3 };
/** How long a run that holds the lock is waited for before verdicts stay in the page, in ms. */
const waitForLockMs = 2000;

export interface CampaignHostOptions {
  select?: string[] | undefined;
  exclude?: string[] | undefined;
  /** Writes commands for hints. */
  paste: Paste;
  /** Somebody edits the manifest: what a run would give up for the edits is told. */
  isEdited?: boolean | undefined;
}

/** A campaign that no run of this process has: what is shown is read from its files, and verdicts are written to its lock. */
export class CampaignHost implements ReviewHost {
  readonly #campaign: OpenCampaign;
  readonly #options: CampaignHostOptions;
  readonly #graph: LatestGraph;
  readonly #finder: FileFinder;
  readonly #listeners = new Set<() => void>();
  /** Verdicts are written one batch after the other. */
  #lastBatch: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #revision = 1;
  /** Stamp of what `#revision` stands for. */
  #stamp: string | undefined;
  /** How long reading the campaign took the last time. */
  #readMs = 0;
  #known: { revision: number; data: Promise<ReviewData> } | undefined;
  #hints: { graph: Graph; hints: PriceHints } | undefined;
  /** Outputs of which a change is to be noticed. */
  #shown: readonly ReviewFile[] = [];

  /** `campaign`: its notices are told each time that its files are read, so that of a quiet one is best. */
  constructor(campaign: OpenCampaign, options: CampaignHostOptions) {
    this.#campaign = campaign;
    this.#options = options;
    this.#graph = new LatestGraph(campaign);
    this.#finder = new FileFinder(campaign.paths);
  }

  look(): Promise<ReviewData> {
    if (this.#known?.revision === this.#revision) return this.#known.data;
    const revision = this.#revision;
    const data = this.#read(revision);
    this.#known = { revision, data };
    // What cannot be read now may be whole again when somebody asks next.
    data.catch(() => {
      if (this.#known?.data === data) this.#known = undefined;
    });
    return data;
  }

  judge(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer> {
    const batch = this.#lastBatch.then(() => this.#record(verdicts));
    this.#lastBatch = batch.catch(() => undefined);
    return batch;
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#timer ??= this.#startLooking();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    };
  }

  find(file: ReviewFile): Promise<string | undefined> {
    return this.#finder.find(file);
  }

  /** Somebody knows before it is looked for that something has changed. */
  refresh(): void {
    this.#noteChange(undefined);
  }

  async #record(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer> {
    const { paste } = this.#options;
    try {
      const graph = await this.#graph.get();
      const rulings = await judgeBatch(this.#campaign, verdicts, { lockTimeoutMs: waitForLockMs, graph });
      const refused = refusalsOf(rulings, paste);
      if (rulings.some(({ is }) => is === 'recorded')) this.#noteChange(await this.#readStamp());
      return { is: 'recorded', revision: this.#revision, refused };
    } catch (error) {
      const failure = failureOf(error);
      // Somebody else is writing it; what was meant can be said again.
      if (failure?.code === 'MB3401' || failure?.code === 'MB3402') return { is: 'held', text: failure.message };
      throw failure === undefined || error instanceof CampaignError ? error : new CampaignError(failure);
    }
  }

  async #read(revision: number): Promise<ReviewData> {
    const began = performance.now();
    // What changes while it is read makes another stamp.
    const source = await this.#stampSource();
    const graph = await this.#graph.get();
    const { lock } = await requireLock(this.#campaign, undefined);
    const situation = situate(graph, lock);
    const { rows } = planForPage(this.#campaign, situation, await this.#priceHints(situation));
    const described = describeCampaign({
      situation,
      selected: makeSelector(situation).chosen(this.#options),
      rows,
      problemOf: this.#finder.newLook(),
    });
    this.#shown = described.assets.flatMap(({ files }) => files);
    this.#stamp = source + this.#stampFiles();
    this.#readMs = performance.now() - began;
    const { paste, isEdited = false } = this.#options;
    const edits = isEdited ? tellGivenUp(described, paste) : undefined;
    const next = edits ?? tellNext(described, rows, paste);
    return {
      ...{ version: 1, revision, file: this.#campaign.file, canDecide: true, commands: reviewCommands(paste) },
      ...(next !== undefined && { next }),
      ...described,
    };
  }

  /** Looked for once for each state of the manifest: they are only expectations, and other locks take time to read. */
  async #priceHints(situation: Situation) {
    const { written: graph } = situation;
    if (this.#hints?.graph === graph) return this.#hints.hints;
    const hints = await findPriceHints(this.#campaign, situation);
    this.#hints = { graph, hints };
    return hints;
  }

  /** The more there is to look at, the longer the pauses. */
  #startLooking(waitMs = lookEveryMs): NodeJS.Timeout {
    const timer = setTimeout(async () => {
      const began = performance.now();
      // A disk that fails now may not do so the next time.
      const stamp = await this.#readStamp().catch(() => this.#stamp);
      if (this.#timer !== timer) return;
      const tookMs = performance.now() - began;
      const pauseMs = Math.max(lookEveryMs, tookMs * pauses.looking, this.#readMs * pauses.reading);
      this.#timer = this.#startLooking(pauseMs);
      const before = this.#stamp;
      this.#stamp ??= stamp;
      if (stamp !== undefined && before !== undefined && stamp !== before) this.#noteChange(stamp);
    }, waitMs).unref();
    return timer;
  }

  #noteChange(stamp: string | undefined): void {
    this.#stamp = stamp;
    this.#revision += 1;
    for (const listener of this.#listeners) listener();
  }

  async #readStamp(): Promise<string> {
    return (await this.#stampSource()) + this.#stampFiles();
  }

  async #stampSource(): Promise<string> {
    const { lock, manifest } = this.#campaign.paths;
    return (await Promise.all([lock, manifest].map(stampOf))).join('\n');
  }

  #stampFiles(): string {
    const placed = new PlacedFiles(this.#campaign.paths.outputs);
    const stamps = this.#shown.map((file) => {
      const found = placed.look(file);
      return typeof found === 'string' ? found : `${found.stats.ino} ${found.stats.mtimeMs}`;
    });
    return stamps.join('\n');
  }
}

async function stampOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs } = await lstat(path);
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return 'absent';
  }
}
