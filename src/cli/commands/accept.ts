import * as decisions from '../../campaign/decisions/accept.ts';
import { type DecisionContext, type DecisionOptions, tellDecided, toDecideOptions } from '../decide.ts';
import { open } from '../open.ts';

export interface AcceptOptions extends DecisionOptions {
  select?: string[];
}

export async function accept(file: string, names: string[], context: DecisionContext<AcceptOptions>): Promise<number> {
  const { options, terminal } = context;
  const campaign = await open(file, options, terminal);
  const decided = await decisions.accept(campaign, { names, select: options.select }, toDecideOptions(context));
  return tellDecided('accept', decided, context);
}
