import { WatchedFiles } from '../../disk/watch/watched-files.ts';
import { diskReader, type InputReader, ManifestInputs } from '../manifest-inputs.ts';
import type { OpenCampaign } from '../open-campaign.ts';
import { pathsOf, planRound, type Round, type WatchOptions } from './plan-round.ts';
import { rememberDigests } from './remember-digests.ts';

export type { Round, WatchOptions } from './plan-round.ts';

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
