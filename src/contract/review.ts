import type { Json } from '../ground/json.ts';
import type { ReportParts } from './report.ts';

/** Data of the review page. Later updates are `ReviewChange`. The page sends lists of `WantedVerdict`. */
export interface ReviewData {
  version: 2;
  revision: number;
  campaign: string;
  file: string;
  /** True if the page can send review decisions. If false, the page exports `picks.json` or shows a command. */
  canDecide: boolean;
  /** Commands to which the page appends step addresses. Omitted if the commands need only the path of the manifest. */
  commands?: {
    pick: string;
    /** Regenerates the takes of a gate whose takes were all rejected. */
    redo: string;
  };
  run?: { is: 'running' | 'waiting' | 'ended'; text: string };
  next?: { text: string; command: string };
  waits?: ReviewWait[];
  groups: ReviewGroup[];
  /** Groups refer to assets by their index in this list. */
  assets: ReviewAsset[];
  report?: ReportParts;
}

export interface ReviewWait {
  /** Names of the gates. The steps behind the gates start when all gates in the list are decided. */
  gates: string[];
  steps: number;
  /** Output of each waiting step: `film`, `picture` or `sound`. Omitted if the steps have different outputs. */
  what?: string | undefined;
  /** Maximum cost of the waiting steps in credits. `null` if unknown for any step. */
  credits: number | null;
  /** Expected cost of the waiting steps in credits. `null` if unknown for any step. */
  likely: number | null;
}

export interface ReviewGroup {
  /** Gate name such as `hero@lamp`, or what the addresses of the group's steps have in common. */
  name: string;
  task: string;
  key?: string;
  title?: string;
  gate?: ReviewGate;
  /** Dimensions in which the assets of the group differ: `take` or matrix axes. */
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
  /** Maximum cost of the steps that wait for the gate, in credits. `null` if unknown. */
  waitingCredits: number | null;
  /** Expected cost of the steps that wait for the gate, in credits. Set only if their maximum cost is unknown. */
  waitingLikely?: number;
}

export interface ReviewAsset {
  address: string;
  task: string;
  kind: string;
  key?: string;
  row?: string;
  matrix: { [axis: string]: string };
  take?: number;
  tags: string[];
  /** `changed`: the step's input has changed since its job was created. */
  state: 'done' | 'changed' | 'running' | 'failed' | 'unresolved' | 'planned';
  error?: string;
  files: ReviewFile[];
  /** Fields of the create request. Values from other steps are written as `{ $ref: address, field }`. */
  request: { [field: string]: Json };
  /** If the request names no model: the field name and a text that names the default model. */
  defaults: { [field: string]: string };
  /** Top-level request fields whose values differ within the group. */
  differs: string[];
  job?: string;
  /** Charge of the step's job in credits, `null` if unknown. Omitted without a job, and in a gallery for a client. */
  credits?: number | null;
  verdict?: { is: 'picked' | 'rejected'; note?: string; reason?: string; by?: string };
  isJudged: boolean;
  earlier: ReviewEarlier[];
  madeFrom: string[];
  usedBy: string[];
  report?: AssetReport;
}

interface AssetReport {
  /** Expected cost in credits before the run, `null` if unknown. Omitted if the step shares another step's job. */
  estimated?: number | null;
  /** Where the value of each request field was written, for example `campaign.yaml:14, name of products.csv:3`. */
  origins?: { [field: string]: string };
  /** The step in the commit to which the gallery compares. `null` if that commit does not contain the step. */
  before?: ReviewEarlier | null;
  /** Set in a gallery for a client: the step's address. `address` is then a label for the client. */
  step?: string;
}

export interface ReviewEarlier {
  job?: string;
  credits?: number | null;
  changed: string[];
  request: { [field: string]: Json };
  files: ReviewFile[];
}

export interface ReviewFile {
  is: 'image' | 'audio' | 'video' | 'other';
  path: string;
  mediaType: string;
  bytes: number;
  sha256: string;
  /** Relative to the page. Omitted if `problem` is set. */
  url?: string;
  thumb?: string;
  /** URL of a smaller JPEG for the large view. Omitted if the picture itself is small enough. */
  large?: string;
  /** Waveform (`ground/wave.ts`). Set in galleries, because a page opened from disk cannot read audio files. */
  wave?: string;
  /** Integrated loudness in LUFS. Set if `wave` is set. */
  lufs?: number;
  problem?: 'missing' | 'damaged';
  /** True if the file contains content credentials (C2PA). Set in galleries only. */
  hasCredentials?: true;
  isKept?: true;
}

export interface WantedVerdict {
  address: string;
  is: 'picked' | 'rejected' | 'undecided';
  /** Job that the user reviewed. The server refuses the decision if the step now has another job. */
  job: string;
  /** If omitted, the note stays unchanged. An empty text removes the note. */
  note?: string;
  reason?: string;
  by?: string;
}

/** Changes of the page's data. A page whose revision is older than `since` requests all data instead. */
export interface ReviewChange extends Pick<ReviewData, 'revision' | 'run' | 'next'> {
  /** Oldest revision to which the page can apply this change. */
  since: number;
  assets: ReviewAsset[];
  groups: ReviewGroup[];
  waits?: ReviewWait[];
}

/** `recorded`: the lock contains all decisions except `refused`. `held`: another run has locked the campaign. */
export type JudgeAnswer =
  | {
      is: 'recorded';
      revision: number;
      refused: { address: string; text: string; hint?: string }[];
      change?: ReviewChange;
    }
  | { is: 'held'; text: string };

export interface ReviewHost {
  read(): Promise<ReviewData>;
  /** Rejects with a `CampaignError` if no decision can be recorded. */
  judge(verdicts: readonly WantedVerdict[]): Promise<JudgeAnswer>;
  watch(listener: () => void): () => void;
  find(file: ReviewFile): string | undefined | Promise<string | undefined>;
}
