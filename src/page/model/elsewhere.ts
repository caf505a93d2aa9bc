import type { ReviewAsset, ReviewData } from '../../contract/review.ts';
import { groupBy } from '../../ground/values.ts';
import { nameOf } from '../parts/words.ts';
import { type Mark, markOf, type Shown } from './shown.ts';

interface Elsewhere {
  address: string;
  members: ReadonlySet<string>;
  text: string;
}

/**
 * Describes, for each group, the decisions that newer data contains and that were not made in this page. `isUnderWay`:
 * returns whether this page has sent the verdict.
 */
export function madeElsewhere(
  before: Shown,
  now: ReviewData,
  isUnderWay: (address: string, is: Mark) => boolean,
): Elsewhere[] {
  const known = new Map(before.data.assets.map((asset) => [asset.address, asset]));
  const foreign = now.assets.filter((asset) => {
    const [was, own] = [known.get(asset.address), before.assets.get(asset.address)];
    if (was === undefined || was === asset || own === undefined) return false;
    // This page has picked another asset of the group, which removes the pick of this asset.
    const group = before.groupOf.get(asset.address)?.assets ?? [asset];
    if (group.some((one) => isUnderWay(one.address, 'picked'))) return false;
    if (isUnderWay(asset.address, markOf(asset))) return false;
    return markOf(was) !== markOf(asset) && markOf(own) !== markOf(asset);
  });
  const byGroup = groupBy(foreign, ({ address }) => before.groupOf.get(address));
  return [...byGroup].flatMap(([group, changed]) => tell(before, group?.assets ?? [], changed));
}

export function newOutputs(before: Shown, now: ReviewData): string[] {
  return now.assets.flatMap(({ address, job, files }) => {
    const was = before.assets.get(address);
    return files.length > 0 && (was?.files.length ? was.job : undefined) !== job ? address : [];
  });
}

function tell(before: Shown, members: readonly ReviewAsset[], changed: readonly ReviewAsset[]): Elsewhere[] {
  const picked = changed.find((asset) => markOf(asset) === 'picked');
  const [first] = changed;
  if (first === undefined) return [];
  const { address } = picked ?? first;
  const instead = picked && members.find((one) => markOf(one) === 'picked');
  // A regenerated output is undecided, although no user removed the verdict.
  const isOther = members.some((one) => one.address === address && one.job !== (picked ?? first).job);
  const undecided = isOther ? 'regenerated' : 'undecided again elsewhere';
  const is = { picked: 'picked elsewhere', rejected: 'rejected elsewhere', undecided }[markOf(picked ?? first)];
  const text = `${nameOf(before, address)} was ${is}${instead ? `, instead of ${nameOf(before, instead.address)}` : ''}.`;
  return [{ address, members: new Set(members.map((one) => one.address)), text }];
}
