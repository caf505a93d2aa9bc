import * as decisions from '../../campaign/decisions/move.ts';
import { type DecisionContext, tellDecided, toDecideOptions } from '../decide.ts';
import { open } from '../open.ts';

export async function move(
  file: string,
  addresses: { from: string; to: string },
  context: DecisionContext,
): Promise<number> {
  const campaign = await open(file, context.options, context.terminal);
  return tellDecided('move', await decisions.move(campaign, addresses, toDecideOptions(context)), context);
}
