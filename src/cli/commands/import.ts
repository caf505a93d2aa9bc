import * as decisions from '../../campaign/decisions/import.ts';
import { type DecisionContext, type DecisionOptions, tellDecided, toDecideOptions } from '../decide.ts';
import { open } from '../open.ts';

export interface ImportOptions extends DecisionOptions {
  credits?: number;
  offline?: boolean;
}

export async function importStep(
  file: string,
  { address, job }: { address: string; job: string },
  context: DecisionContext<ImportOptions>,
): Promise<number> {
  const { options, terminal } = context;
  const { credits, offline } = options;
  const campaign = await open(file, options, terminal);
  const decided = await decisions.importStep(campaign, { address, job, credits, offline }, toDecideOptions(context));
  return tellDecided('import', decided, context);
}
