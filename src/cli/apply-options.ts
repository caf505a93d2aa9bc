export interface PlanCommandOptions {
  sandbox?: boolean;
  maxCredits?: number;
  concurrency?: number;
  redo?: string[];
  lock?: string;
  /** The service of the lock has a new address. */
  serviceMoved?: boolean;
  json?: boolean;
  all?: boolean;
  var?: Record<string, string>;
  format?: 'text' | 'json' | 'markdown';
  detailedExitcode?: boolean;
  select?: string[];
  exclude?: string[];
  /** Ask the service for its OpenAPI document. */
  refresh?: boolean;
  /** Where the plan is saved, to be applied later. */
  out?: string;
}

export interface ApplyOptions extends PlanCommandOptions {
  dryRun?: boolean;
  yes?: boolean;
  /** Posts may go public. */
  publish?: boolean;
  events?: string;
  lockTimeout: number;
  requestTimeout?: number;
  patience?: number;
  /** In ms. */
  waitForBalance?: number;
  onUnknown: 'ask' | 'hold';
  onError: 'continue' | 'finish';
  pollInterval: 'auto' | number;
  /** What the account of a rehearsal has. Absent: enough. */
  sandboxCredits?: number;
  sandboxSpeed?: number;
  sandboxFailRate?: number;
}
