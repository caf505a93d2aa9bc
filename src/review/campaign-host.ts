/*
 * Server of the review page, and writer of the gallery.
 * Takes: one loaded campaign, and requests of one browser on a loopback address.
 * Returns: data for `page/`, and decisions that `campaign/decisions` records.
 * Independent of: other hosts, other users, the terminal. Answers only its page and the user who opened it (I29).
 */

import { lstat } from 'node:fs/promises';
import { DecisionWriter, type Judged } from '../campaign/decisions/judge.ts';
import { requireTracedGraph } from '../campaign/load-manifest.ts';
import { type Asked, haveSameAnswers } from '../campaign/manifest-inputs.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import { makeSelector } from '../campaign/select-steps.ts';
import { findPriceHints } from '../campaign/service-facts.ts';
import { Session } from '../campaign/session.ts';
import { CampaignError, failureOf } from '../contract/failure.ts';
import type { JudgeAnswer, ReviewData, ReviewFile, ReviewHost, WantedVerdict } from '../contract/review.ts';
import { PlacedFiles } from '../disk/outputs/check-outputs.ts';
import type { Graph } from '../graph/graph.ts';
import { defined } from '../ground/values.ts';
import type { PriceHints } from '../plan/prices/prices.ts';
import type { Situation } from '../plan/situation/situation.ts';
import type { Paste } from '../report/advice-text.ts';
import { describeCampaign, withVerdicts } from './describe/describe-campaign.ts';
import { FileFinder } from './find-files.ts';
import { attributedTo, describeNext, planForPage, refusalsOf, reviewCommands } from './review-text.ts';

const pollMs = 700;
/**
 * Minimum pause between polls of the campaign's files: a multiple of the time for one poll (`looking`) and of the time
 * to read the campaign (`reading`).
 */
const pauses = { looking: 20, reading: 3 };
/** In a campaign with at most this many assets, the host reads the whole campaign again after each verdict. */
const fewAssets = 300;
/**
 * In a larger campaign, the host waits for a pause in the verdicts before it reads the campaign again. The pause is a
 * multiple of the time to read the campaign, from `leastMs` to `mostMs`.
 */
const settle = { pauses: 20, leastMs: 1000, mostMs: 10_000 };
const waitForLockMs = 2000;

const busyWords = {
  MB3401: 'another run holds the lock; the waiting decisions are recorded when that run ends',
  MB3402: 'another program has just changed the lock; the waiting decisions are recorded in a moment',
} as const;

interface CampaignHostOptions {
  select?: string[] | undefined;
  exclude?: string[] | undefined;
  paste: Paste;
  by?: string | undefined;
}

export class CampaignHost implements ReviewHost {
  readonly #campaign: OpenCampaign;
  readonly #options: CampaignHostOptions;
  readonly #graph: LatestGraph;
  readonly #finder: FileFinder;
  readonly #writer: DecisionWriter;
  readonly #listeners = new Set<() => void>();
  /**
   * Last batch of verdicts. Polls wait for this batch, because a poll would otherwise report the host's own verdicts as
   * changes by other users.
   */
  #lastBatch: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #settleTimer: NodeJS.Timeout | undefined;
  #revision = 1;
  #stamps: Stamps | undefined;
  #readMs = 0;
  #known: { revision: number; data: Promise<ReviewData> } | undefined;
  #hints: { graph: Graph; hints: PriceHints } | undefined;
  #shown: readonly ReviewFile[] = [];

  /** `campaign` must not print notices, because each read would print the same notices again. */
  constructor(campaign: OpenCampaign, options: CampaignHostOptions) {
    this.#campaign = campaign;
    this.#options = options;
    this.#graph = new LatestGraph(campaign);
    this.#finder = new FileFinder(campaign.paths);
    this.#writer = new DecisionWriter(campaign);
  }

