import type { ReviewAsset, ReviewEarlier, ReviewFile } from '../../contract/review.ts';

/** An earlier state of an asset, and what there is of it to see. */
export interface Version {
  /** Where it is from: the reference that was compared with, or an earlier purchase. */
  is: 'reference' | 'earlier';
  earlier: ReviewEarlier;
  file?: ReviewFile;
}

/** At the reference first, then earlier purchases, newest first. The same purchase comes once. */
export function versionsOf({ before, earlier }: ReviewAsset): Version[] {
  const others = earlier.filter(({ job }) => before == null || job === undefined || job !== before.job);
  const all: [Version['is'], ReviewEarlier][] = [
    ...(before == null ? [] : [['reference', before] satisfies [Version['is'], ReviewEarlier]]),
    ...others.map((one): [Version['is'], ReviewEarlier] => ['earlier', one]),
  ];
  return all.map(([is, one]) => {
    const file = one.files.find((candidate) => candidate.is !== 'other') ?? one.files[0];
    return { is, earlier: one, ...(file !== undefined && { file }) };
  });
}

/** Whether it is something else now than it was: another purchase, or new since the reference. */
export function hasChanged(asset: ReviewAsset): boolean {
  const { before, job, earlier } = asset;
  if (before === undefined) return earlier.length > 0;
  return before === null || before.job !== job || before.changed.length > 0;
}
