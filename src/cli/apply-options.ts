import type { NotifyReason } from '../contract/notifier.ts';
import type { StateOptions } from './open.ts';

export interface PlanCommandOptions extends StateOptions {
  maxCredits?: number | undefined;
  concurrency?: number | undefined;
  redo?: string[] | undefined;
  /** The service of the lock has a new address. */
  serviceMoved?: boolean | undefined;
  /** A lock of its own begins here, whatever looks as if it were lost. */
  new?: boolean | undefined;
  json?: boolean | undefined;
  all?: boolean | undefined;
  format?: 'text' | 'json' | 'markdown' | undefined;
  detailedExitcode?: boolean | undefined;
  select?: string[] | undefined;
  exclude?: string[] | undefined;
  first?: number | undefined;
  sample?: number | undefined;
  seed?: string | undefined;
  /** Ask the service for its OpenAPI document. */
  refresh?: boolean | undefined;
  strict?: boolean | undefined;
  /** A commit: what differs from it, instead of the plan. */
  compare?: string | undefined;
  /** With `compare`, for a comment: the address of a picture. */
  images?: string | undefined;
  /** Where the plan is saved, to be applied later. */
  out?: string | undefined;
}

export interface ApplyOptions extends PlanCommandOptions {
  dryRun?: boolean;
  /** Refused. */
  watch?: boolean;
  yes?: boolean;
  /** Posts may go public. */
  publish?: boolean;
  events?: string;
  /** Only what went wrong, and how the run ended. */
  quiet?: boolean;
  /** A line for each event. */
  verbose?: boolean;
  /** Ring the bell of the terminal when people are wanted. */
  bell?: boolean;
  /** People look at what arrives, and decide at gates, on a page that the run serves. */
  review?: boolean;
  /** With `review`: whether its page is opened. */
  open?: boolean;
  /** With `review`: where its page is served; 0: anywhere. */
  port?: number;
  lockTimeout: number;
  requestTimeout?: number;
  patience?: number;
  /** In ms. */
  waitForBalance?: number;
  onUnknown: 'ask' | 'hold';
  onError: 'wait' | 'continue' | 'finish';
  pollInterval: 'auto' | number;
  /** What the address of notifications is told of. Absent: everything. */
  notify?: NotifyReason[];
  /** Names of steps and gates are told, too. */
  notifyDetails?: boolean;
  /** Credits of the account in a rehearsal. Absent: enough. */
  sandboxCredits?: number;
  sandboxSpeed?: number;
  sandboxFailRate?: number;
  /** Address of the engine whose workers carry the plan out, or `embedded`. */
  engine?: string;
  /** With an engine: where its workers put files. */
  store?: string;
  /** With the embedded engine: how many workers run beside this process. */
  workers?: number;
}
