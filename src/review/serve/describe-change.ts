import type { ReviewAsset, ReviewChange, ReviewData, ReviewFile, ReviewGroup } from '../../contract/review.ts';
import { defined } from '../../ground/values.ts';
import { hasThumb } from '../thumbs/thumbs.ts';

const smallEnough = 400_000;

/** Assigns numbers to files. The page requests files by number, never by path. A file keeps its number. */
export class NumberedFiles {
  readonly #files: ReviewFile[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #addressed = new WeakMap<ReviewAsset, ReviewAsset>();

  get(number: number): ReviewFile | undefined {
    return this.#files[number];
  }

  address(asset: ReviewAsset): ReviewAsset {
    const known = this.#addressed.get(asset);
    if (known !== undefined) return known;
    const addressed = (file: ReviewFile) => this.#address(file);
    const earlier = asset.earlier.map((one) => ({ ...one, files: one.files.map(addressed) }));
    const now = { ...asset, files: asset.files.map(addressed), earlier };
    this.#addressed.set(asset, now);
    return now;
  }

  #address(file: ReviewFile): ReviewFile {
    if (file.problem !== undefined) return file;
    const name = `${file.sha256} ${file.path}`;
    const number = this.#numbers.get(name) ?? this.#files.length;
    this.#numbers.set(name, number);
    this.#files[number] = file;
    return {
      ...file,
      url: `media/${number}`,
      ...(hasThumb(file) && { thumb: `thumb/${number}` }),
      ...(hasThumb(file) && file.bytes > smallEnough && { large: `large/${number}` }),
    };
  }
}

/** Returns the differences between two states of a campaign. Undefined if assets or groups were added or removed. */
export function describeChange(before: ReviewData, now: ReviewData): ReviewChange | undefined {
  if (!isSameSet(before, now)) return undefined;
  const { revision, run, next, waits } = now;
  const areWaitsSame = before.waits === waits || textOf(before.waits) === textOf(waits);
  return {
    ...{ revision, since: before.revision },
    ...defined({ run, next }),
    ...(waits !== undefined && !areWaitsSame && { waits }),
    assets: now.assets.filter((asset, index) => isOther(asset, before.assets[index])),
    groups: now.groups.filter((group, index) => isOther(group, before.groups[index])),
  };
}

function isSameSet(before: ReviewData, now: ReviewData): boolean {
  const isSame = before.campaign === now.campaign && before.commands === now.commands;
  const areSameMembers = (one: ReviewGroup, other: ReviewGroup | undefined) =>
    one === other || (one.name === other?.name && textOf(one.members) === textOf(other.members));
  return (
    (isSame || textOf([before.campaign, before.commands]) === textOf([now.campaign, now.commands])) &&
    before.assets.length === now.assets.length &&
    before.groups.length === now.groups.length &&
    now.assets.every(({ address }, index) => address === before.assets[index]?.address) &&
    now.groups.every((group, index) => areSameMembers(group, before.groups[index]))
  );
}

function isOther(one: unknown, before: unknown): boolean {
  return one !== before && textOf(one) !== textOf(before);
}

function textOf(value: unknown): string | undefined {
  return JSON.stringify(value);
}
