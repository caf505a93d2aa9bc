import type { ReportCost, ReportCostTable } from '../../contract/report.ts';
import type { ReviewAsset } from '../../contract/review.ts';
import type { Shown } from '../model/shown.ts';

/** A line of a table of costs. Credits that nobody knows are null. */
export interface CostLine {
  name: string;
  jobs: number;
  credits: number | null;
  /** Part of the largest line of its table, 0 to 1. */
  part: number;
  /** For tasks and kinds: how many of its assets are kept, and what each of them has cost with all that was tried for it. */
  kept?: number;
  perKept?: number | null;
}

/** Whether an asset is there to be used: it has an output, and its gate has not decided for another one. */
export function isKept(asset: ReviewAsset, { groupOf }: Pick<Shown, 'groupOf'>): boolean {
  if (asset.files.length === 0 || asset.verdict?.is === 'rejected') return false;
  const group = groupOf.get(asset.address);
  return group?.state !== 'decided' || group.group.gate?.is !== 'choose' || asset.verdict?.is === 'picked';
}

export function costLines({ by, lines }: ReportCostTable, shown: Shown): CostLine[] {
  const most = lines.reduce((sum, { credits }) => Math.max(sum, credits ?? 0), 0);
  const kept = new Map<string, number>();
  if (by === 'task' || by === 'kind') {
    for (const asset of shown.assets.values()) {
      if (isKept(asset, shown)) kept.set(asset[by], (kept.get(asset[by]) ?? 0) + 1);
    }
  }
  return lines.map((line): CostLine => {
    const part = most === 0 ? 0 : (line.credits ?? 0) / most;
    if (by !== 'task' && by !== 'kind') return { ...line, part };
    const own = kept.get(line.name) ?? 0;
    return { ...line, part, kept: own, perKept: own === 0 || line.credits === null ? null : line.credits / own };
  });
}

/** Credits charged for jobs whose outputs nobody uses; null: not known. */
export function givenUp({ spent, inUse }: ReportCost): number | null {
  return spent === null || inUse === null ? null : Math.max(0, spent - inUse);
}
