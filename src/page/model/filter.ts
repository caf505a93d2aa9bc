import type { ReviewAsset } from '../../contract/review.ts';
import { needsVerdict, type Shown, type ShownGroup } from './shown.ts';

/** What is shown; an empty text lets everything pass. */
export interface Filter {
  undecided: boolean;
  task: string;
  kind: string;
  /** A state of assets, or `picked` or `rejected`. */
  state: string;
  /** Words, all of which an asset has to have. */
  text: string;
}

export const noFilter: Filter = { undecided: false, task: '', kind: '', state: '', text: '' };

/** A group with those of its assets that a filter lets pass; never none. */
export interface Strip {
  group: ShownGroup;
  assets: readonly ReviewAsset[];
}

export function applyFilter({ groups }: Shown, filter: Filter): Strip[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return groups.flatMap((group) => {
    if (filter.task !== '' && group.group.task !== filter.task) return [];
    const assets = group.assets.filter((asset) => passes(asset, group, filter, words));
    return assets.length === 0 ? [] : [{ group, assets }];
  });
}

function passes(asset: ReviewAsset, group: ShownGroup, filter: Filter, words: readonly string[]): boolean {
  if (filter.undecided && !needsVerdict(asset, group)) return false;
  if (filter.kind !== '' && asset.kind !== filter.kind) return false;
  if (filter.state !== '' && asset.state !== filter.state && asset.verdict?.is !== filter.state) return false;
  if (words.length === 0) return true;
  const text = textOf(asset);
  return words.every((word) => text.includes(word));
}

const texts = new WeakMap<ReviewAsset, string>();

/** Everything about an asset that a person may look for, in small letters. */
function textOf(asset: ReviewAsset): string {
  let text = texts.get(asset);
  if (text === undefined) {
    const { address, kind, row, state, error, job, tags, verdict, request, files } = asset;
    const parts = [address, kind, row, state, error, job, ...tags, verdict?.is, verdict?.note, JSON.stringify(request)];
    text = [...parts, ...files.map(({ path }) => path)].join('\n').toLowerCase();
    texts.set(asset, text);
  }
  return text;
}
