import { resolve } from 'node:path';
import { type Failure, failureOf } from '../../contract/failure.ts';
import { foldersOfPattern } from '../../disk/fs/folders.ts';
import { isOldFile, markOf, WatchedFiles } from '../../disk/watch/watched-files.ts';
import { type Diagnostic, hasErrors } from '../../ground/diagnostic.ts';
import { messageOf } from '../../ground/values.ts';
import { comparePlans, type PlanDifference, type PlannedVersion } from '../../plan/compare/compare-plans.ts';
import { loadChecked } from '../checked-graph.ts';
import { collectNotices } from '../load.ts';
import type { LoadedManifest } from '../load-manifest.ts';
import { tellLostLock } from '../lost-lock/lost-lock.ts';
import { makePlan } from '../make-plan.ts';
import { type Asked, diskReader, type InputReader, ManifestInputs } from '../manifest-inputs.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import type { PlanningOptions } from '../options.ts';
import { requireLock } from '../read-lock.ts';

export interface WatchOptions extends PlanningOptions {
  serviceMoved?: boolean | undefined;
}

/** One look at a campaign. */
export interface Round {
  /** In ms. */
  tookMs: number;
  /** Absent where there are mistakes. */
  planned?: PlannedVersion & { byDocument: boolean };
  /** Difference from the last plan before; absent without one, and without a plan now. */
  difference?: PlanDifference;
  diagnostics: readonly Diagnostic[];
  /** Texts that diagnostics point into, by file name. */
  sources: ReadonlyMap<string, string>;
  /** Why there is no plan, beside the mistakes of the manifest. */
  failure?: Failure;
  /** Texts for people. */
  notices: readonly string[];
  /** Questions that the disk was asked; absent where not even asking was possible. */
  asked?: readonly Asked[];
}

/** Time without a change after which a save is over, in ms. */
const quietMs = 20;
/** Time for which something wrong, or half written by its looks, has to stay before it is believed, in ms. */
const doubtMs = 300;
/** Longest wait for a plan under changes without end, in ms. */
const mostWaitMs = 1000;
/** Time between two plans that show what a run in another process does, in ms. */
const progressMs = 2000;

export interface Watching {
  /** Ends the watch when it is aborted. */
  signal: AbortSignal;
  /** `at`: ms since 1970. `files`: how many files and folders are watched. */
  show(round: Round, seen: { at: number; files: number }): void;
}

/**
 * Plans now and after every change of a file that the plan comes from, until it is told to end. Reads only: takes no lock,
 * asks nobody, and spends nothing. Of saves in quick succession the last one is shown.
 */
export async function watchCampaign(opened: OpenCampaign, options: WatchOptions, watching: Watching): Promise<void> {
  const { signal, show } = watching;
  const campaign = { ...opened, reader: rememberDigests(diskReader(opened.file), opened.paths.folder) };
  const changes = new Changes(signal);
  const files = new WatchedFiles(() => changes.note());
  try {
    let watched = await pathsOf(campaign, []);
    files.watch(watched);
    let shown: Round | undefined;
    let planned: Round['planned'];
    let progressAt = Number.NEGATIVE_INFINITY;
    while (!signal.aborted) {
      const state = changes.count;
      const round = await planRound(campaign, options, planned);
      const paths = await pathsOf(campaign, round.asked ?? []);
      const known = new Set(watched);
      // What is wrong may hide what else is read.
      watched = round.planned === undefined ? [...new Set([...watched, ...paths])] : paths;
      files.watch(watched);
      if (await isMissed(campaign, round, known)) changes.note();
      if (isProgress(round) && performance.now() < progressAt + progressMs) {
        await changes.until(progressAt + progressMs, state);
        changes.settle(state);
        await changes.end(quietMs);
        continue;
      }
      if (!changes.isOverdue && isDoubtful(round, shown)) await changes.until(changes.lastAt + doubtMs, state);
      if (changes.count !== state && !changes.isOverdue) {
        await changes.end(quietMs);
        continue;
      }
      if (signal.aborted) break;
      changes.settle(state);
      if (isProgress(round)) progressAt = performance.now();
      show(round, { at: Date.now(), files: files.size });
      const isFirst = shown === undefined;
      shown = round;
      planned = round.planned ?? planned;
      // The first save need not wait for code that is compiled as it is run.
      if (isFirst) await planRound(campaign, options, planned);
      await changes.until(Number.POSITIVE_INFINITY, state);
      await changes.end(quietMs);
    }
  } finally {
    files.close();
  }
}

/** Whether the disk says something else by now of what a round was the first to read: that was not watched yet. */
async function isMissed(
  campaign: OpenCampaign & { reader: InputReader },
  { asked = [] }: Round,
  known: ReadonlySet<string>,
): Promise<boolean> {
  const inputs = new ManifestInputs(campaign.file, campaign.reader);
  for (const question of asked) {
    const paths = await pathsOf(campaign, [question]);
    if (paths.some((path) => !known.has(path)) && !(await inputs.areAnsweredAlike([question]))) return true;
  }
  return false;
}

/** Whether it may tell of a file that is being written: something is wrong, or the end of a text is not there. */
function isDoubtful({ planned, sources }: Round, shown: Round | undefined): boolean {
  if (shown === undefined) return false;
  const isCut = (name: string, text: string) =>
    !text.endsWith('\n') && shown.sources.get(name)?.endsWith('\n') === true;
  return planned === undefined || [...sources].some(([name, text]) => isCut(name, text));
}

