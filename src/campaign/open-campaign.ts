import { StatCache } from '../disk/outputs/stat-cache.ts';
import { accountDigest, type Environment, readEnvironment, replaysOf } from './environment.ts';
import { type CampaignPaths, campaignPaths, knownService } from './paths.ts';

/** Whose outputs, against which service: what is known of a campaign before any of it is read. */
export interface OpenCampaign {
  sandbox: boolean;
  paths: CampaignPaths;
  environment: Environment;
  /** Digest of the service's address, where it is known. */
  service: string | undefined;
  replays: 'yes' | 'no' | 'unknown';
  /** Digest of a send's id and the credential at hand; undefined where there is none. */
  accountOf(send: string): string | undefined;
  seen: StatCache;
}

export async function openCampaign(file: string, options: { sandbox?: boolean; lock?: string }): Promise<OpenCampaign> {
  const sandbox = options.sandbox === true;
  const paths = campaignPaths(file, options);
  const environment = sandbox ? {} : readEnvironment(process.env, process.cwd());
  const service = knownService(sandbox, environment);
  const replays = replaysOf(sandbox, environment);
  const seen = await StatCache.open(paths.state, paths.lock);
  const accountOf = (send: string) => accountDigest(send, sandbox, environment);
  return { sandbox, paths, environment, service, replays, accountOf, seen };
}
