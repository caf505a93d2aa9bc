import { hash } from 'node:crypto';
import { type Graph, needFinder, type Step } from '../graph/graph.ts';
import { groupBy } from '../ground/values.ts';

/** How many rows of each task that fans out a trial is about, and which. */
export type Sample = { is: 'first'; count: number } | { is: 'drawn'; count: number; seed: string };

/**
 * Narrows a campaign to a trial. Of a task that fans out, whole rows stay, with all their cells and takes: the first
 * ones, or those with the smallest digests of their keys, which are the same on every machine, and for every task of
 * these keys. What they need stays; of the other steps those whose every need does. `chosen`: the steps that it may be
 * about at all. `undefined`: no task fans out.
 */
export function sampleSteps(
  { steps, gates }: Pick<Graph, 'steps' | 'gates'>,
  sample: Sample,
  chosen?: ReadonlySet<string>,
): Set<string> | undefined {
  const known = chosen === undefined ? steps : steps.filter(({ address }) => chosen.has(address));
  const kept = new Set<string>();
  const single: Step[] = [];
  let isFannedOut = false;
  for (const ofTask of groupBy(known, ({ task }) => task).values()) {
    const rows = groupBy(ofTask, rowOf);
    if (rows.size === 1) {
      single.push(...ofTask);
      continue;
    }
    isFannedOut = true;
    for (const row of pick([...rows.keys()], sample)) for (const { address } of rows.get(row) ?? []) kept.add(address);
  }
  if (!isFannedOut) return undefined;
  const stepsOf = needFinder(gates);
  // Needs stand before their users, so one pass each way is enough.
  const followed = new Set<string>();
  for (const { address, needs } of known.toReversed()) {
    if (!kept.has(address)) continue;
    for (const need of needs) {
      if (followed.has(need)) continue;
      followed.add(need);
      for (const one of stepsOf(need)) kept.add(one);
    }
  }
  const alone = new Set(single.map(({ address }) => address));
  for (const { address, needs } of known) {
    if (alone.has(address) && needs.every((need) => stepsOf(need).every((one) => kept.has(one)))) kept.add(address);
  }
  return new Set(known.filter(({ address }) => kept.has(address)).map(({ address }) => address));
}

/** The key of its row; without one the values of its matrix. Takes belong together. */
function rowOf({ key, matrix }: Step): string {
  return key ?? JSON.stringify(matrix);
}

function pick(rows: readonly string[], sample: Sample): readonly string[] {
  if (sample.is === 'first') return rows.slice(0, sample.count);
  return rows
    .map((row) => ({ row, digest: hash('sha256', `${sample.seed}\n${row}`) }))
    .sort((a, b) => (a.digest < b.digest ? -1 : 1))
    .slice(0, sample.count)
    .map(({ row }) => row);
}
