import { createHash } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
import { sameAddress } from '../ground/same-address.ts';

export interface CampaignPaths {
  /** Path as given by the user, shown in messages. */
  manifest: string;
  folder: string;
  lock: string;
  /** Whether the user named the lock; otherwise it has the name of the manifest. */
  isLockNamed: boolean;
  /** Output paths are relative to this. */
  outputs: string;
  /** Our own files that do not belong into git. */
  state: string;
  /** Name of the folder below `state` for paid files that newer ones have replaced. The sandbox has its own. */
  kept: string;
  /** The same for what earlier runs did. */
  runs: string;
  /** The same for how long jobs took, as a file. */
  durations: string;
}

export function campaignPaths(
  file: string,
  options: { sandbox?: boolean | undefined; lock?: string | undefined },
): CampaignPaths {
  const folder = dirname(resolve(file));
  const name = basename(file).replace(/\.(ya?ml|json)$/i, '');
  const lockName = options.sandbox ? `${name}.sandbox.lock.jsonl` : `${name}.lock.jsonl`;
  return {
    manifest: file,
    folder,
    lock: options.lock === undefined ? join(folder, lockName) : resolve(options.lock),
    isLockNamed: options.lock !== undefined,
    outputs: options.sandbox ? join(folder, `${name}.sandbox`) : folder,
    state: join(folder, '.mediabatch'),
    kept: options.sandbox ? 'sandbox-kept' : 'kept',
    runs: options.sandbox ? 'sandbox-runs' : 'runs',
    durations: options.sandbox ? 'sandbox-durations.json' : 'durations.json',
  };
}

/** Every embedded sandbox is the same service, whatever port it listens on. */
export const sandboxService = 'sandbox';

/**
 * Says of two runs whether they talk to the same service, without putting its address into git; undefined when nobody
 * knows where the service is. Two spellings of one address are one: the case of its host, a port that goes without saying, a
 * dot or slashes at the end. Two names of one machine are two: what listens behind them may differ.
 */
export function knownService(sandbox: boolean, { baseUrl }: { baseUrl?: string }): string | undefined {
  if (sandbox) return sandboxService;
  const address = baseUrl === undefined ? undefined : sameAddress(baseUrl);
  if (address === undefined) return undefined;
  return createHash('sha256').update(address).digest('hex').slice(0, 16);
}
