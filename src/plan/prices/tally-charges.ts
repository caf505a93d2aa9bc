import type { Situation } from '../situation/situation.ts';
import type { Charge, Whereabouts } from './list-charges.ts';

export const costDimensions = ['task', 'kind', 'model', 'tag'] as const;
export type CostDimension = (typeof costDimensions)[number];

/** Credits by what they were spent on. `heldUnknown` counts possible charges of unknown price. */
export type CostSums = { [went in Whereabouts]: number } & { spent: number; heldUnknown: number };

export interface CostRow {
  /** A value for each dimension, in the order of the dimensions; `null` if unknown. */
  keys: (string | null)[];
  jobs: number;
  credits: CostSums;
}

/** Sums charges by these dimensions, the highest sum first. Every charge is in exactly one row. */
export function tallyCharges(charges: readonly Charge[], by: readonly CostDimension[]): CostRow[] {
  const rows = new Map<string, CostRow>();
  for (const charge of charges) {
    const keys = by.map((one) => (one === 'tag' ? (charge.tags?.toSorted().join(', ') ?? null) : charge[one]));
    const name = JSON.stringify(keys);
    const row = rows.get(name) ?? { keys, jobs: 0, credits: noSums() };
    rows.set(name, row);
    row.jobs += 1;
    add(row.credits, charge);
  }
  const weight = ({ credits }: CostRow) => credits.spent + credits.held;
  return [...rows.values()].sort((a, b) => weight(b) - weight(a) || compareKeys(a.keys, b.keys));
}

export function sumCharges(charges: readonly Charge[]): CostSums {
  const sums = noSums();
  for (const charge of charges) add(sums, charge);
  return sums;
}

function noSums(): CostSums {
  return { spent: 0, delivered: 0, running: 0, failed: 0, superseded: 0, held: 0, heldUnknown: 0 };
}

function add(sums: CostSums, { went, credits }: Charge): void {
  sums[went] += credits ?? 0;
  if (went !== 'held') sums.spent += credits ?? 0;
  else if (credits === null) sums.heldUnknown += 1;
}

/** Compares the values of two rows, one dimension after the other. Unknown values are last. */
function compareKeys(a: readonly (string | null)[], b: readonly (string | null)[]): number {
  for (const [index, one] of a.entries()) {
    const other = b[index] ?? null;
    if (one === other) continue;
    if (one === null || other === null) return one === null ? 1 : -1;
    return one < other ? -1 : 1;
  }
  return 0;
}

/** Cost of all work for the picked outputs. */
export interface Approved {
  assets: number;
  /** Spent on tasks with gates, including drafts, rejected outputs and redone ones. */
  credits: number;
}

export function sumApproved(
  { graph: { gates }, gateOf, matches, verdicts }: Situation,
  charges: readonly Charge[],
): Approved | undefined {
  if (gates.length === 0) return undefined;
  const tasks = new Set(gates.map(({ task }) => task));
  const picked = matches.filter(
    (match) =>
      gateOf.has(match.step.address) && match.purchase?.state === 'done' && verdicts.on(match)?.is === 'picked',
  );
  const spent = charges.filter(({ task, went }) => tasks.has(task) && went !== 'held');
  const credits = spent.reduce((sum, charge) => sum + (charge.credits ?? 0), 0);
  return picked.length === 0 ? undefined : { assets: picked.length, credits };
}
