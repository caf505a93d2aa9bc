import type { Match } from '../plan/find-purchases.ts';
import { addOutput, type LeftoverFacts, type Leftovers, pathsOfOthers, samePath } from './find-leftovers.ts';

/**
 * Local files of outputs that people rejected, or that lost at a gate that is decided. What another step, another campaign,
 * or an upload has at the same path stays, and so does all that `findLeftovers` would leave alone.
 */
export async function findUnpicked(
  root: string,
  { situation, others, saved }: Omit<LeftoverFacts, 'now'>,
): Promise<Leftovers> {
  const { matches } = situation;
  const owned = new Set([...pathsOfOthers(others), ...matches.flatMap(pathsInUse)]);
  const found: Leftovers = { files: [], kept: [] };
  for (const { step, purchase } of matches) {
    if (step.unpicked !== true) continue;
    for (const { path, sha256, edited } of purchase?.outputs ?? []) {
      if (owned.has(samePath(path))) continue;
      const digests = new Set(edited === true ? [] : [sha256]);
      const { address } = step;
      await addOutput(found, path, { root, address, digests, saved, paidOf: () => purchase });
    }
  }
  return found;
}

function pathsInUse({ step, purchase }: Match): string[] {
  const outputs = step.unpicked === true ? [] : (purchase?.outputs ?? []);
  const sent = step.file === undefined ? [] : [step.file];
  return [...outputs, ...sent].map(({ path }) => samePath(path));
}
