import type { KeptFiles } from '../disk/outputs/kept-files.ts';
import { lookAtOutput } from '../disk/outputs/look-at-output.ts';
import type { Lock } from '../lock/record.ts';
import type { Match } from '../plan/situation/find-purchases.ts';
import type { Situation } from '../plan/situation/situation.ts';
import {
  addOutput,
  brokenAfterMs,
  chargeOf,
  findPaidOutputs,
  type LeftoverFacts,
  type Leftovers,
  pathsOfOthers,
  samePath,
} from './find-leftovers.ts';

/**
 * Finds files that newer outputs replaced: those that this lock names, and those that no lock here names. A file that
 * another campaign of the folder keeps is not included. `wanted`: digests of the files that stay.
 */
export async function findReplaced(
  files: KeptFiles,
  facts: {
    lock: Lock;
    others: readonly Lock[];
    wanted: ReadonlySet<string>;
    now: number;
  },
): Promise<Leftovers> {
  const { lock, others, wanted, now } = facts;
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
    if (sha256 === undefined || (await files.find({ path, sha256, bytes })) === undefined) {
      const why = sha256 === undefined ? 'it is nothing that mediabatch keeps' : 'it was changed after it was kept';
      found.kept.push({ path, why });
      continue;
    }
    if (wanted.has(sha256)) {
      found.kept.push({ path, why: 'the next apply takes it back' });
      continue;
    }
    const of = bought === undefined ? {} : { address: bought.address, was: bought.path };
    const since = new Date(sinceMs).toISOString();
    found.files.push({ path, bytes, is: 'kept', ...of, ...chargeOf(bought), since, digests: new Set([sha256]) });
  }
  return found;
}

/**
 * Digests of current outputs of the manifest's steps that are missing at their paths, because a plan would restore
 * them from the replaced files.
 */
export async function findWanted({ matches }: Situation, root: string): Promise<Set<string>> {
  const wanted = new Set<string>();
  for (const { step, purchase } of matches) {
    for (const output of (step.unpicked === true ? undefined : purchase?.outputs) ?? []) {
      if ((await lookAtOutput(root, output)).is !== 'intact') wanted.add(output.sha256);
    }
  }
  return wanted;
}

/**
 * Finds local files of outputs that people rejected, or that were not picked at a decided gate. Excludes files that
 * another step, another campaign or an upload has at the same path, and files that `findLeftovers` would keep.
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
