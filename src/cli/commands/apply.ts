import { quietText } from '../../report/plan-text.ts';
import type { ApplyOptions } from '../apply-options.ts';
import { CommandError, exitCodes } from '../exit.ts';
import { digestOfGiven, holdNothingToDo } from '../nothing-to-do.ts';
import { openCampaign } from '../open-campaign.ts';
import type { Terminal } from '../terminal.ts';

/** Plan, ask, run, write the lock. What takes a campaign apart is large: it is loaded when there may be something to do. */
export async function apply(file: string, options: ApplyOptions, terminal: Terminal): Promise<number> {
  if (options.dryRun) return (await import('./plan.ts')).plan(file, options, terminal);
  if (options.events === '-' && options.json) {
    throw new CommandError(exitCodes.wrongUsage, '--json and --events - both want stdout', 'give --events a file');
  }
  const campaign = await openCampaign(file, options);
  const given = digestOfGiven(file, options, campaign);
  const known = await holdNothingToDo(file, { ...campaign, given });
  if (known !== undefined) {
    terminal.err(quietText(known, { style: terminal.style }));
    return exitCodes.done;
  }
  const { applyCampaign } = await import('../apply-campaign.ts');
  return applyCampaign(file, options, { campaign, given, terminal });
}
