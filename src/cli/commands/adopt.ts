import * as adopting from '../../campaign/decisions/adopt.ts';
import * as importing from '../../campaign/decisions/import.ts';
import type { Ruling } from '../../plan/decisions/ruling.ts';
import { countOf } from '../../report/numbers.ts';
import { candidatesText, rulingsText } from '../../report/plan/rulings-text.ts';
import { safeText } from '../../report/safe-text.ts';
import { askPerson } from '../ask-person.ts';
import { open } from '../open.ts';
import { type DecisionContext, type DecisionOptions, tellDecided, toDecideOptions } from './decisions.ts';

export interface AdoptOptions extends DecisionOptions {
  job?: string[];
}

export async function adopt(file: string, context: DecisionContext<AdoptOptions>): Promise<number> {
  const { options, terminal } = context;
  const { style, paste } = terminal;
  const campaign = await open(file, options, terminal);
  const onLooked = ({ open: left, steps, jobs }: adopting.LookedAt) => {
    if (left.length > 0) terminal.err(candidatesText(left, { style, paste }));
    const looked = `${countOf(steps, 'step')} that could be adopted for, ${countOf(jobs, 'job')} that no lock knows`;
    terminal.err(`${style.dim(safeText(looked))}\n`);
  };
  const confirm = (rulings: readonly Ruling[]) => {
    // What is asked about is shown before.
    if (options.yes !== true) terminal.err(rulingsText(rulings, { command: 'adopt', stage: 'asked', style }));
    const jobs = rulings.filter(({ is }) => is === 'recorded').length;
    return askPerson(`Adopt ${countOf(jobs, 'job')}?`, { yes: options.yes, terminal });
  };
  const decided = await adopting.adopt(
    campaign,
    { jobs: options.job, onLooked },
    { ...toDecideOptions(context), confirm },
  );
  return tellDecided('adopt', decided, context);
}

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
  const decided = await importing.importStep(campaign, { address, job, credits, offline }, toDecideOptions(context));
  return tellDecided('import', decided, context);
}
