import { createHash } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';

/** Where everything of a campaign lies. */
export interface CampaignPaths {
  /** As the person gave it: what messages show. */
  manifest: string;
  folder: string;
  lock: string;
  /** Output paths are relative to this. */
  outputs: string;
  /** Our own files that do not belong into git. */
  state: string;
}

export function campaignPaths(file: string, options: { sandbox?: boolean; lock?: string }): CampaignPaths {
  const folder = dirname(resolve(file));
  const name = basename(file).replace(/\.(ya?ml|json)$/i, '');
  const lockName = options.sandbox ? `${name}.sandbox.lock.jsonl` : `${name}.lock.jsonl`;
  return {
    manifest: file,
    folder,
    lock: options.lock === undefined ? join(folder, lockName) : resolve(options.lock),
    outputs: options.sandbox ? join(folder, `${name}.sandbox`) : folder,
    state: join(folder, '.mediabatch'),
  };
}

/**
 * Says of two runs whether they talk to the same service, without putting its address into git; undefined when nobody
 * knows where the service is. Every embedded sandbox is the same service, whatever port it listens on.
 */
export function knownService(sandbox: boolean, { baseUrl }: { baseUrl?: string }): string | undefined {
  if (sandbox) return 'sandbox';
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return undefined;
  const address = new URL(baseUrl).href.replace(/\/+$/, '');
  return createHash('sha256').update(address).digest('hex').slice(0, 16);
}
