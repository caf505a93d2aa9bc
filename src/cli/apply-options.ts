import type {
  applyOptions,
  planOptions,
  scopeOptions,
  selectionOptions,
  sharedOptions,
} from '../campaign/option-table.ts';
import type { Values } from '../campaign/options.ts';
import type { StateOptions } from './open.ts';

/** Which part of a campaign a plan is about, and what it may cost. */
export type ScopeOptions = StateOptions & Values<typeof selectionOptions & typeof scopeOptions>;

export type PlanCommandOptions = ScopeOptions & Values<typeof sharedOptions & typeof planOptions>;

/** As they were typed: nothing is filled in. */
export type ApplyOptions = PlanCommandOptions & Values<typeof applyOptions>;
