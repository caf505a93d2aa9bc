import * as decisions from '../../campaign/decisions/adopt.ts';
import type { Ruling } from '../../plan/ruling.ts';
import { countOf } from '../../report/numbers.ts';
import { rulingsText } from '../../report/plan/rulings-text.ts';
import { safeText } from '../../report/safe-text.ts';
import { candidatesText } from '../../report/tables/candidates-text.ts';
import { askPerson } from '../ask-person.ts';
import { type DecisionContext, type DecisionOptions, tellDecided, toDecideOptions } from '../decide.ts';
import { open } from '../open.ts';

export interface AdoptOptions extends DecisionOptions {
  job?: string[];
}

export async function adopt(file: string, context: DecisionContext<AdoptOptions>): Promise<number> {
  const { options, terminal } = context;
  const { style, paste } = terminal;
  const campaign = await open(file, options, terminal);
  const onLooked = ({ open: left, steps, jobs }: decisions.LookedAt) => {
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
  const decided = await decisions.adopt(
    campaign,
    { jobs: options.job, onLooked },
    { ...toDecideOptions(context), confirm },
  );
  return tellDecided('adopt', decided, context);
}
