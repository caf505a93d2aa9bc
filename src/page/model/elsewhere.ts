import type { ReviewAsset, ReviewData } from '../../contract/review.ts';
import { groupBy } from '../../ground/values.ts';
import { type Mark, markOf, type Shown } from './shown.ts';

/** A decision about a group that was made in another tab, or by a command. */
export interface Elsewhere {
  address: string;
  members: ReadonlySet<string>;
  text: string;
}

/**
 * Lists what newer data decides that was not decided here, one line for each group. `isUnderWay`: a verdict was sent from
 * here, which may be another one by now.
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
    // What takes the place of a pick that was sent from here comes with it.
    const group = before.groupOf.get(asset.address)?.assets ?? [asset];
    if (group.some((one) => isUnderWay(one.address, 'picked'))) return false;
    if (isUnderWay(asset.address, markOf(asset))) return false;
    return markOf(was) !== markOf(asset) && markOf(own) !== markOf(asset);
  });
  const byGroup = groupBy(foreign, ({ address }) => before.groupOf.get(address));
  return [...byGroup].flatMap(([group, changed]) => tell(group?.assets ?? [], changed));
}

/** Addresses of outputs that the newer data have, and the older ones do not. */
export function newOutputs(before: ReviewData, now: ReviewData): string[] {
  const jobs = new Map(before.assets.map(({ address, job, files }) => [address, files.length > 0 ? job : undefined]));
  return now.assets.flatMap(({ address, job, files }) =>
    files.length > 0 && jobs.get(address) !== job ? address : [],
  );
}

function tell(members: readonly ReviewAsset[], changed: readonly ReviewAsset[]): Elsewhere[] {
  const picked = changed.find((asset) => markOf(asset) === 'picked');
  const [first] = changed;
  if (first === undefined) return [];
  const { address } = picked ?? first;
  const instead = picked && members.find((one) => markOf(one) === 'picked');
  // A redone output needs a new decision; nobody took the old one back.
  const isOther = members.some((one) => one.address === address && one.job !== (picked ?? first).job);
  const undecided = isOther ? 'regenerated' : 'made undecided again elsewhere';
  const is = { picked: 'picked elsewhere', rejected: 'rejected elsewhere', undecided }[markOf(picked ?? first)];
  const text = `${address} was ${is}${instead ? `, instead of ${instead.address}` : ''}.`;
  return [{ address, members: new Set(members.map((one) => one.address)), text }];
}
