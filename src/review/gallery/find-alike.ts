import type { ReportAlike } from '../../contract/report.ts';
import type { ReviewAsset, ReviewFile, ReviewGroup } from '../../contract/review.ts';
import {
  type Hash,
  isSameShape,
  type Looks,
  Neighbours,
  readHash,
  widestDistance,
  widestRadius,
} from '../../ground/picture-looks.ts';
import { groupBy } from '../../ground/values.ts';

/**
 * Bits in which pictures may differ that look the same. Measured: noise, another compression and warmer colors change at most
 * 4 of 64, a shift by one part of a hundred 4 in most pictures; of pairs of other pictures of the sandbox the nearest differ
 * in 10, of soft ones without any detail one pair of 5,000 in 3. Rows are compared with thousands of others, where chance
 * finds more.
 */
const radius = { takes: widestRadius, rows: 2 } as const;
/** The page lists no more. */
const mostFound = 500;

/** Finds the looks of a picture, by its digest; undefined: it was not read. */
export type LooksOf = (file: ReviewFile) => Looks | undefined;

interface Seen {
  index: number;
  asset: ReviewAsset;
  hash: Hash;
  shape: number;
}

/**
 * Finds what hardly differs to the eye, the largest waste first. Each picture is in at most one of the lines about takes,
 * and of those that are alike one is compared with other rows. Takes time in proportion to the number of pictures, unless
 * many are nearly alike.
 */
export function findAlike(
  { assets, groups }: { assets: readonly ReviewAsset[]; groups: readonly ReviewGroup[] },
  looksOf: LooksOf,
): ReportAlike[] {
  const seen = new Map(
    assets.flatMap((asset, index) => {
      const own = see(asset, index, looksOf);
      return own === undefined ? [] : [[index, own] as const];
    }),
  );
  const takes: Seen[][] = [];
  const singles: Seen[] = [];
  for (const { members } of groups) {
    for (const cluster of clusters(
      members.flatMap((index) => seen.get(index) ?? []),
      radius.takes,
    )) {
      if (cluster.length > 1) takes.push(cluster);
      singles.push(...cluster.slice(0, 1));
    }
  }
  const rows = [...groupBy(singles, ({ asset }) => asset.task).values()].flatMap((all) => clusters(all, radius.rows));
  const found = [
    ...takes.map((cluster) => describe('takes', cluster)),
    ...rows.filter((cluster) => cluster.length > 1).map((cluster) => describe('rows', cluster)),
    ...[...seen.values()].flatMap((own) => findEdit(own, looksOf)),
  ].filter(({ credits }) => credits !== 0);
  return found.sort((a, b) => (b.credits ?? -1) - (a.credits ?? -1)).slice(0, mostFound);
}

/** Finds what an output took the place of, if it looks like it. */
function findEdit({ index, asset, hash, shape }: Seen, looksOf: LooksOf): ReportAlike[] {
  const [newest] = asset.earlier;
  const before = newest?.files.find(({ is }) => is === 'image');
  const looks = before && looksOf(before);
  if (looks?.hash === undefined || !isSameShape(looks.shape, shape)) return [];
  const distance = widestDistance([hash, readHash(looks.hash)]);
  return distance > radius.takes ? [] : [{ is: 'edit', members: [index], credits: asset.credits ?? null, distance }];
}

function see(asset: ReviewAsset, index: number, looksOf: LooksOf): Seen | undefined {
  // What was bought for an earlier request is no take of this one.
  if (asset.state !== 'done' && asset.state !== 'changed') return undefined;
  const picture = asset.files.find(({ is, problem }) => is === 'image' && problem === undefined);
  const looks = picture && looksOf(picture);
  if (looks?.hash === undefined) return undefined;
  return { index, asset, hash: readHash(looks.hash), shape: looks.shape };
}

/** Each with those that look like its first one, in their order. */
function clusters(all: readonly Seen[], within: number): Seen[][] {
  const neighbours = new Neighbours<Seen[]>(within);
  const found: Seen[][] = [];
  for (const one of all) {
    const near = neighbours.find(one.hash, ([first]) => first !== undefined && isSameShape(first.shape, one.shape));
    if (near !== undefined) {
      near.push(one);
      continue;
    }
    const cluster = [one];
    neighbours.add(one.hash, cluster);
    found.push(cluster);
  }
  return found;
}

function describe(is: 'takes' | 'rows', cluster: readonly Seen[]): ReportAlike {
  // One job that several steps share was paid once.
  const jobs = new Map(cluster.map(({ asset }) => [asset.job ?? asset.address, asset.credits ?? null]));
  const [, ...others] = [...jobs.values()];
  const isKnown = others.every((credits) => credits !== null);
  return {
    is,
    members: cluster.map(({ index }) => index),
    credits: isKnown ? others.reduce<number>((sum, credits) => sum + (credits ?? 0), 0) : null,
    distance: widestDistance(cluster.map(({ hash }) => hash)),
  };
}
