import type { Json } from '../ground/json.ts';
import type { ReportParts } from './report.ts';

/**
 * Messages between the review page and its server. The page requests `data`, shows it, applies changes as they arrive, and
 * sends batches of `WantedVerdict`s. A static page contains the data and sends nothing.
 */

/** Everything that the page shows. A later one with a higher `revision` takes its place. */
export interface ReviewData {
  version: 1;
  /** Grows with everything that changes. */
  revision: number;
  campaign: string;
  /** The manifest, as the person named it. */
  file: string;
  /** Verdicts can be sent to the host. Otherwise they leave as `picks.json`, or as a command. */
  canDecide: boolean;
  /** Commands for the shell of the host, up to where addresses follow. Omitted when the file is enough. */
  commands?: ReviewCommands;
  /** Present while a run is under way at the host. */
  run?: ReviewRun;
  /** In words, with the command for it: what can be bought now that no gate waits for anybody. */
  next?: string;
  /** Steps that cannot be bought before gates are decided. */
  waits?: ReviewWait[];
  /** Groups in the order of the manifest. */
  groups: ReviewGroup[];
  /** A group names its assets by their index here. */
  assets: ReviewAsset[];
  /** Present in a gallery. */
  report?: ReportParts;
}

/** Commands with the options for lock, variables and account that the host was called with. */
export interface ReviewCommands {
  pick: string;
  reject: string;
  unpick: string;
  /** Buys others, of a gate at which all were rejected. */
  redo: string;
  /** Says why a step is, or would be, bought. */
  explain: string;
}

/** Number and cost of steps that wait for the same gates. */
export interface ReviewWait {
  /** Names of groups. The steps wait until all of these are decided. */
  gates: string[];
  steps: number;
  /** Credits that they cost at most; null: not known of one of them. */
  credits: number | null;
  /** Credits that they are expected to cost; null: nobody knows of one of them what to expect. */
  likely: number | null;
}

export interface ReviewRun {
  /** `waiting`: nothing is left to do until gates are decided. */
  is: 'running' | 'waiting' | 'ended';
  /** State in words: `31 of 48 done · 8 running`. */
  text: string;
}

/** Outputs that belong together on the page: those among which one gate chooses, else those of one key of a task. */
export interface ReviewGroup {
  /** The name of its gate, as in `hero@lamp`; without one the address that its assets share. */
  name: string;
  task: string;
  key?: string;
  /** `title` of its gate, else a short text of its row, where that says more than the name. */
  title?: string;
  gate?: ReviewGate;
  /** Names in which its assets differ: `take`, or the names of matrix axes. Empty: there is one asset. */
  differBy: string[];
  /** Indexes of `assets`. */
  members: number[];
}

export interface ReviewGate {
  is: 'approve' | 'choose' | 'canary';
  choose: number;
  /** Criterion of the choice, in the words of the manifest. */
  note?: string;
  /** Why an output may be turned down, each by a key. */
  reasons?: readonly string[];
  state: 'open' | 'decided' | 'contested' | 'rejected';
  /** Steps that cannot be bought before it is decided. */
  waiting: number;
  /** Credits that these cost at most; null: not known. */
  waitingCredits: number | null;
  /** Credits that these are expected to cost, where the most is not known. */
  waitingLikely?: number;
}

