import type { ReviewAsset, ReviewEarlier, ReviewFile } from '../../contract/review.ts';
import { defined } from '../../ground/values.ts';

export interface Version {
  is: 'reference' | 'earlier';
  earlier: ReviewEarlier;
  file?: ReviewFile;
}

/** Returns earlier versions of an output: first that of the reference commit, then replaced purchases, newest first. */
export function versionsOf({ report, earlier }: ReviewAsset): Version[] {
  const before = report?.before;
  const others = earlier.filter(({ job }) => before == null || job === undefined || job !== before.job);
  const all: [Version['is'], ReviewEarlier][] = [
    ...(before == null ? [] : [['reference', before] satisfies [Version['is'], ReviewEarlier]]),
    ...others.map((one): [Version['is'], ReviewEarlier] => ['earlier', one]),
  ];
  return all.map(([is, one]) => {
    const file = one.files.find((candidate) => candidate.is !== 'other') ?? one.files[0];
    return { is, earlier: one, ...defined({ file }) };
  });
}

export function hasChanged({ report, job, earlier }: ReviewAsset): boolean {
  const before = report?.before;
  if (before === undefined) return earlier.length > 0;
  return before === null || before.job !== job || before.changed.length > 0;
}
