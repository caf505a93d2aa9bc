import type { Json } from '../ground/json.ts';
import type { ReportParts } from './report.ts';

/** Data of the review page. The page applies changes as they arrive, and sends batches of `WantedVerdict`. */
export interface ReviewData {
  version: 2;
  revision: number;
  campaign: string;
  file: string;
  /** Whether the host accepts verdicts. Otherwise the page exports `picks.json` or a command. */
  canDecide: boolean;
  /** Commands to which addresses are appended. Omitted if they only need the path of the manifest. */
  commands?: ReviewCommands;
  run?: ReviewRun;
  next?: { text: string; command: string };
  waits?: ReviewWait[];
  groups: ReviewGroup[];
  /** Groups refer to assets by index. */
  assets: ReviewAsset[];
  report?: ReportParts;
}

/** Commands with the lock, variables and account of the host's command. */
export interface ReviewCommands {
  pick: string;
  /** Buys new takes for a gate at which all takes were rejected. */
  redo: string;
}

export interface ReviewWait {
  /** Names of groups. The steps wait for all of these gates. */
  gates: string[];
  steps: number;
  /** Product of each step: `film`, `picture` or `sound`. Omitted if they differ. */
  what?: string | undefined;
  /** Maximum cost in credits; `null` if unknown for any step. */
  credits: number | null;
  /** Expected cost in credits; `null` if unknown for any step. */
  likely: number | null;
}

export interface ReviewRun {
  is: 'running' | 'waiting' | 'ended';
  /** For example `31 of 48 done · 8 running`. */
  text: string;
}

/** Outputs of one gate, or of one row key of a task. */
export interface ReviewGroup {
  /** Name of the gate, for example `hero@lamp`, or the common address of the assets. */
  name: string;
  task: string;
  key?: string;
  /** `title` of the gate, or a short text from its row. */
  title?: string;
  gate?: ReviewGate;
  /** Dimensions in which the assets differ: `take`, or matrix axes. */
  differBy: string[];
  members: number[];
}

export interface ReviewGate {
  is: 'approve' | 'choose' | 'canary';
  choose: number;
  note?: string;
  reasons?: readonly string[];
  state: 'open' | 'decided' | 'contested' | 'rejected';
  waiting: number;
  waitingWhat?: string | undefined;
  /** Maximum cost in credits; `null` if unknown. */
  waitingCredits: number | null;
  /** Expected cost in credits, if the maximum is unknown. */
  waitingLikely?: number;
}

export interface ReviewAsset {
  address: string;
  task: string;
  kind: string;
  key?: string;
  /** For example `row 14 of products.csv`. */
  row?: string;
  matrix: { [axis: string]: string };
  take?: number;
  tags: string[];
  /** `changed`: the step's input has changed since the files were bought. */
  state: 'done' | 'changed' | 'running' | 'failed' | 'unresolved' | 'planned';
  error?: string;
  files: ReviewFile[];
  /** References to other steps are `{ $ref: address, field }`. */
  request: { [field: string]: Json };
  /** Top-level fields of the request that differ within the group. */
  differs: string[];
  job?: string;
  /** Credits charged for the job; `null` if unknown. Omitted without a job, and in a gallery for a client. */
  credits?: number | null;
  verdict?: { is: 'picked' | 'rejected'; note?: string; reason?: string; by?: string };
  /** Whether users can give a verdict: the step has an output and a gate. */
  isJudged: boolean;
  earlier: ReviewEarlier[];
  /** Addresses of the steps that this step uses. */
  madeFrom: string[];
  /** Addresses of the steps that use this step. */
  usedBy: string[];
  /** Facts that only galleries have. */
  report?: AssetReport;
}

export interface AssetReport {
  /** Expected cost in credits before the purchase; `null` if unknown. Omitted if the step shares the job of another. */
  estimated?: number | null;
  /** Source of each field of the request, for example `campaign.yaml:14, name of products.csv:3`. */
  origins?: { [field: string]: string };
  /** State of the step at the commit with which the gallery is compared; `null` if the commit has no such step. */
  before?: ReviewEarlier | null;
  /** Address of the step, in a gallery for a client, where `address` is a name for the client. */
  step?: string;
}

export interface ReviewEarlier {
  job?: string;
  credits?: number | null;
  /** Fields of the request that have changed since. */
  changed: string[];
  request: { [field: string]: Json };
  /** Only files that exist. */
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
  thumb?: string;
  /** URL of a larger JPEG. Omitted if the picture itself is small enough. */
  large?: string;
  /** Waveform of a sound (`ground/wave.ts`) in a gallery, because a page from disk cannot read its files. */
  wave?: string;
  /** Integrated loudness in LUFS, with `wave`. */
  lufs?: number;
  problem?: 'missing' | 'damaged';
  /** True for content credentials (C2PA), in galleries. */
  hasCredentials?: true;
  /** True if the file is in the folder of kept files. */
  isKept?: true;
}

export interface WantedVerdict {
  address: string;
  is: 'picked' | 'rejected' | 'undecided';
  /** Reviewed job. A verdict about another job is refused. */
  job: string;
  /** Omitted to keep the current note or reason; empty to remove it. */
  note?: string;
  reason?: string;
  by?: string;
}

/** Changes since an earlier revision. A page with another revision requests all data. */
export interface ReviewChange extends Pick<ReviewData, 'revision' | 'run' | 'next'> {
  /** Oldest revision to which this change can be applied. */
  since: number;
  assets: ReviewAsset[];
  groups: ReviewGroup[];
  waits?: ReviewWait[];
}

/** `recorded`: all verdicts except `refused` are in the lock. `held`: another run has the lock. */
export type JudgeAnswer =
  | {
      is: 'recorded';
      revision: number;
      refused: { address: string; text: string; hint?: string }[];
      change?: ReviewChange;
    }
  | { is: 'held'; text: string };

/** Process that owns the campaign: a review command, or an active run. */
export interface ReviewHost {
  look(): Promise<ReviewData>;
  /** Rejects with a `CampaignError` if verdicts cannot be recorded. */
  judge(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer>;
  watch(listener: () => void): () => void;
  /** Returns the absolute path of a plain file with this digest. */
  find(file: ReviewFile): string | undefined | Promise<string | undefined>;
}
