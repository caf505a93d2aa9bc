import type { Json } from '../ground/json.ts';
import type { ReportParts } from './report.ts';

/**
 * Messages between the review page and its server. The page requests `data`, shows it, applies changes as they arrive, and
 * sends batches of `WantedVerdict`s. A static page contains the data and sends nothing.
 */

/** Everything that the page shows. Data with a higher `revision` replaces it. */
export interface ReviewData {
  version: 1;
  revision: number;
  campaign: string;
  /** Path of the manifest, as the person typed it. */
  file: string;
  /** Whether verdicts can be sent to the host. Otherwise they are exported as `picks.json`, or as a command. */
  canDecide: boolean;
  /** Shell commands for the host, to which addresses are appended. Omitted if the path of the manifest suffices. */
  commands?: ReviewCommands;
  run?: ReviewRun;
  /** The next purchase with its command, when no gate waits for a decision. */
  next?: { text: string; command: string };
  waits?: ReviewWait[];
  groups: ReviewGroup[];
  /** Groups refer to assets by their index in this list. */
  assets: ReviewAsset[];
  report?: ReportParts;
}

/** Commands with the options for lock, variables and account with which the host was called. */
export interface ReviewCommands {
  pick: string;
  /** Buys new takes for a gate at which all takes were rejected. */
  redo: string;
}

export interface ReviewWait {
  /** Names of groups. The steps wait until all of these gates are decided. */
  gates: string[];
  steps: number;
  /** Name of the product of each step: `film`, `picture` or `sound`; omitted if they differ. */
  what?: string | undefined;
  /** Maximum cost in credits; `null` if unknown for any of the steps. */
  credits: number | null;
  /** Expected cost in credits; `null` if unknown for any of the steps. */
  likely: number | null;
}

export interface ReviewRun {
  /** `waiting`: nothing is left to do until gates are decided. */
  is: 'running' | 'waiting' | 'ended';
  /** State in words, for example `31 of 48 done · 8 running`. */
  text: string;
}

/** Outputs shown together on the page: those of one gate, or else those of one row key of a task. */
export interface ReviewGroup {
  /** Name of the gate, for example `hero@lamp`; without a gate, the address that its assets share. */
  name: string;
  task: string;
  key?: string;
  /** `title` of the gate, or a short text from its row if that is more informative than the name. */
  title?: string;
  gate?: ReviewGate;
  /** Names of the dimensions in which its assets differ: `take`, or matrix axes. Empty if there is one asset. */
  differBy: string[];
  members: number[];
}

export interface ReviewGate {
  is: 'approve' | 'choose' | 'canary';
  choose: number;
  /** Criterion of the choice, as written in the manifest. */
  note?: string;
  /** Reasons for a rejection, each selected by a number key. */
  reasons?: readonly string[];
  state: 'open' | 'decided' | 'contested' | 'rejected';
  /** Number of steps that cannot be bought before the gate is decided. */
  waiting: number;
  waitingWhat?: string | undefined;
  /** Maximum cost of these steps in credits; `null` if unknown. */
  waitingCredits: number | null;
  /** Expected cost of these steps in credits, if the maximum is unknown. */
  waitingLikely?: number;
}

