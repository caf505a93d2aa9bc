import type { ReviewAsset, ReviewData, ReviewFile, ReviewGroup } from '../../../src/contract/review.ts';

/** An asset that was bought and can be judged, unless `own` says otherwise. */
export function asset(address: string, own: Partial<ReviewAsset> = {}): ReviewAsset {
  const [task = '', key] = address.replace(/,take:\d+$/, '').split('@');
  return {
    ...{
      address,
      task,
      kind: 'image',
      matrix: {},
      tags: [],
      state: 'done',
      files: [],
      defaults: {},
      differs: [],
      isJudged: true,
    },
    ...(key !== undefined && { key }),
    request: { prompt: `A picture for ${address}` },
    credits: 2,
    job: `job-${address}`,
    ...{ earlier: [], madeFrom: [], usedBy: [] },
    ...own,
  };
}

/** A file that the host serves: `media/N`, with a thumbnail where it is a picture. */
export function file(number: number, is: ReviewFile['is'] = 'image', own: Partial<ReviewFile> = {}): ReviewFile {
  const types = { image: 'image/png', audio: 'audio/wav', video: 'video/mp4', other: 'application/json' };
  return {
    ...{
      is,
      path: `${is}/${number}`,
      mediaType: types[is],
      bytes: 1000,
      sha256: number.toString(16).padStart(64, '0'),
    },
    url: `media/${number}`,
    ...(is === 'image' && { thumb: `thumb/${number}` }),
    ...own,
  };
}

interface GroupOptions {
  choose?: number;
  is?: 'approve' | 'choose';
  /** No gate at all. */
  isFree?: boolean;
  note?: string;
  reasons?: readonly string[];
}

/** Puts groups of assets together, each with an open gate, behind which one step of 3 credits waits. */
export function campaign(
  groups: readonly { name: string; assets: readonly ReviewAsset[]; options?: GroupOptions }[],
  own: Partial<ReviewData> = {},
): ReviewData {
  const assets = groups.flatMap((group) => group.assets);
  return {
    ...{ version: 2, revision: 1, campaign: 'aurora-launch', file: 'campaign.yaml', canDecide: true },
    groups: groups.map(({ name, assets: members, options = {} }): ReviewGroup => {
      const { choose = 1, is = 'choose', isFree = false, note, reasons } = options;
      const gate = {
        is,
        choose,
        state: 'open' as const,
        waiting: 1,
        waitingCredits: 3,
        ...(note !== undefined && { note }),
        ...(reasons !== undefined && { reasons }),
      };
      return {
        ...{ name, task: members[0]?.task ?? '', differBy: ['take'] },
        ...(members[0]?.key !== undefined && { key: members[0].key }),
        ...(!isFree && { gate }),
        members: members.map((member) => assets.indexOf(member)),
      };
    }),
    assets,
    ...own,
  };
}

/** `groups` products with `takes` pictures of each: `hero@p001,take:1` and so on. */
export function products(groups: number, takes: number): ReviewData {
  let number = 0;
  return campaign(
    Array.from({ length: groups }, (_, index) => {
      const name = `hero@p${String(index + 1).padStart(3, '0')}`;
      const assets = Array.from({ length: takes }, (_, take) =>
        asset(`${name},take:${take + 1}`, { take: take + 1, files: [file(number++)] }),
      );
      return { name, assets };
    }),
  );
}
