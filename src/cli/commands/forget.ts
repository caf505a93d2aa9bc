import * as decisions from '../../campaign/decisions/forget.ts';
import { type DecisionContext, type DecisionOptions, tellDecided, toDecideOptions } from '../decide.ts';
import { open } from '../open.ts';

export interface ForgetOptions extends DecisionOptions {
  select?: string[];
  orphans?: boolean;
  force?: boolean;
}

export async function forget(file: string, names: string[], context: DecisionContext<ForgetOptions>): Promise<number> {
  const { options, terminal } = context;
  const { select, orphans, force } = options;
  const campaign = await open(file, options, terminal);
  const decided = await decisions.forget(campaign, { names, select, orphans, force }, toDecideOptions(context));
  return tellDecided('forget', decided, context);
}
