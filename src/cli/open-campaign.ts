import { SeenFiles } from '../disk/seen-files.ts';
import { type CampaignPaths, campaignPaths, knownService } from './campaign-paths.ts';
import type { PlanCommandOptions } from './commands/plan.ts';
import { type Environment, readEnvironment, replaysOf } from './environment.ts';
import { digestOfGiven } from './nothing-to-do.ts';
import { collectVars } from './vars.ts';

export interface ApplyOptions extends PlanCommandOptions {
  dryRun?: boolean;
  yes?: boolean;
  events?: string;
  lockTimeout: number;
  requestTimeout?: number;
  patience?: number;
  /** In ms. */
  waitForBalance?: number;
  onUnknown: 'ask' | 'hold';
  pollInterval: 'auto' | number;
}

/** Whose outputs, against which service. */
export interface OpenCampaign {
  sandbox: boolean;
  paths: CampaignPaths;
  environment: Environment;
  /** Digest of the service's address, where it is known. */
  service: string | undefined;
  replays: 'yes' | 'no' | 'unknown';
  seen: SeenFiles;
  /** Digest of all that a plan depends on beside files; absent when more is wanted than to be told that nothing is to do. */
  given: string | undefined;
}

/** What is known of a campaign before any of it is read. */
export async function openCampaign(file: string, options: ApplyOptions): Promise<OpenCampaign> {
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