export interface ReviewAsset {
  address: string;
  task: string;
  kind: string;
  key?: string;
  /** Source of its row, for example `row 14 of products.csv`. */
  row?: string;
  matrix: { [axis: string]: string };
  take?: number;
  tags: string[];
  /** `planned`: nothing was bought yet. `changed`: the shown files were bought before the step's input changed. */
  state: 'done' | 'changed' | 'running' | 'failed' | 'unresolved' | 'planned';
  error?: string;
  files: ReviewFile[];
  /** The request that was bought, or would be; references to other steps as `{ $ref: address, field }`. */
  request: { [field: string]: Json };
  /** Model that the service uses by default. Omitted if the request names one, or the default is unknown. */
  model?: string;
  /** Top-level fields of the request that differ within its group. */
  differs: string[];
  /** Charged credits; `null` if unknown. Omitted if nothing was bought. */
  credits?: number | null;
  /** Expected cost when it was bought, or cost if it is bought now; `null` if unknown. */
  estimated?: number | null;
  /** Source of each top-level field of the request, for example `campaign.yaml:14, name of products.csv:3`. */
  origins?: { [field: string]: string };
  /** State of the step at the commit that the gallery is compared with; `null` if it did not exist. */
  before?: ReviewEarlier | null;
  job?: string;
  /** Its address, if `address` was replaced by a name for a client. */
  step?: string;
  verdict?: { is: 'picked' | 'rejected'; note?: string; reason?: string; by?: string };
  /** Whether a verdict can be given: it has an output, and a gate. */
  isJudged: boolean;
  earlier: ReviewEarlier[];
  /** Addresses of the steps that it uses; `usedBy`: steps that use it. */
  madeFrom: string[];
  usedBy: string[];
}

export interface ReviewEarlier {
  job?: string;
  credits?: number | null;
  /** Top-level fields of the request that have changed since. */
  changed: string[];
  request: { [field: string]: Json };
  /** Empty if none is on this disk any more. */
  files: ReviewFile[];
}

export interface ReviewFile {
  is: 'image' | 'audio' | 'video' | 'other';
  path: string;
  mediaType: string;
  bytes: number;
  sha256: string;
  /** URL relative to the page. Omitted if there is a `problem`. */
  url?: string;
  /**
   * URL of a small JPEG, relative to the page; images only. Answers 404 with a reason if the picture cannot be read.
   */
  thumb?: string;
  /** URL of a larger JPEG, for larger tiles. Omitted if the picture itself is small enough. */
  large?: string;
  /** Waveform of a sound, as `ground/wave.ts` writes it. Only in galleries: a page from disk cannot read its files. */
  wave?: string;
  /** Integrated loudness in LUFS; only with `wave`. */
  lufs?: number;
  problem?: 'missing' | 'damaged';
  /** True if the file has content credentials (C2PA). Only in galleries. */
  hasCredentials?: true;
  /** True if a newer output has replaced the file, which is now in the folder of kept files. */
  isKept?: true;
}

export interface WantedVerdict {
  address: string;
  is: 'picked' | 'rejected' | 'undecided';
  /** The job that was reviewed: a verdict about any other job is refused. */
  job: string;
  /** Omitted to keep the current note or reason; empty to remove it. */
  note?: string;
  reason?: string;
  by?: string;
}

/** Changes since an earlier revision. A page with another revision requests all data. */
export interface ReviewChange extends Pick<ReviewData, 'revision' | 'run' | 'next'> {
  /** Oldest revision to which this change can be applied; it also applies to any later one. */
  since: number;
  /** Complete new state of the changed assets. */
  assets: ReviewAsset[];
  groups: ReviewGroup[];
  waits?: ReviewWait[];
}

/**
 * Answer to a batch of verdicts. `recorded`: all possible verdicts are in the lock; `refused` lists the others, with
 * reasons. `held`: another run holds the lock; nothing was recorded, and the same batch can be sent again later.
 */
export type JudgeAnswer =
  | {
      is: 'recorded';
      revision: number;
      refused: { address: string; text: string; hint?: string }[];
      /** Change from the previous revision, for pages that have it. */
      change?: ReviewChange;
    }
  | { is: 'held'; text: string };

/** Process that owns the campaign: a review command, or an active run. */
export interface ReviewHost {
  look(): Promise<ReviewData>;
  /** Records a batch of verdicts. Rejects with a `CampaignError` if it cannot (a full disk, a damaged lock). */
  judge(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer>;
  watch(listener: () => void): () => void;
  /**
   * Returns the absolute path of a file, found by its digest and checked to be a plain file; `undefined` if there is
   * none.
   */
  find(file: ReviewFile): string | undefined | Promise<string | undefined>;
}
