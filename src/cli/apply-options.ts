import type { PlanCommandOptions } from './commands/plan.ts';

export interface ApplyOptions extends PlanCommandOptions {
  dryRun?: boolean;
  yes?: boolean;
  events?: string;
  lockTimeout: number;
  requestTimeout?: number;
  patience?: number;
  /** In ms. */
  waitForBalance?: number;
  onUnknown: 'ask' | 'hold';
  onError: 'continue' | 'finish';
  pollInterval: 'auto' | number;
}
