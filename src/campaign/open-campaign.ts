import type { Tell } from '../contract/notice.ts';
import { StatCache } from '../disk/outputs/stat-cache.ts';
import { KeptMeasures } from '../disk/state/kept-measures.ts';
import { accountDigest, type Environment, replaysOf, withHiddenKey } from './environment.ts';
import { type CampaignPaths, campaignPaths, knownService } from './paths.ts';
import type { ReadDocuments } from './service-facts.ts';

/** Whose outputs, against which service: what is known of a campaign before any of it is read. */
export interface OpenCampaign {
  /** Manifest path as given by the user. */
  file: string;
  sandbox: boolean;
  paths: CampaignPaths;
  environment: Environment;
  /** Values for the variables that the manifest declares. */
  vars: Record<string, string>;
  /** Paths of files with such values, relative to the working folder. A later one counts before an earlier, `vars` before all. */
  varFiles: readonly string[];
  /** Digest of the service's address, where it is known. */
  service: string | undefined;
  /** The same of the service that a rehearsal stands for: what is kept of its answers counts. */
  rehearsed: string | undefined;
  replays: 'yes' | 'no' | 'unknown';
  /** Digest of a send's id and the credential at hand; undefined where there is none. */
  accountOf(send: string): string | undefined;
  seen: StatCache;
  measures: KeptMeasures;
  /** Documents that it has read, kept as long as it is open, and by it alone. */
  documents: ReadDocuments;
  /** Unlisted fields are errors instead of warnings. */
  strict: boolean;
  /** Shows a notice to the user. */
  tell: Tell;
  /** Receives the size of the campaign as soon as it is known: first its texts, then its steps. */
  onSize(known: { characters: number } | { steps: number }): void;
}

export interface OpenOptions {
  /** Against the embedded service, with a lock and a folder of its own. */
  sandbox?: boolean | undefined;
  /** Path of the lock. Defaults to the manifest's folder. */
  lock?: string | undefined;
  vars?: Record<string, string> | undefined;
  /** Files with values for declared variables, in YAML or JSON; of two the later one counts, `vars` before all. */
  varFiles?: readonly string[] | undefined;
  /** Fields of requests that neither this version nor the service lists are mistakes, and not only warned of. */
  strict?: boolean | undefined;
  /** Address and key of the service; ignored with `sandbox`. Defaults to none. */
  environment?: Environment | undefined;
  tell?: Tell | undefined;
  onSize?: OpenCampaign['onSize'] | undefined;
}

/** Reads nothing of the campaign but what earlier runs noted about its outputs. */
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
    documents: {},
    tell,
    onSize,
  };
}
