import type { Tell } from '../contract/notice.ts';
import { StatCache } from '../disk/outputs/stat-cache.ts';
import { KeptMeasures } from '../disk/state/caches.ts';
import { accountDigest, type Environment, replaysOf, withHiddenKey } from './environment.ts';
import { type CampaignPaths, campaignPaths, knownService } from './paths.ts';

/** A campaign whose files are not read yet: its paths, options and service. */
export interface OpenCampaign {
  file: string;
  /** Whether to use the embedded service, with its own lock and output folder. */
  sandbox: boolean;
  paths: CampaignPaths;
  environment: Environment;
  /** Values for variables that the manifest declares. */
  vars: Record<string, string>;
  /**
   * Paths of files with such values, relative to the working folder. A later file overrides an earlier one, and
   * `vars` overrides all files.
   */
  varFiles: readonly string[];
  /** Digest of the service's address, if it is known. */
  service: string | undefined;
  /** Digest of the address of the service that a rehearsal stands for. Stored answers of that service are used. */
  rehearsed: string | undefined;
  replays: 'yes' | 'no' | 'unknown';
  /** Digest of a send's id and the current credential; undefined without a credential. */
  accountOf(send: string): string | undefined;
  seen: StatCache;
  measures: KeptMeasures;
  /** Whether request fields that neither this version nor the service lists are errors instead of warnings. */
  strict: boolean;
  tell: Tell;
  /** Called when the size of the campaign is known: first the length of its texts, then the number of its steps. */
  onSize(known: { characters: number } | { steps: number }): void;
}

type Given = 'sandbox' | 'vars' | 'varFiles' | 'strict' | 'environment' | 'tell' | 'onSize';

/** Without `environment` there is neither address nor key of the service; `sandbox` ignores both. */
export type OpenOptions = { [Name in Given]?: OpenCampaign[Name] | undefined } & {
  /** Path of the lock. Defaults to the manifest's folder. */
  lock?: string | undefined;
};

export async function openCampaign(file: string, options: OpenOptions = {}): Promise<OpenCampaign> {
  const { sandbox = false, lock, vars = {}, varFiles = [], tell = () => {}, onSize = () => {} } = options;
  const paths = campaignPaths(file, { sandbox, lock });
  const environment = sandbox ? {} : withHiddenKey(options.environment ?? {});
  return {
    file,
    sandbox,
    paths,
    environment,
    vars,
    varFiles,
    service: knownService(sandbox, environment),
    rehearsed: sandbox ? knownService(false, options.environment ?? {}) : undefined,
    // A key command runs only for commands that need the service.
    get replays() {
      return replaysOf(sandbox, environment);
    },
    accountOf: (send) => accountDigest(send, sandbox, environment),
    strict: options.strict === true,
    seen: await StatCache.open(paths.state, paths.lock),
    measures: new KeptMeasures(paths.state),
    tell,
    onSize,
  };
}
