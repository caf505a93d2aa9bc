import { createHash } from 'node:crypto';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { sameAddress } from '../ground/same-address.ts';

export interface CampaignPaths {
  manifest: string;
  folder: string;
  lock: string;
  isLockNamed: boolean;
  outputs: string;
  /** Folder for files that do not belong in git (`.mediabatch`). */
  state: string;
  kept: string;
  runs: string;
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

export function shownPath(path: string): string {
  return relative('', path) || path;
}

/** All embedded sandboxes count as one service, whatever their ports are. */
export const sandboxService = 'sandbox';

/** Digest of the service's URL, so that the lock does not reveal the URL. All spellings of a URL give one digest. */
export function knownService(sandbox: boolean, { baseUrl }: { baseUrl?: string }): string | undefined {
  if (sandbox) return sandboxService;
  const address = baseUrl === undefined ? undefined : sameAddress(baseUrl);
  if (address === undefined) return undefined;
  return createHash('sha256').update(address).digest('hex').slice(0, 16);
}
