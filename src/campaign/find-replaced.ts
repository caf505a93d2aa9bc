import type { KeptFiles } from '../disk/outputs/kept-files.ts';
import type { Lock } from '../lock/record.ts';
import type { Leftovers } from './find-leftovers.ts';
import { chargeOf, findPaidOutputs } from './paid-outputs.ts';

/** Time after which nobody is still writing a file. */
const brokenAfterMs = 3_600_000;

/**
 * Files that newer outputs replaced: those that this lock names, and those that no lock here names. What another
 * campaign of the folder keeps is its own. `olderThanMs`: only those kept longer ago.
 */
export async function findReplaced(
  files: KeptFiles,
  facts: { lock: Lock; others: readonly Lock[]; now: number; olderThanMs?: number | undefined },
): Promise<Leftovers> {
  const { lock, others, now, olderThanMs = 0 } = facts;
  const paid = findPaidOutputs(lock);
  const elsewhere = new Set(others.flatMap((other) => [...findPaidOutputs(other).keys()]));
  const found: Leftovers = { files: [], kept: [] };
  for (const entry of await files.list()) {
    const { name: path, is, sha256, bytes, sinceMs } = entry;
    if (is === 'partial') {
      if (now - sinceMs > brokenAfterMs) found.files.push({ path, bytes, is: 'partial' });
      continue;
    }
    const bought = sha256 === undefined ? undefined : paid.get(sha256);
    if (sha256 !== undefined && bought === undefined && elsewhere.has(sha256)) continue;
    if (now - sinceMs < olderThanMs) continue;
    if (sha256 === undefined || (await files.find({ path, sha256, bytes })) === undefined) {
      const why = sha256 === undefined ? 'it is nothing that mediabatch keeps' : 'it was changed after it was kept';
      found.kept.push({ path, why });
      continue;
    }
    const of = bought === undefined ? {} : { address: bought.address, was: bought.path };
    const since = new Date(sinceMs).toISOString();
    found.files.push({ path, bytes, is: 'kept', ...of, ...chargeOf(bought), since, digests: new Set([sha256]) });
  }
  return found;
}
