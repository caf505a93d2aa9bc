import { SeenFiles } from '../../disk/seen-files.ts';
import { quietText } from '../../report/plan-text.ts';
import type { ApplyOptions, OpenCampaign } from '../apply-campaign.ts';
import { campaignPaths, knownService } from '../campaign-paths.ts';
import { readEnvironment, replaysOf } from '../environment.ts';
import { CommandError, exitCodes } from '../exit.ts';
import { digestOfGiven, holdNothingToDo } from '../nothing-to-do.ts';
import type { Terminal } from '../terminal.ts';
import { collectVars } from '../vars.ts';

/** Plan, ask, run, write the lock. What takes a campaign apart is large: it is loaded when there may be something to do. */
export async function apply(file: string, options: ApplyOptions, terminal: Terminal): Promise<number> {
  if (options.dryRun) return (await import('./plan.ts')).plan(file, options, terminal);
  if (options.events === '-' && options.json) {
    throw new CommandError(exitCodes.wrongUsage, '--json and --events - both want stdout', 'give --events a file');
  }
  const campaign = await openCampaign(file, options);
  const known = await holdNothingToDo(file, campaign);
  if (known !== undefined) {
    terminal.err(quietText(known, { style: terminal.style }));
    return exitCodes.done;
  }
  const { applyCampaign } = await import('../apply-campaign.ts');
  return applyCampaign(file, options, { campaign, terminal });
}

async function openCampaign(file: string, options: ApplyOptions): Promise<OpenCampaign> {
  const sandbox = options.sandbox === true;
  const paths = campaignPaths(file, options);
  const environment = sandbox ? {} : readEnvironment(process.env, process.cwd());
  const service = knownService(sandbox, environment);
  const replays = replaysOf(sandbox, environment);
  const seen = await SeenFiles.open(paths.state, paths.lock);
  const campaign = { sandbox, paths, environment, service, replays, seen };
  if (options.json || options.all || options.events !== undefined || options.redo !== undefined) {
    return { ...campaign, given: undefined };
  }
  // How a run goes on about its work changes nothing about what there is to do. What is not named here does.
  const { yes, lockTimeout, requestTimeout, patience, waitForBalance, pollInterval, ...planned } = options;
  const given = { file, paths, planned, vars: collectVars(options.var), service, replays };
  return { ...campaign, given: digestOfGiven(given) };
}