  read(): Promise<ReviewData> {
    if (this.#known?.revision === this.#revision) return this.#known.data;
    const revision = this.#revision;
    const data = this.#read(revision);
    this.#known = { revision, data };
    // A failed read is not cached, because the next read may succeed.
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
    this.#timer ??= this.#startPolling();
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

  async close(): Promise<void> {
    clearTimeout(this.#settleTimer);
    await this.#lastBatch;
    await this.#writer.close();
  }

  async #record(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer> {
    const { paste, by } = this.#options;
    try {
      const graph = await this.#graph.get();
      const judged = await this.#writer.judge(attributedTo(by, verdicts), { graph, lockTimeoutMs: waitForLockMs });
      if (judged.gates.length > 0) await this.#take(judged);
      return { is: 'recorded', revision: this.#revision, refused: refusalsOf(judged.rulings, paste) };
    } catch (error) {
      const failure = failureOf(error);
      // Another process is writing the lock; the page sends the verdicts again.
      if (failure?.code === 'MB3401' || failure?.code === 'MB3402')
        return { is: 'held', text: busyWords[failure.code] };
      throw failure === undefined || error instanceof CampaignError ? error : new CampaignError(failure);
    }
  }

  /** Publishes recorded verdicts at once. In a large campaign, changes of dependent steps follow after a pause. */
  async #take(judged: Judged): Promise<void> {
    const { revision, data } = this.#known ?? {};
    const known = revision === this.#revision ? await data?.catch(() => undefined) : undefined;
    const source = await this.#stampSource();
    if (known === undefined || this.#stamps === undefined || known.assets.length <= fewAssets) {
      this.#noteChange(undefined);
      return;
    }
    const next = this.#revision + 1;
    const now = { ...withVerdicts(known, judged.gates), revision: next };
    this.#known = { revision: next, data: Promise.resolve(now) };
    this.#noteChange({ ...this.#stamps, source });
    const isOpen = now.groups.some(({ gate }) => gate?.state === 'open' || gate?.state === 'contested');
    const readsMs = Math.min(settle.mostMs, this.#readMs * settle.pauses);
    const waitMs = isOpen ? Math.max(settle.leastMs, readsMs) : settle.leastMs;
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(() => void this.#settle(), waitMs).unref();
  }

  async #settle(): Promise<void> {
    const tidied = this.#lastBatch.then(() => this.#writer.tidy());
    this.#lastBatch = tidied;
    await tidied;
    this.#noteChange(undefined);
  }

  async #read(revision: number): Promise<ReviewData> {
    const began = performance.now();
    // File stamps are taken before the campaign is read, so that a poll notices a change during the read.
    const source = await this.#stampSource();
    const graph = await this.#graph.get();
    const { situation } = await Session.open(this.#campaign, { graph });
    const { rows } = planForPage(this.#campaign, situation, await this.#priceHints(situation));
    const described = describeCampaign({
      situation,
      selected: makeSelector(situation).chosen(this.#options),
      rows,
      placeOf: this.#finder.renew(),
    });
    this.#shown = described.assets.flatMap(({ files }) => files);
    this.#stamps = { source, files: this.#stampFiles() };
    this.#readMs = performance.now() - began;
    const { paste } = this.#options;
    const next = describeNext(described, rows, paste);
    return {
      ...{ version: 2, revision, file: this.#campaign.file, canDecide: true, commands: reviewCommands(paste) },
      ...defined({ next }),
      ...described,
    };
  }

  async #priceHints(situation: Situation) {
    const { written: graph } = situation;
    if (this.#hints?.graph === graph) return this.#hints.hints;
    const hints = await findPriceHints(this.#campaign, situation);
    this.#hints = { graph, hints };
    return hints;
  }

  #startPolling(waitMs = pollMs): NodeJS.Timeout {
    const timer = setTimeout(async () => {
      const began = performance.now();
      // A poll ignores errors, because the next poll may succeed.
      const looked = this.#lastBatch.then(async () => ({
        before: this.#stamps,
        stamps: await this.#readStamps().catch(() => undefined),
      }));
      this.#lastBatch = looked;
      const { before, stamps } = await looked;
      if (this.#timer !== timer) return;
      const tookMs = performance.now() - began;
      const pauseMs = Math.max(pollMs, tookMs * pauses.looking, this.#readMs * pauses.reading);
      this.#timer = this.#startPolling(pauseMs);
      // The host has read the campaign meanwhile, so the result of this poll is outdated.
      if (this.#stamps !== before) return;
      this.#stamps ??= stamps;
      if (stamps === undefined || before === undefined) return;
      if (stamps.source !== before.source || stamps.files !== before.files) this.#noteChange(stamps);
    }, waitMs).unref();
    return timer;
  }

  #noteChange(stamps: Stamps | undefined): void {
    this.#stamps = stamps;
    this.#revision += 1;
    for (const listener of this.#listeners) listener();
  }

  async #readStamps(): Promise<Stamps> {
    return { source: await this.#stampSource(), files: this.#stampFiles() };
  }

  async #stampSource(): Promise<string> {
    const { lock, manifest } = this.#campaign.paths;
    return (await Promise.all([lock, manifest].map(stampOf))).join('\n');
  }

  #stampFiles(): string {
    const placed = new PlacedFiles(this.#campaign.paths.outputs);
    const stamps = this.#shown.map((file) => {
      const found = placed.inspect(file);
      return typeof found === 'string' ? found : `${found.stats.ino} ${found.stats.mtimeMs}`;
    });
    return stamps.join('\n');
  }
}

interface Stamps {
  source: string;
  files: string;
}

async function stampOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs } = await lstat(path);
    return `${ino} ${size} ${mtimeMs}`;
  } catch {
    return 'absent';
  }
}

class LatestGraph {
  readonly #campaign: OpenCampaign;
  #known: { graph: Graph; asked: readonly Asked[] } | undefined;

  constructor(campaign: OpenCampaign) {
    this.#campaign = campaign;
  }

  async get(): Promise<Graph> {
    if (this.#known === undefined || !(await haveSameAnswers(this.#campaign.file, this.#known.asked))) {
      this.#known = await requireTracedGraph(this.#campaign);
    }
    return this.#known.graph;
  }
}