/** One step. */
export interface ReviewAsset {
  address: string;
  task: string;
  kind: string;
  key?: string;
  /** The name of its row: `row 14 of products.csv`. */
  row?: string;
  matrix: { [axis: string]: string };
  take?: number;
  tags: string[];
  /** `planned`: nothing was bought yet. `changed`: what is shown was bought before its input changed. */
  state: 'done' | 'changed' | 'running' | 'failed' | 'unresolved' | 'planned';
  /** Why it failed, in the service's words. */
  error?: string;
  files: ReviewFile[];
  /** The request that was bought, or would be; references to other steps as `{ $ref: address, field }`. */
  request: { [field: string]: Json };
  /** Top-level fields of the request in which it differs from others of its group. */
  differs: string[];
  /** Charged credits; null when unknown. Omitted when nothing was bought. */
  credits?: number | null;
  /** Expected cost when it was bought, or cost if it is bought now; null: not known. */
  estimated?: number | null;
  /** Where each top-level field of the request comes from: `campaign.yaml:14, name of products.csv:3`. */
  origins?: { [field: string]: string };
  /** Its state at the commit that the gallery was compared with; null: it was not there. */
  before?: ReviewEarlier | null;
  job?: string;
  /** Its address, where `address` is a name for a client. */
  step?: string;
  verdict?: { is: 'picked' | 'rejected'; note?: string; reason?: string; by?: string };
  /** A verdict can be given: it has an output, and a gate. */
  isJudged: boolean;
  /** Earlier purchases for it, newest first. */
  earlier: ReviewEarlier[];
  /** Addresses of the steps that it is made from, and that are made from it. */
  madeFrom: string[];
  usedBy: string[];
}

export interface ReviewEarlier {
  job?: string;
  credits?: number | null;
  /** Top-level fields of the request that have changed since. */
  changed: string[];
  request: { [field: string]: Json };
  /** Empty: none is on this disk any more. */
  files: ReviewFile[];
}

export interface ReviewFile {
  is: 'image' | 'audio' | 'video' | 'other';
  /** Path as recorded, relative to the folder of outputs. */
  path: string;
  mediaType: string;
  bytes: number;
  sha256: string;
  /** URL relative to the page. Omitted when there is a `problem`. */
  url?: string;
  /** A small JPEG, relative to the page; images only. Answers 404 with a reason where the picture cannot be read. */
  thumb?: string;
  /** A larger one of the same kind, for tiles that are larger than that. Omitted when the picture itself is small enough. */
  large?: string;
  /** Waveform of a sound, as `ground/wave.ts` writes it. Only in galleries: a page from disk cannot read its files. */
  wave?: string;
  problem?: 'missing' | 'damaged';
  /** Whether it has content credentials (C2PA). Only in galleries. */
  hasCredentials?: true;
  /** Its bytes are not at its path, but among what newer outputs have replaced. */
  isKept?: true;
}

/** A verdict that a person gave on the page. */
export interface WantedVerdict {
  address: string;
  is: 'picked' | 'rejected' | 'undecided';
  /** The job that was looked at: a verdict about anything else is refused. */
  job: string;
  /** Omitted to keep the current note or reason; empty to remove it. */
  note?: string;
  reason?: string;
  /** Who decided, as the host knows them. */
  by?: string;
}

/** Changes since an earlier revision. A page with another revision requests everything. */
export interface ReviewChange extends Pick<ReviewData, 'revision' | 'run' | 'next'> {
  /** The revision that this is laid over, or any between the two. */
  since: number;
  /** Those that are not as they were, whole. */
  assets: ReviewAsset[];
  groups: ReviewGroup[];
  /** Omitted when unchanged. */
  waits?: ReviewWait[];
}

/**
 * The answer to a batch. `recorded`: everything that could be is in the lock; `refused` says about which it could not, and why.
 * `held`: another run holds the lock; nothing was recorded, and the same batch can be sent again later.
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

/** Who has the campaign: a command of its own, or a run under way. */
export interface ReviewHost {
  /** The state as it is now. */
  look(): Promise<ReviewData>;
  /** Records a batch of verdicts. Rejects with a `CampaignError` when it cannot (a full disk, a lock that is damaged). */
  judge(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer>;
  /** Calls `listener` after every change, until the function that it returns is called. */
  watch(listener: () => void): () => void;
  /** Absolute path of the bytes of a file of `look()`, by its digest, checked to be plain and in its place; undefined: none. */
  find(file: ReviewFile): string | undefined | Promise<string | undefined>;
}
