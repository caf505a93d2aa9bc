import { computed, signal } from '@preact/signals';
import type { JudgeAnswer, ReviewData, WantedVerdict } from '../../contract/review.ts';
import { plainNote } from '../model/judge.ts';
import type { Own } from '../model/shown.ts';
import type { Change, Host } from './host.ts';

/** Verdicts in browser storage that the host has not recorded. */
interface Kept {
  read(): WantedVerdict[];
  keep(verdict: WantedVerdict): void;
  drop(verdict: Pick<WantedVerdict, 'address' | 'job'>): void;
  /**
   * Calls `listener` when another tab changes its unrecorded verdicts. `undefined`: the other tab removed a recorded
   * verdict.
   */
  watch(listener: (address: string, verdict: WantedVerdict | undefined) => void): void;
}

/** Time in ms for which a batch collects verdicts. */
const gathering = 300;
/** Delay in ms before the page sends a failed batch again. */
const again = 2000;
/** Maximum size of a request body in bytes. The host accepts 64 KiB. */
const mostBytes = 60_000;

export interface Refusal {
  address: string;
  text: string;
  hint?: string;
}

interface OutboxOptions {
  /** Omitted for a static page, whose verdicts users save as a file. */
  host: Host | undefined;
  kept: Kept;
  onRefused(refused: readonly Refusal[]): void;
  onRecorded(change: Change): void;
}

/** Queue of verdicts that the host has not recorded. The page sends them in order, one batch at a time. */
export class Outbox {
  readonly own = signal<Own>(new Map());
  readonly waits = signal<string | undefined>(undefined);
  readonly isEmpty = computed(() => [...this.own.value.values()].every((verdict) => this.#recorded.has(verdict)));
  readonly #options: OutboxOptions;
  /** Recorded verdicts that the page's data does not contain yet, with the first revision that contains them. */
  readonly #recorded = new Map<WantedVerdict, number>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isSending = false;
  /**
   * Sent verdicts that the page's data may not contain yet. `until`: first revision that contains a recorded verdict.
   */
  #underWay: (Pick<WantedVerdict, 'address' | 'is'> & { until?: number })[] = [];

  constructor(options: OutboxOptions) {
    this.#options = options;
    const left = options.kept.read();
    if (left.length > 0) this.put(left);
    // Several tabs may have the same unrecorded verdict. A change in one tab applies to all tabs.
    options.kept.watch((address, verdict) => {
      if (!this.isOpen(address)) return;
      const own = new Map(this.own.value);
      own.delete(address);
      if (verdict !== undefined) own.set(address, verdict);
      this.own.value = own;
    });
  }

  /** Adds verdicts. A new verdict on an asset replaces an unsent verdict on it. */
  put(verdicts: readonly WantedVerdict[]): void {
    const own = new Map(this.own.value);
    for (const verdict of verdicts) {
      own.delete(verdict.address);
      own.set(verdict.address, verdict);
      this.#options.kept.keep(verdict);
    }
    this.own.value = own;
    this.#sendIn(gathering);
  }

  isOpen(address: string): boolean {
    const own = this.own.value.get(address);
    return own !== undefined && !this.#recorded.has(own);
  }

  /** Returns whether this page sent the verdict and the page's data may not contain it yet. */
  isUnderWay(address: string, is: WantedVerdict['is']): boolean {
    return this.#underWay.some((one) => one.address === address && one.is === is);
  }

  /** Removes the recorded verdicts that data of this revision contains. */
  settle(revision: number): void {
    this.#underWay = this.#underWay.filter(({ until }) => until === undefined || until > revision);
    const own = new Map(this.own.value);
    for (const [verdict, since] of this.#recorded) {
      if (since > revision) continue;
      this.#recorded.delete(verdict);
      if (own.get(verdict.address) === verdict) own.delete(verdict.address);
    }
    if (own.size !== this.own.value.size) this.own.value = own;
  }

  #sendIn(milliseconds: number): void {
    if (this.#options.host === undefined || this.#isSending) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#send(this.#options.host);
    }, milliseconds);
  }

