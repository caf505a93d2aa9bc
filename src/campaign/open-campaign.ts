import type { Notify } from '../contract/notice.ts';
import { StatCache } from '../disk/outputs/stat-cache.ts';
import { KeptMeasures } from '../disk/state/caches.ts';
import { accountDigest, type Environment, replaysOf, withHiddenKey } from './environment.ts';
import { type CampaignPaths, campaignPaths, knownService } from './paths.ts';

/** Paths, options and service of a campaign whose files are not read yet. */
export interface OpenCampaign {
  file: string;
  /** True to use the embedded sandbox with a separate lock and output folder. */
  sandbox: boolean;
  paths: CampaignPaths;
  environment: Environment;
  /** Values of the manifest's variables. */
  vars: Record<string, string>;
  /** Variable files, relative to the working directory. Later files override earlier ones. `vars` overrides all. */
  varFiles: readonly string[];
  /** Digest of the service's URL. Undefined if the URL is unknown. */
  service: string | undefined;
  /** Digest of the URL of the service that a sandbox run simulates. The run uses the stored answers of this service. */
  rehearsed: string | undefined;
  replays: 'yes' | 'no' | 'unknown';
  /** Returns a digest of the account, salted with `send` (ID of a create request). Undefined without an API key. */
  accountOf(send: string): string | undefined;
  seen: StatCache;
  measures: KeptMeasures;
  /** True if a request field that neither this version nor the service knows is an error, not a warning. */
  strict: boolean;
  notify: Notify;
  /** Reports the size of the campaign: first the length of the manifest's texts, later the number of steps. */
  onSize(known: { characters: number } | { steps: number }): void;
}

type Given = 'sandbox' | 'vars' | 'varFiles' | 'strict' | 'environment' | 'notify' | 'onSize';

/** Without `environment`, the campaign has no service, unless `sandbox` is set. */
export type OpenOptions = { [Name in Given]?: OpenCampaign[Name] | undefined } & {
  /** Path of the lock. Defaults to a file next to the manifest. */
  lock?: string | undefined;
};

export async function openCampaign(file: string, options: OpenOptions = {}): Promise<OpenCampaign> {
  const { sandbox = false, lock, vars = {}, varFiles = [], notify = () => {}, onSize = () => {} } = options;
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
    // The key command (MEDIABATCH_API_KEY_COMMAND) is executed only by commands that need the service.
    get replays() {
      return replaysOf(sandbox, environment);
    },
    accountOf: (send) => accountDigest(send, sandbox, environment),
    strict: options.strict === true,
    seen: await StatCache.open(paths.state, paths.lock),
    measures: new KeptMeasures(paths.state),
    notify,
    onSize,
  };
}