/** Whether every step is what it was, and only what happens to some is not: nobody saved, but something was bought or picked. */
function isProgress({ difference }: Round): boolean {
  return difference !== undefined && difference.steps.length === 0 && difference.others.length > 0;
}

/** Counts changes, and waits for them and for their end. Times are those of `performance.now()`. */
class Changes {
  /** Changes so far. */
  count = 0;
  /** Time of the last change. */
  lastAt = Number.NEGATIVE_INFINITY;
  readonly #signal: AbortSignal;
  /** Time of the first change that is not shown yet. */
  #firstAt: number | undefined;
  #wake: () => void = () => {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#wake(), { once: true });
  }

  note(): void {
    this.count += 1;
    this.lastAt = performance.now();
    this.#firstAt ??= this.lastAt;
    this.#wake();
  }

  /** Whether whoever saved has waited long enough. */
  get isOverdue(): boolean {
    return performance.now() >= this.#dueAt;
  }

  get #dueAt(): number {
    return this.#firstAt === undefined ? Number.POSITIVE_INFINITY : this.#firstAt + mostWaitMs;
  }

  /** Takes note that everything up to this count is shown, or need not be. */
  settle(count: number): void {
    this.#firstAt = this.count === count ? undefined : performance.now();
  }

  /** Waits for a change after this count, at most until this time. */
  async until(time: number, count: number): Promise<void> {
    while (this.count === count && !this.#signal.aborted && performance.now() < time) await this.#sleepUntil(time);
  }

  /** Waits until nothing has changed for so long, or it is overdue. */
  async end(ms: number): Promise<void> {
    const at = () => Math.min(this.lastAt + ms, this.#dueAt);
    while (!this.#signal.aborted && performance.now() < at()) await this.#sleepUntil(at());
  }

  /** Sleeps at most until this time: a change and the end wake, too. */
  #sleepUntil(time: number): Promise<void> {
    return new Promise((done) => {
      const timer = Number.isFinite(time) ? setTimeout(done, Math.ceil(time - performance.now())) : undefined;
      this.#wake = () => {
        clearTimeout(timer);
        done();
      };
    });
  }
}

/**
 * Plans from the disk alone, and compares with an earlier round. Writes nothing, and never throws: whatever is wrong now may
 * be right a moment later.
 */
async function planRound(
  campaign: OpenCampaign & { reader: InputReader },
  options: WatchOptions,
  earlier: Round['planned'],
): Promise<Round> {
  const from = performance.now();
  const { notices, tell } = collectNotices();
  const teller = { ...campaign, tell };
  let loaded: LoadedManifest | undefined;
  const roundOf = (more: Pick<Round, 'planned' | 'difference' | 'failure'>): Round => {
    const told = notices.flatMap((notice) => (notice.is === 'diagnostics' ? notice.diagnostics : []));
    return {
      tookMs: performance.now() - from,
      ...more,
      diagnostics: [...(loaded?.diagnostics ?? []), ...told],
      sources: loaded?.sources ?? new Map(),
      notices: notices.flatMap((notice) => (notice.is === 'notice' ? notice.text : [])),
      ...(loaded !== undefined && { asked: loaded.asked }),
    };
  };
  try {
    const checked = await loadChecked(teller, { againByDocument: earlier?.byDocument });
    loaded = checked;
    const { graph, facts, trace, diagnostics, byDocument } = checked;
    if (graph === undefined || hasErrors(diagnostics)) return roundOf({});
    const { lock } = await requireLock(teller, campaign.service, options);
    const made = await makePlan(teller, { graph, lock, facts, trace }, options);
    // Whoever watches buys nothing: what would end a run is only told.
    await tellLostLock(teller, { graph, lock, plan: made.plan, isNew: false }).catch((error: unknown) =>
      tell({ is: 'notice', text: messageOf(error) }),
    );
    const planned = { plan: made.plan, graph, lock, trace, byDocument };
    if (earlier === undefined) return roundOf({ planned });
    return roundOf({ planned, difference: comparePlans(earlier, planned, made) });
  } catch (error) {
    return roundOf({ failure: failureOf(error) ?? { code: 'MB3901', message: messageOf(error) } });
  }
}

/** Absolute paths of all that a plan was made from, and of what may come to be part of it. */
async function pathsOf({ file, varFiles, paths }: OpenCampaign, asked: readonly Asked[]): Promise<string[]> {
  const found = [resolve(file), paths.lock, ...varFiles.map((path) => resolve(path))];
  for (const { ask, path } of asked) {
    if (ask === 'files') found.push(...(await foldersOfPattern(paths.folder, path)));
    else if (ask === 'data' || ask === 'bytes' || ask === 'digest') found.push(resolve(paths.folder, path));
  }
  return found;
}

/** The same reader; files that did not change are not hashed again. `folder`: that of the manifest. */
export function rememberDigests(reader: InputReader, folder: string): InputReader {
  const known = new Map<string, { mark: string; answer: Awaited<ReturnType<InputReader['digest']>> }>();
  return {
    ...reader,
    async digest(path) {
      const full = resolve(folder, path);
      const mark = markOf(full);
      const before = known.get(path);
      if (before?.mark === mark) return before.answer;
      const isOld = isOldFile(full);
      const answer = await reader.digest(path);
      if (isOld) known.set(path, { mark, answer });
      else known.delete(path);
      return answer;
    },
  };
}