  async #send(host: Host | undefined): Promise<void> {
    const batch = this.#nextBatch();
    if (host === undefined || batch.length === 0) return;
    this.#isSending = true;
    const recorded = this.#underWay.filter(({ until }) => until !== undefined);
    this.#underWay = [...recorded, ...batch.map(({ address, is }) => ({ address, is }))];
    const answer = await host.send(batch);
    this.#isSending = false;
    if (answer.is !== 'recorded') {
      this.waits.value = answer.text;
      this.#sendIn(again);
      return;
    }
    this.waits.value = undefined;
    this.#underWay = this.#underWay.map((one) => ({ until: answer.revision, ...one }));
    this.#conclude(batch, answer);
    if (this.#nextBatch().length > 0) this.#sendIn(gathering);
  }

  #nextBatch(): WantedVerdict[] {
    const batch: WantedVerdict[] = [];
    let bytes = 0;
    for (const verdict of this.own.value.values()) {
      if (this.#recorded.has(verdict)) continue;
      bytes += new TextEncoder().encode(JSON.stringify(verdict)).length + 1;
      if (batch.length > 0 && bytes > mostBytes) break;
      batch.push(verdict);
    }
    return batch;
  }

  #conclude(batch: readonly WantedVerdict[], { revision, refused, change }: JudgeAnswer & { is: 'recorded' }): void {
    const own = new Map(this.own.value);
    const isRefused = new Set(refused.map(({ address }) => address));
    for (const verdict of batch) {
      // A newer verdict on the asset stays in the queue.
      if (own.get(verdict.address) !== verdict) continue;
      this.#options.kept.drop(verdict);
      if (isRefused.has(verdict.address)) own.delete(verdict.address);
      else this.#recorded.set(verdict, revision);
    }
    this.own.value = own;
    if (refused.length > 0) this.#options.onRefused(refused);
    this.#options.onRecorded(change ?? { revision });
  }
}

/**
 * Opens the browser storage of a campaign. Keys begin with the campaign, because all pages opened from disk share one
 * storage.
 */
export function keptVerdicts({ campaign, file, assets }: ReviewData): Kept {
  const prefix = `mediabatch verdict ${JSON.stringify([campaign, file])} `;
  const jobs = new Map(assets.map(({ address, job }) => [address, job]));
  const nameOf = ({ address, job }: Pick<WantedVerdict, 'address' | 'job'>) => prefix + JSON.stringify([address, job]);
  return {
    read: () =>
      (attempt(() => Object.keys(localStorage)) ?? []).flatMap((name): WantedVerdict[] => {
        if (!name.startsWith(prefix)) return [];
        const verdict = attempt(() => readVerdict(JSON.parse(localStorage.getItem(name) ?? '')));
        const isShown =
          verdict?.job !== undefined && jobs.get(verdict.address) === verdict.job && nameOf(verdict) === name;
        // The verdict is on a replaced output, or another server at this port stored it.
        if (!isShown) attempt(() => localStorage.removeItem(name));
        return isShown ? [verdict] : [];
      }),
    keep: (verdict) => attempt(() => localStorage.setItem(nameOf(verdict), JSON.stringify(verdict))),
    drop: (verdict) => attempt(() => localStorage.removeItem(nameOf(verdict))),
    watch: (listener) =>
      attempt(() =>
        addEventListener('storage', ({ key, newValue }) => {
          const named = attempt(() => JSON.parse(key?.slice(prefix.length) ?? '') as [address: string, job: string]);
          if (named === undefined || jobs.get(named[0]) !== named[1] || key !== prefix + JSON.stringify(named)) return;
          const verdict = attempt(() => readVerdict(JSON.parse(newValue ?? '')));
          // Other pages may write to this storage.
          if (newValue === null || (verdict && nameOf(verdict) === key)) listener(named[0], verdict);
        }),
      ),
  };
}

/** Returns undefined for a malformed verdict. The caller checks whether the page shows the output. */
function readVerdict({ address, is, job, note, reason, by }: WantedVerdict): WantedVerdict | undefined {
  if (!['picked', 'rejected', 'undecided'].includes(is)) return undefined;
  return {
    ...{ address, is, job },
    ...(note !== undefined && { note: plainNote(String(note)) }),
    ...(reason !== undefined && { reason: plainNote(String(reason)) }),
    ...(by !== undefined && { by: plainNote(String(by)) }),
  };
}

/** Returns undefined if the action throws, because browser storage may be disabled or full. */
export function attempt<Value>(action: () => Value): Value | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}
