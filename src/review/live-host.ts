import type { LiveRun } from '../campaign/live-run.ts';
import type { OpenCampaign } from '../campaign/open-campaign.ts';
import type { JudgeAnswer, ReviewData, ReviewFile, ReviewHost, WantedVerdict } from '../contract/review.ts';
import { situate } from '../plan/situation/situation.ts';
import type { Paste } from '../report/advice-text.ts';
import { countOf } from '../report/numbers.ts';
import { describeCampaign } from './describe/describe-campaign.ts';
import { FileFinder } from './find-files.ts';
import { attributedTo, refusalsOf, reviewCommands } from './review-text.ts';

const notifyEveryMs = 250;
/** The host describes the campaign in at most 1 / `lookShare` of the time, because the run shares its process. */
const readShare = 8;

export class LiveHost implements ReviewHost {
  readonly #live: LiveRun;
  readonly #campaign: Pick<OpenCampaign, 'file' | 'paths'>;
  readonly #paste: Paste;
  readonly #by: string | undefined;
  readonly #finder: FileFinder;
  readonly #listeners = new Set<() => void>();
  readonly #stopWatching: () => void;
  #timer: NodeJS.Timeout | undefined;
  #revision = 1;
  #known: { revision: number; data: ReviewData } | undefined;
  #isOlder = false;
  #readMs = 0;

  constructor(
    live: LiveRun,
    { campaign, paste, by }: { campaign: Pick<OpenCampaign, 'file' | 'paths'>; paste: Paste; by?: string | undefined },
  ) {
    this.#by = by;
    this.#live = live;
    this.#campaign = campaign;
    this.#paste = paste;
    this.#finder = new FileFinder(campaign.paths);
    this.#stopWatching = live.watch(() => this.#change());
  }

  async read(): Promise<ReviewData> {
    const revision = this.#currentRevision();
    if (this.#known?.revision === revision) return this.#known.data;
    const startedAt = performance.now();
    const { graph, lock, rows, selected, ...run } = this.#live.state();
    const described = describeCampaign({
      situation: situate(graph, lock),
      rows,
      selected,
      placeOf: this.#finder.renew(),
    });
    const data: ReviewData = {
      version: 2,
      revision,
      file: this.#campaign.file,
      canDecide: true,
      commands: reviewCommands(this.#paste),
      run: { is: run.is, text: textOf(run) },
      ...described,
    };
    this.#known = { revision, data };
    this.#readMs = performance.now() - startedAt;
    return data;
  }

  async judge(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer> {
    const rulings = await this.#live.judge(attributedTo(this.#by, verdicts));
    if (rulings === 'over') {
      return { is: 'held', text: 'the run has ended; to record decisions, use mediabatch review' };
    }
    const refused = refusalsOf(rulings, this.#paste);
    return { is: 'recorded', revision: this.#currentRevision(), refused };
  }

  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  find(file: ReviewFile): Promise<string | undefined> {
    return this.#finder.find(file);
  }

  end(): void {
    this.#stopWatching();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isOlder = true;
    for (const listener of this.#listeners) listener();
  }

  #currentRevision(): number {
    if (this.#isOlder) this.#revision += 1;
    this.#isOlder = false;
    return this.#revision;
  }

  #change(): void {
    this.#isOlder = true;
    const waitMs = Math.max(notifyEveryMs, this.#readMs * readShare);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const listener of this.#listeners) listener();
    }, waitMs).unref();
  }
}

function textOf({
  is,
  gates,
  progress,
  spent,
}: Pick<ReturnType<LiveRun['state']>, 'is' | 'gates' | 'progress' | 'spent'>): string {
  if (is === 'waiting') return `${progress}; ${countOf(gates, 'gate')} to decide`;
  return is === 'ended' ? `${progress}; ${countOf(spent, 'credit')} spent` : progress;
}
