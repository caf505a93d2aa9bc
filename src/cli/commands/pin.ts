import type { Decided } from '../../campaign/decide.ts';
import * as decisions from '../../campaign/decisions/pin.ts';
import { type DecisionContext, type DecisionOptions, tellDecided, toDecideOptions } from '../decide.ts';
import { open } from '../open.ts';

export interface PinOptions extends DecisionOptions {
  select?: string[];
}

type Context = DecisionContext<PinOptions>;

export async function pin(file: string, names: string[], context: Context): Promise<number> {
  return tellDecided('pin', await decideWith(decisions.pin, file, names, context), context);
}

export async function unpin(file: string, names: string[], context: Context): Promise<number> {
  return tellDecided('unpin', await decideWith(decisions.unpin, file, names, context), context);
}

async function decideWith(
  decision: typeof decisions.pin,
  file: string,
  names: string[],
  context: Context,
): Promise<Decided> {
  const { options, terminal } = context;
  const campaign = await open(file, options, terminal);
  return decision(campaign, { names, select: options.select }, toDecideOptions(context));
}
